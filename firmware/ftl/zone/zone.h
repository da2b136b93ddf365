/* What happens to zones: commands, their states, and the requests that wait for them. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_ZONE_ZONE_H
#define FTL_ZONE_ZONE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/zone.h"
#include "buffer/buffer.h"
#include "lt/arch.h"
#include "request/io.h"
#include "zone/budget.h"
#include "zone/move.h"
#include "zone/tables.h"
#include "zone/update.h"

/* Zone management: open, close, finish, reset, offline, and the all-zones forms. */

void zone_op_run(struct ftl_worker *self, struct ftl_request *req);
/* The zone's command has ended: its request, if any, completes. Zone lock held. */
void zone_op_end(struct zone *zone, uint16_t status);
/* Zone lock held, called by the pump: next step of the zone's running finish or reset. */
void zone_op_advance(struct ftl_worker *self, struct zone *zone);
/* At a controller reset: detach the requester; cancel the command if it has changed nothing yet, else let it finish. A reset that reads
 * the map keeps the request until the read has ended. True if there was a requester. Zone lock held. */
bool zone_op_detach(struct ftl_worker *self, struct zone *zone);
/* True if the request has come back to a reset that continues with it, even if it is cancelled. No lock held, the request's worker. */
bool zone_op_goes_on(struct ftl_worker *self, struct ftl_request *req);

struct arena;
struct zone;

/* Operations of conventional zones, and of the backing zones under them. A sequential zone of the host has none (NULL). Lock held unless
 * stated otherwise. */
struct zone_kind {
	/* Host's: the part of a read in it, `sectors` from the request's next one on. False: the request is parked. No lock held. */
	bool (*read)(struct ftl_worker *self, struct ftl_request *req, uint32_t sectors);
	/* Backing: `sectors` of req are in the buffer from `oob` on: make their OOB records and map them. */
	void (*land)(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint32_t sectors, struct hz_oob *oob);
	/* Backing: they have landed; req.done and zone.landed count them. */
	void (*landed)(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint32_t sectors);
	/* Backing: full or finished, durable, and its buffer is given away. */
	void (*sealed)(struct ftl_worker *self, struct zone *zone);
	/* Backing: it can be written no more. */
	void (*lost)(struct ftl_worker *self, struct zone *zone);
	/* … and now everything in flight has ended: volatile data in its buffer are about to be dropped. */
	void (*dropped)(struct ftl_worker *self, struct zone *zone);
};

/* At construction: all zones of the namespace, and the backing zones. */
void zones_init(struct ftl *ftl, struct arena *arena);

/* Lock held: has the zone's last record reached flash? Else it is kicked when it may have. */
static inline bool zone_table_settled(struct zone *zone) { return !zone->record.ticket || zone_table_reached(zone); }

/* For a FULL zone: true if it is still FULL after a power cut. Shared buffer memory keeps data back from their place. Lock held. */
static inline bool zone_drained(const struct zone *zone) { return zone->wp == (zone->ftl->space ? zone_durable(zone) : zone->placed); }

bool zone_is_open(uint8_t state);
bool zone_is_active(uint8_t state);
/* True if ZNS 1.1 figure "Zone State Machine" has this edge (or it is our recovery's). */
bool zone_edge_legal(uint8_t from, uint8_t to);
/* An illegal edge fails the run. The budget counts the change; backing zones have none. A zone that is not open is opened by budget_open
 * instead. Lock held. */
void zone_set_state(struct zone *zone, uint8_t state);

/* True if enum zone_condition has this edge. */
bool zone_can_become(enum zone_condition from, enum zone_condition to);

/* Changed zones: zones of the namespace changed by the device itself (to READ ONLY), until the host has been notified. */

struct ftl;

struct zone_changes {
	lt_word *map; /* bit = zone of the namespace */
};

void zone_changes_init(struct ftl *ftl, struct arena *arena);
/* The device has changed the zone's state. Any hart, any lock. Backing zones are no host's: no effect. */
void zone_changed(struct zone *zone);
/* ftl_changed_zones. Any hart, no lock. */
uint32_t zone_changes_take(struct ftl *ftl, uint64_t *start, uint32_t most, bool take);

/* Readers of a zone: requests that may have flash reads of it in flight. A reset and a move wait until there are none.
 *
 * They begin under the zone's lock and end without it, so that a read takes that lock once. A waiter marks the count of ended readers;
 * while it is marked, each reader that ends pumps the zone, under the lock. */

/* Of zone.readers_ended: a waiter; a reader. */
enum { READERS_AWAITED = 1, READERS_ONE = 2 };

/* Zone lock held. */
static inline void readers_begin(struct zone *zone, uint32_t count) { zone->readers_begun += count; }

/* Zone lock held. Are there none? If there are, the last one pumps the zone. */
static inline bool readers_gone(struct zone *zone)
{
	return lt_load(&zone->readers_ended) / READERS_ONE == zone->readers_begun ||
	       lt_or(&zone->readers_ended, READERS_AWAITED) / READERS_ONE == zone->readers_begun;
}

/* There is a waiter: pump the zone. No lock held. */
void readers_look(struct ftl_worker *self, struct zone *zone);

/* No lock held: one has ended. */
static inline void readers_end(struct ftl_worker *self, struct zone *zone)
{
	if (lt_add(&zone->readers_ended, READERS_ONE) & READERS_AWAITED)
		readers_look(self, zone);
}

/* Requests excluded by an operation of a zone: they are parked there, and go back to their workers afterwards. Zone lock held, unless
 * stated.
 *
 * Reads have no order: they all return at once. Writes, appends and zone commands keep their order of arrival: they return one by one,
 * each when the one before it has been accepted or refused, and later arrivals wait behind them. Otherwise a later write could reach its
 * worker first, miss the write pointer, and be refused for no fault of the host's. */

/* False: something excludes a write, an append or a zone command, or it is not its turn; it has been parked. */
bool zone_admits(struct zone *zone, struct ftl_request *req);
/* Parks it; in front if it had its turn and could not use it. */
void zone_park(struct zone *zone, struct ftl_request *req);
/* The zone accepts or refuses it now: it is the next one's turn. */
void zone_turn_ends(struct zone *zone, struct ftl_request *req);
/* The same for a request that ends without the zone. Lock not held. */
void zone_give_up_turn(struct zone *zone, struct ftl_request *req);
/* The excluding operation has ended. */
void zone_unpark(struct zone *zone);

/* The stages of a write. Each has a queue, and an event after which it continues; all but the third are here.
 *
 *     accept   accept.c       zone.parked         a request comes, or its turn
 *     land     land.c         zone.writers        a superblock, a buffer, room in the buffer or in the map's log
 *     program  buffer/unit.c  units of the ring   a unit is complete; or less than a unit must leave the buffer (buffer/staged.c)
 *     place    buffer/unit.c  units of the ring   a unit is programmed
 *     settle   settle.c       zone.durable        the sectors before the request's end are durable
 *
 * The pump (zone.c) starts every step that can start. Level-triggered: every change of its conditions ends in a call of zone_pump (lock
 * held) or zone_kick (any lock). Moves, folds, finishes and resets are operations on the zone, which it continues after the writes. Zone
 * lock held for all of these. */

/* --- land: a zone needs a fence against stale copies, a superblock, and a buffer before data can land or be programmed --- */

/* True if it has all; false: they have been requested, the zone is kicked when they come. */
bool zone_can_land(struct ftl_worker *self, struct zone *zone);
/* After a kick: take the granted resources. */
void zone_take_grants(struct ftl_worker *self, struct zone *zone);
/* A record with the fence needed against stale staged copies: that of this mount, or else the one before. */
struct zone_record zone_fenced_record(const struct zone *zone, enum zone_record_kind kind);
/* Accepted writes enter the zone's buffer in their order, as much as possible now; units completed by the last write are still to be
 * programmed. */
void zone_land(struct ftl_worker *self, struct zone *zone);
/* True if another zone waits for the buffer, and this is a fair moment to hand it over. */
bool zone_gives_way(const struct zone *zone);
/* Give the buffer away if that is due and all of it is durable. True: it has gone. */
bool zone_hand_over(struct ftl_worker *self, struct zone *zone);

/* --- program --- */

/* Nothing of the zone is on its way to flash. */
static inline bool zone_quiet(const struct zone *zone) { return !zone->move.under_way && buffer_quiet(zone); }
/* A reset is pending and no request needs durability: drop the buffer instead of programming it. */
static inline bool zone_throws_away(const struct zone *zone)
{
	return zone->op.code == FTL_ZONE_RESET && !zone->writers.head && !zone->durable.head;
}

/* --- settle --- */

/* The first of the writers has landed: complete it, or let it wait until it is durable. */
void zone_landed(struct zone *zone, struct ftl_request *req);
/* Complete requests up to the durable offset; a failed zone's waiters fail. */
void zone_settle(struct zone *zone);

/* --- no more writes --- */

/* The zone has failed (no superblock is available, or data cannot be moved): it becomes READ ONLY and its queued writes fail. Repeated
 * calls do the rest. */
void zone_end_writing(struct ftl_worker *self, struct zone *zone);
/* At a controller reset: release writes that have not landed. True if there were any. Zone lock held. */
bool zone_take_back(struct ftl_worker *self, struct zone *zone);

/* Mount: as soon as the harts run, move sectors that a power-loss dump left in SLC (zone.dumped) to their final place. */
void zones_place_dump(struct ftl *ftl, struct arena *arena);

#endif
