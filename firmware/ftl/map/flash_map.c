/* Map on flash: an entry is looked up in the log, then in the cache, then fetched with its table page. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "map/l2p.h"
#include "map/l2p_internal.h"

/* Look-up in the map on flash: the part common to both kinds of zones. */

static struct l2p_cache *cache_of(const struct l2p_lookup *at) { return &at->self->ftl->l2p->cache; }

void l2p_lookup_begin(struct l2p_lookup *at)
{
	at->shard = at->zone->map_shard;
	at->now_ns = l2p_cache_now(at->self->ftl->l2p);
	at->replaced = false;
}

/* Room moves to shards in need: a shard that evicts takes some from a neighbour with longer unused entries. noinline: look-ups without
 * evictions save no registers. */
static __attribute__((noinline)) void borrow(struct ftl_worker *self, uint32_t shard)
{
	struct l2p *l2p = self->ftl->l2p;
	uint32_t candidate = ++self->cache_candidate & (l2p->shards - 1);
	uint64_t before_ns = lt_load(&l2p->cache.shard[shard].oldest_ns);
	struct l2p_cache_loan loan;
	struct lt_lock_node node;

	if (candidate == shard || l2p_cache_lender(&l2p->cache, shard, candidate) == shard)
		return;
	lt_lock_acquire(&l2p->shard[candidate], &node);
	loan = l2p_cache_take(&l2p->cache, candidate, before_ns, L2P_CACHE_LOAN);
	lt_lock_release(&l2p->shard[candidate], &node);
	lt_lock_acquire(&l2p->shard[shard], &node);
	l2p_cache_give(&l2p->cache, shard, loan);
	lt_lock_release(&l2p->shard[shard], &node);
}

void l2p_lookup_end(struct l2p_lookup *at, struct lt_lock_node *node)
{
	struct l2p *l2p = at->self->ftl->l2p;

	lt_lock_release(&l2p->shard[at->shard], node);
	if (at->replaced && l2p->shards > 1)
		borrow(at->self, at->shard);
}

void l2p_lookup_found(struct l2p_lookup *at, ppa_t ppa, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		*at->place++ = ppa + i;
	at->offset += count;
}

bool l2p_lookup_entries(struct l2p_lookup *at)
{
	uint32_t found = l2p_cache_find_entries(cache_of(at), at->shard, (uint32_t)at->zone->start + at->offset,
						at->offset & (HZ_MAP_PAGE_ENTRIES - 1), at->end - at->offset, at->now_ns, at->place);

	at->self->counters.l2p_hits[HZ_MAP_PAGE] += found;
	at->offset += found;
	at->place += found;
	return found;
}

static void left(struct l2p_lookup *at, uint32_t entries)
{
	at->self->counters.l2p_evictions += entries;
	at->replaced |= entries > 0;
}

void l2p_lookup_insert(struct l2p_lookup *at, uint8_t level, uint32_t page, uint32_t head, ppa_t ppa)
{
	struct l2p_cache_new range = { .lba = (uint32_t)at->zone->start + head, .ppa = ppa, .group = page, .level = level };

	left(at, l2p_cache_insert(cache_of(at), at->shard, &range, at->now_ns));
}

void l2p_lookup_fill(struct l2p_lookup *at, struct l2p_cache_entries *entries)
{
	left(at, l2p_cache_fill(cache_of(at), at->shard, entries, at->now_ns));
}

/* Entries [index, index + count) of the page, line by line; returns how many were not in the cache before. */
static uint32_t enter(struct l2p_lookup *at, const struct map_fetch *fetch, uint32_t index, uint32_t count, bool changes)
{
	struct ftl *ftl = at->self->ftl;
	uint32_t line = l2p_cache_line(cache_of(at)), first = (uint32_t)at->zone->start + map_page_first(ftl, fetch->page), added = 0;
	struct l2p_cache_entries entries = { .group = fetch->page };

	for (; count; index += entries.count, count -= entries.count) {
		entries.from = index & (line - 1);
		entries.count = min_u32(line - entries.from, count);
		entries.lba = first + index - entries.from;
		entries.entry = (const uint32_t *)fetch->image + index;
		entries.valid = UINT64_MAX >> (64 - entries.count);
		if (changes)
			entries.valid &= ~l2p_changes_among(ftl, at->shard, first + index, entries.count);
		entries.valid <<= entries.from;
		if (!entries.valid)
			continue;
		l2p_lookup_fill(at, &entries);
		added += entries.added;
	}
	return added;
}

void l2p_lookup_take(struct l2p_lookup *at, const struct map_fetch *fetch, bool first_time, bool changes)
{
	const uint32_t *entry = (const uint32_t *)fetch->image;
	uint32_t index = at->offset & (HZ_MAP_PAGE_ENTRIES - 1), current = fetch->merged - index;
	uint32_t wanted = changes ? 1 : min_u32(at->end - at->offset, current), room = l2p_cache_room(cache_of(at), at->shard),
		 count = wanted;

	if (first_time && count < 1 + at->self->ftl->cfg->l2p_prefetch)
		count = min_u32(1 + at->self->ftl->cfg->l2p_prefetch, current);
	enter(at, fetch, index, min_u32(wanted, room), changes);
	if (count > wanted && room > wanted)
		at->self->counters.l2p_prefetched += enter(at, fetch, index + wanted, min_u32(count, room) - wanted, changes);
	for (uint32_t i = 0; i < wanted; i++)
		*at->place++ = entry[index + i] & L2P_ADDRESS_MASK;
	at->offset += wanted;
}

void l2p_lookup_take_one(struct l2p_lookup *at, const struct map_fetch *fetch)
{
	uint32_t index = at->offset & (HZ_MAP_PAGE_ENTRIES - 1), place = ((const uint32_t *)fetch->image)[index] & L2P_ADDRESS_MASK;

	if (place != L2P_UNMAPPED)
		enter(at, fetch, index, 1, false);
	l2p_lookup_found(at, place, 1);
}

/* Map on flash: an entry is looked up in the log, then in the cache, then fetched with its table page. */

/* Needed for a miss: the entry of `head`, in table page `page`, which stands for [head, end) if its map bits are `level`. */
struct target {
	struct map_range range;
	uint32_t page;
	uint8_t level;
};

/* --- log --- */

static bool in_log(const struct ftl *ftl, const struct zone *zone, uint32_t offset)
{
	return (offset & (HZ_MAP_PAGE_ENTRIES - 1)) >= map_page_state_at(&ftl->l2p->table, zone, offset)->merged;
}

static bool from_log(struct l2p_lookup *at)
{
	struct ftl *ftl = at->self->ftl;
	uint32_t count = min_u32(at->end - at->offset, HZ_MAP_PAGE_ENTRIES - (at->offset & (HZ_MAP_PAGE_ENTRIES - 1)));

	if (!in_log(ftl, at->zone, at->offset))
		return false;
	if (at->offset < ftl->l2p->table.split)
		count = min_u32(count, ftl->l2p->table.split - at->offset);
	at->self->counters.l2p_log_hits++;
	l2p_lookup_found(at, zone_place(at->zone, at->offset), count);
	return true;
}

/* --- cache --- */

static bool hit(struct l2p_lookup *at, uint8_t level, const struct map_range *range)
{
	struct l2p *l2p = at->self->ftl->l2p;
	ppa_t ppa = l2p_cache_find(&l2p->cache, at->shard, (uint32_t)at->zone->start + range->head, level, at->now_ns);

	if (ppa == PPA_NONE)
		return false;
	at->self->counters.l2p_hits[level]++;
	l2p_lookup_found(at, ppa + (at->offset - range->head), min_u32(at->end, range->end) - at->offset);
	return true;
}

/* Zone, chunk, page, in this order; a failed level is not tried again for sectors of the same range. */
static bool from_cache(struct l2p_lookup *at)
{
	const struct ftl *ftl = at->self->ftl;
	const struct l2p_cache *cache = &ftl->l2p->cache;
	struct map_range range;

	if (at->offset >= at->no_zone_before && l2p_cache_has(cache, at->shard, HZ_MAP_ZONE) &&
	    l2p_range_at(ftl, HZ_MAP_ZONE, at->offset, &range)) {
		if (hit(at, HZ_MAP_ZONE, &range))
			return true;
		at->no_zone_before = range.end;
	}
	if (at->offset >= at->no_chunk_before && l2p_cache_has(cache, at->shard, HZ_MAP_CHUNK) &&
	    l2p_range_at(ftl, HZ_MAP_CHUNK, at->offset, &range)) {
		if (hit(at, HZ_MAP_CHUNK, &range))
			return true;
		at->no_chunk_before = range.end;
	}
	return l2p_lookup_entries(at);
}

/* --- target of a fetch --- */

static bool within_a_map_page(const struct map_range *range) { return (range->head ^ (range->end - 1)) >> L2P_MAP_PAGE_SHIFT == 0; }

static const struct map_page *target_map_page(const struct l2p_lookup *at, uint32_t offset)
{
	return map_page_state_at(&at->self->ftl->l2p->table, at->zone, offset);
}

/* Is the first entry of the range in the copy on flash? */
static bool head_on_flash(const struct l2p_lookup *at, const struct map_range *range)
{
	return (range->head & (HZ_MAP_PAGE_ENTRIES - 1)) < target_map_page(at, range->head)->merged;
}

/* BITMAP: RAM knows the map bits. Of a chunk within one page they follow from how much of it has been merged. */
static bool bits_say(const struct l2p_lookup *at, uint8_t level, const struct map_range *range)
{
	const struct map_page *page = target_map_page(at, range->head);

	if (level == HZ_MAP_CHUNK && within_a_map_page(range))
		return ((range->end - 1) & (HZ_MAP_PAGE_ENTRIES - 1)) < page->merged;
	return page->level >= level;
}

/* MULTIPLE: nothing is known, so every level is worth a try. */
static bool worth_a_try(const struct l2p_lookup *at, uint8_t level, const struct map_range *range)
{
	(void)level;
	return head_on_flash(at, range);
}

/* PINNED: aggregated entries are in the cache. */
static bool never(const struct l2p_lookup *at, uint8_t level, const struct map_range *range)
{
	(void)at;
	(void)level;
	(void)range;
	return false;
}

static bool (*const strategies[HZ_L2P_STRATEGIES])(const struct l2p_lookup *at, uint8_t level, const struct map_range *range) = {
	[HZ_L2P_BITMAP] = bits_say,
	[HZ_L2P_MULTIPLE] = worth_a_try,
	[HZ_L2P_PINNED] = never,
};

/* The page read has ruled out levels above io.map_level for the table page of this sector. */
static struct target target_of(const struct l2p_lookup *at)
{
	struct ftl *ftl = at->self->ftl;
	struct ftl_io *io = io_of(at->req);
	uint32_t own = map_page_index(ftl, at->zone, at->offset);
	struct target target;

	if (io->map_page != own + 1) {
		io->map_page = own + 1;
		io->map_level = HZ_MAP_ZONE;
	}
	for (target.level = io->map_level; target.level > HZ_MAP_PAGE; target.level--)
		if (l2p_range_at(ftl, target.level, at->offset, &target.range) &&
		    strategies[ftl->cfg->l2p_strategy](at, target.level, &target.range))
			break;
	if (target.level == HZ_MAP_PAGE)
		target.range = (struct map_range){ at->offset, at->offset + 1 };
	target.page = map_page_index(ftl, at->zone, target.range.head);
	return target;
}

/* --- the bytes of a table page --- */

static void take_range(struct l2p_lookup *at, const struct target *target, ppa_t ppa)
{
	l2p_lookup_insert(at, target->level, target->page, target->range.head, ppa);
	l2p_lookup_found(at, ppa + (at->offset - target->range.head), min_u32(at->end, target->range.end) - at->offset);
}

/* Verify a page that mount did not read. */
static bool believed(const struct l2p_lookup *at, const struct map_fetch *fetch)
{
	struct ftl *ftl = at->self->ftl;

	if (map_page_state(&ftl->l2p->table, fetch->page)->level != MAP_UNSEEN ||
	    l2p_unseen_true(ftl, at->zone, fetch->page, (const uint32_t *)fetch->image))
		return true;
	map_page_doubt(at->self, fetch->page);
	map_page_dirty(ftl, at->zone->map_shard, fetch->page);
	return false;
}

/* Serve from the fetched page, up to its end. */
static bool from_fetch(struct l2p_lookup *at)
{
	struct ftl_io *io = io_of(at->req);
	struct map_fetch *fetch = io->fetch;

	while (fetch && !fetch->stale) {
		struct target target = target_of(at);
		uint32_t index = target.range.head & (HZ_MAP_PAGE_ENTRIES - 1), entry;

		if (target.page != fetch->page || index >= fetch->merged || !believed(at, fetch))
			break;
		entry = ((const uint32_t *)fetch->image)[index];
		if (l2p_entry_level(entry) < target.level) {
			io->map_level = target.level - 1;
			continue;
		}
		at->self->counters.l2p_misses[target.level] += io->missed;
		if (target.level == HZ_MAP_PAGE)
			l2p_lookup_take(at, fetch, io->missed, false);
		else
			take_range(at, &target, entry & L2P_ADDRESS_MASK);
		io->missed = 0;
		if (io->map_level < HZ_MAP_CHUNK && at->self->ftl->cfg->l2p_chunk_sectors <= HZ_MAP_PAGE_ENTRIES)
			io->map_level = HZ_MAP_CHUNK; /* the next chunk's first entry has been fetched too */
		return true;
	}
	if (fetch)
		l2p_fetch_leave(at->self, at->req);
	return false;
}

/* --- one sector, as most reads are --- */

/* Address from a cached range of that level, else PPA_NONE. */
static ppa_t in_cached_range(struct ftl_worker *self, const struct zone *zone, uint32_t offset, uint8_t level, uint64_t now_ns)
{
	struct l2p_cache *cache = &self->ftl->l2p->cache;
	struct map_range range;
	ppa_t ppa;

	if (!l2p_cache_has(cache, zone->map_shard, level) || !l2p_range_at(self->ftl, level, offset, &range))
		return PPA_NONE;
	ppa = l2p_cache_find(cache, zone->map_shard, (uint32_t)zone->start + range.head, level, now_ns);
	if (ppa == PPA_NONE)
		return PPA_NONE;
	self->counters.l2p_hits[level]++;
	return ppa + (offset - range.head);
}

/* Address from the log or the cache, else PPA_NONE. */
static ppa_t at_hand(struct ftl_worker *self, const struct zone *zone, uint32_t offset)
{
	struct l2p *l2p = self->ftl->l2p;
	uint64_t now_ns;
	ppa_t ppa;

	if (in_log(self->ftl, zone, offset)) {
		self->counters.l2p_log_hits++;
		return zone_place(zone, offset);
	}
	now_ns = l2p_cache_now(l2p);
	ppa = in_cached_range(self, zone, offset, HZ_MAP_ZONE, now_ns);
	if (ppa == PPA_NONE)
		ppa = in_cached_range(self, zone, offset, HZ_MAP_CHUNK, now_ns);
	if (ppa == PPA_NONE)
		self->counters.l2p_hits[HZ_MAP_PAGE] += l2p_cache_find_entries(&l2p->cache, zone->map_shard, (uint32_t)zone->start + offset,
									       offset & (HZ_MAP_PAGE_ENTRIES - 1), 1, now_ns, &ppa);
	return ppa;
}

/* --- the operations --- */

/* noinline: hits need few registers. Its shard's lock held, and released. */
static __attribute__((noinline)) uint32_t look_up_all(struct ftl_worker *self, struct ftl_request *req, const struct zone *zone,
						      uint32_t offset, uint32_t count, ppa_t *ppa, struct lt_lock_node *node)
{
	struct l2p_lookup at = { .self = self, .req = req, .zone = zone, .offset = offset, .end = offset + count, .place = ppa };
	bool more = true;

	l2p_lookup_begin(&at);
	while (more && at.offset < at.end) {
		if (from_fetch(&at) || from_log(&at) || from_cache(&at))
			continue;
		more = at.offset == offset && l2p_fetch(self, req, at.shard, target_of(&at).page);
	}
	l2p_lookup_end(&at, node);
	return at.offset - offset;
}

static uint32_t look_up_one(struct ftl_worker *self, struct ftl_request *req, const struct zone *zone, uint32_t offset, ppa_t *ppa)
{
	struct lt_lock_node node;

	lt_lock_acquire(l2p_lock_of(self->ftl, zone), &node);
	if (io_of(req)->fetch || (*ppa = at_hand(self, zone, offset)) == PPA_NONE)
		return look_up_all(self, req, zone, offset, 1, ppa, &node);
	lt_lock_release(l2p_lock_of(self->ftl, zone), &node);
	return 1;
}

static uint32_t cached_read(struct ftl_worker *self, struct ftl_request *req, const struct zone *zone, uint32_t offset, uint32_t count,
			    ppa_t *ppa)
{
	struct lt_lock_node node;

	if (count == 1)
		return look_up_one(self, req, zone, offset, ppa);
	lt_lock_acquire(l2p_lock_of(self->ftl, zone), &node);
	return look_up_all(self, req, zone, offset, count, ppa, &node);
}

void l2p_cached_leave(struct ftl_worker *self, struct ftl_request *req)
{
	struct lt_lock *lock = map_page_lock(self->ftl, io_of(req)->fetch->page);
	struct lt_lock_node node;

	lt_lock_acquire(lock, &node);
	l2p_fetch_leave(self, req);
	lt_lock_release(lock, &node);
	io_of(req)->map_page = 0;
}

/* PINNED: an aggregated entry enters the cache when it is made; the entries under it leave. Shard lock held. */
static void pin_range(struct ftl_worker *self, const struct zone *zone, uint32_t shard, uint8_t level, const struct map_range *range)
{
	struct ftl *ftl = self->ftl;
	struct l2p_cache_new entry = { .lba = (uint32_t)zone->start + range->head,
				       .ppa = zone_place(zone, range->head),
				       .level = level,
				       .group = map_page_index(ftl, zone, range->head),
				       .pin = true };

	self->counters.l2p_evictions += l2p_cache_insert(&ftl->l2p->cache, shard, &entry, l2p_cache_now(ftl->l2p));
	self->counters.l2p_pins_refused += !entry.pin;
}

/* One table page at a time under the lock. */
static void drop_covered(struct ftl *ftl, const struct zone *zone, uint8_t level, const struct map_range *range)
{
	struct lt_lock *lock = l2p_lock_of(ftl, zone);
	uint32_t shard = zone->map_shard;

	for (uint32_t o = range->head & ~(HZ_MAP_PAGE_ENTRIES - 1u); o < range->end; o += HZ_MAP_PAGE_ENTRIES) {
		struct lt_lock_node node;

		lt_lock_acquire(lock, &node);
		l2p_cache_drop(&ftl->l2p->cache, shard, map_page_index(ftl, zone, o), (uint32_t)zone->start + range->head,
			       (uint32_t)zone->start + range->end, level);
		lt_lock_release(lock, &node);
	}
}

static void range_made(struct ftl_worker *self, const struct zone *zone, uint8_t level, const struct map_range *range)
{
	uint32_t shard = zone->map_shard;
	struct lt_lock_node node;

	if (self->ftl->cfg->l2p_strategy != HZ_L2P_PINNED)
		return;
	drop_covered(self->ftl, zone, level, range);
	lt_lock_acquire(&self->ftl->l2p->shard[shard], &node);
	pin_range(self, zone, shard, level, range);
	lt_lock_release(&self->ftl->l2p->shard[shard], &node);
}

/* The first entry of a complete range leads more sectors than in its copy on flash: its page must be rewritten, unless its own part of
 * the range is still to be written. */
static void lead(struct ftl *ftl, const struct zone *zone, uint8_t level, const struct map_range *range)
{
	uint32_t index = map_page_index(ftl, zone, range->head), shard = zone->map_shard;
	struct map_page *page = map_page_state(&ftl->l2p->table, index);
	struct lt_lock_node node;

	if (within_a_map_page(range))
		return;
	lt_lock_acquire(&ftl->l2p->shard[shard], &node);
	if (page->level < level && (page->merged || page->writing) && !page->head) {
		page->head = 1;
		l2p_log_add(ftl, 1);
		map_page_dirty(ftl, shard, index);
	}
	lt_lock_release(&ftl->l2p->shard[shard], &node);
}

/* Sectors [from, to) have been placed: find the ranges completed by that. */
static void find_made(struct ftl_worker *self, const struct zone *zone, uint32_t from, uint32_t to)
{
	struct ftl *ftl = self->ftl;
	uint32_t capacity = ftl->capacity, next;
	struct map_range range;
	bool all = from == 0 && to == capacity && l2p_range_at(ftl, HZ_MAP_ZONE, 0, &range);

	for (uint32_t o = from; ftl->cfg->l2p_levels > HZ_MAP_PAGE && o < to; o = next) {
		bool legal = l2p_range_at(ftl, HZ_MAP_CHUNK, o, &range);

		next = range.end;
		if (!legal || range.end > to)
			continue;
		if (!all)
			range_made(self, zone, HZ_MAP_CHUNK, &range); /* else the zone's entry stands for it */
		lead(ftl, zone, HZ_MAP_CHUNK, &range);
	}
	if (to == capacity && l2p_range_at(ftl, HZ_MAP_ZONE, 0, &range)) {
		range_made(self, zone, HZ_MAP_ZONE, &range);
		lead(ftl, zone, HZ_MAP_ZONE, &range);
	}
}

/* [from, to) is the log's, page by page. */
static void log_run(struct ftl *ftl, const struct zone *zone, uint32_t from, uint32_t to)
{
	uint32_t shard = zone->map_shard;
	struct lt_lock_node node;

	for (uint32_t o = from; o < to; o = (o | (HZ_MAP_PAGE_ENTRIES - 1)) + 1) {
		lt_lock_acquire(&ftl->l2p->shard[shard], &node);
		map_page_dirty(ftl, shard, map_page_index(ftl, zone, o));
		lt_lock_release(&ftl->l2p->shard[shard], &node);
	}
	l2p_log_add(ftl, to - from);
}

static void cached_map_run(struct ftl_worker *self, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t ppa, bool staged)
{
	(void)ppa; /* it is the place */
	if (staged)
		l2p_cached_unstage_run(self, zone, offset, count);
	log_run(self->ftl, zone, offset, offset + count);
	find_made(self, zone, offset, offset + count);
	self->counters.l2p_updates += count;
	l2p_log_kick(self);
}

/* Staged sectors stay where they are: their entries in the copy, and their news, stay true. */
static void forget_places(struct ftl_worker *self, uint32_t index)
{
	struct map_page *page = map_page_state(&self->ftl->l2p->table, index);

	if (!page->staged) {
		map_page_drop_copy(self, index);
		return;
	}
	page->merged = 0;
	page->level = HZ_MAP_PAGE;
	map_page_void_reads(self->ftl, index);
}

/* Forget [0, count) of the zone, on flash, in the cache and in the log; staged sectors stay if the zone moves. */
static void forget_entries(struct ftl_worker *self, const struct zone *zone, uint32_t count, bool moves)
{
	struct ftl *ftl = self->ftl;
	uint32_t shard = zone->map_shard;
	struct lt_lock_node node;

	for (uint32_t o = 0; o < count; o += HZ_MAP_PAGE_ENTRIES) {
		uint32_t index = map_page_index(ftl, zone, o);
		struct map_page *page = map_page_state(&ftl->l2p->table, index);

		lt_lock_acquire(&ftl->l2p->shard[shard], &node);
		l2p_log_remove(ftl, map_page_placed(ftl, zone, index) - page->merged + page->head);
		page->head = 0;
		if (page->writing)
			l2p_log_item(ftl, shard, index)->forgotten = true;
		if (moves) {
			forget_places(self, index);
		} else {
			l2p_log_remove(ftl, page->lost);
			page->lost = 0;
			map_page_drop_copy(self, index);
		}
		l2p_cache_drop(&ftl->l2p->cache, shard, index, 0, UINT32_MAX, HZ_MAP_LEVELS);
		lt_lock_release(&ftl->l2p->shard[shard], &node);
	}
}

static void cached_unmap(struct ftl_worker *self, const struct zone *zone, uint32_t count)
{
	struct lt_lock *lock = l2p_lock_of(self->ftl, zone);
	struct lt_lock_node node;

	lt_lock_acquire(lock, &node);
	l2p_runs_cut(self->ftl, zone, 0, self->ftl->capacity);
	lt_lock_release(lock, &node);
	forget_entries(self, zone, count, false);
}

/* The zone is in another superblock: all of it but staged sectors is news. */
static void cached_moved(struct ftl_worker *self, const struct zone *zone)
{
	forget_entries(self, zone, zone->placed, true);
	cached_map_run(self, zone, 0, zone->placed, zone_place(zone, 0), false);
}

/* Rows on their way: the map follows when all of the zone is there. */
static void cached_remap_run(struct ftl_worker *self, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t ppa)
{
	(void)self;
	(void)zone;
	(void)offset;
	(void)count;
	(void)ppa;
}

static void cached_mounted(struct ftl *ftl, const struct zone *zone)
{
	if (l2p_conventional(ftl, zone))
		return; /* l2p_scan_end does it */
	l2p_mount_map_pages(ftl, zone);
	find_made(&ftl->workers[0], zone, 0, zone->placed);
}

static const char *cached_conv_scan_end(struct ftl *ftl)
{
	const char *error = l2p_scan_end(ftl);

	if (!error)
		l2p_directory_mounted(ftl);
	return error;
}

static void cached_init(struct ftl *ftl, struct arena *arena)
{
	const struct hz_device_config *cfg = ftl->cfg;
	struct l2p_cache_choice choice = { .entries = cfg->l2p_cache_bytes / HZ_MAP_ENTRY_BYTES,
					   .shards = ftl->l2p->shards,
					   .buckets = cfg->l2p_buckets,
					   .window = cfg->l2p_prefetch + 1,
					   .clock = cfg->l2p_eviction == HZ_L2P_CLOCK };

	l2p_table_init(ftl, arena);
	l2p_dirty_init(ftl, arena);
	l2p_directory_init(ftl, arena);
	l2p_cache_init(&ftl->l2p->cache, arena, &choice);
	l2p_log_init(ftl, arena);
	l2p_changes_init(ftl, arena);
	l2p_runs_init(ftl, arena);
}

const struct l2p_ops l2p_cached = {
	.init = cached_init,
	.read = cached_read,
	.map_run = cached_map_run,
	.remap_run = cached_remap_run,
	.moved = cached_moved,
	.unmap = cached_unmap,
	.room = l2p_log_room,
	.settled = l2p_log_settled,
	.found = l2p_found_map_page,
	.replay = l2p_drop_old_map_pages,
	.knows = l2p_knows_nothing,
	.mounted = cached_mounted,
	.check = l2p_cached_check,
};

const struct l2p_staged_ops l2p_cached_staged = {
	.read = l2p_cached_staged_read,
	.peek = l2p_cached_staged_peek,
	.stage_run = l2p_cached_stage_run,
	.unstage_run = l2p_cached_unstage_run,
};

const struct l2p_conv_ops l2p_cached_conv = {
	.map = l2p_cached_conv_map,
	.move = l2p_cached_conv_move,
	.admits = l2p_log_admits,
	.unmap = l2p_cached_conv_unmap,
	.read = l2p_cached_conv_read,
	.hint = l2p_cached_conv_hint,
	.peek = l2p_cached_conv_peek,
	.mapped = l2p_cached_conv_mapped,
	.preset = l2p_scan_preset,
	.entry = l2p_scan_entry,
	.blank = l2p_scan_blank,
	.scan_begin = l2p_copies_scan,
	.scan_end = cached_conv_scan_end,
	.stale = l2p_cached_conv_stale,
};
