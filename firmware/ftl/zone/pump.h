/* The pump of a zone: it looks at the zone and starts whatever can be started. Level-triggered: everything that may change what it would
 * decide ends in a call of extent_pump (lock held) or extent_kick (any lock). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_PUMP_H
#define FTL_PUMP_H

#include "zone/zone.h"

/* What the extents of zones are told: at most one kick per zone is under way, and runs on the worker that kicked first. */
extern const struct extent_owner zone_owner;

/* Zone lock held, at a controller reset: writes that have not landed are released. True if there were any. */
bool zone_take_back(struct ftl_worker *self, struct zone *zone);

/* Mount: as soon as the harts run, what a loss of power brought to SLC (extent.home) is brought to its place. */
void zones_bring_home(struct ftl *ftl, struct arena *arena);

#endif
