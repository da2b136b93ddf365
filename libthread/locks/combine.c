/* Combining lock (DSM-Synch: Fatourou and Kallimanis, PPoPP 2012; after flat combining, Hendler et al., SPAA 2010): an MCS lock whose
 * waiters bring their critical sections along (lt_lock_run), so that the holder runs those of the harts behind it, one after another,
 * before it lets go. A hart that asked by lt_lock_acquire brings none: it is handed the lock. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "kinds.h"

enum { MOST_RUN = 64, WAS_RUN = 2 /* node->waiting: another hart has run the section */ };

static bool combine_enter(struct lt_lock *lock, struct lt_lock_node *node)
{
	node->section = NULL;
	return lt_mcs_enter(lock, node);
}

static bool combine_try(struct lt_lock *lock, struct lt_lock_node *node)
{
	node->section = NULL;
	return lt_mcs_try(lock, node);
}

bool lt_combine_was_run(const struct lt_lock_node *node) { return lt_load(&node->waiting) == WAS_RUN; }

/* The queue ends with the last one until it is released, so that one's hart must wait so long; those before it need not. */
struct lt_lock_node *lt_combine_run(struct lt_lock_node *mine)
{
	struct lt_lock_node *last = mine;
	uint64_t next;

	mine->section(mine->argument);
	next = lt_load(&mine->next);
	for (unsigned run = 0; next && run < MOST_RUN && lt_node_of(next)->section; run++) {
		if (last != mine)
			lt_store(&last->waiting, WAS_RUN);
		last = lt_node_of(next);
		last->section(last->argument);
		next = lt_load(&last->next);
	}
	return last;
}

void lt_combine_release(struct lt_lock *lock, struct lt_lock_node *mine, struct lt_lock_node *last)
{
	lt_mcs_release(lock, last);
	if (last != mine)
		lt_store(&last->waiting, WAS_RUN);
}

const struct lt_lock_ops lt_combine_ops = { NULL, combine_enter, lt_mcs_wait, combine_try, lt_mcs_release, NULL };
