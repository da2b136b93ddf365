/* Zone management commands. Open and close act at once; finish, reset and offline are a few named steps, driven by zone_pump. */
#include "zone/zone_ops.h"

#include "abandon.h"
#include "base/context.h"
#include "rest.h"
#include "zone/write.h"

enum op_step { OP_DRAIN, OP_PAD, OP_PLACE, OP_RECORD, OP_ERASE };
enum verdict { DONE, RUNNING, LACKS_BUDGET };

/* --- single steps of the long commands --- */

static void op_end(struct zone *zone, uint16_t status)
{
	struct ftl_request *req = zone->op_request;
	struct io_queue parked = zone->parked;

	zone->op = 0;
	zone->op_request = NULL;
	zone->parked = (struct io_queue){ NULL, NULL };
	if (req && io_of(req)->all && !status) {
		io_of(req)->cursor++;
		io_resume(req);
	} else if (req) {
		io_complete(req, status);
	}
	io_resume_all(&parked);
}

static void record(struct ftl_worker *self, struct zone *zone, uint32_t generation, enum zone_record_state state)
{
	struct zone_record record = zone_table_record(zone, generation, state);

	record.finish = zone->wp;
	zone->op_step = OP_RECORD;
	zone->fence = false;
	zone_table_commit(self, zone, &record);
}

static bool finish_pad(struct ftl_worker *self, struct zone *zone)
{
	if (zone->landed == zone->placed)
		return true;
	if (!zone_can_land(self, zone))
		return false;
	if (units_partial(zone))
		zone_pad(self, zone);
	zone_kick(self, zone); /* to program it, or to move the zone first */
	return true;
}

/* True: another step may follow at once. */
static bool finish_step(struct ftl_worker *self, struct zone *zone)
{
	switch (zone->op_step) {
	case OP_DRAIN:
		if (zone->writers.head)
			return false;
		zone->op_step = OP_PAD;
		return true;
	case OP_PAD:
		if (!finish_pad(self, zone))
			return false;
		zone->op_step = OP_PLACE;
		return true;
	case OP_PLACE:
		if (zone->placed != zone->landed || !zone_quiet(zone))
			return false;
		record(self, zone, zone->generation, ZONE_RECORD_FINISHED);
		return true;
	default:
		if (!zone_table_settled(zone->ftl, zone))
			return false;
		zone_set_state(zone, NVME_ZS_FULL, BUDGET_NONE);
		self->counters.zone_finishes++;
		zone_discard_buffer(self, zone);
		op_end(zone, NVME_SUCCESS);
		return false;
	}
}

/* The record is on flash. Not earlier: the collector may erase what is unmapped, and until now a power cut would have brought it back. */
static void reset_contents(struct ftl_worker *self, struct zone *zone)
{
	zone_discard_buffer(self, zone);
	staged_drop(self, zone, zone->placed, zone->landed - zone->placed);
	if (!zone->backing)
		l2p_unmap(self, zone, zone->placed);
	zone->generation++;
	zone->wp = zone->landed = zone->placed = zone->staged = zone->staged_from = zone->resident = 0;
	zone->landed_slot = zone->flush_to = 0;
	zone->relocate = zone->failed = false;
	lt_store(&zone->erased, 0);
	zone->given_up = 0;
}

static void give_up(struct ftl_worker *self, struct zone *zone, uint32_t *place, bool *bad)
{
	uint32_t superblock = *place;

	*place = SUPERBLOCK_NONE;
	if (*bad) {
		superblock_retire(self, superblock);
	} else if (superblock != SUPERBLOCK_NONE) {
		zone->given_up++;
		superblock_release(self, superblock, zone);
	}
	*bad = false;
}

static void reset_superblock(struct ftl_worker *self, struct zone *zone)
{
	zone->op_step = OP_ERASE;
	give_up(self, zone, &zone->superblock, &zone->bad_superblock);
	give_up(self, zone, &zone->patch, &zone->bad_patch);
}

static bool reset_step(struct ftl_worker *self, struct zone *zone)
{
	switch (zone->op_step) {
	case OP_DRAIN:
		if (zone->writers.head || zone->durable.head || zone->readers || !zone_quiet(zone) ||
		    zone->old_superblock != SUPERBLOCK_NONE)
			return false;
		record(self, zone, zone->generation + 1, ZONE_RECORD_OPEN);
		return true;
	case OP_RECORD: /* a flush that came meanwhile may still have staged the buffered data */
		if (!zone_table_settled(zone->ftl, zone) || zone->durable.head || !zone_quiet(zone))
			return false;
		reset_contents(self, zone);
		reset_superblock(self, zone);
		return true;
	default:
		if (lt_load(&zone->erased) < zone->given_up)
			return false;
		if (zone->drains)
			budget_drained(self, zone);
		zone_set_state(zone, NVME_ZS_EMPTY, BUDGET_NONE);
		self->counters.zone_resets++;
		op_end(zone, NVME_SUCCESS);
		return false;
	}
}

static bool offline_step(struct ftl_worker *self, struct zone *zone)
{
	if (zone->op_step != OP_RECORD) {
		record(self, zone, zone->generation, ZONE_RECORD_OFFLINE);
		return true;
	}
	if (!zone_table_settled(zone->ftl, zone))
		return false;
	zone_set_state(zone, NVME_ZS_OFFLINE, BUDGET_NONE);
	op_end(zone, NVME_SUCCESS);
	return false;
}

void zone_op_advance(struct ftl_worker *self, struct zone *zone)
{
	bool more = true;

	while (more && zone->op) {
		if (zone->failed && zone->op == FTL_ZONE_FINISH) {
			op_end(zone, NVME_WRITE_FAULT);
			return;
		}
		switch (zone->op) {
		case FTL_ZONE_FINISH: more = finish_step(self, zone); break;
		case FTL_ZONE_RESET: more = reset_step(self, zone); break;
		default: more = offline_step(self, zone); break;
		}
	}
}

bool zone_op_detach(struct ftl_worker *self, struct zone *zone)
{
	struct ftl_request *req = zone->op_request;

	if (!req || !io_abandoned(self, req))
		return false;
	zone->op_request = NULL;
	io_resume(req);
	if (zone->op_step < OP_PLACE) {
		zone->op = 0;
		io_resume_all(&zone->parked);
	}
	return true;
}

/* --- start of a command --- */

static enum verdict op_begin(struct ftl_worker *self, struct zone *zone, struct ftl_request *req)
{
	zone->op = req->op;
	zone->op_step = OP_DRAIN;
	zone->op_request = req;
	io_of(req)->zone = zone;
	zone_pump(self, zone);
	return RUNNING;
}

static enum verdict open_zone(struct zone *zone, struct ftl_request *req, uint16_t *status)
{
	struct ftl_io *io = io_of(req);

	if (budget_need(zone->state) & (uint8_t)~io->budget)
		return LACKS_BUDGET;
	if (zone->state == NVME_ZS_EXPLICIT_OPEN)
		return DONE;
	if (!zone_edge_legal(zone->state, NVME_ZS_EXPLICIT_OPEN)) {
		*status = NVME_ZONE_INVALID_TRANSITION;
		return DONE;
	}
	zone_set_state(zone, NVME_ZS_EXPLICIT_OPEN, io->budget);
	io->budget = BUDGET_NONE;
	return DONE;
}

/* A closed zone stays active even if it was never written (ZNS 2.1.1.3.3), until the device is at rest (2.1.1.3). */
static uint16_t close_zone(struct zone *zone, const struct ftl_request *req)
{
	uint8_t state = (req->flags & FTL_AT_REST) && !zone->wp ? NVME_ZS_EMPTY : NVME_ZS_CLOSED;

	if (!zone_is_active(zone->state))
		return NVME_ZONE_INVALID_TRANSITION;
	if (zone->state != state)
		zone_set_state(zone, state, BUDGET_NONE);
	return NVME_SUCCESS;
}

/* The state in which the long command has nothing to do. */
static uint8_t goal_of(uint8_t op)
{
	if (op == FTL_ZONE_RESET)
		return NVME_ZS_EMPTY;
	return op == FTL_ZONE_FINISH ? NVME_ZS_FULL : NVME_ZS_OFFLINE;
}

static enum verdict long_command(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint16_t *status)
{
	uint8_t goal = goal_of(req->op);
	bool dead = zone->state == NVME_ZS_READ_ONLY || zone->state == NVME_ZS_OFFLINE;

	if (zone->state == goal)
		return DONE;
	if (dead != (req->op == FTL_ZONE_OFFLINE)) {
		*status = NVME_ZONE_INVALID_TRANSITION;
		return DONE;
	}
	return op_begin(self, zone, req);
}

/* Which zones an all-zones command acts on (ZNS 1.1, Zone Management Send, Select All). */
static bool selected(const struct ftl_request *req, uint8_t state)
{
	switch (req->op) {
	case FTL_ZONE_OPEN: return state == NVME_ZS_CLOSED;
	case FTL_ZONE_CLOSE: return req->flags & FTL_AT_REST ? zone_is_active(state) : zone_is_open(state);
	case FTL_ZONE_FINISH: return zone_is_active(state);
	case FTL_ZONE_RESET: return zone_is_active(state) || state == NVME_ZS_FULL;
	default: return state == NVME_ZS_READ_ONLY;
	}
}

static enum verdict op_try(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint16_t *status, uint8_t *need)
{
	struct lt_lock_node node;
	enum verdict verdict = DONE;

	lt_lock_acquire(&zone->lock, &node);
	*status = NVME_SUCCESS;
	*need = budget_need(zone->state);
	if (zone->op || zone->waits_budget) {
		io_push(&zone->parked, req);
		verdict = RUNNING;
	} else if (io_of(req)->all && !selected(req, zone->state)) {
		verdict = DONE;
	} else if (req->op == FTL_ZONE_OPEN) {
		verdict = open_zone(zone, req, status);
	} else if (req->op == FTL_ZONE_CLOSE) {
		*status = close_zone(zone, req);
	} else {
		verdict = long_command(self, zone, req, status);
	}
	lt_lock_release(&zone->lock, &node);
	return verdict;
}

/* Runs the command on one zone; RUNNING: it ends later. */
static enum verdict op_zone(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint16_t *status)
{
	enum verdict verdict;
	uint8_t need;

	while ((verdict = op_try(self, zone, req, status, &need)) == LACKS_BUDGET) {
		bool retry = false;

		*status = budget_for(self->ftl, req, need);
		if (*status == NVME_TOO_MANY_ACTIVE && budget_wait(zone, req, &retry))
			return RUNNING;
		if (*status && !retry)
			return DONE;
	}
	if (verdict == DONE) {
		budget_give_back(self->ftl, io_of(req)->budget);
		io_of(req)->budget = BUDGET_NONE;
	}
	return verdict;
}

/* Open all: refused as a whole if the closed zones do not fit. */
static uint16_t open_all_fits(struct ftl *ftl)
{
	struct lt_lock_node node;
	uint32_t closed = 0;
	uint16_t status;

	for (uint32_t i = ftl->shape.conventional_zones; i < ftl->zone_count; i++) {
		lt_lock_acquire(&ftl->zones[i].lock, &node);
		closed += ftl->zones[i].state == NVME_ZS_CLOSED;
		lt_lock_release(&ftl->zones[i].lock, &node);
	}
	lt_lock_acquire(&ftl->budget.lock, &node);
	status = closed > ftl->budget.max_open - ftl->budget.open ? NVME_TOO_MANY_OPEN : NVME_SUCCESS;
	lt_lock_release(&ftl->budget.lock, &node);
	return status;
}

static void all_zones(struct ftl_worker *self, struct ftl_request *req)
{
	struct ftl_io *io = io_of(req);
	uint16_t status = NVME_SUCCESS;

	if (!io->all && req->op == FTL_ZONE_OPEN)
		status = open_all_fits(self->ftl);
	if (!io->all)
		io->cursor = self->ftl->shape.conventional_zones;
	io->all = 1;
	for (; !status && io->cursor < self->ftl->zone_count; io->cursor++)
		if (op_zone(self, &self->ftl->zones[io->cursor], req, &status) == RUNNING)
			return;
	if (req->flags & FTL_AT_REST && !status)
		rest_begin(self, req);
	else
		io_complete(req, status);
}

void zone_op_run(struct ftl_worker *self, struct ftl_request *req)
{
	struct zone *zone;
	uint16_t status;

	if (req->flags & FTL_ALL_ZONES) {
		all_zones(self, req);
		return;
	}
	zone = zone_at(self->ftl, req->lba);
	if (req->lba != zone->start || page_space_holds(&self->ftl->page, req->lba))
		io_complete(req, NVME_INVALID_FIELD);
	else if (op_zone(self, zone, req, &status) == DONE)
		io_complete(req, status);
}
