/* Parked requests, and whose turn it is. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "zone/park.h"

#include "lt/logical.h"

static bool excluded(const struct zone *zone) { return zone->op.code || zone->budget.waits; }

void zone_park(struct zone *zone, struct ftl_request *req)
{
	if (!io_of(req)->has_turn) {
		io_wait(&zone->parked, req, HZ_LOGICAL_ZONE, zone->ext.index);
		return;
	}
	io_of(req)->has_turn = 0;
	zone->turn_taken = false;
	lt_logical_wait(HZ_LOGICAL_ZONE, zone->ext.index, req);
	io_push_front(&zone->parked, req);
}

/* A call, so that who is admitted need not save registers. */
static __attribute__((noinline)) bool not_admitted(struct zone *zone, struct ftl_request *req)
{
	zone_park(zone, req);
	return false;
}

bool zone_admits(struct zone *zone, struct ftl_request *req)
{
	bool in_turn = io_of(req)->has_turn || !(zone->turn_taken || zone->parked.head);

	if (in_turn && !excluded(zone)) {
		lt_tell_had(HZ_LOGICAL_ZONE);
		return true;
	}
	return not_admitted(zone, req);
}

static void next_turn(struct zone *zone)
{
	struct ftl_request *req = io_pop(&zone->parked);

	if (!req)
		return;
	io_of(req)->has_turn = 1;
	zone->turn_taken = true;
	io_resume(req);
}

void zone_turn_ends(struct zone *zone, struct ftl_request *req)
{
	if (!io_of(req)->has_turn)
		return;
	io_of(req)->has_turn = 0;
	zone->turn_taken = false;
	if (!excluded(zone))
		next_turn(zone);
}

void zone_give_up_turn(struct zone *zone, struct ftl_request *req)
{
	struct lt_lock_node node;

	if (!io_of(req)->has_turn)
		return;
	lt_lock_acquire(&zone->ext.lock, &node);
	zone_turn_ends(zone, req);
	lt_lock_release(&zone->ext.lock, &node);
}

void zone_unpark(struct zone *zone)
{
	io_resume_all(&zone->parked_reads);
	if (!zone->turn_taken)
		next_turn(zone);
}
