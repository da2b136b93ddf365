/* Zone management commands. Open and close act at once; finish, reset and offline are a few named steps, driven by the zone's pump. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "zone/zone.h"

#include "block/superblock.h"
#include "buffer/buffer.h"
#include "buffer/staged.h"
#include "map/l2p.h"
#include "request/io.h"
#include "zone/move.h"
#include "zone/update.h"
#include "zone/zrwa.h"

enum op_step { OP_DRAIN, OP_PAD, OP_PLACE, OP_RECORD, OP_UNSTAGE, OP_ERASE };
enum { UNSTAGE_LOOKUP = 32 /* sectors per look-up */ };
enum op_verdict { OP_DONE, OP_RUNNING, OP_NEEDS_ROOM };

/* --- single steps of the long commands --- */

void zone_op_end(struct zone *zone, uint16_t status)
{
	struct ftl_request *req = zone->op.request;

	zone->op.code = 0;
	zone->op.request = NULL;
	if (req && io_of(req)->all && !status) {
		io_of(req)->cursor++;
		io_resume(req);
	} else if (req) {
		io_complete(req, status);
	}
	zone_unpark(zone);
}

static void op_record(struct ftl_worker *self, struct zone *zone, uint32_t generation, enum zone_record_kind kind)
{
	struct zone_record record = zone_table_record(zone, generation, kind);

	record.finish = zone->wp;
	zone->op.step = OP_RECORD;
	zone->record.fence = false;
	zone_table_commit(self, zone, &record);
}

static bool finish_pad(struct ftl_worker *self, struct zone *zone)
{
	if (zone->landed == zone->placed)
		return true;
	if (!zone_can_land(self, zone))
		return false;
	if (buffer_partial(zone))
		buffer_pad(self, zone);
	zone->program_to = zone->landed;
	zone_kick(self, zone); /* to program it, or to move the zone first */
	return true;
}

/* True: another step may follow at once. */
static bool finish_step(struct ftl_worker *self, struct zone *zone)
{
	switch (zone->op.step) {
	case OP_DRAIN:
		if (zone->writers.head)
			return false;
		if (zone->state == NVME_ZS_FULL) { /* a backing zone, filled by its last writes */
			zone_op_end(zone, NVME_SUCCESS);
			return false;
		}
		zone->op.step = OP_PAD;
		return true;
	case OP_PAD:
		if (!finish_pad(self, zone))
			return false;
		zone->op.step = OP_PLACE;
		return true;
	case OP_PLACE:
		if (zone->placed != zone->landed || !zone_quiet(zone) || (self->ftl->cfg->rain && !parity_closed(self, zone)))
			return false;
		op_record(self, zone, zone->generation, ZONE_RECORD_FINISHED);
		return true;
	default:
		if (!zone_table_settled(zone))
			return false;
		zrwa_release(zone);
		zone_set_state(zone, NVME_ZS_FULL);
		self->counters.zone_finishes++;
		buffer_give(self, zone);
		if (zone->kind)
			zone->kind->sealed(self, zone);
		zone_op_end(zone, NVME_SUCCESS);
		update_fold_wanted(self, zone);
		if (self->ftl->cfg->rain && zone->bad_superblock) /* the parity of its last row has failed */
			refresh_rebuilt(self, zone);
		return false;
	}
}

/* The record is on flash. Not earlier: the collector may erase unmapped sectors, and until now a power cut would have brought them back.
 * Data only in the buffer are dropped; unknown addresses of staged sectors are in the map. */
static void reset_buffer(struct ftl_worker *self, struct zone *zone)
{
	uint32_t on_flash;

	zone->op.cursor = zone->op.end = zone->placed;
	if (zone->staged > zone->placed)
		zone->op.end = zone->buffer ? min_u32(zone->staged_before, zone->landed) : zone->staged;
	staged_drop(self, zone, zone->placed, zone->landed - zone->placed);
	buffer_give(self, zone);
	on_flash = zone->staged > zone->placed ? zone->staged : zone->placed;
	zone->landed_slot = zone_slot(zone, on_flash);
	zone->landed = zone->staged = on_flash;
	zone->staged_from = zone->placed; /* the partial unit is gone: for a flush, everything here is durable */
	zone_become(zone, ZONE_EMPTIED);
	zone->op.swept = 0;
	update_forget_begin(zone);
	zone->op.step = OP_UNSTAGE;
}

/* True: no staged sector is left. req: may wait for table pages of the map; NULL: RAM must do. */
static bool reset_unstage(struct ftl_worker *self, struct zone *zone, struct ftl_request *req)
{
	struct zone_op *op = &zone->op;
	ppa_t ppa[UNSTAGE_LOOKUP];

	while (op->cursor < op->end) {
		uint32_t found = l2p_staged_read(self, req, zone, op->cursor, min_u32(op->end - op->cursor, UNSTAGE_LOOKUP), ppa);

		if (!found)
			return false;
		slc_invalidate_own(self, ppa, found, (uint32_t)zone->start + op->cursor);
		op->cursor += found;
	}
	return true;
}

/* The reset is detached, so it has no request to wait for the map. Slow, and rare. */
static void reset_sweep(struct ftl_worker *self, struct zone *zone)
{
	uint32_t first = (uint32_t)zone->start;

	if (!slc_sweep(self, first, first + self->ftl->capacity - 1, &zone->op.swept))
		zone->op.cursor = zone->op.end;
	zone_kick(self, zone);
}

/* The same; if the map must be read, the request goes to its worker for that, and must not be touched before it comes back. */
static bool reset_unstaged(struct ftl_worker *self, struct zone *zone)
{
	struct zone_op *op = &zone->op;

	if (op->asked)
		return false;
	if (op->cursor >= op->end || (!op->swept && reset_unstage(self, zone, NULL)))
		return true;
	op->asked = op->request != NULL;
	if (op->request)
		io_resume(op->request);
	else
		reset_sweep(self, zone);
	return false;
}

static void reset_contents(struct ftl_worker *self, struct zone *zone)
{
	l2p_unmap(self, zone, zone->landed);
	zone->generation++;
	zone->wp = zone->landed = zone->placed = zone->staged = zone->staged_from = zone->resident = 0;
	zone->landed_slot = zone->flush_to = zone->program_to = zone->guarded = 0;
	zone->refresh.never = zone->row_closed = false;
	zone_become(zone, ZONE_SOUND);
	zone->updates.folded = 0;
	lt_store(&zone->erased, 0);
	zone->given_up = 0;
}

static void op_give_up(struct ftl_worker *self, struct zone *zone, uint32_t *place, bool *bad)
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
	zone->op.step = OP_ERASE;
	op_give_up(self, zone, &zone->superblock, &zone->bad_superblock);
	op_give_up(self, zone, &zone->patch, &zone->bad_patch);
}

/* Release a request kept by its reset after the controller's reset. */
static void release_cancelled(struct ftl_worker *self, struct zone *zone)
{
	struct ftl_request *req = zone->op.request;

	if (!req || !io_cancelled(self, req))
		return;
	zone->op.request = NULL;
	io_resume(req);
}

static bool reset_step(struct ftl_worker *self, struct zone *zone)
{
	switch (zone->op.step) {
	case OP_DRAIN:
		if (zone->writers.head || zone->durable.head || !readers_gone(zone) || zone->updates.writing || !zone_quiet(zone) ||
		    zone->move.old != SUPERBLOCK_NONE)
			return false;
		op_record(self, zone, zone->generation + 1, ZONE_RECORD_OPEN);
		return true;
	case OP_RECORD: /* a flush meanwhile may still have staged the buffered data */
		if (!zone_table_settled(zone) || zone->durable.head || !zone_quiet(zone))
			return false;
		reset_buffer(self, zone);
		return true;
	case OP_UNSTAGE:
		if (!reset_unstaged(self, zone) || !update_forget(self, zone))
			return false;
		reset_contents(self, zone);
		reset_superblock(self, zone);
		release_cancelled(self, zone);
		return true;
	default:
		if (lt_load(&zone->erased) < zone->given_up)
			return false;
		if (zone->budget.drains)
			budget_drained(self, zone);
		zrwa_release(zone);
		zone_set_state(zone, NVME_ZS_EMPTY);
		self->counters.zone_resets++;
		refresh_look(self);
		zone_op_end(zone, NVME_SUCCESS);
		return false;
	}
}

static bool offline_step(struct ftl_worker *self, struct zone *zone)
{
	if (zone->op.step != OP_RECORD) {
		op_record(self, zone, zone->generation, ZONE_RECORD_OFFLINE);
		update_forget_begin(zone);
		return true;
	}
	if (!zone_table_settled(zone) || zone->updates.writing || !update_forget(self, zone))
		return false;
	zrwa_release(zone);
	zone_set_state(zone, NVME_ZS_OFFLINE);
	zone_op_end(zone, NVME_SUCCESS);
	return false;
}

/* Finish and reset fail with their zone, which is READ ONLY then. All of them fail if the zone table can no longer be written. */
static bool op_fails(struct zone *zone)
{
	if (zone->op.code == FTL_ZONE_COMMIT)
		return false; /* it notices that itself */
	if (zone_failed(zone) && zone->op.code != FTL_ZONE_OFFLINE)
		return true;
	return zone->op.step == OP_RECORD && zone_table_settled(zone) && zone_table_lost(zone->ftl);
}

static bool op_step(struct ftl_worker *self, struct zone *zone)
{
	switch (zone->op.code) {
	case FTL_ZONE_FINISH: return finish_step(self, zone);
	case FTL_ZONE_RESET: return reset_step(self, zone);
	case FTL_ZONE_COMMIT: zrwa_commit_advance(self, zone); return false;
	default: return offline_step(self, zone);
	}
}

void zone_op_advance(struct ftl_worker *self, struct zone *zone)
{
	while (zone->op.code && !op_fails(zone) && op_step(self, zone))
		;
	if (zone->op.code && op_fails(zone)) {
		zone_op_end(zone, NVME_WRITE_FAULT);
		zone_kick(self, zone);
	}
}

bool zone_op_detach(struct ftl_worker *self, struct zone *zone)
{
	struct ftl_request *req = zone->op.request;

	if (!req || !io_cancelled(self, req) || zone->op.asked)
		return false;
	zone->op.request = NULL;
	io_resume(req);
	if (zone->op.step < OP_PLACE && zone->op.code != FTL_ZONE_COMMIT) {
		zone->op.code = 0;
		zone_unpark(zone);
	}
	return true;
}

bool zone_op_goes_on(struct ftl_worker *self, struct ftl_request *req)
{
	struct zone *zone = req->op == FTL_ZONE_RESET ? io_of(req)->zone : NULL;
	struct lt_lock_node node;
	bool mine, woken;

	if (!zone)
		return false;
	woken = io_of(req)->woken;
	lt_lock_acquire(&zone->lock, &node);
	mine = zone->op.request == req && zone->op.asked;
	if (mine) {
		io_of(req)->woken = 0;
		zone->op.asked = !reset_unstage(self, zone, req);
		if (!zone->op.asked)
			l2p_leave(self, req);
		zone_pump(self, zone);
	}
	lt_lock_release(&zone->lock, &node);
	if (mine && woken)
		l2p_fetches_wake(self);
	return mine;
}

/* --- start of a command --- */

static enum op_verdict op_begin(struct ftl_worker *self, struct zone *zone, struct ftl_request *req)
{
	zone->op.code = req->op;
	zone->op.step = OP_DRAIN;
	zone->op.request = req;
	if (req->op == FTL_ZONE_RESET) { /* operations under way end, no other begins */
		zone->program_to = 0;
		zone_dump_is_placed(zone);
	}
	io_of(req)->zone = zone;
	zone_pump(self, zone);
	return OP_RUNNING;
}

/* Only an EMPTY zone can get a window. */
static uint16_t open_with_window(struct zone *zone)
{
	if (zone->state != NVME_ZS_EMPTY)
		return NVME_INVALID_ZONE_OP;
	return zrwa_take(zone) ? NVME_SUCCESS : NVME_ZRWA_UNAVAILABLE;
}

static enum op_verdict op_open(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint16_t *status, struct zone **victim)
{
	enum budget_answer answer;

	if (req->flags & FTL_ZRWA && !zone->zrwa) {
		*status = open_with_window(zone);
		if (*status)
			return OP_DONE;
	}
	if (zone->state == NVME_ZS_EXPLICIT_OPEN)
		return OP_DONE;
	if (!zone_edge_legal(zone->state, NVME_ZS_EXPLICIT_OPEN)) {
		*status = NVME_ZONE_INVALID_TRANSITION;
		return OP_DONE;
	}
	answer = budget_open(self, zone, NVME_ZS_EXPLICIT_OPEN, victim);
	*status = budget_status(answer);
	if (answer != BUDGET_OPENED && zone->state == NVME_ZS_EMPTY)
		zrwa_release(zone);
	if (answer == BUDGET_NEEDS_ROOM)
		return OP_NEEDS_ROOM;
	if (answer != BUDGET_WAITS)
		return OP_DONE;
	zone_park(zone, req);
	return OP_RUNNING;
}

/* Flush Explicit ZRWA: lba is the last one to be committed. Like a write, it opens the zone. */
static enum op_verdict op_commit(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint16_t *status,
				 struct zone **victim)
{
	uint64_t last = req->lba - zone->start;
	enum budget_answer answer = BUDGET_OPENED;

	*status = zrwa_commit_status(zone, last);
	if (*status)
		return OP_DONE;
	if (!zone_is_open(zone->state))
		answer = budget_open(self, zone, NVME_ZS_IMPLICIT_OPEN, victim);
	*status = budget_status(answer);
	if (answer == BUDGET_NEEDS_ROOM)
		return OP_NEEDS_ROOM;
	if (*status)
		return OP_DONE;
	zone_turn_ends(zone, req);
	zrwa_commit(self, zone, (uint32_t)(last + 1 - zone->wp), req);
	return OP_RUNNING;
}

/* A closed zone stays active even if it was never written (ZNS 2.1.1.3.3), until a shutdown (2.1.1.3). */
static uint16_t op_close(struct zone *zone, const struct ftl_request *req)
{
	uint8_t state = (req->flags & FTL_CLEAN) && !zone->wp && !zone->updates.copies ? NVME_ZS_EMPTY : NVME_ZS_CLOSED;

	if (!zone_is_active(zone->state))
		return NVME_ZONE_INVALID_TRANSITION;
	if (state == NVME_ZS_EMPTY)
		zrwa_release(zone);
	if (zone->state != state)
		zone_set_state(zone, state);
	return NVME_SUCCESS;
}

/* The state in which the long command is a no-op. */
static uint8_t goal_of(uint8_t op)
{
	if (op == FTL_ZONE_RESET)
		return NVME_ZS_EMPTY;
	return op == FTL_ZONE_FINISH ? NVME_ZS_FULL : NVME_ZS_OFFLINE;
}

static enum op_verdict long_command(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint16_t *status)
{
	uint8_t goal = goal_of(req->op);
	bool dead = zone->state == NVME_ZS_READ_ONLY || zone->state == NVME_ZS_OFFLINE;

	if (zone->state == goal)
		return OP_DONE;
	if (dead != (req->op == FTL_ZONE_OFFLINE)) {
		*status = NVME_ZONE_INVALID_TRANSITION;
		return OP_DONE;
	}
	if (req->op == FTL_ZONE_FINISH && zone->zrwa && zrwa_commit_all(self, zone)) {
		zone_park(zone, req); /* nothing is left to be committed when it returns */
		return OP_RUNNING;
	}
	return op_begin(self, zone, req);
}

/* Zones affected by an all-zones command (ZNS 1.1, Zone Management Send, Select All). */
static bool selected(const struct ftl_request *req, uint8_t state)
{
	switch (req->op) {
	case FTL_ZONE_OPEN: return state == NVME_ZS_CLOSED;
	case FTL_ZONE_CLOSE: return req->flags & FTL_CLEAN ? zone_is_active(state) : zone_is_open(state);
	case FTL_ZONE_FINISH: return zone_is_active(state);
	case FTL_ZONE_RESET: return zone_is_active(state) || state == NVME_ZS_FULL;
	default: return state == NVME_ZS_READ_ONLY;
	}
}

/* Does an all-zones command pass over this zone? */
static bool passed_over(const struct zone *zone, struct ftl_request *req) { return io_of(req)->all && !selected(req, zone->state); }

static enum op_verdict op_admitted(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint16_t *status)
{
	zone_turn_ends(zone, req); /* before the request may end */
	if (passed_over(zone, req))
		return OP_DONE;
	if (req->op != FTL_ZONE_CLOSE)
		return long_command(self, zone, req, status);
	*status = op_close(zone, req);
	return OP_DONE;
}

/* The turn ends with the command: an opening that waits, or makes room, keeps it. */
static enum op_verdict op_opens(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint16_t *status, struct zone **victim)
{
	enum op_verdict verdict = OP_DONE;

	if (req->op == FTL_ZONE_COMMIT)
		verdict = op_commit(self, zone, req, status, victim);
	else if (!passed_over(zone, req))
		verdict = op_open(self, zone, req, status, victim);
	if (verdict == OP_DONE)
		zone_turn_ends(zone, req);
	return verdict;
}

static enum op_verdict op_try(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint16_t *status, struct zone **victim)
{
	struct lt_lock_node node;
	enum op_verdict verdict = OP_RUNNING;

	lt_lock_acquire(&zone->lock, &node);
	*status = NVME_SUCCESS;
	if (zone_admits(zone, req))
		verdict = req->op == FTL_ZONE_OPEN || req->op == FTL_ZONE_COMMIT ? op_opens(self, zone, req, status, victim)
										 : op_admitted(self, zone, req, status);
	lt_lock_release(&zone->lock, &node);
	return verdict;
}

/* Runs the command on one zone; OP_RUNNING: it ends later. */
static enum op_verdict op_zone(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint16_t *status)
{
	enum op_verdict verdict;
	struct zone *victim = NULL;

	while ((verdict = op_try(self, zone, req, status, &victim)) == OP_NEEDS_ROOM)
		budget_make_room(victim);
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
	lt_lock_acquire(&ftl->budget->lock, &node);
	status = closed > ftl->budget->max_open - ftl->budget->open ? NVME_TOO_MANY_OPEN : NVME_SUCCESS;
	lt_lock_release(&ftl->budget->lock, &node);
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
		if (op_zone(self, &self->ftl->zones[io->cursor], req, &status) == OP_RUNNING)
			return;
	if (req->flags & FTL_CLEAN && !status)
		io_become(self, req, FTL_MARK_CLEAN);
	else
		io_complete(req, status);
}

void zone_op_run(struct ftl_worker *self, struct ftl_request *req)
{
	struct zone *zone;
	uint16_t status;

	if (zone_op_goes_on(self, req))
		return;
	if (req->flags & FTL_ALL_ZONES) {
		all_zones(self, req);
		return;
	}
	zone = zone_at(self->ftl, req->lba);
	if ((req->lba != zone->start && req->op != FTL_ZONE_COMMIT) || is_conventional(self->ftl, req->lba))
		io_complete(req, NVME_INVALID_FIELD);
	else if (op_zone(self, zone, req, &status) == OP_DONE)
		io_complete(req, status);
}
