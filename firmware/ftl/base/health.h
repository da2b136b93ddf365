/* How much of the flash is left to live on. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_HEALTH_H
#define FTL_HEALTH_H

#include <stdint.h>

/* Of the superblocks that zones take (normal ones, and those for patches) and of the SLC log's the scarcest; of the former the more worn. */
struct ftl_health {
	uint8_t spare_percent; /* of those beyond what is needed, how many have not been retired */
	uint8_t used_percent;  /* mean erases of what a block endures; at most 255; 0 if it endures any number */
};

/* Of `spare` units beyond those that are needed, how many have not been lost, in percent. Nothing to spare: 100 until one is. */
static inline uint8_t health_spare_percent(uint64_t spare, uint64_t lost)
{
	if (!lost)
		return 100;
	return lost >= spare ? 0 : (uint8_t)((spare - lost) * 100 / spare);
}

#endif
