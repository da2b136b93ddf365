/* Sequence lock (as Linux has it) on top of an MCS lock: a writer adds 1 to the sequence when it gets the lock and when it gives it back,
 * so it is odd in between, and a hart that finds the same even number before and after it has read the data has read them whole
 * (lt_lock_look). A reader that takes the lock leaves the sequence alone: it disturbs no look. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "kinds.h"

/* One AMO with aq: what the writer writes is not seen before the odd number. */
static void begin(struct lt_lock *lock) { lt_add(&lock->serving, 1); }

static bool seq_enter(struct lt_lock *lock, struct lt_lock_node *node)
{
	if (!lt_mcs_enter(lock, node))
		return false;
	begin(lock);
	return true;
}

static void seq_wait(struct lt_lock *lock, struct lt_lock_node *node)
{
	lt_mcs_wait(lock, node);
	begin(lock);
}

static bool seq_try(struct lt_lock *lock, struct lt_lock_node *node)
{
	if (!lt_mcs_try(lock, node))
		return false;
	begin(lock);
	return true;
}

static void seq_release(struct lt_lock *lock, struct lt_lock_node *node)
{
	lt_store(&lock->serving, lt_peek(&lock->serving) + 1);
	lt_mcs_release(lock, node);
}

static const struct lt_reader_ops seq_readers = { lt_mcs_enter, lt_mcs_wait, lt_mcs_release };
const struct lt_lock_ops lt_seq_ops = { NULL, seq_enter, seq_wait, seq_try, seq_release, &seq_readers };
