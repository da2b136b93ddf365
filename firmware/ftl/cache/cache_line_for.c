/* A line for a request. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "cache/cache_line_for.h"

#include "cache/cache_lines.h"

static uint32_t shard_index(const struct data_cache *cache, const struct cache_shard *shard) { return (uint32_t)(shard - cache->shard); }

void line_wait(struct data_cache *cache, struct cache_shard *shard, struct cache_line *line, struct ftl_request *req)
{
	io_of(req)->queued = 1;
	io_wait(&line->waiting, req, HZ_LOGICAL_CACHE, shard_index(cache, shard));
}

static enum line_verdict wait_for_any(struct ftl_worker *self, struct cache_shard *shard, struct ftl_request *req)
{
	self->counters.cache_waits++;
	io_of(req)->queued = 1;
	io_wait(&shard->waiting, req, HZ_LOGICAL_CACHE, shard_index(self->ftl->data_cache, shard));
	return LINE_WAITS;
}

/* The victim is written back first. */
static enum line_verdict evict(struct ftl_worker *self, struct cache_shard *shard, struct ftl_request *req, struct cache_line *victim,
			       struct cache_transfer **evicts)
{
	if (!self->transfers->free) {
		transfer_wait(self, req);
		return LINE_WAITS;
	}
	*evicts = transfer_take(self);
	transfer_line(shard, *evicts, victim, NULL, true);
	self->counters.cache_evicted++;
	return wait_for_any(self, shard, req);
}

enum line_verdict line_for(struct ftl_worker *self, struct cache_shard *shard, struct ftl_request *req, uint32_t number,
			   struct cache_line **line, struct cache_transfer **evicts)
{
	struct data_cache *cache = self->ftl->data_cache;
	struct cache_line *victim;

	*evicts = NULL;
	*line = line_find(cache, shard, number);
	if (*line)
		return LINE_FOUND;
	victim = line_victim(self->ftl, shard);
	if (!victim)
		return shard->busy.oldest ? wait_for_any(self, shard, req) : LINE_CANNOT_BE;
	if (victim->dirty)
		return evict(self, shard, req, victim, evicts);
	line_rename(cache, shard, victim, number);
	*line = victim;
	return LINE_MADE;
}
