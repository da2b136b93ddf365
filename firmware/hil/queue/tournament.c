/* Tournament tree. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/queue/tournament.h"

enum { FEWEST_LEAVES = 2 };

static uint8_t smaller_of(const struct tournament *t, unsigned left, unsigned right)
{
	return (uint8_t)(t->key[right] < t->key[left] ? right : left);
}

/* Of the lowest nodes: their contestants are leaves. */
static unsigned play_first(struct tournament *t, unsigned leaf)
{
	unsigned node = (leaf + t->leaves) / 2;

	t->winner[node] = smaller_of(t, leaf & ~1u, leaf | 1);
	return node;
}

static void play(struct tournament *t, unsigned node) { t->winner[node] = smaller_of(t, t->winner[2 * node], t->winner[2 * node + 1]); }

static void play_all(struct tournament *t)
{
	for (unsigned leaf = 0; leaf < t->leaves; leaf += 2)
		play_first(t, leaf);
	for (unsigned node = t->leaves / 2 - 1; node > 0; node--)
		play(t, node);
}

void tournament_init(struct tournament *t)
{
	for (unsigned i = 0; i < TOURNAMENT_LEAVES; i++)
		t->key[i] = TOURNAMENT_NEVER;
	t->leaves = FEWEST_LEAVES;
	play_all(t);
}

static __attribute__((noinline)) void grow(struct tournament *t, unsigned leaf)
{
	while (t->leaves <= leaf)
		t->leaves *= 2;
	play_all(t);
}

void tournament_set(struct tournament *t, unsigned leaf, uint64_t key)
{
	t->key[leaf] = key;
	if (leaf >= t->leaves) {
		grow(t, leaf);
		return;
	}
	for (unsigned node = play_first(t, leaf); node > 1;)
		play(t, node /= 2);
}
