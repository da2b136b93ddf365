/* Tournament tree. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/queue/tournament.h"

static uint8_t contestant(const struct tournament *t, unsigned node)
{
	return node >= TOURNAMENT_LEAVES ? (uint8_t)(node - TOURNAMENT_LEAVES) : t->winner[node];
}

static void play(struct tournament *t, unsigned node)
{
	uint8_t left = contestant(t, 2 * node), right = contestant(t, 2 * node + 1);

	t->winner[node] = t->key[right] < t->key[left] ? right : left;
}

void tournament_init(struct tournament *t)
{
	for (unsigned i = 0; i < TOURNAMENT_LEAVES; i++)
		t->key[i] = TOURNAMENT_NEVER;
	for (unsigned node = TOURNAMENT_LEAVES - 1; node > 0; node--)
		play(t, node);
}

void tournament_set(struct tournament *t, unsigned leaf, uint64_t key)
{
	t->key[leaf] = key;
	for (unsigned node = (leaf + TOURNAMENT_LEAVES) / 2; node > 0; node /= 2)
		play(t, node);
}
