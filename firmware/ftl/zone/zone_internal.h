/* The way of a write within the zone: resources, landing, and failure. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_ZONE_ZONE_INTERNAL_H
#define FTL_ZONE_ZONE_INTERNAL_H

#include "buffer/buffer.h"
#include "zone/zone.h"

/* Resources of a zone before data can land or be programmed: a fence against stale copies, a superblock, a buffer. Zone lock held. */

/* True if it has all; false: they have been requested, the zone is kicked when they come. */
bool zone_can_land(struct ftl_worker *self, struct zone *zone);
/* After a kick: take the granted resources. */
void zone_take_grants(struct ftl_worker *self, struct zone *zone);
/* A record with the fence needed against stale staged copies: that of this mount, or else the one before. */
struct zone_record zone_fenced_record(const struct zone *zone, enum zone_record_kind kind);

/* Nothing of the zone is on its way to flash. */
static inline bool zone_quiet(const struct zone *zone) { return !zone->move.under_way && buffer_quiet(zone); }

/* Landing: accepted writes enter the zone's buffer, in their order; and the hand-over of the buffer. Zone lock held. */

/* Land as much as possible now; units completed by the last write are still to be programmed. */
void zone_land(struct ftl_worker *self, struct zone *zone);
/* True if another zone waits for the buffer, and this is a fair moment to hand it over. */
bool zone_gives_way(const struct zone *zone);
/* Give the buffer away if that is due and all of it is durable. True: it has gone. */
bool zone_hand_over(struct ftl_worker *self, struct zone *zone);
/* Complete requests up to the durable offset; a failed zone's waiters fail. */
void zone_settle(struct zone *zone);

/* Unwritable zones. */

/* The zone has failed (no superblock is available, or data cannot be moved): it becomes READ ONLY and its queued writes fail. Repeated
 * calls do the rest. Zone lock held. */
void zone_end_writing(struct ftl_worker *self, struct zone *zone);

#endif
