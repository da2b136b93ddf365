/* The way of a write in place. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "zone/update_write.h"

#include "lt/arena.h"
#include "request/answer.h"
#include "request/life.h"
#include "request/protect.h"
#include "slc/slc.h"
#include "zone/park.h"
#include "zone/update_fold.h"
#include "zone/zone.h"

enum update_step { UPDATE_NEW, UPDATE_WRITES };
enum update_verdict { UPDATE_ACCEPTED, UPDATE_REFUSED, UPDATE_PARKED, UPDATE_ORDINARY };

/* --- admission --- */

static uint16_t update_status(const struct zone *zone, uint32_t end)
{
	if (zone->state == NVME_ZS_READ_ONLY)
		return NVME_ZONE_READ_ONLY;
	if (zone->state == NVME_ZS_OFFLINE)
		return NVME_ZONE_OFFLINE;
	return end <= zone->ext.wp ? NVME_SUCCESS : NVME_ZONE_INVALID_WRITE;
}

/* What is replaced comes to flash first: then the request is dispatched again. */
static void wait_for_base(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint32_t end)
{
	io_of(req)->target = end;
	if (zone->ext.flush_to < end)
		zone->ext.flush_to = end;
	io_push(&zone->durable, req);
	extent_pump(self, &zone->ext);
}

/* Zone lock held, in turn. */
static enum update_verdict update_admitted(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint16_t *status)
{
	uint32_t at = (uint32_t)(req->lba - zone->ext.start);

	if (at >= zone->ext.wp)
		return UPDATE_ORDINARY; /* which takes the turn along */
	zone_turn_ends(zone, req);
	*status = update_status(zone, at + req->sectors);
	if (*status)
		return UPDATE_REFUSED;
	if (extent_durable(&zone->ext) < at + req->sectors) {
		wait_for_base(self, zone, req, at + req->sectors);
		return UPDATE_PARKED;
	}
	if (!updates_promise(self->ftl, zone, req->lba, req->sectors)) {
		self->counters.in_place_refusals++;
		*status = NVME_HZ_IN_PLACE_BUDGET;
		return UPDATE_REFUSED;
	}
	zone->updates.writing++;
	io_of(req)->step = UPDATE_WRITES;
	return UPDATE_ACCEPTED;
}

static enum update_verdict update_try(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint16_t *status)
{
	enum update_verdict verdict = UPDATE_PARKED;
	struct lt_lock_node node;

	lt_lock_acquire(&zone->ext.lock, &node);
	if (zone_admits(zone, req))
		verdict = update_admitted(self, zone, req, status);
	lt_lock_release(&zone->ext.lock, &node);
	return verdict;
}

/* --- programs --- */

static void piece_programmed(struct slc_write *write);

static void piece_number(struct ftl *ftl, struct update_piece *piece)
{
	uint64_t sequence = sequence_take(ftl, piece->count);

	piece->folds = piece->zone->updates.folds;
	for (uint32_t i = 0; i < piece->count; i++)
		piece->write.oob[i].sequence = sequence + i;
}

static void piece_fill(struct ftl *ftl, struct update_piece *piece, uint32_t at)
{
	const struct ftl_request *req = piece->req;

	clock_freeze();
	for (uint32_t i = 0; i < ftl->cfg->slc_program_sectors; i++) {
		piece->write.oob[i] = (struct hz_oob){ .kind = HZ_OOB_PAD };
		if (i >= piece->count)
			continue;
		sgl_read(&req->sgl, (at + i) * HZ_SECTOR_BYTES, piece->write.memory[i], HZ_SECTOR_BYTES);
		if (ftl->cfg->protection != HZ_PROTECTION_NONE)
			protect_land(req, at + i, piece->write.memory[i]);
		piece->write.oob[i] =
			(struct hz_oob){ .lpa = piece->lba + i, .generation = piece->zone->ext.generation, .kind = HZ_OOB_UPDATE };
	}
	clock_thaw();
}

/* Zone lock held. */
static void update_piece_start(struct ftl_worker *self, struct zone *zone, struct ftl_request *req)
{
	struct update_piece *piece = self->updates->free;
	struct ftl_io *io = io_of(req);
	uint64_t landed_ns;

	self->updates->free = piece->next;
	piece->req = req;
	piece->zone = zone;
	piece->lba = (uint32_t)req->lba + io->done;
	piece->count = min_u32(req->sectors - io->done, self->ftl->cfg->slc_program_sectors);
	piece_fill(self->ftl, piece, io->done);
	piece_number(self->ftl, piece);
	landed_ns = answer_crossed(&self->ftl->links->to_device, req, clock_now_ns(), piece->count);
	req->ready_ns = landed_ns > req->ready_ns ? landed_ns : req->ready_ns;
	piece->write.txn.owner = &self->thread;
	piece->write.txn.not_before_ns = landed_ns;
	piece->write.stream = SLC_STAGE;
	piece->write.cause = HZ_CAUSE_SLC;
	piece->write.done = piece_programmed;
	io->done += piece->count;
	io->pending++;
	slc_write(self, &piece->write);
}

/* Zone lock held, or nobody else's business: what the request has under way is over. */
static void update_leave(struct ftl_worker *self, struct zone *zone)
{
	zone->updates.writing--;
	if (updates_scarce(self->ftl->updates))
		update_fold_wanted(self, zone);
	if (zone->op.code)
		extent_pump(self, &zone->ext);
}

static void update_end(struct ftl_worker *self, struct zone *zone, struct ftl_request *req)
{
	struct lt_lock_node node;

	lt_lock_acquire(&zone->ext.lock, &node);
	update_leave(self, zone);
	lt_lock_release(&zone->ext.lock, &node);
	self->counters.host_write_sectors += host_sectors(req, req->sectors);
	self->counters.in_place_sectors += req->sectors;
	io_complete(req, req->status);
}

static void update_go_on(struct ftl_worker *self, struct zone *zone, struct ftl_request *req)
{
	struct ftl_io *io = io_of(req);
	struct lt_lock_node node;

	lt_lock_acquire(&zone->ext.lock, &node);
	while (io->done < req->sectors && self->updates->free)
		update_piece_start(self, zone, req);
	lt_lock_release(&zone->ext.lock, &node);
	if (io->done < req->sectors) {
		io->queued = 1;
		io_push(&self->updates->waiting, req);
	} else if (!io->pending) {
		update_end(self, zone, req);
	}
}

void update_run(struct ftl_worker *self, struct ftl_request *req)
{
	struct zone *zone = zone_at(self->ftl, req->lba);
	enum update_verdict verdict = UPDATE_ACCEPTED;
	uint16_t status = NVME_SUCCESS;

	io_of(req)->queued = 0;
	if (is_conventional(self->ftl, req->lba))
		verdict = UPDATE_ORDINARY;
	else if (io_of(req)->step == UPDATE_NEW)
		verdict = update_try(self, zone, req, &status);
	switch (verdict) {
	case UPDATE_ACCEPTED: update_go_on(self, zone, req); break;
	case UPDATE_ORDINARY: io_become(self, req, FTL_WRITE); break;
	case UPDATE_REFUSED: io_complete(req, status); break;
	default: break;
	}
}

void update_abandon(struct ftl_worker *self, struct ftl_request *req)
{
	struct zone *zone = zone_at(self->ftl, req->lba);
	struct ftl_io *io = io_of(req);
	struct lt_lock_node node;

	io->queued = 0;
	if (io->pending)
		return; /* piece_programmed comes back */
	if (io->step == UPDATE_WRITES) {
		lt_lock_acquire(&zone->ext.lock, &node);
		updates_unpromise(self->ftl, zone, req->lba + io->done, req->sectors - io->done);
		update_leave(self, zone);
		lt_lock_release(&zone->ext.lock, &node);
	}
	io_complete(req, NVME_ABORT_REQUESTED);
}

/* Zone lock held. False: it is programmed once more, since a fold that began meanwhile has not taken it along. */
static bool piece_settle(struct ftl_worker *self, struct update_piece *piece)
{
	struct zone *zone = piece->zone;

	if (piece->write.ppa == PPA_NONE) {
		updates_unpromise(self->ftl, zone, piece->lba, piece->count);
		piece->req->status = NVME_WRITE_FAULT;
		return true;
	}
	if (piece->folds != zone->updates.folds) {
		piece_number(self->ftl, piece);
		slc_write(self, &piece->write);
		return false;
	}
	updates_put(self, zone, piece->lba, piece->count, piece->write.ppa, piece->write.oob[0].sequence);
	return true;
}

/* Its last program has ended, and nothing else will run it. */
static void update_returns(struct ftl_worker *self, struct zone *zone, struct ftl_request *req)
{
	if (io_abandoned(self, req))
		update_abandon(self, req);
	else
		update_end(self, zone, req);
}

static void piece_programmed(struct slc_write *write)
{
	struct update_piece *piece = (struct update_piece *)((char *)write - offsetof(struct update_piece, write));
	struct ftl_worker *self = worker_of(&write->txn);
	struct ftl_request *req = piece->req, *next;
	struct lt_lock_node node;
	bool settled;

	lt_lock_acquire(&piece->zone->ext.lock, &node);
	settled = piece_settle(self, piece);
	lt_lock_release(&piece->zone->ext.lock, &node);
	if (!settled)
		return;
	piece->next = self->updates->free;
	self->updates->free = piece;
	if (--io_of(req)->pending == 0 && !io_of(req)->queued)
		update_returns(self, piece->zone, req);
	next = io_pop(&self->updates->waiting);
	if (next)
		io_resume(next);
}

static void piece_init(struct ftl *ftl, struct arena *arena, struct update_piece *piece)
{
	uint32_t unit = ftl->cfg->slc_program_sectors, bytes = hz_sector_memory(ftl->cfg);
	uint8_t *data = arena_alloc_data(arena, unit, bytes, "data of writes in place");

	piece->write.memory = arena_alloc(arena, unit, sizeof(uint8_t *), "writes in place");
	piece->write.oob = arena_alloc(arena, unit, sizeof(struct hz_oob), "writes in place");
	for (uint32_t i = 0; i < unit; i++)
		piece->write.memory[i] = data + (size_t)i * bytes;
}

void update_pool_init(struct ftl_worker *worker, struct arena *arena)
{
	struct update_pool *pool = arena_alloc(arena, 1, sizeof(*pool), "writes in place");
	struct update_piece *piece;

	worker->updates = pool;
	if (!worker->ftl->updates->budget)
		return;
	piece = arena_alloc(arena, UPDATE_PIECES, sizeof(*piece), "writes in place");
	for (uint32_t i = 0; i < UPDATE_PIECES; i++) {
		piece_init(worker->ftl, arena, &piece[i]);
		piece[i].next = pool->free;
		pool->free = &piece[i];
	}
}
