/* How much of the flash is left to live on. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_HEALTH_H
#define FTL_HEALTH_H

#include <stdint.h>

/* Of the superblocks that zones take; the scarcer and the more worn of normal ones and those for patches. */
struct ftl_health {
	uint8_t spare_percent; /* of those beyond what the zones need, how many have not been retired */
	uint8_t used_percent;  /* mean erases of what a block endures; at most 255; 0 if it endures any number */
};

#endif
