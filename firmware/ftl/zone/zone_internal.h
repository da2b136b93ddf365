/* The way of a write within the zone: resources, landing, and failure. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_ZONE_ZONE_INTERNAL_H
#define FTL_ZONE_ZONE_INTERNAL_H

#include "buffer/buffer.h"
#include "zone/zone.h"

/* What a zone must have before data can land or be programmed: a fence against stale copies, a superblock, a buffer. Zone lock held. */

/* All are at hand; false: they have been asked for, the zone is kicked when they come. */
bool zone_can_land(struct ftl_worker *self, struct zone *zone);
/* After a kick: takes what the zone was granted. */
void zone_take_grants(struct ftl_worker *self, struct zone *zone);
/* A record with the fence that stale staged copies need: that of this mount, or else the one before. */
struct zone_record zone_fenced_record(const struct zone *zone, enum zone_record_kind kind);

/* Nothing of the zone is on its way to flash. */
static inline bool zone_quiet(const struct zone *zone) { return !zone->move.under_way && buffer_quiet(&zone->ext); }

/* Landing: accepted writes come into the zone's buffer, in their order; and who gets the buffer next. Zone lock held. */

/* As much as can land now; what the last write has completed is still to be programmed. */
void zone_land(struct ftl_worker *self, struct zone *zone);
/* Is somebody waiting for the zone's buffer, and is this a fair moment to hand it over? */
bool zone_gives_way(const struct zone *zone);
/* Gives the buffer away if that is due and all of it is durable. True: it has gone. */
bool zone_hand_over(struct ftl_worker *self, struct zone *zone);
/* Complete what waits for durability, as far as there is any; a failed zone's waiters fail. */
void zone_settle(struct zone *zone);

/* A zone that can be written no more. */

/* Zone lock held, the zone has failed (no superblock can be had, or data cannot be moved): it becomes READ ONLY and its queued writes
 * fail. Repeated calls do what is left to do. */
void zone_end_writing(struct ftl_worker *self, struct zone *zone);

#endif
