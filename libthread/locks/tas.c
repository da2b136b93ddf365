/* Test-and-set: retry the swap until it finds the lock free. Every retry takes the line away from the holder, which is
 * the point of comparison; a retry cannot park, so under the virtual clock contended tas is also the slowest kind to
 * simulate. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "kinds.h"

static void tas_init(struct lt_lock *lock, struct arena *arena)
{
	(void)arena;
	lt_preset(&lock->word, 0);
}

static bool tas_enter(struct lt_lock *lock, struct lt_lock_node *node)
{
	(void)node;
	return lt_swap(&lock->word, 1) == 0;
}

static void tas_wait(struct lt_lock *lock, struct lt_lock_node *node)
{
	(void)node;
	do
		lt_relax();
	while (lt_swap(&lock->word, 1) != 0);
}

static void tas_release(struct lt_lock *lock, struct lt_lock_node *node)
{
	(void)node;
	lt_store(&lock->word, 0);
}

const struct lt_lock_ops lt_tas_ops = { tas_init, tas_enter, tas_wait, tas_enter, tas_release };
