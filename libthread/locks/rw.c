/* Fair reader-writer lock on tickets (after the fair lock of Mellor-Crummey and Scott, PPoPP 1991, without its queue): requests are
 * served in order of arrival, consecutive readers share. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "kinds.h"

static bool rw_enter(struct lt_lock *lock, struct lt_lock_node *node)
{
	node->value = lt_add(&lock->word, 1);
	return lt_load(&lock->left) == node->value;
}

static void rw_wait(struct lt_lock *lock, struct lt_lock_node *node) { lt_wait_for_turn(&lock->left, node->value); }

/* Free exactly if as many have left as have drawn a ticket. */
static bool rw_try(struct lt_lock *lock, struct lt_lock_node *node)
{
	node->value = lt_load(&lock->left);
	return lt_cas(&lock->word, node->value, node->value + 1);
}

/* Readers admitted by the first addition may leave before the second: no store may overwrite their counts. */
static void rw_release(struct lt_lock *lock, struct lt_lock_node *node)
{
	(void)node;
	lt_add(&lock->serving, 1);
	lt_add(&lock->left, 1);
}

/* The next ticket may enter at once if it is a reader's. */
static bool rw_enter_shared(struct lt_lock *lock, struct lt_lock_node *node)
{
	node->value = lt_add(&lock->word, 1);
	if (lt_load(&lock->serving) != node->value)
		return false;
	lt_store(&lock->serving, node->value + 1);
	return true;
}

static void rw_wait_shared(struct lt_lock *lock, struct lt_lock_node *node)
{
	lt_wait_for_turn(&lock->serving, node->value);
	lt_store(&lock->serving, node->value + 1);
}

/* Readers leave in any order; a writer waits until as many have left as came before it. */
static void rw_release_shared(struct lt_lock *lock, struct lt_lock_node *node)
{
	(void)node;
	lt_add(&lock->left, 1);
}

static const struct lt_reader_ops rw_readers = { rw_enter_shared, rw_wait_shared, rw_release_shared };
const struct lt_lock_ops lt_rw_ops = { NULL, rw_enter, rw_wait, rw_try, rw_release, &rw_readers };
