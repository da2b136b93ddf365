/* Mount: the copies of conventional zones' table pages, all of them, in the order in which they lie: a page of the SLC log at a time, on
 * all dies and planes side by side. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_L2P_COPIES_H
#define FTL_L2P_COPIES_H

#include <stdint.h>

struct arena;
struct ftl;

/* Before the media are scanned: the number below which every sector of a backing zone is known to the copies, whose entries are in
 * l2p_changes.scan then; 0: they are not, since one cannot be read or there is no checkpoint. */
uint64_t l2p_copies_scan(struct ftl *ftl, struct arena *arena);

#endif
