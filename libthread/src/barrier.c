/* Barrier on an arrival counter and a round number. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "lt/barrier.h"

void lt_barrier_init(struct lt_barrier *barrier, uint32_t parties)
{
	lt_preset(&barrier->arrived, 0);
	lt_preset(&barrier->round, 0);
	barrier->parties = parties;
}

/* The counter is cleared before the round ends: a fast party may come to the next round while slow ones still leave
 * this one. */
bool lt_barrier_wait(struct lt_barrier *barrier)
{
	uint64_t round = lt_load(&barrier->round);

	lt_may_wait("lt_barrier_wait");
	if (lt_add(&barrier->arrived, 1) == barrier->parties - 1) {
		lt_store(&barrier->arrived, 0);
		lt_store(&barrier->round, round + 1);
		return true;
	}
	lt_spin_until_not(&barrier->round, round);
	return false;
}
