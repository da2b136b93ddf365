/* Read path: resolve, copy from buffers, fetch from flash. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "zone/read_write.h"

#include "buffer/buffer.h"
#include "buffer/staged.h"
#include "map/l2p.h"
#include "lt/arena.h"
#include "request/host_data.h"
#include "request/io.h"
#include "slc/slc.h"
#include "zone/zone.h"

static void reads_done(struct tsu_txn *txn);

void read_pool_init(struct ftl_worker *worker, struct arena *arena)
{
	struct read_pool *pool = arena_alloc(arena, 1, sizeof(*pool), "flash reads");

	worker->reads = pool;
	pool->read = arena_alloc(arena, READS_PER_WORKER, sizeof(*pool->read), "flash reads");
	for (uint32_t i = 0; i < READS_PER_WORKER; i++) {
		struct tsu_txn *txn = &pool->read[i].txn;

		*txn = (struct tsu_txn){
			.next = pool->free, .owner = &worker->thread, .done = reads_done, .op = TSU_READ, .cause = HZ_CAUSE_HOST
		};
		pool->free = txn;
	}
	pool->available = READS_PER_WORKER;
}

/* Must the request wait for a flash read, if it wants one? */
static bool pool_dry(const struct read_pool *pool, const struct ftl_request *req)
{
	return !pool->free || (pool->waiting.head && pool->turn != req);
}

/* Sectors from ppa on within one flash page, in address order: units begin with a page, or lie in one. */
static uint32_t page_run(const struct ftl *ftl, ppa_t ppa)
{
	uint32_t unit = slc_holds(ftl->map, ppa) ? min_u32(ftl->cfg->slc_program_sectors, ftl->page_sectors) : ftl->page_sectors;

	return unit - (ppa_offset(ftl->map, ppa) & (unit - 1));
}

uint32_t read_together(struct ftl *ftl, const ppa_t *ppa, uint32_t count)
{
	uint32_t most = count > 1 ? page_run(ftl, ppa[0]) : 1, run = 1;

	while (run < count && run < most && ppa[run] == ppa[0] + run)
		run++;
	return run;
}

static uint16_t take_sector(const struct tsu_txn *txn, uint32_t i, const uint8_t *sector)
{
	return answer_take(((const struct flash_read *)txn)->req, txn->data_at / HZ_SECTOR_BYTES + i, sector);
}

/* One flash read for the request's next `run` sectors, consecutive from ppa on; `pins` of them are pinned, in SLC. */
static inline __attribute__((always_inline)) void fetch_run(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, ppa_t ppa,
							    uint32_t run, uint32_t pins, struct tsu_txn **list)
{
	struct flash_read *read = (struct flash_read *)self->reads->free;
	bool backing = zone_is_backing(zone), looks = answer_looks(self->ftl, req), counted = self->ftl->cfg->refresh_reads;

	self->reads->free = read->txn.next;
	self->reads->available--;
	lt_tell_had(HZ_LOGICAL_READS);
	read->req = req;
	read->zone = backing ? zone : NULL;
	readers_begin(zone, backing);
	read->pins = pins;
	read->txn.next = *list;
	read->txn.stream = req->queue;
	read->txn.sectors = (uint16_t)run;
	read->txn.ppa = ppa;
	read->txn.data = answer_sgl(req);
	read->txn.data_at = io_of(req)->done * HZ_SECTOR_BYTES;
	read->txn.take = looks ? take_sector : NULL;
	read->txn.verdict = NVME_SUCCESS;
	*list = &read->txn;
	io_of(req)->pending++;
	io_of(req)->done += run;
	if (counted)
		refresh_counted(self, zone, ppa);
}

static void answer_now(struct ftl_worker *self, struct ftl_request *req, uint32_t sectors)
{
	answer_cross(self->ftl, req, clock_now_ns(), sectors);
	io_of(req)->done += sectors;
}

/* The sector is only in the register of a die, being programmed. */
static void read_in_register(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint32_t offset)
{
	buffer_copy_out(zone, req, offset, 1);
	self->counters.buffer_read_sectors++;
	answer_cross(self->ftl, req, clock_now_ns() + self->ftl->register_read_ns, 1);
	io_of(req)->done++;
}

static void read_buffered(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint32_t offset, uint32_t sectors)
{
	buffer_copy_out(zone, req, offset, sectors);
	self->counters.buffer_read_sectors += sectors;
	answer_now(self, req, sectors);
}

void read_unmapped(struct ftl_worker *self, struct ftl_request *req, uint32_t sectors)
{
	answer_zeros(self->ftl, req, io_of(req)->done, sectors);
	self->counters.unmapped_read_sectors += sectors;
	answer_now(self, req, sectors);
}

enum { LOOKUP_SECTORS = 32 };

/* Flash reads for ppa[0 … count), as long as there are transactions; returns how many sectors they cover. */
static uint32_t fetch_all(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, const ppa_t *ppa, uint32_t count,
			  bool pinned, struct tsu_txn **list)
{
	uint32_t at = 0;

	while (at < count && self->reads->free) {
		uint32_t run = read_together(self->ftl, &ppa[at], count - at);

		fetch_run(self, zone, req, ppa[at], run, pinned ? run : 0, list);
		at += run;
	}
	return at;
}

/* A backing zone has no map entries: its sectors lie at their offsets. */
static uint32_t find_placed(struct ftl_worker *self, struct ftl_request *req, const struct zone *zone, uint32_t offset, uint32_t count,
			    ppa_t *ppa)
{
	if (!zone_is_backing(zone))
		return l2p_read(self, req, zone, offset, count, ppa);
	for (uint32_t i = 0; i < count; i++)
		ppa[i] = zone_place(zone, offset + i);
	return count;
}

/* Sectors [offset, offset + count) at their place. */
static enum read_progress read_placed(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint32_t offset, uint32_t count,
				      struct tsu_txn **list)
{
	ppa_t ppa[LOOKUP_SECTORS];
	uint32_t part;

	for (; count; offset += part, count -= part) {
		if (pool_dry(self->reads, req)) /* before the look-up: entries of a fetched table page must be used at once */
			return READ_POOL_DRY;
		part = find_placed(self, req, zone, offset, count < LOOKUP_SECTORS ? count : LOOKUP_SECTORS, ppa);
		if (!part)
			return READ_MAP_FETCH;
		if (fetch_all(self, zone, req, ppa, part, false, list) < part)
			return READ_POOL_DRY;
	}
	return READ_THROUGH;
}

/* The same for one sector, the common case, with fewer registers. */
static __attribute__((noinline)) enum read_progress read_one_placed(struct ftl_worker *self, struct zone *zone, struct ftl_request *req,
								    uint32_t offset, struct tsu_txn **list)
{
	ppa_t ppa;

	if (pool_dry(self->reads, req))
		return READ_POOL_DRY;
	if (!find_placed(self, req, zone, offset, 1, &ppa))
		return READ_MAP_FETCH;
	fetch_run(self, zone, req, ppa, 1, 0, list);
	return READ_THROUGH;
}

/* Addresses of staged sectors, from the front; pinned unless they are lost. */
static uint32_t find_staged(struct ftl_worker *self, struct ftl_request *req, const struct zone *zone, uint32_t offset, uint32_t count,
			    ppa_t *ppa)
{
	uint32_t found = l2p_staged_read(self, req, zone, offset, count, ppa);

	for (uint32_t i = 0; i < found; i++)
		if (ppa[i] != L2P_UNMAPPED)
			slc_pin(self->ftl, ppa[i]);
	return found;
}

static uint32_t run_of_kind(const ppa_t *ppa, uint32_t count, bool lost)
{
	uint32_t run = 0;

	while (run < count && (ppa[run] == L2P_UNMAPPED) == lost)
		run++;
	return run;
}

static void unpin_all(struct ftl_worker *self, const ppa_t *ppa, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (ppa[i] != L2P_UNMAPPED)
			slc_unpin(self, ppa[i]);
}

/* Read the pinned sectors found; false: too few transactions. */
static bool fetch_staged(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, const ppa_t *ppa, uint32_t count,
			 struct tsu_txn **list)
{
	for (uint32_t at = 0; at < count;) {
		uint32_t lost = run_of_kind(&ppa[at], count - at, true), run, fetched;

		if (lost)
			answer_lost(req);
		io_of(req)->done += lost;
		at += lost;
		run = run_of_kind(&ppa[at], count - at, false);
		fetched = fetch_all(self, zone, req, &ppa[at], run, true, list);
		at += fetched;
		if (fetched < run) {
			unpin_all(self, &ppa[at], count - at);
			return false;
		}
	}
	return true;
}

/* Number of sectors from `offset` on that are in SLC. */
static uint32_t staged_run(const struct zone *zone, uint32_t offset, uint32_t most)
{
	uint32_t count = 0;

	while (count < most && staged_has(zone, offset + count))
		count++;
	return count;
}

/* Staged sectors [offset, offset + count): the first is in SLC; stops at the next one that is not. */
static enum read_progress read_staged(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint32_t offset, uint32_t count,
				      struct tsu_txn **list)
{
	ppa_t ppa[LOOKUP_SECTORS];
	uint32_t part;

	for (; count; offset += part, count -= part) {
		part = staged_run(zone, offset, count < LOOKUP_SECTORS ? count : LOOKUP_SECTORS);
		if (!part)
			return READ_THROUGH; /* the caller handles that sector next */
		if (pool_dry(self->reads, req))
			return READ_POOL_DRY;
		part = find_staged(self, req, zone, offset, part, ppa);
		if (!part)
			return READ_MAP_FETCH;
		if (!fetch_staged(self, zone, req, ppa, part, list))
			return READ_POOL_DRY;
	}
	return READ_THROUGH;
}

/* An acknowledged sector without a copy, since the zone failed or mount did not find it, is unreadable. */
static bool lost(const struct zone *zone, uint32_t offset)
{
	return zone->state == NVME_ZS_READ_ONLY && zone_failed(zone) && offset >= zone_on_flash(zone) && offset < zone->wp;
}

/* Sectors from here on are in the write buffer, if they have landed. */
static uint32_t buffered_from(const struct zone *zone) { return zone->buffer ? zone->resident : zone->landed; }

enum read_progress read_here(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint32_t at, uint32_t sectors,
			     struct tsu_txn **list)
{
	uint32_t end = io_of(req)->done + sectors, buffered = buffered_from(zone);
	enum read_progress progress = READ_THROUGH;

	while (progress == READ_THROUGH && io_of(req)->done < end) {
		uint32_t rest = end - io_of(req)->done, now = at + sectors - rest;

		if (lost(zone, now)) {
			answer_lost(req);
			io_of(req)->done++;
		} else if (now >= zone->landed) {
			read_unmapped(self, req, rest);
		} else if (now >= buffered) {
			read_buffered(self, zone, req, now, min_u32(rest, zone->landed - now));
		} else if (now < zone->placed) {
			progress = read_placed(self, zone, req, now, min_u32(rest, min_u32(zone->placed, buffered) - now), list);
		} else if (!staged_has(zone, now)) {
			read_in_register(self, zone, req, now);
		} else {
			progress = read_staged(self, zone, req, now, min_u32(rest, buffered - now), list);
		}
	}
	return progress;
}

/* The first of these sectors has been written in place, and maybe some behind it. */
static enum read_progress read_updated(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint32_t at, uint32_t sectors,
				       struct tsu_txn **list)
{
	ppa_t ppa[LOOKUP_SECTORS];
	uint32_t found;

	if (pool_dry(self->reads, req))
		return READ_POOL_DRY;
	found = updates_pin(self->ftl, zone->start + at, min_u32(sectors, LOOKUP_SECTORS), ppa);
	return fetch_staged(self, zone, req, ppa, found, list) ? READ_THROUGH : READ_POOL_DRY;
}

/* For a zone with updates: the updated sectors, and those between them. */
static __attribute__((noinline)) enum read_progress read_with_updates(struct ftl_worker *self, struct zone *zone, struct ftl_request *req,
								      uint32_t at, uint32_t sectors, struct tsu_txn **list)
{
	uint32_t end = io_of(req)->done + sectors;
	enum read_progress progress = READ_THROUGH;

	while (progress == READ_THROUGH && io_of(req)->done < end) {
		uint32_t rest = end - io_of(req)->done, now = at + sectors - rest;
		uint32_t gap = updates_gap(self->ftl, zone->start + now, rest);

		progress = gap ? read_here(self, zone, req, now, gap, list) : read_updated(self, zone, req, now, rest, list);
	}
	return progress;
}

/* The request's part in this zone; zone lock held. */
static enum read_progress read_zone(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, struct tsu_txn **list)
{
	uint32_t offset = (uint32_t)(req->lba + io_of(req)->done - zone->start);
	uint32_t sectors = min_u32(req->sectors - io_of(req)->done, (uint32_t)zone->ftl->shape.zone_size_sectors - offset);

	if (zone->updates.copies)
		return read_with_updates(self, zone, req, offset, sectors, list);
	if (offset + sectors <= zone->placed && offset + sectors <= buffered_from(zone)) /* as most are */
		return sectors == 1 ? read_one_placed(self, zone, req, offset, list) : read_placed(self, zone, req, offset, sectors, list);
	return read_here(self, zone, req, offset, sectors, list);
}

static void drop_reference(struct ftl_worker *self, struct ftl_request *req)
{
	struct zone *zone = io_of(req)->zone;

	if (!zone)
		return;
	io_of(req)->zone = NULL;
	readers_end(self, zone);
}

enum read_verdict { READ_GOES_ON, READ_NEEDS_TRANSACTIONS, READ_PARKED };

/* Zone lock held; the request refers to the zone. */
static enum read_verdict read_referred(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, struct tsu_txn **list)
{
	enum read_progress progress = read_zone(self, zone, req, list);

	if (progress == READ_POOL_DRY)
		return READ_NEEDS_TRANSACTIONS;
	if (progress == READ_THROUGH)
		return READ_GOES_ON;
	io_of(req)->queued = 1;
	return READ_PARKED;
}

static enum read_verdict read_some(struct ftl_worker *self, struct zone *zone, struct ftl_request *req)
{
	struct ftl_io *io = io_of(req);
	enum read_verdict verdict = READ_GOES_ON;
	struct tsu_txn *list = NULL;
	struct lt_lock_node node;

	lt_lock_acquire(&zone->lock, &node);
	if (io->zone != zone && (zone->op.code == FTL_ZONE_RESET || zone->move.old != SUPERBLOCK_NONE)) {
		io_wait(&zone->parked_reads, req, HZ_LOGICAL_ZONE, zone->index);
		verdict = READ_PARKED;
	} else if (zone->state == NVME_ZS_OFFLINE) {
		req->status = NVME_ZONE_OFFLINE;
		io->done = req->sectors;
	} else {
		lt_tell_had(HZ_LOGICAL_ZONE);
		readers_begin(zone, io->zone != zone);
		io->zone = zone;
		verdict = read_referred(self, zone, req, &list);
	}
	if (verdict == READ_GOES_ON)
		l2p_leave(self, req);
	lt_lock_release(&zone->lock, &node);
	if (list)
		tsu_submit_list(self->ftl->tsu, list);
	return verdict;
}

void read_wait(struct ftl_worker *self, struct ftl_request *req)
{
	io_of(req)->queued = 1;
	io_wait(&self->reads->waiting, req, HZ_LOGICAL_READS, (uint32_t)(self - self->ftl->workers));
}

/* Sectors of the request, from its next one on, in this zone. */
static uint32_t rest_in(const struct zone *zone, const struct ftl_request *req)
{
	uint32_t done = io_of((struct ftl_request *)req)->done;
	uint64_t rest = zone->start + zone->ftl->shape.zone_size_sectors - (req->lba + done);

	return rest < req->sectors - done ? (uint32_t)rest : req->sectors - done;
}

/* All its sectors are resolved, and no flash read is under way. */
static void read_end(struct ftl_worker *self, struct ftl_request *req)
{
	self->counters.host_read_sectors += host_sectors(req, req->sectors);
	drop_reference(self, req);
	io_complete(req, req->status);
}

/* A request over several zones refers to one zone at a time: its reads there end first. */
void read_run(struct ftl_worker *self, struct ftl_request *req)
{
	struct ftl_io *io = io_of(req);

	while (io->done < req->sectors) {
		struct zone *zone = zone_at(self->ftl, req->lba + io->done);
		enum read_verdict verdict;

		if (zone->kind) {
			if (!zone->kind->read(self, req, rest_in(zone, req)))
				return;
			continue;
		}
		if (io->zone && io->zone != zone) {
			if (io->pending)
				return;
			drop_reference(self, req);
		}
		verdict = read_some(self, zone, req);
		if (verdict == READ_NEEDS_TRANSACTIONS)
			read_wait(self, req);
		if (verdict != READ_GOES_ON)
			return;
	}
	if (!io->pending)
		read_end(self, req);
}

void read_cancel(struct ftl_worker *self, struct ftl_request *req)
{
	io_of(req)->queued = 0;
	if (io_of(req)->pending)
		return; /* reads_done comes back */
	l2p_leave(self, req);
	drop_reference(self, req);
	io_complete(req, NVME_ABORT_REQUESTED);
}

/* Its last flash read has ended, and nothing else will run it. */
static inline __attribute__((always_inline)) void read_go_on(struct ftl_worker *self, struct ftl_request *req)
{
	if (io_cancelled(self, req))
		read_cancel(self, req);
	else if (io_of(req)->done == req->sectors)
		read_end(self, req);
	else
		read_run(self, req);
}

/* noinline, as the next one: a single read without pins saves no registers. */
static __attribute__((noinline)) void unpin_read(struct ftl_worker *self, const struct flash_read *read)
{
	for (uint32_t i = 0; i < read->pins; i++)
		slc_unpin(self, read->txn.ppa);
}

/* The first waiter, if there are enough reads for it. */
static struct ftl_request *first_in_turn(struct read_pool *pool)
{
	const struct ftl_request *first = pool->waiting.head;

	if (!first || pool->available < min_u32(READ_BATCH, first->sectors - io_of((struct ftl_request *)first)->done))
		return NULL;
	return io_pop(&pool->waiting);
}

static __attribute__((noinline)) void run_waiting(struct ftl_worker *self)
{
	struct read_pool *pool = self->reads;
	struct ftl_request *next;

	while ((next = first_in_turn(pool))) {
		pool->turn = next;
		lt_logical_wait_ended(next);
		io_of(next)->queued = 0;
		lt_tell_request(HZ_VC_RUN, next);
		read_run(self, next);
		lt_tell_request(HZ_VC_LEFT, next);
		pool->turn = NULL;
	}
}

/* Inlined: a read whose page is good makes no call for the others' sake. */
static inline __attribute__((always_inline)) void resume(struct flash_read *read)
{
	const struct tsu_txn *txn = &read->txn;

	clock_freeze();
	lt_tell_flash_read(read->req, txn->start_ns, txn->cells_end_ns, txn->end_ns);
	clock_thaw();
	lt_tell_request(HZ_VC_RUN, read->req);
}

static inline __attribute__((always_inline)) void end(struct ftl_worker *self, struct flash_read *read)
{
	struct ftl_request *req = read->req;
	struct tsu_txn *txn = &read->txn;

	answer_cross(self->ftl, req, txn->end_ns, txn->sectors);
	txn->next = self->reads->free;
	self->reads->free = txn;
	self->reads->available++;
	if (--io_of(req)->pending == 0 && !io_of(req)->queued)
		read_go_on(self, req);
	lt_tell_request(HZ_VC_LEFT, req);
	if (self->reads->waiting.head)
		run_waiting(self);
}

static void answer(struct ftl_request *req, const struct tsu_txn *txn)
{
	if (txn->status == NAND_OK)
		answer_status(req, txn->verdict);
	else if (txn->status == NAND_MARKED)
		answer_marked(req);
	else
		answer_lost(req);
}

/* True if the read goes on with a rebuild. */
static __attribute__((noinline)) bool read_failed(struct ftl_worker *self, struct flash_read *read)
{
	if (self->rebuilds && read->txn.status != NAND_MARKED && rebuild_begin(self, read)) {
		lt_tell_request(HZ_VC_LEFT, read->req);
		return true;
	}
	answer(read->req, &read->txn);
	return false;
}

static void reads_done(struct tsu_txn *txn)
{
	struct flash_read *read = (struct flash_read *)txn;
	struct ftl_worker *self = worker_of(txn);

	if (txn->status == NAND_POWER_OFF)
		return;
	resume(read);
	if (read->pins)
		unpin_read(self, read);
	if (read->zone)
		readers_end(self, read->zone);
	if (txn->status == NAND_OK)
		answer_status(read->req, txn->verdict);
	else if (read_failed(self, read))
		return;
	end(self, read);
}

void flash_read_resume(struct flash_read *read) { resume(read); }

void flash_read_end(struct ftl_worker *self, struct flash_read *read)
{
	answer(read->req, &read->txn);
	end(self, read);
}
