/* Flush of the data cache. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "cache/cache_flush.h"

#include "cache/cache_line_for.h"
#include "cache/cache_lines.h"
#include "lt/logical.h"

enum { LINES_AT_ONCE = 16 /* under one hold of the lock */ };
enum cached_flush_step { CACHED_FLUSH_BEGINS, CACHED_FLUSH_STARTS, CACHED_FLUSH_WAITS };

enum flush_verdict { SHARD_DONE, SHARD_HAS_MORE, SHARD_WAITS };

/* Shard lock held. The request waits for a transfer or at a line that is being filled. */
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
