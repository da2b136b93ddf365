/* Planted: test-and-set that counts its spins and pauses as often before the next one, up to a limit. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "kinds.h"

static bool planted_enter(struct lt_lock *lock, struct lt_lock_node *node)
{
	(void)node;
	return lt_swap(&lock->word, 1) == 0;
}

static void planted_wait(struct lt_lock *lock, struct lt_lock_node *node)
{
	unsigned spins = 0;

	(void)node;
	do {
		spins += spins < 16;
		for (unsigned pause = 0; pause < spins; pause++)
			lt_relax();
	} while (lt_swap(&lock->word, 1) != 0);
}

static void planted_release(struct lt_lock *lock, struct lt_lock_node *node)
{
	(void)node;
	lt_store(&lock->word, 0);
}

const struct lt_lock_ops lt_planted_ops = {NULL, planted_enter, planted_wait, planted_enter, planted_release, NULL};
