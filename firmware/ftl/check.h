/* Whole-state check. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_CHECK_H
#define FTL_CHECK_H

#include "base/context.h"

/* Harts idle: NULL, or one sentence that names the broken invariant. */
const char *whole_check(struct ftl *ftl);

#endif
