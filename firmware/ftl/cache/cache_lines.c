/* Lines of the data cache. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "cache/cache_lines.h"

enum { LOOKS = 64 /* at lines that do not leave, for one that does */ };

/* --- lists --- */

static void list_remove(struct line_list *list, struct cache_line *line, enum line_order order)
{
	struct line_link *link = &line->link[order];

	*(link->older ? &link->older->link[order].newer : &list->oldest) = link->newer;
	*(link->newer ? &link->newer->link[order].older : &list->newest) = link->older;
	*link = (struct line_link){ NULL, NULL };
}

static void list_add_newest(struct line_list *list, struct cache_line *line, enum line_order order)
{
	line->link[order] = (struct line_link){ list->newest, NULL };
	*(list->newest ? &list->newest->link[order].newer : &list->oldest) = line;
	list->newest = line;
}

static void list_add_oldest(struct line_list *list, struct cache_line *line, enum line_order order)
{
	line->link[order] = (struct line_link){ NULL, list->oldest };
	*(list->oldest ? &list->oldest->link[order].older : &list->newest) = line;
	list->oldest = line;
}

/* --- by number --- */

/* Of the bits of the hash below those that name the shard. */
static struct cache_line **line_bucket(const struct data_cache *cache, const struct cache_shard *shard, uint32_t number)
{
	uint32_t hash = number * 0x9e3779b1u << cache->shard_bits;

	return &shard->bucket[hash >> (32 - cache->bucket_bits)];
}

struct cache_line *line_find(const struct data_cache *cache, const struct cache_shard *shard, uint32_t number)
{
	struct cache_line *line = *line_bucket(cache, shard, number);

	while (line && line->number != number)
		line = line->next;
	return line;
}

static void line_forget(const struct data_cache *cache, struct cache_shard *shard, struct cache_line *line)
{
	struct cache_line **at = line_bucket(cache, shard, line->number);

	while (*at != line)
		at = &(*at)->next;
	*at = line->next;
}

void line_rename(const struct data_cache *cache, struct cache_shard *shard, struct cache_line *line, uint32_t number)
{
	struct cache_line **bucket = line_bucket(cache, shard, number);

	if (line->number != LINE_NONE)
		line_forget(cache, shard, line);
	line->number = number;
	line->valid = 0;
	line->arrived_ns = 0;
	line->used = false;
	line->next = *bucket;
	*bucket = line;
	list_remove(&shard->idle, line, BY_USE);
	list_add_newest(&shard->idle, line, BY_USE);
}

/* --- by use --- */

static void line_revive(struct cache_shard *shard, struct cache_line *line)
{
	list_remove(&shard->failed, line, BY_USE);
	list_add_newest(&shard->idle, line, BY_USE);
	line->listed = true;
	line->state = LINE_IDLE;
	line->since = 0;
	list_add_oldest(&shard->dirty, line, BY_AGE);
	shard->dirty_lines++;
}

void line_touch(struct ftl *ftl, struct cache_shard *shard, struct cache_line *line)
{
	if (line->state == LINE_FAILED) {
		line_revive(shard, line);
	} else if (ftl->cfg->data_cache_eviction == HZ_CACHE_CLOCK) {
		if (!line->used)
			line->used = true;
	} else if (line->listed && line->link[BY_USE].newer) {
		list_remove(&shard->idle, line, BY_USE);
		list_add_newest(&shard->idle, line, BY_USE);
	}
}

struct cache_line *line_victim(const struct ftl *ftl, struct cache_shard *shard)
{
	struct cache_line *line = shard->idle.oldest, *newer;

	for (uint32_t looks = 0; line && looks < LOOKS; looks++, line = newer) {
		newer = line->link[BY_USE].newer;
		if (line_is_busy(line))
			continue;
		if (!line->used || ftl->cfg->data_cache_eviction == HZ_CACHE_LRU || !newer)
			return line;
		line->used = false;
		list_remove(&shard->idle, line, BY_USE);
		list_add_newest(&shard->idle, line, BY_USE);
	}
	return line && !line_is_busy(line) ? line : NULL;
}

/* --- by what it holds --- */

void line_soil(struct data_cache *cache, struct cache_shard *shard, struct cache_line *line, uint64_t sectors)
{
	line->valid |= sectors;
	if (!line->dirty) {
		line->since = lt_load(&cache->epoch);
		list_add_newest(&shard->dirty, line, BY_AGE);
		shard->dirty_lines++;
	}
	line->dirty |= sectors;
}

/* Nothing of it is dirty any more. */
static void forgive(struct data_cache *cache, struct cache_line *line)
{
	if (line->refused)
		lt_add(&cache->refused, (uint64_t)-1);
	line->refused = false;
}

static void line_is_clean(struct data_cache *cache, struct cache_shard *shard, struct cache_line *line)
{
	if (line->state == LINE_FAILED)
		line_revive(shard, line);
	forgive(cache, line);
	list_remove(&shard->dirty, line, BY_AGE);
	shard->dirty_lines--;
}

void line_drop(struct data_cache *cache, struct cache_shard *shard, struct cache_line *line, uint64_t sectors)
{
	bool was_dirty = line->dirty;

	line->valid &= ~sectors;
	line->dirty &= ~sectors;
	if (was_dirty && !line->dirty)
		line_is_clean(cache, shard, line);
}

/* --- at work --- */

void line_begin(struct cache_shard *shard, struct cache_line *line, enum line_state state, bool leaves)
{
	if (leaves) {
		list_remove(&shard->idle, line, BY_USE);
		line->listed = false;
	}
	if (state == LINE_WRITING) {
		list_remove(&shard->dirty, line, BY_AGE);
		shard->dirty_lines--;
	}
	line->state = (uint8_t)state;
	list_add_newest(&shard->busy, line, BY_WORK);
}

static void line_fails(struct data_cache *cache, struct cache_shard *shard, struct cache_line *line)
{
	if (line->listed)
		list_remove(&shard->idle, line, BY_USE);
	line->listed = false;
	line->state = LINE_FAILED;
	line->since = lt_load(&cache->epoch);
	list_add_newest(&shard->failed, line, BY_USE);
	if (!line->refused)
		lt_add(&cache->refused, 1);
	line->refused = true;
}

/* What was filled is the newest; what was evicted leaves next. */
static void line_rests(struct cache_shard *shard, struct cache_line *line, bool was_filled)
{
	line->state = LINE_IDLE;
	if (line->listed)
		return;
	line->listed = true;
	if (was_filled)
		list_add_newest(&shard->idle, line, BY_USE);
	else
		list_add_oldest(&shard->idle, line, BY_USE);
}

void line_end(struct data_cache *cache, struct cache_shard *shard, struct cache_line *line, bool failed, struct io_queue *woken)
{
	bool was_filled = line->state == LINE_FILLING;

	list_remove(&shard->busy, line, BY_WORK);
	if (!was_filled && !failed) {
		line->dirty = 0;
		forgive(cache, line);
	}
	*woken = line->waiting;
	line->waiting = (struct io_queue){ NULL, NULL };
	if (failed)
		line_fails(cache, shard, line);
	else
		line_rests(shard, line, was_filled);
}

struct cache_line *line_to_flush(struct cache_shard *shard, uint64_t until)
{
	struct cache_line *line = shard->failed.oldest;

	if (line && line->since <= until)
		line_revive(shard, line);
	line = shard->dirty.oldest;
	return line && line->since <= until ? line : NULL;
}

struct cache_line *line_being_flushed(const struct cache_shard *shard, uint64_t until)
{
	struct cache_line *line = shard->busy.oldest;

	while (line && (line->state != LINE_WRITING || line->since > until))
		line = line->link[BY_WORK].newer;
	return line;
}

/* Something is to be had, or nothing is under way that would end the wait. */
struct ftl_request *lines_wake(struct cache_shard *shard, const struct ftl_request *last)
{
	const struct cache_line *oldest = shard->idle.oldest;
	bool had = oldest && !oldest->dirty && !line_is_busy(oldest);

	if (last && shard->waiting.tail == last)
		return NULL;
	return had || !shard->busy.oldest ? io_pop(&shard->waiting) : NULL;
}
