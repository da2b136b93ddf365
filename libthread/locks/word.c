/* Locks of one word. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "word.h"

bool lt_word_enter(struct lt_lock *lock, struct lt_lock_node *node)
{
	(void)node;
	return lt_swap(&lock->word, 1) == 0;
}

bool lt_word_try(struct lt_lock *lock, struct lt_lock_node *node)
{
	(void)node;
	return lt_cas(&lock->word, 0, 1);
}

void lt_word_release(struct lt_lock *lock, struct lt_lock_node *node)
{
	(void)node;
	lt_store(&lock->word, 0);
}
