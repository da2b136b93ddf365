/* Executable lock discipline, for tests. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_CHECKS_H
#define LT_CHECKS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif
/* Check recursion, the order of levels, release by the owner, and that no event ends with a lock held; a violation fails the run. Before
 * the harts run, after lt_locks_init (off by default). */
void lt_locks_check(bool on);
#ifdef __cplusplus
}
#endif

#endif
