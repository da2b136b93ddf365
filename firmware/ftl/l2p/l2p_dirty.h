/* Dirty table pages: those with news that no copy on flash has. A page says so itself (map_page.dirty). The zones that have any are in a
 * list of their shard, in the order in which they became so; a pass of the log goes through the pages of each.
 *
 * A page stays dirty until the pass takes it: one that were neither dirty nor being written for a moment would look as if nothing of it had
 * changed. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_L2P_DIRTY_H
#define FTL_L2P_DIRTY_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct ftl;

#define L2P_NOT_LISTED UINT32_MAX

struct l2p_dirty_list {
	uint32_t first, last, count; /* zones */
};
struct l2p_dirty {
	struct l2p_dirty_list *list; /* by shard; its lock */
	uint32_t *next;              /* by zone: the next one in the list, of the last one itself; L2P_NOT_LISTED: it is in none */
	/* of the worker that runs the pass */
	uint32_t shard, left; /* zones of this shard that are still to be gone through … */
	uint32_t at, end;     /* … and pages of the present one */
};

void l2p_dirty_init(struct ftl *ftl, struct arena *arena);
/* Shard lock held: there is news of this page. */
void map_page_dirty(struct ftl *ftl, uint32_t shard, uint32_t page);
/* A pass begins. */
void l2p_dirty_begin(struct ftl *ftl);
/* No lock held: the next dirty page of this pass, or UINT32_MAX. Each zone that had any when the pass came to its shard is gone through
 * once. */
uint32_t l2p_dirty_next(struct ftl *ftl);
/* Harts idle: NULL, or what is wrong. */
const char *l2p_dirty_check(const struct ftl *ftl);

#endif
