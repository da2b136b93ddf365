/* Check of conventional zones. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_CONV_CHECK_H
#define FTL_CONV_CHECK_H

#include "base/context.h"

/* Harts idle: NULL or one sentence. */
const char *conv_check(struct ftl *ftl);

#endif
