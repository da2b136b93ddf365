/* Landing: accepted writes come into the zone's buffer, in their order; and who gets the buffer next. Zone lock held. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_LAND_H
#define FTL_LAND_H

#include "zone/zone.h"

/* As much as can land now; what the last write has completed is still to be programmed. */
void zone_land(struct ftl_worker *self, struct zone *zone);
/* Is somebody waiting for the zone's buffer, and is this a fair moment to hand it over? */
bool zone_gives_way(const struct zone *zone);
/* Gives the buffer away if that is due and all of it is durable. True: it has gone. */
bool zone_hand_over(struct ftl_worker *self, struct zone *zone);
/* Complete what waits for durability, as far as there is any; a failed zone's waiters fail. */
void zone_settle(struct zone *zone);

#endif
