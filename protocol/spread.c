/* Array times of flash that vary. No division: a read draws one on the path of an I/O. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "spread.h"

/* A step of the bell in sigmas: STEP / 2^SHIFT is 1 / 209.02. Products stay below 2^53. */
enum { BELL_MOST = 1020, STEP = 5017, SHIFT = 20, HALF = 1 << (SHIFT - 1) };

int64_t hz_bell(uint64_t dice)
{
	int64_t sum = -BELL_MOST;

	for (; dice; dice >>= 8)
		sum += (int64_t)(dice & 255);
	return sum;
}

uint64_t hz_spread_reach_ns(uint64_t mean_ns, uint64_t sigma_ns)
{
	uint64_t tail_ns = (sigma_ns * BELL_MOST * STEP + HALF) >> SHIFT, most_ns = mean_ns - (mean_ns >> 4) - 1;

	return tail_ns < most_ns ? tail_ns : most_ns;
}

uint64_t hz_spread_ns(uint64_t mean_ns, uint64_t sigma_ns, uint64_t dice)
{
	int64_t reach_ns = (int64_t)hz_spread_reach_ns(mean_ns, sigma_ns);
	int64_t away_ns = (hz_bell(dice) * (int64_t)sigma_ns * STEP + HALF) >> SHIFT;

	if (away_ns > reach_ns)
		away_ns = reach_ns;
	else if (away_ns < -reach_ns)
		away_ns = -reach_ns;
	return mean_ns + (uint64_t)away_ns;
}
