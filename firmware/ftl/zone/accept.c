/* The first stage of a write: it is accepted, in its turn, and owns its range of the zone from then on. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "lt/logical.h"
#include "zone/read_write.h"
#include "zone/zone.h"
#include "zone/zrwa.h"

/* Parked requests, and their turns. */

static bool excluded(const struct zone *zone) { return zone->op.code || zone->budget.waits; }

void zone_park(struct zone *zone, struct ftl_request *req)
{
	if (!io_of(req)->has_turn) {
		io_wait(&zone->parked, req, HZ_LOGICAL_ZONE, zone->index);
		return;
	}
	io_of(req)->has_turn = 0;
	zone->turn_taken = false;
	lt_logical_wait(HZ_LOGICAL_ZONE, zone->index, req);
	io_push_front(&zone->parked, req);
}

/* noinline: admitted requests save no registers. */
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
	lt_lock_acquire(&zone->lock, &node);
	zone_turn_ends(zone, req);
	lt_lock_release(&zone->lock, &node);
}

void zone_unpark(struct zone *zone)
{
	io_resume_all(&zone->parked_reads);
	if (!zone->turn_taken)
		next_turn(zone);
}

/* Admission of writes. */

static uint16_t state_status(const struct zone *zone)
{
	switch (zone->state) {
	case NVME_ZS_FULL: return NVME_ZONE_FULL;
	case NVME_ZS_READ_ONLY: return NVME_ZONE_READ_ONLY;
	case NVME_ZS_OFFLINE: return NVME_ZONE_OFFLINE;
	default: return NVME_SUCCESS;
	}
}

static uint16_t zone_write_status(const struct zone *zone, const struct ftl_request *req)
{
	uint64_t capacity = zone->ftl->capacity;
	uint64_t at = req->op == FTL_APPEND ? zone->wp : req->lba - zone->start;
	uint16_t status = state_status(zone);

	if (req->op == FTL_APPEND && req->lba != zone->start)
		return NVME_INVALID_FIELD;
	if (status)
		return status;
	if (at + req->sectors > capacity)
		return NVME_ZONE_BOUNDARY;
	return at == zone->wp ? NVME_SUCCESS : NVME_ZONE_INVALID_WRITE;
}

/* Zone lock held, everything checked, the zone open: the write owns its range from here on. */
static inline __attribute__((always_inline)) void write_accept(struct ftl_worker *self, struct zone *zone, struct ftl_request *req)
{
	struct ftl_io *io = io_of(req);

	io->zone = zone;
	io->end = req->sectors;
	req->result = zone->start + zone->wp;
	zone->wp += req->sectors;
	if (zone->wp == zone->ftl->capacity)
		zone_set_state(zone, NVME_ZS_FULL);
	io_push(&zone->writers, req);
	self->counters.host_write_sectors += host_sectors(req, req->sectors);
	zone_pump(self, zone);
}

void write_commit(struct ftl_worker *self, struct zone *zone, struct ftl_request *req) { write_accept(self, zone, req); }

/* noinline: a write to an open zone saves no registers. */
__attribute__((noinline)) enum write_verdict write_opens(struct ftl_worker *self, struct zone *zone, struct ftl_request *req,
							 uint16_t *status, struct zone **victim)
{
	enum budget_answer answer = budget_open(self, zone, NVME_ZS_IMPLICIT_OPEN, victim);

	*status = budget_status(answer);
	if (*status)
		zone_turn_ends(zone, req);
	else if (answer == BUDGET_WAITS)
		zone_park(zone, req);
	switch (answer) {
	case BUDGET_OPENED: return WRITE_ACCEPTED;
	case BUDGET_WAITS: return WRITE_PARKED;
	case BUDGET_NEEDS_ROOM: return WRITE_NEEDS_ROOM;
	default: return WRITE_REFUSED;
	}
}

static enum write_verdict write_try(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint16_t *status,
				    struct zone **victim)
{
	struct lt_lock_node node;
	enum write_verdict verdict = WRITE_ACCEPTED;

	lt_lock_acquire(&zone->lock, &node);
	*status = zone_write_status(zone, req);
	if (zone->zrwa) {
		verdict = WRITE_IN_WINDOW;
	} else if (!zone_admits(zone, req)) {
		verdict = WRITE_PARKED;
	} else if (*status) {
		zone_turn_ends(zone, req);
		verdict = WRITE_REFUSED;
	} else if (!zone_is_open(zone->state)) {
		verdict = write_opens(self, zone, req, status, victim);
	}
	if (verdict == WRITE_ACCEPTED) {
		zone_turn_ends(zone, req); /* before the request may end */
		write_accept(self, zone, req);
	}
	lt_lock_release(&zone->lock, &node);
	return verdict;
}

void write_run(struct ftl_worker *self, struct ftl_request *req)
{
	struct zone *zone = zone_at(self->ftl, req->lba), *victim = NULL;
	enum write_verdict verdict;
	uint16_t status;

	while ((verdict = write_try(self, zone, req, &status, &victim)) == WRITE_NEEDS_ROOM)
		budget_make_room(victim);
	if (verdict == WRITE_REFUSED)
		io_complete(req, status);
	else if (verdict == WRITE_IN_WINDOW)
		zrwa_write_run(self, req);
}
