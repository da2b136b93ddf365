/* Memory of a lock and of a waiter. Fields are private to libthread/locks. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_LOCK_IMPL_H
#define LT_LOCK_IMPL_H

#include "lt/arch.h"

struct lt_clh_cell;
struct lt_cohort;
struct lt_lock_class;
struct lt_lock_stats;

/* A critical section as a function, with the four arguments of lt_lock_run. */
typedef void lt_lock_section(const uint64_t *argument);

/* One acquisition. The shared words have a line of their own, since another hart writes them while this one waits. */
struct lt_lock_node {
	LT_OWN_LINE lt_word next; /* mcs, seq, combine: successor */
	lt_word waiting; /* mcs, seq, combine: 1 until the predecessor hands over, or has run the section; cohort: 1 if for the cluster first */
	lt_lock_section *section; /* combine: NULL: the hart wants the lock itself */
	uint64_t argument[4];
	/* ticket, rw, cohort: my number; mcs, seq, combine, clh: predecessor; clh while held: my cell; of a look: the sequence */
	LT_OWN_LINE uint64_t value;
};

struct lt_lock {
	/* tas, ttas, backoff: 1 = held; ticket, rw, cohort: next number to give out; mcs, seq, combine: last node; clh: last cell and its use count */
	LT_OWN_LINE lt_word word;
	/* ticket, cohort: the holder's number; on its own line, waiters watch it; rw: … of the next reader to enter; seq: the sequence */
	LT_OWN_LINE lt_word serving;
	LT_OWN_LINE lt_word left; /* rw: number of released acquisitions: the number of the next writer to enter */

	/* Constant after lt_lock_init. */
	LT_OWN_LINE struct lt_lock *at; /* the lock actually taken: this one, or the first of its shard; its fields then count */
	const struct lt_lock_ops *ops;
	struct lt_lock_stats *stats; /* NULL: level off */
	struct lt_lock *registered;  /* next in the list of locks in use */
	uint32_t index;
	uint8_t lock_class, kind;
	const struct lt_lock_class *described;
	struct lt_cohort *cohort; /* cohort: one for each cluster */
	struct lt_lock *one;      /* of a part: its one lock */
};

#endif
