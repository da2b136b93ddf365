/* Whole-state check of the data cache. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_CACHE_CHECK_H
#define FTL_CACHE_CHECK_H

struct ftl;

/* Harts idle: NULL, or one sentence that names the broken invariant. */
const char *cache_check(struct ftl *ftl);

#endif
