/* Staged sectors in the map on flash: runs of them, looked up, changed, and brought into table pages. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "map/flash_runs.h"

#include "lt/arena.h"
#include "map/l2p.h"
#include "map/l2p_internal.h"
#include "slc/slc.h"
#include "tsu/tsu_mount.h"

/* Runs of staged sectors: taken, extended, cut. */

static uint32_t run_take(struct l2p_runs *runs)
{
	uint32_t index = l2p_take_bit(runs->taken, runs->words);

	if (index != L2P_NO_BIT)
		lt_add(&runs->used, 1);
	return index;
}

static void run_give(struct l2p_runs *runs, uint32_t index)
{
	l2p_give_bit(runs->taken, index);
	lt_add(&runs->used, (uint64_t)-1);
}

bool l2p_runs_scarce(const struct ftl *ftl)
{
	const struct l2p_runs *runs = &ftl->l2p->runs;

	return lt_load(&runs->used) > runs->count - runs->count / 4;
}

ppa_t l2p_run_place(const struct l2p_run *run, uint32_t offset)
{
	return run->ppa == L2P_UNMAPPED ? run->ppa : run->ppa + (offset - run->offset);
}

static bool overlaps(const struct l2p_run *run, uint32_t offset, uint32_t count)
{
	return run->offset < offset + count && offset < run->offset + run->count;
}

const struct l2p_run *l2p_runs_next(const struct ftl *ftl, const struct zone *zone, uint32_t offset, uint32_t count, uint32_t *at)
{
	const struct l2p_runs *runs = &ftl->l2p->runs;

	*at = *at == L2P_RUN_NONE ? runs->of_zone[zone->index] : runs->run[*at].next;
	while (*at != L2P_RUN_NONE && !overlaps(&runs->run[*at], offset, count))
		*at = runs->run[*at].next;
	return *at == L2P_RUN_NONE ? NULL : &runs->run[*at];
}

const struct l2p_run *l2p_run_at(const struct ftl *ftl, const struct zone *zone, uint32_t offset)
{
	uint32_t at = L2P_RUN_NONE;

	return l2p_runs_next(ftl, zone, offset, 1, &at);
}

static bool run_new(struct l2p_runs *runs, const struct zone *zone, struct l2p_run run)
{
	uint32_t index = run_take(runs);

	if (index == L2P_RUN_NONE)
		return false;
	run.next = runs->of_zone[zone->index];
	runs->run[index] = run;
	runs->of_zone[zone->index] = index;
	return true;
}

static bool continues(const struct l2p_run *run, uint32_t offset, ppa_t ppa)
{
	return run->offset + run->count == offset && (run->ppa == L2P_UNMAPPED ? ppa == L2P_UNMAPPED : run->ppa + run->count == ppa);
}

bool l2p_runs_add(struct ftl *ftl, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t ppa)
{
	struct l2p_runs *runs = &ftl->l2p->runs;
	uint32_t at = runs->of_zone[zone->index];
	bool added = true;

	while (at != L2P_RUN_NONE && !continues(&runs->run[at], offset, ppa))
		at = runs->run[at].next;
	if (at != L2P_RUN_NONE)
		runs->run[at].count += count;
	else
		added = run_new(runs, zone, (struct l2p_run){ .offset = offset, .count = count, .ppa = ppa });
	if (added)
		l2p_log_add(ftl, count);
	return added;
}

/* Split the sectors behind `end` off into a run of their own. */
static bool split_off(struct ftl *ftl, const struct zone *zone, const struct l2p_run *run, uint32_t end)
{
	struct l2p_run rest = { .offset = end, .count = run->offset + run->count - end, .ppa = l2p_run_place(run, end) };

	if (run_new(&ftl->l2p->runs, zone, rest))
		return true;
	l2p_log_remove(ftl, rest.count);
	return false;
}

bool l2p_runs_cut(struct ftl *ftl, const struct zone *zone, uint32_t offset, uint32_t count)
{
	struct l2p_runs *runs = &ftl->l2p->runs;
	uint32_t *link = &runs->of_zone[zone->index];
	bool whole = true;

	while (*link != L2P_RUN_NONE) {
		uint32_t index = *link, end = offset + count;
		struct l2p_run *run = &runs->run[index];
		uint32_t run_end = run->offset + run->count;

		if (!overlaps(run, offset, count)) {
			link = &run->next;
		} else if (run->offset < offset) {
			if (run_end > end)
				whole &= split_off(ftl, zone, run, end);
			l2p_log_remove(ftl, min_u32(run_end, end) - offset);
			run->count = offset - run->offset;
			link = &run->next;
		} else if (run_end > end) {
			l2p_log_remove(ftl, end - run->offset);
			run->ppa = l2p_run_place(run, end);
			run->count = run_end - end;
			run->offset = end;
			link = &run->next;
		} else {
			l2p_log_remove(ftl, run->count);
			*link = run->next;
			run_give(runs, index);
		}
	}
	return whole;
}

/* Twice the most that the stages of one buffer need, and some for the collector. */
void l2p_runs_init(struct ftl *ftl, struct arena *arena)
{
	struct l2p_runs *runs = &ftl->l2p->runs;

	runs->words = (2 * ftl->flush_sectors + L2P_WORD_BITS - 1) / L2P_WORD_BITS + 1;
	runs->count = runs->words * L2P_WORD_BITS;
	runs->run = arena_alloc(arena, runs->count, sizeof(*runs->run), "runs of staged sectors");
	runs->taken = arena_alloc(arena, runs->words, sizeof(*runs->taken), "runs of staged sectors");
	runs->of_zone = arena_alloc(arena, ftl->l2p->zones, sizeof(uint32_t), "runs of staged sectors");
	memset(runs->of_zone, 0xff, ftl->l2p->zones * sizeof(uint32_t));
}

const char *l2p_runs_check(const struct ftl *ftl, uint64_t *sectors)
{
	const struct l2p_runs *runs = &ftl->l2p->runs;
	uint64_t listed = 0;

	*sectors = 0;
	for (uint32_t z = 0; z < ftl->l2p->zones; z++)
		for (uint32_t i = runs->of_zone[z]; i != L2P_RUN_NONE; i = runs->run[i].next, listed++) {
			const struct l2p_run *run = &runs->run[i];

			*sectors += run->count;
			if (!run->count || run->offset < ftl->zones[z].placed || run->offset + run->count > ftl->zones[z].landed)
				return "a run of staged sectors reaches beyond what is staged";
			if (!(lt_load(&runs->taken[i / L2P_WORD_BITS]) >> i % L2P_WORD_BITS & 1))
				return "a run of staged sectors is in use and free";
		}
	return listed == lt_load(&runs->used) ? NULL : "a run of staged sectors was lost";
}

/* Map on flash, staged sectors: look-up, changes, and merging into table pages.
 *
 * The cache may come first because a sector with a run is never cached: its entry is dropped when the run is made. And a fetched page
 * becomes void (stale) when its new copy has entries of staged sectors, since their runs go then. If only the older copy had some, those
 * sectors have been placed, and are not looked up as staged ones any more. */

enum { SCAN_PIECE = 64 /* sectors of the SLC log looked at under one acquisition of its lock */ };

static struct map_page *staged_page(struct ftl *ftl, const struct zone *zone, uint32_t offset)
{
	return map_page_state_at(&ftl->l2p->table, zone, offset);
}

/* --- look-up --- */

static bool from_runs(struct l2p_lookup *at)
{
	const struct l2p_run *run = l2p_run_at(at->self->ftl, at->zone, at->offset);
	uint32_t count;

	if (!run)
		return false;
	count = run->ppa == L2P_UNMAPPED ? 1 : min_u32(at->end, run->offset + run->count) - at->offset;
	at->self->counters.l2p_log_hits++;
	l2p_lookup_found(at, l2p_run_place(run, at->offset), count);
	return true;
}

static bool from_copy(struct l2p_lookup *at)
{
	struct ftl *ftl = at->self->ftl;
	struct map_page *page = staged_page(ftl, at->zone, at->offset);
	struct ftl_io *io = at->req ? io_of(at->req) : NULL;

	if (!page->staged && !page->lost) {
		l2p_lookup_found(at, L2P_UNMAPPED, 1);
		return true;
	}
	if (!io || !io->fetch)
		return false;
	if (page->lost || map_page_state(&ftl->l2p->table, io->fetch->page) != page || io->fetch->stale) {
		l2p_fetch_leave(at->self, at->req);
		return false;
	}
	at->self->counters.l2p_misses[HZ_MAP_PAGE] += io->missed;
	l2p_lookup_take_one(at, io->fetch);
	io->missed = 0;
	return true;
}

static bool staged_look_up(struct l2p_lookup *at) { return l2p_lookup_entries(at) || from_runs(at) || from_copy(at); }

static uint32_t find_in_slc(struct ftl *ftl, const struct zone *zone, uint32_t offset)
{
	return slc_find(ftl, (uint32_t)zone->start + offset) & L2P_ADDRESS_MASK;
}

/* The next pass rebuilds the page's lost entries. There is no pass any more once table pages cannot be written: then the sector must be
 * found now, one by one. */
static uint32_t find_lost(struct ftl_worker *self, struct ftl_request *req, const struct zone *zone, uint32_t offset, ppa_t *ppa)
{
	if (l2p_lost(self->ftl)) {
		*ppa = find_in_slc(self->ftl, zone, offset);
		return 1;
	}
	if (req)
		l2p_log_await_pass(self, req);
	return 0;
}

uint32_t l2p_cached_staged_read(struct ftl_worker *self, struct ftl_request *req, const struct zone *zone, uint32_t offset, uint32_t count,
				ppa_t *ppa)
{
	struct l2p_lookup at = { .self = self, .req = req, .zone = zone, .offset = offset, .end = offset + count, .place = ppa };
	bool more = true, lost = false;
	struct lt_lock_node node;

	lt_lock_acquire(l2p_lock_of(self->ftl, zone), &node);
	l2p_lookup_begin(&at);
	while (more && at.offset < at.end) {
		if (staged_look_up(&at))
			continue;
		lost = staged_page(self->ftl, zone, at.offset)->lost;
		more = at.offset == offset && req && !lost && l2p_fetch(self, req, at.shard, map_page_index(self->ftl, zone, at.offset));
	}
	l2p_lookup_end(&at, &node);
	if (lost && at.offset == offset)
		return find_lost(self, req, zone, offset, ppa);
	return at.offset - offset;
}

/* --- changes --- */

void l2p_staged_lost(struct ftl *ftl, const struct zone *zone, uint32_t index)
{
	struct map_page *page = map_page_state(&ftl->l2p->table, index);
	uint32_t shard = zone->map_shard;

	if (!page->lost)
		l2p_log_add(ftl, 1);
	else if (page->writing)
		l2p_log_item(ftl, shard, index)->again = true;
	page->lost = 1;
	map_page_void_reads(ftl, index);
	map_page_dirty(ftl, shard, index);
}

/* The sectors of one table page. Shard lock held. */
static void put(struct ftl *ftl, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t ppa)
{
	uint32_t index = map_page_index(ftl, zone, offset), shard = zone->map_shard;
	bool cut = l2p_runs_cut(ftl, zone, offset, count), added = l2p_runs_add(ftl, zone, offset, count, ppa);

	l2p_cache_forget(&ftl->l2p->cache, shard, (uint32_t)zone->start + offset, offset & (HZ_MAP_PAGE_ENTRIES - 1), count);
	if (cut && added)
		map_page_dirty(ftl, shard, index);
	else
		l2p_staged_lost(ftl, zone, index);
}

/* From the offset to the end of its table page, at most `most`. */
static uint32_t in_page(uint32_t offset, uint32_t most)
{
	return min_u32(most, HZ_MAP_PAGE_ENTRIES - (offset & (HZ_MAP_PAGE_ENTRIES - 1)));
}

void l2p_cached_stage_run(struct ftl_worker *self, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t ppa)
{
	struct lt_lock *lock = l2p_lock_of(self->ftl, zone);
	struct lt_lock_node node;
	uint32_t part;

	self->counters.l2p_updates += count;
	for (; count; offset += part, ppa += part, count -= part) {
		part = in_page(offset, count);
		lt_lock_acquire(lock, &node);
		put(self->ftl, zone, offset, part, ppa);
		lt_lock_release(lock, &node);
	}
	if (l2p_runs_scarce(self->ftl))
		l2p_log_flush(self);
	else
		l2p_log_kick(self);
}

/* The sectors to cut off at the end of a run are in the page: mark it lost then. */
void l2p_cached_unstage_run(struct ftl_worker *self, const struct zone *zone, uint32_t offset, uint32_t count)
{
	struct ftl *ftl = self->ftl;
	uint32_t shard = zone->map_shard, part;
	struct lt_lock_node node;

	for (; count; offset += part, count -= part) {
		part = in_page(offset, count);
		lt_lock_acquire(&ftl->l2p->shard[shard], &node);
		if (!l2p_runs_cut(ftl, zone, offset, part))
			l2p_staged_lost(ftl, zone, map_page_index(ftl, zone, offset));
		l2p_cache_forget(&ftl->l2p->cache, shard, (uint32_t)zone->start + offset, offset & (HZ_MAP_PAGE_ENTRIES - 1), part);
		lt_lock_release(&ftl->l2p->shard[shard], &node);
	}
}

/* --- table pages --- */

bool l2p_staged_news(const struct ftl *ftl, const struct zone *zone, uint32_t index)
{
	uint32_t at = L2P_RUN_NONE;

	return map_page_state(&ftl->l2p->table, index)->lost ||
	       l2p_runs_next(ftl, zone, map_page_first(ftl, index), HZ_MAP_PAGE_ENTRIES, &at);
}

/* Under the zone's lock the reverse map is exact for its sectors. */
static void scan_piece(struct ftl *ftl, struct zone *zone, struct log_item *item, uint32_t block, uint32_t from)
{
	uint32_t end = min_u32(from + SCAN_PIECE, ftl->slc->sectors), first = map_page_first(ftl, item->page),
		 *entry = (uint32_t *)item->image;
	uint32_t lba = (uint32_t)zone->start + first, entries = map_page_entries(ftl, item->page);
	struct lt_lock_node zone_node, node;

	lt_lock_acquire(&zone->lock, &zone_node);
	lt_lock_acquire(&ftl->slc->lock, &node);
	for (uint32_t o = from; o < end; o++) {
		uint32_t index = *slc_tag_of(ftl, ppa_make(ftl->map, block, o)) - lba;

		if (index < entries && first + index >= item->placed)
			entry[index] = ppa_make(ftl->map, block, o);
	}
	lt_lock_release(&ftl->slc->lock, &node);
	lt_lock_release(&zone->lock, &zone_node);
}

/* A sector moved meanwhile has a run, or the page is lost again. Slow, and rare. An unreadable copy has been counted already. */
static void rebuild_staged(struct ftl_worker *self, struct log_item *item)
{
	struct ftl *ftl = self->ftl;
	struct zone *zone = map_page_zone(ftl, item->page);

	self->counters.l2p_rebuilt += item->reads;
	for (uint32_t b = 0; b < ftl->slc->blocks; b++)
		for (uint32_t o = 0; o < ftl->slc->sectors; o += SCAN_PIECE)
			scan_piece(ftl, zone, item, b, o);
}

/* True if all entries of the run's part in the page agree with the run. */
static bool says_so(const struct log_item *item, const struct l2p_run *run, uint32_t first, uint32_t from, uint32_t to)
{
	const uint32_t *entry = (const uint32_t *)item->image;

	for (uint32_t o = from; o < to; o++)
		if ((entry[o - first] & L2P_ADDRESS_MASK) != l2p_run_place(run, o))
			return false;
	return true;
}

static uint32_t part_from(const struct l2p_run *run, uint32_t first) { return run->offset > first ? run->offset : first; }

static uint32_t part_to(const struct l2p_run *run, uint32_t first)
{
	return min_u32(run->offset + run->count, first + HZ_MAP_PAGE_ENTRIES);
}

void l2p_staged_merge(struct ftl_worker *self, struct log_item *item)
{
	struct ftl *ftl = self->ftl;
	const struct zone *zone = map_page_zone(ftl, item->page);
	struct lt_lock *lock = l2p_lock_of(ftl, zone);
	uint32_t first = map_page_first(ftl, item->page), *entry = (uint32_t *)item->image, at = L2P_RUN_NONE;
	const struct l2p_run *run;
	struct lt_lock_node node;

	item->staged = item->lost || item->kept > item->to;
	if (item->lost)
		rebuild_staged(self, item);
	lt_lock_acquire(lock, &node);
	for (; (run = l2p_runs_next(ftl, zone, first, HZ_MAP_PAGE_ENTRIES, &at)); item->staged = true)
		for (uint32_t o = part_from(run, first); o < part_to(run, first); o++)
			entry[o - first] = run->ppa == L2P_UNMAPPED ? UINT32_MAX : l2p_run_place(run, o);
	lt_lock_release(lock, &node);
}

void l2p_staged_drop(struct ftl *ftl, const struct zone *zone, const struct log_item *item)
{
	uint32_t first = map_page_first(ftl, item->page), at = L2P_RUN_NONE;
	const struct l2p_run *run;

	while ((run = l2p_runs_next(ftl, zone, first, HZ_MAP_PAGE_ENTRIES, &at))) {
		uint32_t from = part_from(run, first), to = part_to(run, first);

		if (!says_so(item, run, first, from, to)) {
			map_page_dirty(ftl, zone->map_shard, item->page);
			continue;
		}
		if (!l2p_runs_cut(ftl, zone, from, to - from))
			l2p_staged_lost(ftl, zone, item->page);
		at = L2P_RUN_NONE;
	}
}

/* --- mount --- */

bool l2p_staged_mounted(struct ftl *ftl, const struct zone *zone, uint32_t index, const uint32_t *image)
{
	uint32_t first = map_page_first(ftl, index), from = first > zone->placed ? first : zone->placed;
	uint32_t to = min_u32(zone->landed, first + HZ_MAP_PAGE_ENTRIES);
	bool some = false;

	for (uint32_t o = from; o < to; o++) {
		uint32_t truth = zone_staged(zone, o) & L2P_ADDRESS_MASK;

		if (truth == (image ? image[o - first] & L2P_ADDRESS_MASK : L2P_UNMAPPED))
			some |= truth != L2P_UNMAPPED;
		else
			put(ftl, zone, o, 1, truth);
	}
	return some;
}

/* --- harts idle --- */

uint32_t l2p_cached_staged_peek(struct ftl *ftl, const struct zone *zone, uint32_t offset)
{
	const struct l2p_run *run = l2p_run_at(ftl, zone, offset);
	const struct map_page *page = staged_page(ftl, zone, offset);
	uint8_t *image = ftl->l2p->log.item[0].image;
	struct sgl data = { &image, 0, HZ_SECTOR_BYTES };

	if (run)
		return l2p_run_place(run, offset);
	if (page->lost)
		return find_in_slc(ftl, zone, offset);
	if (!page->staged)
		return L2P_UNMAPPED;
	if (tsu_read_now(ftl->tsu, page->ppa, 1, &data, 0, NULL) != NAND_OK)
		return find_in_slc(ftl, zone, offset); /* the next pass will do the same */
	return ((const uint32_t *)image)[offset & (HZ_MAP_PAGE_ENTRIES - 1)] & L2P_ADDRESS_MASK;
}
