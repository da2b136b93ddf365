/* Data cache: construction. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "cache/data_cache.h"

#include "lt/arena.h"

enum { USUAL_SHARD = 1024, FEW_SHARDS = 8, SMALLEST_SHARD = 16 /* lines */ };

static uint32_t bits_down(uint32_t value) { return 31 - (uint32_t)__builtin_clz(value); }

/* A power of two, each of at least so many lines. */
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
