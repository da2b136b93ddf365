/* Test-and-test-and-set with exponential back-off (Anderson, IEEE TPDS 1990): after a lost race for a free lock a hart stays away for a
 * while before it looks again, each time for longer, so that a release wakes few instead of all.
 *
 * The delay is drawn from a doubling window, by a generator of each hart's own: losers of the same race do not meet again, and a run
 * under the virtual clock stays the same. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "word.h"

enum { LEAST_PAUSES = 4, MOST_PAUSES = 256 }; /* powers of two: the window's first and last size; chosen here, not by the paper */

static struct {
	LT_OWN_LINE uint32_t state;
} dice[HZ_MAX_HARTS];

/* xorshift (Marsaglia, 2003); never 0 behind its first step. */
static uint32_t roll(void)
{
	uint32_t *state = &dice[lt_hart_id()].state, x = *state ? *state : lt_hart_id() + 1;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	*state = x;
	return x;
}

static void stay_away(uint32_t window)
{
	for (uint32_t pauses = 1 + (roll() & (window - 1)); pauses; pauses--)
		lt_relax();
}

static void backoff_wait(struct lt_lock *lock, struct lt_lock_node *node)
{
	(void)node;
	for (uint32_t window = LEAST_PAUSES;; window = window < MOST_PAUSES ? window * 2 : window) {
		lt_spin_until_not(&lock->word, 1);
		if (lt_swap(&lock->word, 1) == 0)
			return;
		stay_away(window);
	}
}

const struct lt_lock_ops lt_backoff_ops = { NULL, lt_word_enter, backoff_wait, lt_word_try, lt_word_release, NULL };
