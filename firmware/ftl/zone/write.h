/* Write path: accepted writes land in the zone's buffer, full flush units are programmed, partial ones staged to SLC and folded.
 *
 * zone_pump is level-triggered: it looks at the zone and starts whatever can be started. Everything that may change what it would
 * decide ends in a call of zone_pump (lock held) or zone_kick (any lock). */
#ifndef FTL_WRITE_H
#define FTL_WRITE_H

#include "request/io.h"
#include "conventional/page_space.h"
#include "zone/zone.h"

struct ftl_worker;
struct flush_unit;
struct write_buffer;
struct zone;

/* FTL_WRITE, FTL_APPEND, FTL_WRITE_ZEROES. */
void write_run(struct ftl_worker *self, struct ftl_request *req);
/* Zone lock held. */
void zone_pump(struct ftl_worker *self, struct zone *zone);
/* Zone lock held: complete what waits for durability, up to zone_durable. */
void zone_settle(struct ftl_worker *self, struct zone *zone);
/* Zone lock held: pad the partial program unit so that it can be programmed (finish, or capacity reached). Needs the buffer. */
void zone_pad(struct ftl_worker *self, struct zone *zone);
/* Zone lock held: fence, superblock and buffer are at hand; false: they have been asked for, zone_pump goes on. */
bool zone_can_land(struct ftl_worker *self, struct zone *zone);
/* Zone lock held: nothing of the zone is on its way to flash. */
bool zone_quiet(const struct zone *zone);
/* Zone lock held: throw buffered data away and give the buffer back. Requires zone_quiet. */
void zone_discard_buffer(struct ftl_worker *self, struct zone *zone);
/* No superblock can be had, or data cannot be moved: the zone becomes read-only and its queued writes fail. Zone lock held. */
void zone_fail(struct ftl_worker *self, struct zone *zone);
/* Zone lock held, at a controller reset: writes that have not landed are released. True if there were any. */
bool zone_take_back(struct ftl_worker *self, struct zone *zone);

/* Is somebody waiting for the zone's buffer, and is this a fair moment to hand it over? */
bool zone_gives_way(const struct zone *zone);

/* What flash operations of the zone are done for: `cause`, or copying if the collector fills it. */
static inline uint8_t zone_cause(const struct zone *zone, uint8_t cause)
{
	return zone->backing && zone->stream == PAGE_COLLECT ? HZ_CAUSE_GC : cause;
}

/* flush_unit.c: the units of one buffer. Zone lock held. */
void units_bind(struct zone *zone, struct write_buffer *buffer);
/* Program complete units, oldest first; staged sectors of the first one are folded in before. */
void units_program(struct ftl_worker *self, struct zone *zone);
/* Stage the partial unit if somebody waits for its durability or for the buffer. */
void units_stage(struct ftl_worker *self, struct zone *zone);
/* After a move: complete units must be programmed anew. */
void units_restart(struct zone *zone);
/* The unit that sector `landed` goes to, ready to fill; NULL: it is still being programmed. */
struct flush_unit *units_fill(struct zone *zone);
/* The unit that holds data but is not complete, or NULL. Buffer bound. */
struct flush_unit *units_partial(struct zone *zone);
/* Empty all units and take the buffer off the zone. */
void units_drop(struct zone *zone);
uint32_t slot_at(const struct zone *zone, uint32_t offset); /* of a resident sector, or of `landed` */

#endif
