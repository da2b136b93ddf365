/* Interface of a lock kind. Waiting is split off, so that only a contended acquisition pays for reading the clock. */
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
	/* The same for sharing readers; NULL: this kind treats a reader like any other. */
	const struct lt_reader_ops *readers;
};

/* For kinds with ticket numbers: wait for this one's turn. */
static inline void lt_wait_for_turn(const lt_word *serving, uint64_t number)
{
	uint64_t seen = lt_load(serving);

	while (seen != number)
		seen = lt_spin_while(serving, seen);
}

static inline struct lt_lock_node *lt_node_of(uint64_t value) { return (struct lt_lock_node *)(uintptr_t)value; }

/* For kinds on top of mcs. */
bool lt_mcs_enter(struct lt_lock *lock, struct lt_lock_node *node);
void lt_mcs_wait(struct lt_lock *lock, struct lt_lock_node *node);
bool lt_mcs_try(struct lt_lock *lock, struct lt_lock_node *node);
void lt_mcs_release(struct lt_lock *lock, struct lt_lock_node *node);

/* Kind combine, for lt_lock_run. The wait is over: has another hart run the section? Else the lock is held: run the own section and those
 * of others, and release with the last one of these. */
bool lt_combine_was_run(const struct lt_lock_node *node);
struct lt_lock_node *lt_combine_run(struct lt_lock_node *mine);
void lt_combine_release(struct lt_lock *lock, struct lt_lock_node *mine, struct lt_lock_node *last);

#define LT_LOCK_KIND(constant, name, ...) extern const struct lt_lock_ops lt_##name##_ops;
#include "lt/lock_kinds.def"

/* Not a kind: a lock that is a part of the one lock for all (lt_locks_share_one). */
extern const struct lt_lock_ops lt_part_ops;
void lt_parts_init(void);

/* Give each hart the spare cell for CLH. */
void lt_clh_harts_init(struct arena *arena, unsigned harts);
/* Size of a cluster, from lt_locks_cluster; 0: the default. */
void lt_cohort_harts_init(unsigned harts, unsigned cluster);

#endif
