/* Test-and-test-and-set: wait by reading, swap only when the lock was seen free. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "word.h"

static void ttas_wait(struct lt_lock *lock, struct lt_lock_node *node)
{
	(void)node;
	do
		lt_spin_until_not(&lock->word, 1);
	while (lt_swap(&lock->word, 1) != 0);
}

const struct lt_lock_ops lt_ttas_ops = { NULL, lt_word_enter, ttas_wait, lt_word_try, lt_word_release, NULL };
