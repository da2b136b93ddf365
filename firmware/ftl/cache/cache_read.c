/* Reads through the data cache. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "cache/cache_read.h"

#include "cache/cache_line_for.h"
#include "cache/cache_lines.h"
#include "request/answer.h"

enum piece_verdict { PIECE_ANSWERED, PIECE_FILLS, PIECE_WAITS, PIECE_PASSES };

struct read_step {
	struct cache_piece piece;
	struct cache_line *line;
	struct cache_transfer *fills, *evicts;
	bool made;
};

/* Shard lock held: data stay where they are while they are copied. */
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

/* What lies behind the conventional sectors is not cached. */
void cached_read_run(struct ftl_worker *self, struct ftl_request *req)
{
	bool more = true;

	while (more && io_of(req)->done < req->sectors)
		more = is_conventional(self->ftl, req->lba + io_of(req)->done) ? read_piece(self, req)
									       : read_past(self, req, req->sectors - io_of(req)->done);
	if (more)
		cached_end(self, req);
}
