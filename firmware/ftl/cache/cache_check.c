/* Whole-state check of the data cache: every line is found once and is in just the lists that its state says, in their order. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "cache/cache_check.h"

#include "cache/cache_lines.h"
#include "cache/cache_transfer.h"

struct line_counts {
	uint32_t idle, failed, dirty, busy, refused;
};

static const char *check_line(const struct data_cache *cache, struct cache_shard *shard, struct cache_line *line,
			      struct line_counts *should)
{
	uint64_t all = cache->line_sectors == 64 ? ~0ull : (1ull << cache->line_sectors) - 1;

	if (line_is_busy(line) || line->waiting.head)
		return "a line of the data cache is busy though nothing runs";
	if (line->dirty & ~line->valid || line->valid & ~all)
		return "a line of the data cache is dirty where it is not valid";
	if (line->number == LINE_NONE ? line->valid : line_find(cache, shard, line->number) != line)
		return "a line of the data cache is not found by its number";
	if (line->number != LINE_NONE && cache_shard_of(cache, line->number) != shard)
		return "a line of the data cache is in another one's shard";
	if ((line->state == LINE_FAILED) == line->listed || (line->state == LINE_FAILED && !line->refused) ||
	    (line->refused && !line->dirty))
		return "a line of the data cache is not where its state says";
	should->idle += line->state == LINE_IDLE;
	should->failed += line->state == LINE_FAILED;
	should->refused += line->refused;
	should->dirty += line->state == LINE_IDLE && line->dirty;
	return NULL;
}

/* Links lead both ways; more than there are lines means that they lead in a circle. */
static const char *check_list(const struct cache_shard *shard, const struct line_list *list, enum line_order order, uint32_t lines,
			      uint32_t *count)
{
	const struct cache_line *last = NULL;

	for (const struct cache_line *line = list->oldest; line; line = line->link[order].newer) {
		if (line->link[order].older != last || line < shard->line || line >= shard->line + lines || *count == lines)
			return "a list of the data cache is broken";
		if (order == BY_AGE && last && last->since > line->since)
			return "the dirty lines of the data cache are out of order";
		last = line;
		++*count;
	}
	return list->newest == last ? NULL : "a list of the data cache ends elsewhere";
}

static const char *check_line_lists(const struct data_cache *cache, const struct cache_shard *shard, const struct line_counts *should)
{
	struct line_counts are = { 0 };
	const char *error = check_list(shard, &shard->idle, BY_USE, cache->shard_lines, &are.idle);

	error = error ? error : check_list(shard, &shard->failed, BY_USE, cache->shard_lines, &are.failed);
	error = error ? error : check_list(shard, &shard->dirty, BY_AGE, cache->shard_lines, &are.dirty);
	error = error ? error : check_list(shard, &shard->busy, BY_WORK, cache->shard_lines, &are.busy);
	if (!error && (are.idle != should->idle || are.failed != should->failed || are.dirty != should->dirty || are.busy))
		error = "the lists of the data cache have too few or too many lines";
	return !error && shard->dirty_lines != are.dirty ? "the count of dirty lines of the data cache is wrong" : error;
}

static const char *check_cache_shard(const struct data_cache *cache, struct cache_shard *shard, uint64_t *refused)
{
	struct line_counts should = { 0 };
	const char *error = NULL;

	if (shard->waiting.head)
		return "a request waits for a line of the data cache though nothing runs";
	for (uint32_t i = 0; !error && i < cache->shard_lines; i++)
		error = check_line(cache, shard, &shard->line[i], &should);
	*refused += should.refused;
	return error ? error : check_line_lists(cache, shard, &should);
}

static const char *check_transfers(const struct ftl *ftl)
{
	for (uint32_t w = 0; w < ftl->worker_count; w++) {
		uint32_t free = 0;

		for (const struct cache_transfer *t = ftl->workers[w].transfers->free; t; t = t->next)
			free++;
		if (free != TRANSFERS_PER_WORKER || ftl->workers[w].transfers->waiting.head)
			return "a transfer of the data cache is under way though nothing runs";
	}
	return NULL;
}

const char *cache_check(struct ftl *ftl)
{
	struct data_cache *cache = ftl->data_cache;
	const char *error = NULL;
	uint64_t refused = 0;

	if (!cache)
		return NULL;
	for (uint32_t i = 0; !error && i < cache->shards; i++)
		error = check_cache_shard(cache, &cache->shard[i], &refused);
	if (!error && (lt_load(&cache->refused) != refused || lt_load(&cache->unmapping)))
		error = "the counts of the data cache's refused lines or deallocations are wrong";
	return error ? error : check_transfers(ftl);
}
