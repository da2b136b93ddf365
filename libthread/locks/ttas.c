/* Test-and-test-and-set: wait by reading, swap only when the lock was seen free. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "kinds.h"

static void ttas_init(struct lt_lock *lock, struct arena *arena)
{
	(void)arena;
	lt_preset(&lock->word, 0);
}

static bool ttas_enter(struct lt_lock *lock, struct lt_lock_node *node)
{
	(void)node;
	return lt_swap(&lock->word, 1) == 0;
}

static void ttas_wait(struct lt_lock *lock, struct lt_lock_node *node)
{
	(void)node;
	do
		lt_spin_until_not(&lock->word, 1);
	while (lt_swap(&lock->word, 1) != 0);
}

/* A failing try must not write the line. */
static bool ttas_try(struct lt_lock *lock, struct lt_lock_node *node)
{
	(void)node;
	return lt_cas(&lock->word, 0, 1);
}

static void ttas_release(struct lt_lock *lock, struct lt_lock_node *node)
{
	(void)node;
	lt_store(&lock->word, 0);
}

const struct lt_lock_ops lt_ttas_ops = { ttas_init, ttas_enter, ttas_wait, ttas_try, ttas_release };
