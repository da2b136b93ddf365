/* Whole-state check. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_CHECK_H
#define FTL_CHECK_H

#include "base/context.h"

/* NULL, or one sentence about the broken invariant. Harts idle. */
const char *whole_check(struct ftl *ftl);

#endif
