/* Reads, writes and deallocations of conventional zones. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "conventional/conventional.h"
#include "map/l2p.h"
#include "places/places.h"
#include "places/trims.h"
#include "zone/read_write.h"
#include "zone/tables.h"
#include "zone/zone.h"

/* Reads of conventional zones: map → place → backing zone, and there like any read of a zone: write buffer, SLC or normal flash.
 *
 * Between the look-up and the backing zone's lock a place may go to another sector: collected, erased, written again. Nothing is pinned
 * against that. Under the lock the reverse map shows whether the place still holds the LBA; if not, the look-up is repeated. Each
 * failure needs a collection of the zone, so that ends. Once flash reads are under way, the zone's reader count keeps them from an
 * erase. */

/* A long read holds the lock of the map for this many lookups at a time: others get it in between. */
enum { LOOKUP_SECTORS = 32 };

/* Number of consecutive places at the front. */
static uint32_t run_of(const uint32_t *place, uint32_t count)
{
	uint32_t run = 1;

	while (run < count && place[run] == (place[0] == L2P_UNMAPPED ? L2P_UNMAPPED : place[0] + run))
		run++;
	return run;
}

/* Number of sectors at the front still at their places. Zone lock held. */
static uint32_t still_there(const struct zone *zone, uint32_t offset, uint64_t lba, uint32_t count)
{
	const uint32_t *reverse = &zone->places->lba[offset];
	uint32_t same = 0;

	if (zone->op.code == FTL_ZONE_RESET || offset + count > (zone_failed(zone) ? zone->wp : zone->landed))
		return 0; /* lost sectors of a failed zone */
	while (same < count && reverse[same] == (uint32_t)lba + same)
		same++;
	return same;
}

enum conv_verdict { CONV_GOES_ON, CONV_ASK_AGAIN, CONV_PARKED };

static enum conv_verdict read_places(struct ftl_worker *self, struct ftl_request *req, uint32_t place, uint32_t count)
{
	struct zone *zone = zone_of_place(self->ftl, place);
	uint32_t offset = place_offset(self->ftl, place), same;
	enum conv_verdict verdict = CONV_GOES_ON;
	struct tsu_txn *list = NULL;
	struct lt_lock_node node;
	bool waits, dry = false;

	count = min_u32(count, zone->capacity - offset); /* by number, the next zone's first place may follow its last */
	lt_lock_acquire(&zone->lock, &node);
	waits = zone->move.old != SUPERBLOCK_NONE;
	same = waits ? 0 : still_there(zone, offset, req->lba + io_of(req)->done, count);
	if (waits) {
		io_of(req)->queued = 1;
		io_wait(&zone->parked_reads, req, HZ_LOGICAL_ZONE, zone->index);
		verdict = CONV_PARKED;
	} else if (same) {
		lt_tell_had(HZ_LOGICAL_ZONE);
		dry = read_here(self, zone, req, offset, same, &list) != READ_THROUGH;
	} else {
		verdict = CONV_ASK_AGAIN;
	}
	lt_lock_release(&zone->lock, &node);
	if (list)
		tsu_submit_list(self->ftl->tsu, list);
	if (!dry)
		return verdict;
	read_wait(self, req);
	return CONV_PARKED;
}

static bool read_mapped(struct ftl_worker *self, struct ftl_request *req, uint32_t sectors)
{
	uint32_t place[LOOKUP_SECTORS], end = io_of(req)->done + sectors;

	while (io_of(req)->done < end) {
		uint32_t count = end - io_of(req)->done, from = io_of(req)->done, at = 0;
		enum conv_verdict verdict = CONV_GOES_ON;

		count = l2p_conv_read(self, req, req->lba + from, count < LOOKUP_SECTORS ? count : LOOKUP_SECTORS, place);
		if (!count) {
			io_of(req)->queued = 1;
			return false;
		}
		while (verdict == CONV_GOES_ON && (at = io_of(req)->done - from) < count) {
			uint32_t run = run_of(&place[at], count - at);

			if (place[at] == L2P_UNMAPPED)
				read_unmapped(self, req, run);
			else
				verdict = read_places(self, req, place[at], run);
		}
		if (verdict == CONV_PARKED)
			return false;
	}
	l2p_leave(self, req);
	return true;
}

bool conv_read(struct ftl_worker *self, struct ftl_request *req, uint32_t sectors)
{
	uint64_t lba = req->lba + io_of(req)->done, offset = lba - zone_at(self->ftl, lba)->start;
	uint32_t capacity = self->ftl->capacity;

	if (offset < capacity)
		return read_mapped(self, req, sectors < capacity - offset ? sectors : (uint32_t)(capacity - offset));
	read_unmapped(self, req, sectors);
	return true;
}

/* Writes to conventional zones: a request goes to the write frontier of its stream and worker, part by part if the backing zone there
 * fills up, and lands through the zone write path. Its sectors get their places, and the map changes, when data land.
 *
 * * Hot or cold: the backing zone of an LBA's present place dates its last write, in sectors of host writes. With uniform writes an LBA
 * is overwritten after as many sectors as the space has, on average; an LBA that lasted less than half of that is hot. A copy counts as
 * young as if the host had written it: that is wrong for a while, but finds the hot sectors among the copies. The first sector decides
 * for the whole request. LBAs without a map hint (l2p_conv_hint) are cold.
 * * Zeros of any number come in pieces, each at the end of the queue, so that no other write waits for all of them. */

struct frontier {
	enum place_stream stream;
	uint32_t number;
};

uint16_t conv_write_status(const struct ftl *ftl, const struct ftl_request *req)
{
	const struct hz_shape *shape = &ftl->shape;
	uint64_t offset;

	if (req->op == FTL_APPEND)
		return NVME_INVALID_FIELD;
	if (req->lba + req->sectors > ftl->conventional_end)
		return NVME_ZONE_BOUNDARY;
	if (shape->zone_size_sectors == shape->zone_capacity_sectors)
		return NVME_SUCCESS;
	offset = req->lba - zone_at(ftl, req->lba)->start;
	return offset + req->sectors > shape->zone_capacity_sectors ? NVME_ZONE_BOUNDARY : NVME_SUCCESS;
}

static enum place_stream choose_stream(struct ftl *ftl, struct ftl_request *req)
{
	struct conventional *conv = ftl->conventional;
	uint32_t place;
	uint64_t age;

	if (ftl->cfg->conventional_streams < 2)
		return req->placement ? placement_stream(ftl, req) : STREAM_COLD;
	place = l2p_conv_hint(ftl, req->lba + io_of(req)->done);
	if (place == L2P_UNMAPPED)
		return STREAM_COLD;
	age = lt_load(&conv->clock) - lt_load(&backing_of(zone_of_place(ftl, place))->born);
	return age < conv->hot_age ? STREAM_HOT : STREAM_COLD;
}

/* gc: the collector whose request it is, or NULL. */
static struct frontier choose_frontier(const struct ftl_worker *self, struct ftl_request *req, const struct conv_gc *gc)
{
	enum place_stream stream = gc ? STREAM_COLLECT : choose_stream(self->ftl, req);

	return (struct frontier){ stream, frontier_first(self->ftl->cfg, stream) + (gc ? gc->number : self->frontier) };
}

/* --- space --- */

/* Lock held. A collection opens the zone that it promised itself, or one that is promised to none. */
static bool may_open(const struct conventional *conv, const struct conv_gc *gc)
{
	if (!gc)
		return conv_free_for_host(conv);
	return gc->promised || lt_load(&conv->free) > lt_load(&conv->promised);
}

/* Lock held. */
static void frontier_open_zone(struct ftl *ftl, uint32_t frontier, struct conv_gc *gc)
{
	struct conventional *conv = ftl->conventional;
	uint32_t number = conv_take_erased(ftl);
	struct backing *info = &conv->backing[number];

	if (gc)
		conv_promise_ends(conv, gc);
	lt_store(&info->born, lt_load(&conv->clock));
	lt_store(&info->state, BACKING_OPEN);
	lt_store(&info->frontier, frontier);
	lt_store(&conv->current[frontier], number + 1);
}

/* The zone `seen` is full: the frontier moves to another. False: there is none; the request waits, a collector's fails. */
static bool frontier_advance(struct ftl_worker *self, struct frontier frontier, uint64_t seen, struct ftl_request *req, struct conv_gc *gc)
{
	struct conventional *conv = self->ftl->conventional;
	struct io_queue waiting = { NULL, NULL };
	struct lt_lock_node node;
	bool had = true;

	lt_lock_acquire(&conv->lock, &node);
	if (placement_waits(conv, frontier.number, req)) {
		had = false;
	} else if (lt_load(&conv->current[frontier.number]) == seen) {
		had = may_open(conv, gc);
		if (had) {
			frontier_open_zone(self->ftl, frontier.number, gc);
			waiting = conv_take_waiting(conv, frontier.number);
		} else if (!gc) {
			io_of(req)->since_ns = clock_now_ns();
			conv_wait(conv, frontier.number, req);
		}
	}
	lt_lock_release(&conv->lock, &node);
	io_resume_all(&waiting);
	conv_gc_kick(self);
	if (!had && gc)
		io_complete(req, NVME_WRITE_FAULT);
	return had;
}

/* --- appending --- */

/* Zone lock held. */
static void zone_accept(struct ftl_worker *self, struct zone *zone, struct frontier frontier, struct ftl_request *req)
{
	io_of(req)->first = io_of(req)->done;
	io_of(req)->end = min_u32(req->sectors, io_of(req)->done + IO_LONG);
	zone->stream = (uint8_t)frontier.stream;
	zone->frontier = (uint8_t)frontier.number;
	if (!zone_is_open(zone->state))
		zone_set_state(zone, NVME_ZS_IMPLICIT_OPEN);
	io_push(&zone->writers, req);
	zone_pump(self, zone);
}

/* False: the zone takes nothing more. */
static bool frontier_append(struct ftl_worker *self, struct frontier frontier, uint64_t current, struct ftl_request *req)
{
	struct lt_lock_node node;
	struct zone *zone;
	bool fits;

	if (!current)
		return false;
	zone = backing_zone(self->ftl, (uint32_t)current - 1);
	lt_lock_acquire(&zone->lock, &node);
	fits = lt_load(&backing_of(zone)->frontier) == frontier.number && zone->wp < zone->capacity && !zone_failed(zone);
	if (fits)
		zone_accept(self, zone, frontier, req);
	lt_lock_release(&zone->lock, &node);
	return fits;
}

static void note_stall(struct ftl_worker *self, struct ftl_io *io)
{
	if (!io->since_ns)
		return;
	self->counters.conventional_stalls++;
	self->counters.conventional_stall_ns += clock_now_ns() - io->since_ns;
	io->since_ns = 0;
}

void conv_write_run(struct ftl_worker *self, struct ftl_request *req)
{
	struct conventional *conv = self->ftl->conventional;
	struct conv_gc *gc = conv_gc_of(self->ftl, req);
	uint16_t status = gc ? NVME_SUCCESS : conv_write_status(self->ftl, req);
	bool waited = io_of(req)->since_ns;
	struct frontier frontier;
	uint64_t current;

	if (status) {
		io_complete(req, status);
		return;
	}
	if (req->flags & FTL_FREES) {
		io_become(self, req, FTL_DEALLOCATE);
		return;
	}
	note_stall(self, io_of(req));
	frontier = choose_frontier(self, req, gc);
	do
		current = lt_load(&conv->current[frontier.number]);
	while (!frontier_append(self, frontier, current, req) && frontier_advance(self, frontier, current, req, gc));
	if (waited)
		conv_retry(self->ftl); /* it may have gone to another stream's zone: then the erased one is for the next in line */
}

/* Deallocation: ranges leave the map in pieces, a few at a time so that other requests of the worker run in between. It is volatile like
 * a write until a flush saves the trims, or, with FTL_FUA, saves them before it ends. */

enum { PIECES = 16 /* at a time */ };

/* Without a list: deallocated zeros, and marked sectors that the data cache forgets, are one range. */
static bool is_one_range(const struct ftl_request *req) { return req->op != FTL_DEALLOCATE || req->flags & FTL_FREES; }

uint32_t conv_range_count(const struct ftl_request *req) { return is_one_range(req) ? 1 : req->sectors; }

struct nvme_dsm_range conv_range_at(const struct ftl_request *req, uint32_t index)
{
	struct nvme_dsm_range range = { .nlb = req->sectors, .slba = req->lba };

	if (is_one_range(req))
		return range;
	sgl_read(&req->sgl, index * (uint32_t)sizeof(range), &range, sizeof(range));
	return range;
}

bool conv_range_exists(const struct ftl *ftl, const struct ftl_request *req, const struct nvme_dsm_range *range)
{
	uint64_t end = namespace_end(ftl, req);

	return range->slba <= end && range->nlb <= end - range->slba;
}

bool conv_ranges_exist(const struct ftl *ftl, const struct ftl_request *req)
{
	for (uint32_t i = 0; i < conv_range_count(req); i++) {
		struct nvme_dsm_range range = conv_range_at(req, i);

		if (!conv_range_exists(ftl, req, &range))
			return false;
	}
	return true;
}

/* Number of sectors of [lba, lba + most) that the map takes at once; *hole: sectors that do not exist. */
static uint32_t piece_at(const struct ftl *ftl, uint64_t lba, uint64_t most, uint32_t *hole)
{
	uint64_t offset = lba - zone_at(ftl, lba)->start, piece = L2P_PIECE;

	*hole = 0;
	if (offset >= ftl->capacity) {
		*hole = (uint32_t)(ftl->shape.zone_size_sectors - offset);
		return 0;
	}
	piece = piece < ftl->capacity - offset ? piece : ftl->capacity - offset;
	return (uint32_t)(piece < most ? piece : most);
}

/* Deallocate a piece of the request's present range. Only conventional sectors are looked up. False: the request waits. */
static bool unmap_piece(struct ftl_worker *self, struct ftl_request *req)
{
	struct ftl *ftl = self->ftl;
	struct ftl_io *io = io_of(req);
	struct nvme_dsm_range range = conv_range_at(req, io->cursor);
	uint64_t lba = range.slba + io->done, end = range.slba + range.nlb;
	uint32_t hole, piece;

	end = end < ftl->conventional_end ? end : ftl->conventional_end;
	if (!conv_range_exists(ftl, req, &range) || lba >= end) {
		io->cursor++;
		io->done = 0;
		return true;
	}
	if (!l2p_conv_admits(self, req))
		return false;
	piece = piece_at(ftl, lba, end - lba, &hole);
	if (piece)
		self->counters.deallocated_sectors += l2p_conv_unmap(self, lba, piece);
	io->done += piece + hole;
	return true;
}

/* False: it waits, or goes on later. */
static bool unmap_all(struct ftl_worker *self, struct ftl_request *req)
{
	for (uint32_t i = 0; io_of(req)->cursor < conv_range_count(req); i++) {
		if (i == PIECES) {
			io_resume(req);
			return false;
		}
		if (l2p_lost(self->ftl)) {
			io_of(req)->step = FLUSH_FAILED;
			return true;
		}
		if (!unmap_piece(self, req))
			return false;
	}
	return true;
}

void conv_deallocate_run(struct ftl_worker *self, struct ftl_request *req)
{
	struct ftl_io *io = io_of(req);

	if (io->step == FLUSH_NEW) {
		if (!conv_ranges_exist(self->ftl, req)) {
			io_complete(req, NVME_LBA_OUT_OF_RANGE | NVME_DNR);
			return;
		}
		if (req->sectors && !(req->flags & FTL_FREES))
			req->ready_ns = link_transfer(&self->ftl->links->to_device, clock_now_ns(), req->sgl.bytes);
		io->step = FLUSH_WAITS;
	}
	if (io->step == FLUSH_WAITS && !unmap_all(self, req))
		return;
	if (io->step == FLUSH_WAITS && req->flags & FTL_FUA && trims_wait_saved(self, req))
		return;
	io_complete(req, io->step == FLUSH_FAILED ? NVME_WRITE_FAULT : NVME_SUCCESS);
}
