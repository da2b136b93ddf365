/* What a lock kind provides. Waiting is split off, so that only a contended acquisition pays for reading the clock. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_LOCK_KINDS_H
#define LT_LOCK_KINDS_H

#include "lt/lock.h"

struct lt_reader_ops {
	bool (*enter)(struct lt_lock *lock, struct lt_lock_node *node);
	void (*wait)(struct lt_lock *lock, struct lt_lock_node *node);
	void (*release)(struct lt_lock *lock, struct lt_lock_node *node);
};

struct lt_lock_ops {
	/* The lock is all zero before; memory beyond it comes from the arena. NULL: zero is a free lock. */
	void (*init)(struct lt_lock *lock, struct arena *arena);
	/* Ask for the lock: true = it is held now; false = the caller has queued (if the kind queues) and must call
	 * wait. */
	bool (*enter)(struct lt_lock *lock, struct lt_lock_node *node);
	void (*wait)(struct lt_lock *lock, struct lt_lock_node *node);
	bool (*try_)(struct lt_lock *lock, struct lt_lock_node *node);
	void (*release)(struct lt_lock *lock, struct lt_lock_node *node);
	/* The same of readers, who share; NULL: to this kind a reader is like any other. */
	const struct lt_reader_ops *readers;
};

/* For kinds that give out numbers: until this one's turn has come. */
static inline void lt_wait_for_turn(const lt_word *serving, uint64_t number)
{
	uint64_t seen = lt_load(serving);

	while (seen != number)
		seen = lt_spin_while(serving, seen);
}

#define LT_LOCK_KIND(constant, name, ...) extern const struct lt_lock_ops lt_##name##_ops;
#include "lt/lock_kinds.def"

/* No kind: a lock that is a part of the one that stands for all (lt_locks_share_one). */
extern const struct lt_lock_ops lt_part_ops;
void lt_parts_init(void);

/* Give each hart the spare cell that CLH needs. */
void lt_clh_harts_init(struct arena *arena, unsigned harts);
/* Which harts are a cluster, as lt_locks_cluster says; 0: the usual number. */
void lt_cohort_harts_init(unsigned harts, unsigned cluster);

#endif
