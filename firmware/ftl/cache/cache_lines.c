/* Lines of the data cache: found, taken, evicted; and their check. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "cache/cache_internal.h"
#include "cache/data_cache.h"

/* Lines of the data cache. */

enum { LOOKS = 64 /* most lines looked at for a victim */ };

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

/* Hash bucket: the hash bits below those of the shard. */
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

/* --- by content --- */

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

/* Filled lines go to the MRU end, evicted ones to the LRU end. */
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

/* A line is available, or nothing is under way to end the wait. */
struct ftl_request *lines_wake(struct cache_shard *shard, const struct ftl_request *last)
{
	const struct cache_line *oldest = shard->idle.oldest;
	bool had = oldest && !oldest->dirty && !line_is_busy(oldest);

	if (last && shard->waiting.tail == last)
		return NULL;
	return had || !shard->busy.oldest ? io_pop(&shard->waiting) : NULL;
}

/* A line for a request. */

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

/* Whole-state check of the data cache: every line is found once and is in exactly the lists of its state, in their order. */

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

/* Links lead both ways; more links than lines are a circle. */
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
