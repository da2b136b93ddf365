/* The data cache: construction, and entry of requests. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "cache/data_cache.h"

#include "cache/cache_internal.h"
#include "lt/arena.h"
#include "request/io.h"

/* Data cache: construction. */

enum { USUAL_SHARD = 1024, FEW_SHARDS = 8, SMALLEST_SHARD = 16 /* lines */ };

static uint32_t bits_down(uint32_t value) { return 31 - (uint32_t)__builtin_clz(value); }

/* log2 of the shard count: as many shards as leave each a minimum of lines. */
static uint32_t shard_bits(const struct hz_device_config *cfg, uint32_t lines)
{
	uint32_t usual = lines / USUAL_SHARD > FEW_SHARDS ? lines / USUAL_SHARD : FEW_SHARDS, most = lines / SMALLEST_SHARD;
	uint32_t wanted = cfg->data_cache_shards ? cfg->data_cache_shards : min_u32(usual, HZ_MAX_CACHE_SHARDS);

	return most ? bits_down(min_u32(wanted, most)) : 0;
}

static void line_init(struct cache_shard *shard, struct cache_line *line, uint8_t *data)
{
	line->data = data;
	line->number = LINE_NONE;
	line->listed = true;
	line->link[BY_USE].older = shard->idle.newest;
	*(shard->idle.newest ? &shard->idle.newest->link[BY_USE].newer : &shard->idle.oldest) = line;
	shard->idle.newest = line;
}

static void lines_init(const struct data_cache *cache, struct cache_shard *shard, uint32_t index, struct arena *arena)
{
	uint8_t *data = arena_alloc_raw(arena, (size_t)cache->shard_lines * cache->line_sectors, HZ_SECTOR_BYTES, "data of lines");

	lt_lock_init(&shard->lock, HZ_LC_CACHE, index);
	shard->bucket = arena_alloc_table(arena, (size_t)1 << cache->bucket_bits, sizeof(struct cache_line *), "buckets");
	shard->line = arena_alloc_table(arena, cache->shard_lines, sizeof(*shard->line), "lines");
	for (uint32_t i = 0; i < cache->shard_lines; i++)
		line_init(shard, &shard->line[i], data + (size_t)i * cache->line_sectors * HZ_SECTOR_BYTES);
}

static void sizes_init(const struct ftl *ftl, struct data_cache *cache)
{
	uint32_t lines = (uint32_t)(ftl->cfg->data_cache_bytes / ftl->cfg->page_bytes);

	cache->line_sectors = ftl->page_sectors;
	cache->line_shift = bits_down(ftl->page_sectors);
	cache->shard_bits = shard_bits(ftl->cfg, lines);
	cache->shards = 1u << cache->shard_bits;
	cache->shard_lines = lines >> cache->shard_bits;
	cache->bucket_bits = bits_down(cache->shard_lines) + 1;
	cache->dirty_most = (uint32_t)((uint64_t)cache->shard_lines * ftl->cfg->data_cache_dirty_percent / 100);
}

void data_cache_init(struct ftl *ftl, struct arena *arena)
{
	struct data_cache *cache;

	if (!ftl->cfg->data_cache_bytes)
		return;
	cache = arena_alloc(arena, 1, sizeof(*cache), "data cache");
	ftl->data_cache = cache;
	sizes_init(ftl, cache);
	lt_preset(&cache->epoch, 1);
	cache->shard = arena_alloc(arena, cache->shards, sizeof(*cache->shard), "shards");
	for (uint32_t i = 0; i < cache->shards; i++)
		lines_init(cache, &cache->shard[i], i, arena);
}

struct cache_piece cache_piece_at(const struct data_cache *cache, const struct ftl_request *req, uint64_t end)
{
	uint32_t done = io_of((struct ftl_request *)req)->done, first, sectors, rest = req->sectors - done;
	uint64_t lba = req->lba + done;

	first = (uint32_t)lba & (cache->line_sectors - 1);
	sectors = min_u32(cache->line_sectors - first, rest);
	return (struct cache_piece){ (uint32_t)(lba >> cache->line_shift), first, sectors < end - lba ? sectors : (uint32_t)(end - lba) };
}

/* Requests to the data cache. */

static bool past(struct ftl_request *req)
{
	io_of(req)->cached = 0;
	io_of(req)->step = 0;
	io_of(req)->cursor = 0;
	return false;
}

/* Does it change flash, and leave nothing of its range in the cache? */
static bool discards(const struct ftl_request *req)
{
	return req->op == FTL_DEALLOCATE || req->op == FTL_WRITE_UNCORRECTABLE || (req->op == FTL_WRITE_ZEROES && req->flags & FTL_FREES);
}

static bool cached_ended(struct ftl_worker *self, struct ftl_request *req)
{
	if (discards(req))
		cached_discard_cancel(self, req);
	cached_end(self, req);
	return true;
}

static bool run_discard(struct ftl_worker *self, struct ftl_request *req)
{
	if (req->op != FTL_DEALLOCATE && !is_conventional(self->ftl, req->lba))
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
	if (discards(req))
		return run_discard(self, req);
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
	taken = io_cancelled(self, req) ? cached_ended(self, req) : run_one(self, req);
	transfers_wake(self);
	return taken;
}

void cached_cancel_waiting(struct ftl_worker *self)
{
	if (self->transfers)
		io_resume_all(&self->transfers->waiting);
}

static void cancel_in_shard(struct ftl_worker *self, struct cache_shard *shard)
{
	struct lt_lock_node node;

	lt_lock_acquire(&shard->lock, &node);
	cancelled_take(self, &shard->waiting);
	for (struct cache_line *line = shard->busy.oldest; line; line = line->link[BY_WORK].newer)
		cancelled_take(self, &line->waiting);
	lt_lock_release(&shard->lock, &node);
}

void cached_cancel(struct ftl_worker *self)
{
	struct data_cache *cache = self->ftl->data_cache;

	for (uint32_t i = 0; cache && i < cache->shards; i++)
		cancel_in_shard(self, &cache->shard[i]);
}
