/* Tournament tree: which of up to 64 queues has the smallest key; ties go to the lowest number. It is as deep as the highest queue that
 * was ever set needs: a step for each doubling, 6 at most, to update; one to ask. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_TOURNAMENT_H
#define HIL_TOURNAMENT_H

#include <stdint.h>

enum { TOURNAMENT_LEAVES = 64 };
#define TOURNAMENT_NEVER UINT64_MAX

struct tournament {
	uint64_t key[TOURNAMENT_LEAVES];
	/* [1] is the root; node n has children 2n and 2n+1, or two leaves if it is in the lower half of the tree. */
	uint8_t winner[TOURNAMENT_LEAVES];
	unsigned leaves; /* in use, a power of two; the others were never set */
};

void tournament_init(struct tournament *t); /* all keys TOURNAMENT_NEVER */
void tournament_set(struct tournament *t, unsigned leaf, uint64_t key);
static inline unsigned tournament_first(const struct tournament *t) { return t->winner[1]; }
static inline uint64_t tournament_first_key(const struct tournament *t) { return t->key[t->winner[1]]; }

#endif
