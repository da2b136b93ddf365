/* Requests that something at a zone excludes: they are parked there, and go back to their workers afterwards. Zone lock held.
 *
 * A write that came later may reach its worker before an earlier one has returned there. It would not be at the write pointer, and be
 * refused for no fault of the host's; so it waits behind them as long as parked writes are on their way (zone.returning). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_PARK_H
#define FTL_PARK_H

#include "zone/zone.h"

/* What excluded them has ended: all parked requests go back. */
void zone_unpark(struct zone *zone);
/* On its worker again. True: it was the last write that was on its way (zone_late_writes is due). */
bool zone_has_returned(struct zone *zone, struct ftl_request *req);
/* After zone_has_returned, and whatever became of that request: writes that waited behind it go on, unless something else excludes them. */
void zone_late_writes(struct zone *zone);

#endif
