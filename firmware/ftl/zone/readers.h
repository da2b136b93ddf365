/* Readers of a zone: requests that may have flash reads of it under way. A reset and a move wait until there are none.
 *
 * They begin under the zone's lock and end without it, so that a read takes that lock once. Who waits marks the count of those that have
 * ended; as long as the mark is there, each that ends looks after the zone, under the lock. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_READERS_H
#define FTL_READERS_H

#include "zone/zone.h"

/* Of zone.readers_ended: somebody waits; a reader. */
enum { READERS_AWAITED = 1, READERS_ONE = 2 };

/* Zone lock held. */
static inline void readers_begin(struct zone *zone, uint32_t count) { zone->readers_begun += count; }

/* Zone lock held. Are there none? If there are, the last one pumps the zone. */
static inline bool readers_gone(struct zone *zone)
{
	return lt_load(&zone->readers_ended) / READERS_ONE == zone->readers_begun ||
	       lt_or(&zone->readers_ended, READERS_AWAITED) / READERS_ONE == zone->readers_begun;
}

/* No lock held. Somebody waits: the zone is pumped. */
void readers_look(struct ftl_worker *self, struct zone *zone);

/* No lock held: one has ended. */
static inline void readers_end(struct ftl_worker *self, struct zone *zone)
{
	if (lt_add(&zone->readers_ended, READERS_ONE) & READERS_AWAITED)
		readers_look(self, zone);
}

#endif
