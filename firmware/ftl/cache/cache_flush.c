/* Flush of the data cache, and deallocation through it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "cache/cache_internal.h"
#include "conventional/conventional.h"
#include "lt/logical.h"

/* Flush of the data cache. */

enum { LINES_AT_ONCE = 16 /* under one hold of the lock */ };
enum cached_flush_step { CACHED_FLUSH_BEGINS, CACHED_FLUSH_STARTS, CACHED_FLUSH_WAITS };

enum flush_verdict { SHARD_DONE, SHARD_HAS_MORE, SHARD_WAITS };

/* The request waits for a transfer or at a line being filled. Shard lock held. */
static enum flush_verdict start_line(struct ftl_worker *self, struct cache_shard *shard, struct ftl_request *req,
				     struct cache_transfer **list)
{
	struct data_cache *cache = self->ftl->data_cache;
	struct cache_line *line = line_to_flush(shard, io_of(req)->epoch);
	struct cache_transfer *t;

	if (!line)
		return SHARD_DONE;
	if (line_is_busy(line)) {
		line_wait(cache, shard, line, req);
		return SHARD_WAITS;
	}
	if (!self->transfers->free) {
		transfer_wait(self, req);
		return SHARD_WAITS;
	}
	t = transfer_take(self);
	transfer_line(shard, t, line, NULL, false);
	t->next = *list;
	*list = t;
	self->counters.cache_flushed++;
	return SHARD_HAS_MORE;
}

/* Shard lock held. */
static enum flush_verdict start_lines(struct ftl_worker *self, struct cache_shard *shard, struct ftl_request *req,
				      struct cache_transfer **list)
{
	enum flush_verdict verdict = SHARD_HAS_MORE;

	for (uint32_t i = 0; verdict == SHARD_HAS_MORE && i < LINES_AT_ONCE; i++)
		verdict = start_line(self, shard, req, list);
	return verdict;
}

/* Shard lock held. */
static enum flush_verdict all_written(struct data_cache *cache, struct cache_shard *shard, struct ftl_request *req)
{
	struct cache_line *line = line_being_flushed(shard, io_of(req)->epoch);

	if (!line)
		return SHARD_DONE;
	line_wait(cache, shard, line, req);
	return SHARD_WAITS;
}

static enum flush_verdict flush_shard(struct ftl_worker *self, struct ftl_request *req)
{
	struct data_cache *cache = self->ftl->data_cache;
	struct cache_shard *shard = &cache->shard[io_of(req)->cursor];
	struct cache_transfer *list = NULL, *t;
	struct ftl_request *next;
	struct lt_lock_node node;
	enum flush_verdict verdict;

	lt_lock_acquire(&shard->lock, &node);
	verdict = io_of(req)->step == CACHED_FLUSH_STARTS ? start_lines(self, shard, req, &list) : all_written(cache, shard, req);
	next = lines_wake(shard, NULL);
	lt_lock_release(&shard->lock, &node);
	while ((t = list)) {
		list = t->next;
		transfer_write_back(t, 0);
	}
	if (next)
		io_resume(next);
	return verdict;
}

static bool flush_shards(struct ftl_worker *self, struct ftl_request *req)
{
	while (io_of(req)->cursor < self->ftl->data_cache->shards) {
		enum flush_verdict verdict = flush_shard(self, req);

		if (verdict == SHARD_WAITS)
			return false;
		io_of(req)->cursor += verdict == SHARD_DONE;
	}
	io_of(req)->cursor = 0;
	io_of(req)->step++;
	return true;
}

/* All are under way before any is waited for. */
bool cached_flush_run(struct ftl_worker *self, struct ftl_request *req)
{
	struct data_cache *cache = self->ftl->data_cache;

	if (io_of(req)->step == CACHED_FLUSH_BEGINS) {
		io_of(req)->epoch = lt_add(&cache->epoch, 1);
		io_of(req)->step = CACHED_FLUSH_STARTS;
	}
	while (io_of(req)->step <= CACHED_FLUSH_WAITS)
		if (!flush_shards(self, req))
			return false;
	if (!lt_load(&cache->refused))
		return true;
	io_complete(req, NVME_WRITE_FAULT);
	return false;
}

/* Deallocation through the data cache.
 *
 * From the time when sectors are dropped until they are out of the map, no line keeps data that it reads from flash or writes back: the
 * data could be deallocated ones. A range with more lines than the cache has is served by a walk over all lines. */

enum { LINES_AT_A_TIME = 64 };
enum cached_discard_step { DISCARD_NEW, DISCARD_BEGINS_RANGE, DISCARD_LINES_OF_RANGE, DISCARD_ALL_LINES };

/* Sectors of the line in [lba, end). */
static uint64_t sectors_in(const struct data_cache *cache, uint32_t number, uint64_t lba, uint64_t end)
{
	uint64_t start = (uint64_t)number << cache->line_shift, stop = start + cache->line_sectors;
	uint32_t from = lba > start ? (uint32_t)(lba - start) : 0;
	struct cache_piece piece = { number, from, (uint32_t)((end < stop ? end : stop) - start) - from };

	return piece_mask(&piece);
}

/* Shard lock held. False: the request waits for the line. */
static bool forget_in(struct data_cache *cache, struct cache_shard *shard, struct cache_line *line, uint64_t lba, uint64_t end,
		      struct ftl_request *req)
{
	if (line_is_busy(line)) {
		line_wait(cache, shard, line, req);
		return false;
	}
	line_drop(cache, shard, line, sectors_in(cache, line->number, lba, end));
	return true;
}

static void let_go(struct cache_shard *shard, struct lt_lock_node *node)
{
	struct ftl_request *next = lines_wake(shard, NULL);

	lt_lock_release(&shard->lock, node);
	if (next)
		io_resume(next);
}

/* The range's next line; end: of the range. */
static bool forget_next(struct data_cache *cache, struct ftl_request *req, const struct nvme_dsm_range *range, uint64_t end)
{
	uint64_t lba = range->slba + io_of(req)->done;
	uint32_t number = (uint32_t)(lba >> cache->line_shift);
	uint64_t to = ((uint64_t)number + 1) << cache->line_shift;
	struct cache_shard *shard = cache_shard_of(cache, number);
	struct cache_line *line;
	struct lt_lock_node node;
	bool forgotten;

	lt_lock_acquire(&shard->lock, &node);
	line = line_find(cache, shard, number);
	forgotten = !line || forget_in(cache, shard, line, lba, end, req);
	let_go(shard, &node);
	if (forgotten)
		io_of(req)->done = (uint32_t)((to < end ? to : end) - range->slba);
	return forgotten && range->slba + io_of(req)->done == end;
}

/* The cache's next line, in any order. */
static bool forget_any(struct data_cache *cache, struct ftl_request *req, const struct nvme_dsm_range *range, uint64_t end)
{
	struct ftl_io *io = io_of(req);
	struct cache_shard *shard = &cache->shard[io->target];
	struct cache_line *line = &shard->line[io->done];
	struct lt_lock_node node;
	bool forgotten, among;

	lt_lock_acquire(&shard->lock, &node);
	among = line->number != LINE_NONE && line->number >= range->slba >> cache->line_shift &&
		(uint64_t)line->number << cache->line_shift < end;
	forgotten = !among || forget_in(cache, shard, line, range->slba, end, req);
	let_go(shard, &node);
	if (forgotten && ++io->done == cache->shard_lines) {
		io->done = 0;
		io->target++;
	}
	return io->target == cache->shards;
}

/* Than the cache. */
static bool has_more_lines(const struct data_cache *cache, const struct nvme_dsm_range *range)
{
	return range->nlb >> cache->line_shift > (uint64_t)cache->shards * cache->shard_lines;
}

/* Drop one line of the request's present range. The way of walking lines is fixed when the range begins, even if the host changes its
 * list meanwhile: an index among all lines is no index within a range. */
static void forget_one(struct ftl_worker *self, struct ftl_request *req)
{
	struct data_cache *cache = self->ftl->data_cache;
	struct ftl_io *io = io_of(req);
	struct nvme_dsm_range range = conv_range_at(req, io->cursor);
	uint64_t end = range.slba + range.nlb;
	bool over, all;

	end = end < self->ftl->conventional_end ? end : self->ftl->conventional_end;
	if (io->step == DISCARD_BEGINS_RANGE)
		io->step = has_more_lines(cache, &range) ? DISCARD_ALL_LINES : DISCARD_LINES_OF_RANGE;
	all = io->step == DISCARD_ALL_LINES;
	over = !conv_range_exists(self->ftl, req, &range) || range.slba + (all ? 0 : io->done) >= end;
	if (!over)
		over = all ? forget_any(cache, req, &range, end) : forget_next(cache, req, &range, end);
	if (!over)
		return;
	io->step = DISCARD_BEGINS_RANGE;
	io->cursor++;
	io->done = io->target = 0;
}

/* False: it waits, or goes on later. */
static bool forget_ranges(struct ftl_worker *self, struct ftl_request *req)
{
	for (uint32_t i = 0; io_of(req)->cursor < conv_range_count(req); i++) {
		if (i == LINES_AT_A_TIME) {
			io_resume(req);
			return false;
		}
		io_of(req)->queued = 0;
		forget_one(self, req);
		if (io_of(req)->queued)
			return false;
	}
	return true;
}

bool cached_discard_run(struct ftl_worker *self, struct ftl_request *req)
{
	struct data_cache *cache = self->ftl->data_cache;

	if (io_of(req)->step == DISCARD_NEW) {
		if (!conv_ranges_exist(self->ftl, req))
			return false;
		lt_add(&cache->unmapping, 1);
		lt_add(&cache->unmaps, 1);
		io_of(req)->step = DISCARD_BEGINS_RANGE;
	}
	if (!forget_ranges(self, req))
		return true;
	if (self->transfers->free)
		transfer_deallocate(transfer_take(self), req);
	else
		transfer_wait(self, req);
	return true;
}

void cached_discard_cancel(struct ftl_worker *self, const struct ftl_request *req)
{
	if (io_of((struct ftl_request *)req)->step != DISCARD_NEW)
		lt_add(&self->ftl->data_cache->unmapping, (uint64_t)-1);
}
