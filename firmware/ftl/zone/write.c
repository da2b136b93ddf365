/* Writes: admission and parking, superblock and buffer, landing. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "block/superblock.h"
#include "buffer/buffer.h"
#include "lt/logical.h"
#include "map/l2p.h"
#include "request/host_data.h"
#include "zone/read_write.h"
#include "zone/zone.h"
#include "zone/zone_internal.h"

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

/* Zone lock held, everything checked: the write owns its range from here on. */
static void write_accept(struct ftl_worker *self, struct zone *zone, struct ftl_request *req)
{
	struct ftl_io *io = io_of(req);

	if (zone_is_open(zone->state))
		budget_give_back(zone->ftl, io->budget);
	else
		zone_set_state(zone, NVME_ZS_IMPLICIT_OPEN, io->budget);
	io->budget = BUDGET_NONE;
	io->zone = zone;
	io->end = req->sectors;
	req->result = zone->start + zone->wp;
	zone->wp += req->sectors;
	if (zone->wp == zone->ftl->capacity)
		zone_set_state(zone, NVME_ZS_FULL, BUDGET_NONE);
	io_push(&zone->writers, req);
	self->counters.host_write_sectors += host_sectors(req, req->sectors);
	zone_pump(self, zone);
}

enum write_verdict { WRITE_ACCEPTED, WRITE_REFUSED, WRITE_PARKED, WRITE_LACKS_BUDGET };

static enum write_verdict write_try(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint16_t *status, uint8_t *need)
{
	struct lt_lock_node node;
	enum write_verdict verdict = WRITE_ACCEPTED;

	lt_lock_acquire(&zone->lock, &node);
	*status = zone_write_status(zone, req);
	*need = budget_need(zone->state);
	if (!zone_admits(zone, req)) {
		verdict = WRITE_PARKED;
	} else if (*status) {
		zone_turn_ends(zone, req);
		verdict = WRITE_REFUSED;
	} else if (*need & (uint8_t)~io_of(req)->budget) {
		verdict = WRITE_LACKS_BUDGET;
	} else {
		zone_turn_ends(zone, req); /* before the request may end */
		write_accept(self, zone, req);
	}
	lt_lock_release(&zone->lock, &node);
	return verdict;
}

static void write_rejected(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint16_t status)
{
	struct ftl_io *io = io_of(req);

	zone_give_up_turn(zone, req);
	budget_give_back(self->ftl, io->budget);
	io->budget = BUDGET_NONE;
	io_complete(req, status);
}

/* The write opens the zone, and retries with the reserved resources. noinline: a write to an open zone saves no registers. */
static __attribute__((noinline)) void write_opens(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint8_t need)
{
	uint16_t status = budget_for(self->ftl, req, need);
	bool retry = false;

	if (status == NVME_TOO_MANY_ACTIVE && budget_wait(self, zone, req, &retry))
		return;
	if (status && !retry)
		write_rejected(self, zone, req, status);
	else
		write_run(self, req);
}

void write_run(struct ftl_worker *self, struct ftl_request *req)
{
	struct zone *zone = zone_at(self->ftl, req->lba);
	enum write_verdict verdict;
	uint16_t status;
	uint8_t need;

	verdict = write_try(self, zone, req, &status, &need);
	if (verdict == WRITE_LACKS_BUDGET)
		write_opens(self, zone, req, need);
	else if (verdict == WRITE_REFUSED)
		write_rejected(self, zone, req, status);
}

/* Fence, superblock and buffer of a zone being written. */

/* noinline, here and for the fence: a zone with all its resources saves no registers. */
static __attribute__((noinline)) bool ask_for_superblock(struct ftl_worker *self, struct zone *zone)
{
	uint32_t *place = zone_part(zone);
	bool hopeless;

	if (zone->for_superblock.queued)
		return false;
	*place = superblock_take(zone, &hopeless);
	if (hopeless)
		zone_become(zone, ZONE_FAILED);
	superblocks_kick(self);
	return *place != SUPERBLOCK_NONE;
}

/* The superblock, or the patch, of the next program. */
static bool have_superblock(struct ftl_worker *self, struct zone *zone)
{
	return *zone_part(zone) != SUPERBLOCK_NONE || ask_for_superblock(self, zone);
}

struct zone_record zone_fenced_record(const struct zone *zone, enum zone_record_kind kind)
{
	const struct zone_record *present = &zone->ftl->table->record[zone->index];
	struct zone_record record = zone_table_record(zone, zone->generation, kind);

	record.fence_offset = zone->record.fence ? zone->record.wp_at_mount : present->fence_offset;
	record.fence_sequence = zone->record.fence ? zone->ftl->mount_sequence : present->fence_sequence;
	return record;
}

/* False: it stands once the record is durable, and the zone is kicked then. */
static __attribute__((noinline)) bool raise_fence(struct ftl_worker *self, struct zone *zone)
{
	struct zone_record record = zone_fenced_record(zone, ZONE_RECORD_OPEN);

	zone->record.fence = false;
	zone_table_commit(self, zone, &record);
	return false;
}

/* Stale staged copies beyond the write pointer must be dead for ever before new data take their place. */
static bool fence_stands(struct ftl_worker *self, struct zone *zone)
{
	if (!zone_table_settled(zone))
		return false;
	if (zone_table_lost(self->ftl)) {
		zone_become(zone, ZONE_FAILED);
		return false;
	}
	return !zone->record.fence || raise_fence(self, zone);
}

void zone_take_grants(struct ftl_worker *self, struct zone *zone)
{
	uint32_t superblock;

	buffer_granted(zone);
	superblock = zone->for_superblock.queued ? (uint32_t)lt_swap(&zone->for_superblock.granted, 0) : 0;
	if (!superblock)
		return;
	zone->for_superblock.queued = false;
	if (superblock == UINT32_MAX)
		zone_become(zone, ZONE_FAILED);
	else if (zone->move.under_way)
		relocate_zone(self, zone, superblock - 1);
	else
		*zone_part(zone) = superblock - 1;
}

/* A backing zone asks for the buffer first, so that zones of one write frontier get it in the order in which they were filled. */
bool zone_can_land(struct ftl_worker *self, struct zone *zone)
{
	if (zone_is_backing(zone))
		return buffer_take(self, zone) && fence_stands(self, zone) && have_superblock(self, zone);
	return fence_stands(self, zone) && have_superblock(self, zone) && buffer_take(self, zone);
}

/* Landing of accepted writes, and their end. */

/* As much of the request as there is room for; 0: none, until a program has ended. */
static uint32_t land_some(struct ftl_worker *self, struct zone *zone, struct ftl_request *req)
{
	uint32_t sectors = buffer_room(self, zone, req, io_of(req)->end - io_of(req)->done);
	uint64_t landed_ns = 0;
	struct hz_oob *oob;

	if (!sectors)
		return 0;
	oob = buffer_copy_in(zone, req, sectors);
	if (zone->kind)
		zone->kind->land(self, zone, req, sectors, oob);
	if (req->op != FTL_WRITE_ZEROES)
		landed_ns = answer_crossed(&self->ftl->links->to_device, req, clock_now_ns(), sectors);
	req->ready_ns = landed_ns > req->ready_ns ? landed_ns : req->ready_ns;
	buffer_landed(self, zone, sectors, landed_ns);
	return sectors;
}

/* Landed, and durable if it had to be. The rest of a request to conventional zones goes to another backing zone. */
static void part_done(struct ftl_request *req)
{
	if (io_of(req)->done < req->sectors)
		io_resume(req);
	else
		io_complete(req, NVME_SUCCESS);
}

static void landed_all(struct zone *zone, struct ftl_request *req)
{
	io_pop(&zone->writers);
	if (!(req->flags & FTL_FUA)) {
		part_done(req);
		return;
	}
	io_of(req)->target = zone->landed;
	if (zone_durable(zone) < io_of(req)->target)
		zone->flush_to = io_of(req)->target;
	io_push(&zone->durable, req);
}

/* A write that has begun in this zone is not split, unless it is long. */
static bool may_pause(const struct zone *zone, struct ftl_request *req)
{
	return io_of(req)->done == io_of(req)->first || (io_of(req)->done >= IO_LONG && buffer_used(zone) >= IO_LONG);
}

/* noinline: mostly there is no waiter. */
static __attribute__((noinline)) bool may_give_way(const struct zone *zone)
{
	struct ftl_request *next = zone->writers.head;

	if (zone->kind && zone->state == NVME_ZS_FULL)
		return false; /* the stream has left it: it must not stay partly filled behind the stream's next zone */
	return !next || (buffer_used(zone) && may_pause(zone, next));
}

bool zone_gives_way(const struct zone *zone) { return zone->buffer && !zone->op.code && buffer_wanted(zone) && may_give_way(zone); }

void zone_land(struct ftl_worker *self, struct zone *zone)
{
	struct ftl_request *req;

	while ((req = zone->writers.head) && !zone_failed(zone)) {
		uint32_t sectors;

		if (!zone_can_land(self, zone))
			return;
		if (zone_gives_way(zone) && buffer_refuse(self, zone))
			return;
		if (zone->kind && !l2p_room(self, zone))
			return; /* landing changes the map at once */
		sectors = land_some(self, zone, req);
		if (!sectors)
			return;
		io_of(req)->done += sectors;
		if (zone->kind)
			zone->kind->landed(self, zone, req, sectors);
		if (io_of(req)->done == io_of(req)->end)
			landed_all(zone, req);
		if (zone->writers.head)
			buffer_program(self, zone);
	}
}

/* All of it is on flash. noinline: the others save no registers. */
static __attribute__((noinline)) bool give_if_due(struct ftl_worker *self, struct zone *zone)
{
	if (!zone_quiet(zone))
		return false;
	if (zone->home > zone->placed)
		return false; /* it would take one again at once, to move or to program sectors from SLC */
	if (buffer_has_memory(zone) && !zone_gives_way(zone) && (zone->state != NVME_ZS_FULL || zone->writers.head))
		return false;
	buffer_give(self, zone);
	if (zone->kind && zone->state == NVME_ZS_FULL && zone->landed == zone->wp)
		zone->kind->sealed(self, zone);
	return true;
}

bool zone_hand_over(struct ftl_worker *self, struct zone *zone)
{
	if (!zone->buffer || zone_failed(zone))
		return false;
	if (banks_are_lent(self->ftl) && zone_gives_way(zone) && buffer_lend(self, zone))
		return true;
	return zone_on_flash(zone) == zone->landed && give_if_due(self, zone);
}

void zone_settle(struct zone *zone)
{
	struct io_queue waiting = zone->durable;
	struct ftl_request *req;

	zone->durable = (struct io_queue){ NULL, NULL };
	while ((req = io_pop(&waiting))) {
		if (!zone_failed(zone) && io_of(req)->target > flush_reached(req, zone)) {
			io_push(&zone->durable, req);
		} else if (req->op == FTL_FLUSH) {
			io_of(req)->step = zone_failed(zone) ? FLUSH_FAILED : FLUSH_WAITS;
			io_resume(req);
		} else if (zone_failed(zone)) {
			io_complete(req, NVME_WRITE_FAULT);
		} else {
			part_done(req);
		}
	}
}
