/* Requests that something at a zone excludes: they are parked there, and go back to their workers afterwards. Zone lock held, unless said.
 *
 * Reads have no order: they all return at once. Writes, appends and zone commands keep the order in which they came: they return
 * one after another, each when the one before it has been accepted or refused, and whatever comes meanwhile waits behind them. Otherwise
 * a write that came later would reach its worker first, not be at the write pointer, and be refused for no fault of the host's. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_PARK_H
#define FTL_PARK_H

#include "zone/zone.h"

/* False: something excludes a write, an append or a zone command, or it is not its turn; it has been parked. */
bool zone_admits(struct zone *zone, struct ftl_request *req);
/* Parks it; in front if it had its turn and could not use it. */
void zone_park(struct zone *zone, struct ftl_request *req);
/* The zone accepts or refuses it now: it is the next one's turn. */
void zone_turn_ends(struct zone *zone, struct ftl_request *req);
/* Lock not held: the same for a request that ends without the zone. */
void zone_give_up_turn(struct zone *zone, struct ftl_request *req);
/* What excluded them has ended. */
void zone_unpark(struct zone *zone);

#endif
