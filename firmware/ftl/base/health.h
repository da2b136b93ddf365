/* Health of this FTL: its share of spare blocks, and the watch of port/ftl_port.h. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_BASE_HEALTH_H
#define FTL_BASE_HEALTH_H

#include "port/ftl_port.h"

/* Percentage of `spare` units not yet lost. With no spare units 100 until one is lost. */
static inline uint8_t health_spare_percent(uint64_t spare, uint64_t lost)
{
	if (!lost)
		return 100;
	return lost >= spare ? 0 : (uint8_t)((spare - lost) * 100 / spare);
}

/* Post the watch after such a change. Any hart, any lock. */
void watch_tell(struct ftl *ftl);

#endif
