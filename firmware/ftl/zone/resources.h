/* What a zone must have before data can land or be programmed: a fence against stale copies, a superblock, a buffer. Zone lock held. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_RESOURCES_H
#define FTL_RESOURCES_H

#include "buffer/buffer.h"
#include "zone/zone.h"

/* All are at hand; false: they have been asked for, the zone is kicked when they come. */
bool zone_can_land(struct ftl_worker *self, struct zone *zone);
/* After a kick: takes what the zone was granted. */
void zone_take_grants(struct ftl_worker *self, struct zone *zone);
/* A record with the fence that stale staged copies need: that of this mount, or else the one before. */
struct zone_record zone_fenced_record(const struct zone *zone, enum zone_record_kind kind);

/* Nothing of the zone is on its way to flash. */
static inline bool zone_quiet(const struct zone *zone) { return !zone->move.under_way && buffer_quiet(&zone->ext); }

#endif
