/* Reads and writes through the data cache. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "cache/cache_internal.h"
#include "conventional/conventional.h"
#include "lt/bulk.h"
#include "request/host_data.h"

/* Reads through the data cache. */

enum piece_verdict { PIECE_ANSWERED, PIECE_FILLS, PIECE_WAITS, PIECE_PASSES };

struct read_step {
	struct cache_piece piece;
	struct cache_line *line;
	struct cache_transfer *fills, *evicts;
	bool made;
};

/* Data stay in place while they are copied. Shard lock held. */
static void answer_hit(struct ftl_worker *self, struct cache_shard *shard, struct ftl_request *req, const struct read_step *step)
{
	const struct cache_piece *piece = &step->piece;
	uint64_t at_ns = clock_now_ns();

	for (uint32_t i = 0; i < piece->sectors; i++)
		answer_sector(req, io_of(req)->done + i, line_sector(step->line, piece->first + i));
	answer_cross(self->ftl, req, step->line->arrived_ns > at_ns ? step->line->arrived_ns : at_ns, piece->sectors);
	line_touch(self->ftl, shard, step->line);
	self->counters.host_read_sectors += host_sectors(req, piece->sectors);
	self->counters.cache_read_hits++;
}

/* Shard lock held: the line lacks some of the piece. */
static enum piece_verdict fill(struct ftl_worker *self, struct cache_shard *shard, struct ftl_request *req, struct read_step *step)
{
	struct data_cache *cache = self->ftl->data_cache;
	bool partial = step->line->valid & piece_mask(&step->piece);

	if (line_is_busy(step->line)) {
		line_wait(cache, shard, step->line, req);
		return PIECE_WAITS;
	}
	if (!self->transfers->free) {
		transfer_wait(self, req);
		return PIECE_WAITS;
	}
	if (!step->made)
		line_touch(self->ftl, shard, step->line);
	step->fills = transfer_take(self);
	line_begin(shard, step->line, LINE_FILLING, true);
	self->counters.cache_read_partial += partial;
	self->counters.cache_read_misses += !partial;
	return PIECE_FILLS;
}

/* Shard lock held. */
static enum piece_verdict read_locked(struct ftl_worker *self, struct cache_shard *shard, struct ftl_request *req, struct read_step *step)
{
	switch (line_for(self, shard, req, step->piece.number, &step->line, &step->evicts)) {
	case LINE_WAITS: return PIECE_WAITS;
	case LINE_CANNOT_BE: return PIECE_PASSES;
	case LINE_MADE: step->made = true; break;
	default: break;
	}
	lt_tell_had(HZ_LOGICAL_CACHE);
	if (piece_mask(&step->piece) & ~step->line->valid)
		return fill(self, shard, req, step);
	answer_hit(self, shard, req, step);
	return PIECE_ANSWERED;
}

/* False: the request is parked. */
static bool read_past(struct ftl_worker *self, struct ftl_request *req, uint32_t sectors)
{
	if (!self->transfers->free) {
		transfer_wait(self, req);
		return false;
	}
	transfer_read_past(transfer_take(self), req, io_of(req)->done, sectors);
	io_of(req)->done += sectors;
	return true;
}

static bool read_piece(struct ftl_worker *self, struct ftl_request *req)
{
	struct data_cache *cache = self->ftl->data_cache;
	struct read_step step = { .piece = cache_piece_at(cache, req, self->ftl->conventional_end) };
	struct cache_shard *shard = cache_shard_of(cache, step.piece.number);
	uint32_t index = io_of(req)->done;
	enum piece_verdict verdict;
	struct ftl_request *next;
	struct lt_lock_node node;

	lt_lock_acquire(&shard->lock, &node);
	verdict = read_locked(self, shard, req, &step);
	next = lines_wake(shard, req);
	lt_lock_release(&shard->lock, &node);
	if (step.evicts)
		transfer_write_back(step.evicts, 0);
	if (next)
		io_resume(next);
	if (verdict == PIECE_WAITS)
		return false;
	if (verdict == PIECE_PASSES)
		return read_past(self, req, step.piece.sectors);
	if (verdict == PIECE_FILLS)
		transfer_fill(step.fills, step.line, req, &step.piece, index);
	io_of(req)->done += step.piece.sectors;
	return true;
}

/* Sectors behind the conventional ones are not cached. */
void cached_read_run(struct ftl_worker *self, struct ftl_request *req)
{
	bool more = true;

	while (more && io_of(req)->done < req->sectors)
		more = is_conventional(self->ftl, req->lba + io_of(req)->done) ? read_piece(self, req)
									       : read_past(self, req, req->sectors - io_of(req)->done);
	if (more)
		cached_end(self, req);
}

/* Writes into the data cache. */

struct write_step {
	struct cache_piece piece;
	struct cache_line *line;
	struct cache_transfer *evicts, *writes; /* the victim; a write-through or background write */
	bool made;
};

static bool goes_through(const struct ftl *ftl, const struct ftl_request *req)
{
	return req->flags & FTL_FUA || ftl->cfg->data_cache_write_back == HZ_OFF;
}

static void copy_in(struct ftl_worker *self, struct ftl_request *req, const struct cache_piece *piece, struct cache_line *line)
{
	uint8_t *to = line_sector(line, piece->first);
	uint32_t bytes = piece->sectors * HZ_SECTOR_BYTES;
	uint64_t arrived_ns = 0;

	if (req->op == FTL_WRITE_ZEROES) {
		clock_freeze();
		bulk_fill(to, 0, bytes);
		clock_thaw();
	} else {
		sgl_read(&req->sgl, io_of(req)->done * HZ_SECTOR_BYTES, to, bytes);
		arrived_ns = answer_crossed(&self->ftl->links->to_device, req, clock_now_ns(), piece->sectors);
	}
	if (arrived_ns > line->arrived_ns)
		line->arrived_ns = arrived_ns;
	if (arrived_ns > req->ready_ns)
		req->ready_ns = arrived_ns;
}

/* With too many dirty lines, write back the oldest one. Shard lock held. */
static void write_in_background(struct ftl_worker *self, struct cache_shard *shard, struct write_step *step)
{
	struct cache_line *oldest = shard->dirty.oldest;

	if (shard->dirty_lines <= self->ftl->data_cache->dirty_most || line_is_busy(oldest) || !self->transfers->free)
		return;
	step->writes = transfer_take(self);
	transfer_line(shard, step->writes, oldest, NULL, true);
	self->counters.cache_background++;
}

/* Shard lock held; the line is not busy. */
static void land_in(struct ftl_worker *self, struct cache_shard *shard, struct ftl_request *req, struct write_step *step)
{
	copy_in(self, req, &step->piece, step->line);
	if (!step->made)
		line_touch(self->ftl, shard, step->line);
	line_soil(self->ftl->data_cache, shard, step->line, piece_mask(&step->piece));
	self->counters.host_write_sectors += host_sectors(req, step->piece.sectors);
	self->counters.cache_write_hits += !step->made;
	self->counters.cache_write_misses += step->made;
	if (!goes_through(self->ftl, req)) {
		write_in_background(self, shard, step);
		return;
	}
	step->writes = transfer_take(self);
	transfer_line(shard, step->writes, step->line, req, false);
	self->counters.cache_through++;
}

/* Shard lock held. */
static enum line_verdict write_locked(struct ftl_worker *self, struct cache_shard *shard, struct ftl_request *req, struct write_step *step)
{
	enum line_verdict verdict;

	if (goes_through(self->ftl, req) && !self->transfers->free) {
		transfer_wait(self, req);
		return LINE_WAITS;
	}
	verdict = line_for(self, shard, req, step->piece.number, &step->line, &step->evicts);
	if (verdict == LINE_WAITS || verdict == LINE_CANNOT_BE)
		return verdict;
	if (line_is_busy(step->line)) {
		line_wait(self->ftl->data_cache, shard, step->line, req);
		return LINE_WAITS;
	}
	lt_tell_had(HZ_LOGICAL_CACHE);
	step->made = verdict == LINE_MADE;
	land_in(self, shard, req, step);
	return verdict;
}

static enum line_verdict write_piece(struct ftl_worker *self, struct ftl_request *req)
{
	struct data_cache *cache = self->ftl->data_cache;
	struct write_step step = { .piece = cache_piece_at(cache, req, self->ftl->conventional_end) };
	struct cache_shard *shard = cache_shard_of(cache, step.piece.number);
	enum line_verdict verdict;
	struct ftl_request *next;
	struct lt_lock_node node;

	lt_lock_acquire(&shard->lock, &node);
	verdict = write_locked(self, shard, req, &step);
	next = lines_wake(shard, req);
	lt_lock_release(&shard->lock, &node);
	if (verdict == LINE_FOUND || verdict == LINE_MADE)
		io_of(req)->done += step.piece.sectors;
	if (step.evicts)
		transfer_write_back(step.evicts, 0);
	if (step.writes)
		transfer_write_back(step.writes, step.writes->host ? req->flags & FTL_FUA : 0);
	if (next)
		io_resume(next);
	return verdict;
}

/* Nothing more of it can land: the landed part is in the cache, or on its way. */
static void cached_write_refused(struct ftl_worker *self, struct ftl_request *req, uint16_t status)
{
	answer_status(req, status);
	io_of(req)->done = req->sectors;
	cached_end(self, req);
}

void cached_write_run(struct ftl_worker *self, struct ftl_request *req)
{
	uint16_t status = io_of(req)->done ? NVME_SUCCESS : conv_write_status(self->ftl, req);
	enum line_verdict verdict = LINE_FOUND;
	uint32_t landed = 0, before = io_of(req)->done;

	if (status) {
		cached_write_refused(self, req, status);
		return;
	}
	while (io_of(req)->done < req->sectors && landed < IO_LONG) {
		verdict = write_piece(self, req);
		if (verdict == LINE_WAITS)
			return;
		if (verdict == LINE_CANNOT_BE) {
			cached_write_refused(self, req, NVME_WRITE_FAULT);
			return;
		}
		landed = io_of(req)->done - before;
	}
	if (io_of(req)->done < req->sectors) {
		io_of(req)->queued = 1; /* others go first */
		io_resume(req);
		return;
	}
	cached_end(self, req);
}
