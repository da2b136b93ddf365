/* Requests to the data cache. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "cache/cached.h"

#include "cache/cache_discard.h"
#include "cache/cache_flush.h"
#include "cache/cache_read.h"
#include "cache/cache_transfer.h"
#include "cache/cache_write.h"
#include "request/life.h"

static bool past(struct ftl_request *req)
{
	io_of(req)->cached = 0;
	io_of(req)->step = 0;
	io_of(req)->cursor = 0;
	return false;
}

static bool deallocates(const struct ftl_request *req)
{
	return req->op == FTL_DEALLOCATE || (req->op == FTL_WRITE_ZEROES && req->flags & FTL_FREES);
}

static bool cached_ended(struct ftl_worker *self, struct ftl_request *req)
{
	if (deallocates(req))
		cached_discard_abandon(self, req);
	cached_end(self, req);
	return true;
}

static bool run_deallocation(struct ftl_worker *self, struct ftl_request *req)
{
	if (req->op == FTL_WRITE_ZEROES && !is_conventional(self->ftl, req->lba))
		return past(req);
	return cached_discard_run(self, req) || past(req);
}

static bool run_data(struct ftl_worker *self, struct ftl_request *req)
{
	if (!is_conventional(self->ftl, req->lba))
		return past(req);
	if (req->op <= FTL_COMPARE)
		cached_read_run(self, req);
	else
		cached_write_run(self, req);
	return true;
}

static bool run_one(struct ftl_worker *self, struct ftl_request *req)
{
	if (deallocates(req))
		return run_deallocation(self, req);
	switch (req->op) {
	case FTL_READ:
	case FTL_VERIFY:
	case FTL_COMPARE:
	case FTL_WRITE:
	case FTL_APPEND:
	case FTL_UPDATE:
	case FTL_WRITE_ZEROES: return run_data(self, req);
	case FTL_FLUSH: return !cached_flush_run(self, req) || past(req);
	default: return past(req);
	}
}

bool cached_run(struct ftl_worker *self, struct ftl_request *req)
{
	bool taken;

	if (!io_of(req)->cached)
		return false;
	io_of(req)->queued = 0;
	taken = io_abandoned(self, req) ? cached_ended(self, req) : run_one(self, req);
	transfers_wake(self);
	return taken;
}

void cached_abandon_waiting(struct ftl_worker *self)
{
	if (self->transfers)
		io_resume_all(&self->transfers->waiting);
}

static void abandon_in_shard(struct ftl_worker *self, struct cache_shard *shard)
{
	struct lt_lock_node node;

	lt_lock_acquire(&shard->lock, &node);
	abandoned_take(self, &shard->waiting);
	for (struct cache_line *line = shard->busy.oldest; line; line = line->link[BY_WORK].newer)
		abandoned_take(self, &line->waiting);
	lt_lock_release(&shard->lock, &node);
}

void cached_abandon(struct ftl_worker *self)
{
	struct data_cache *cache = self->ftl->data_cache;

	for (uint32_t i = 0; cache && i < cache->shards; i++)
		abandon_in_shard(self, &cache->shard[i]);
}
