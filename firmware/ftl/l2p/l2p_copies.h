/* Mount: the copies of conventional zones' table pages, all of them, in the order in which they lie: a page of the SLC log at a time, on
 * all dies and planes side by side. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_L2P_COPIES_H
#define FTL_L2P_COPIES_H

#include <stdbool.h>

struct arena;
struct ftl;

/* They are valid in the SLC log. */
void l2p_copies_validate(struct ftl *ftl);
/* … then: their entries to l2p_changes.scan. False: one cannot be read. */
bool l2p_copies_read(struct ftl *ftl, struct arena *arena);

#endif
