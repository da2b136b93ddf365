/* Test-and-set: retry the swap until it finds the lock free. Every retry takes the line away from the holder, the baseline of the
 * comparison; a retry cannot park, so under the virtual clock contended tas is also the slowest kind to simulate. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "word.h"

static void tas_wait(struct lt_lock *lock, struct lt_lock_node *node)
{
	(void)node;
	do
		lt_relax();
	while (lt_swap(&lock->word, 1) != 0);
}

const struct lt_lock_ops lt_tas_ops = { NULL, lt_word_enter, tas_wait, lt_word_enter, lt_word_release, NULL };
