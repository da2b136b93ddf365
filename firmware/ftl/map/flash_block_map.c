/* Map on flash, conventional zones: look-ups and changes, and copies of the table pages at mount. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "lt/arena.h"
#include "map/l2p.h"
#include "map/l2p_internal.h"
#include "places/places.h"
#include "places/trims.h"
#include "slc/slc.h"
#include "tsu/tsu_mount.h"

/* Map on flash, conventional zones: an entry is looked up in the cache, then among the changes, then fetched with its table page.
 *
 * Changes before the page, since its bytes and its copy on flash are older. The cache may come first because an LBA with a change is
 * never cached; and a fetched page becomes void (stale) when a new copy replaces it, before the changes in it are dropped.
 *
 * With l2p.compress the first entry of a table page marks whether all of its sectors are consecutive on flash (flash_changes.c): then
 * one entry of the cache, of the level of a chunk, stands for them, until one of them changes.
 *
 * With the directory on flash (flash_directory.h) a table page is fetched only when its entry there has been found; that entry may
 * already have the sectors' address, so no entry of such a level is made. */

static const struct map_page *map_page_at(const struct l2p_lookup *at)
{
	return map_page_state_at(&at->self->ftl->l2p->table, at->zone, at->offset);
}

/* A page without either flag has only records equal to its copy. */
static bool may_have_changes(const struct map_page *page) { return page->dirty || page->writing; }

static bool from_changes(struct l2p_lookup *at)
{
	uint32_t before = at->offset;

	while (at->offset < at->end) {
		const struct l2p_change *change = l2p_change_of(at->self->ftl, at->shard, (uint32_t)at->zone->start + at->offset);

		if (!change)
			break;
		l2p_lookup_found(at, change->place, 1);
	}
	at->self->counters.l2p_log_hits += at->offset - before;
	return at->offset > before;
}

/* Serve from the chunk-level entry for the whole table page. */
static bool from_range(struct l2p_lookup *at)
{
	struct l2p *l2p = at->self->ftl->l2p;
	uint32_t index = at->offset & (HZ_MAP_PAGE_ENTRIES - 1);
	uint32_t place = l2p_cache_find(&l2p->cache, at->shard, (uint32_t)at->zone->start + at->offset - index, HZ_MAP_CHUNK, at->now_ns);

	if (place == PPA_NONE)
		return false;
	at->self->counters.l2p_hits[HZ_MAP_CHUNK]++;
	l2p_lookup_found(at, place + index, min_u32(at->end - at->offset, HZ_MAP_PAGE_ENTRIES - index));
	return true;
}

/* The fetched page is unchanged and one consecutive range: make it one entry. */
static bool take_whole_page(struct l2p_lookup *at, const struct map_fetch *fetch)
{
	uint32_t entry = *(const uint32_t *)fetch->image, place = entry & L2P_ADDRESS_MASK;
	uint32_t index = at->offset & (HZ_MAP_PAGE_ENTRIES - 1);

	if (!at->self->ftl->cfg->l2p_compress || place == L2P_UNMAPPED || l2p_entry_level(entry) != HZ_MAP_CHUNK)
		return false;
	at->self->counters.l2p_misses[HZ_MAP_CHUNK] += io_of(at->req)->missed;
	l2p_lookup_insert(at, HZ_MAP_CHUNK, fetch->page, at->offset - index, place);
	l2p_lookup_found(at, place + index, min_u32(at->end - at->offset, HZ_MAP_PAGE_ENTRIES - index));
	return true;
}

/* A page without a copy is blank: unmapped except for changes. */
static bool from_map_page(struct l2p_lookup *at, const struct map_page *page, bool changes)
{
	struct ftl_io *io = io_of(at->req);

	if (page->ppa == MAP_NO_COPY) {
		l2p_lookup_found(at, L2P_UNMAPPED, 1);
		return true;
	}
	if (!io->fetch)
		return false;
	if (map_page_state(&at->self->ftl->l2p->table, io->fetch->page) != page || io->fetch->stale) {
		l2p_fetch_leave(at->self, at->req);
		return false;
	}
	if (changes || !take_whole_page(at, io->fetch)) {
		at->self->counters.l2p_misses[HZ_MAP_PAGE] += io->missed;
		l2p_lookup_take(at, io->fetch, io->missed, changes);
	}
	io->missed = 0;
	return true;
}

/* The directory's entry has the address of all sectors of the table page, except changed ones. */
static bool from_entry(struct l2p_lookup *at, uint32_t entry, bool was_read, bool changes)
{
	struct hz_log_ftl *counters = &at->self->counters;
	uint32_t index = at->offset & (HZ_MAP_PAGE_ENTRIES - 1);

	if (entry == UINT32_MAX || l2p_entry_level(entry) != HZ_MAP_CHUNK)
		return false;
	(was_read ? counters->l2p_misses : counters->l2p_hits)[HZ_MAP_CHUNK]++;
	l2p_lookup_found(at, (entry & L2P_ADDRESS_MASK) + index, changes ? 1 : min_u32(at->end - at->offset, HZ_MAP_PAGE_ENTRIES - index));
	return true;
}

static bool has_fetched(const struct l2p_lookup *at, uint32_t index)
{
	const struct map_fetch *fetch = io_of(at->req)->fetch;

	return fetch && fetch->page == index && !fetch->stale;
}

/* False: *wanted must be fetched. */
static bool look_up(struct l2p_lookup *at, uint32_t *wanted)
{
	struct ftl *ftl = at->self->ftl;
	const struct map_page *page = map_page_at(at);
	bool changes = may_have_changes(page);
	uint32_t index = map_page_index(ftl, at->zone, at->offset), entry = UINT32_MAX;
	enum directory_found found = DIRECTORY_AT_HAND;

	if ((ftl->cfg->l2p_compress && from_range(at)) || l2p_lookup_entries(at) || (changes && from_changes(at)))
		return true;
	if (ftl->l2p->directory.pages && !has_fetched(at, index))
		found = l2p_directory_find(at, index, &entry);
	*wanted = found == DIRECTORY_IS_WANTED ? l2p_directory_page(ftl, index) : index;
	return found != DIRECTORY_IS_WANTED &&
	       (from_entry(at, entry, found == DIRECTORY_WAS_READ, changes) || from_map_page(at, page, changes));
}

uint32_t l2p_cached_conv_read(struct ftl_worker *self, struct ftl_request *req, uint64_t lba, uint32_t count, uint32_t *place)
{
	const struct zone *zone = zone_at(self->ftl, lba);
	uint32_t offset = (uint32_t)(lba - zone->start);
	struct l2p_lookup at = { .self = self, .req = req, .zone = zone, .offset = offset, .end = offset + count, .place = place };
	struct lt_lock_node node;
	uint32_t wanted;
	bool more = true;

	lt_lock_acquire(l2p_lock_of(self->ftl, zone), &node);
	l2p_lookup_begin(&at);
	while (more && at.offset < at.end)
		if (!look_up(&at, &wanted))
			more = at.offset == offset && l2p_fetch(self, req, at.shard, wanted);
	l2p_lookup_end(&at, &node);
	return at.offset - offset;
}

void l2p_cached_conv_map(struct ftl_worker *self, uint64_t lba, uint32_t count, uint32_t to, struct hz_oob *oob)
{
	struct ftl *ftl = self->ftl;
	const struct zone *zone = zone_at(ftl, lba);
	struct lt_lock *lock = l2p_lock_of(ftl, zone);
	struct lt_lock_node node;
	uint64_t sequence;

	lt_lock_acquire(lock, &node);
	trims_written(ftl, lba, count);
	sequence = sequence_take(ftl, count);
	l2p_change(ftl, zone, (uint32_t)lba, count, to);
	lt_lock_release(lock, &node);
	for (uint32_t i = 0; i < count; i++)
		oob[i].sequence = sequence + i;
	self->counters.l2p_updates += count;
	l2p_log_kick(self);
}

/* A page without a copy and without changes: nothing was ever written there. */
static bool never_written(struct ftl *ftl, const struct zone *zone, uint64_t lba)
{
	const struct map_page *page = map_page_state_at(&ftl->l2p->table, zone, (uint32_t)(lba - zone->start));

	return page->ppa == MAP_NO_COPY && !may_have_changes(page);
}

/* From lba + i on: how many trims are not set. */
static uint32_t untrimmed(const struct ftl *ftl, uint64_t lba, uint32_t count)
{
	uint32_t run = 0;

	while (run < count && !trims_has(ftl, lba + run))
		run++;
	return run;
}

/* Only the table page has the mapping: every LBA without a trim gets a record. */
uint32_t l2p_cached_conv_unmap(struct ftl_worker *self, uint64_t lba, uint32_t count)
{
	struct ftl *ftl = self->ftl;
	const struct zone *zone = zone_at(ftl, lba);
	struct lt_lock *lock = l2p_lock_of(ftl, zone);
	uint32_t unmapped = 0, run;
	struct lt_lock_node node;

	lt_lock_acquire(lock, &node);
	for (uint32_t i = 0; i < count; i += run + !run) {
		run = never_written(ftl, zone, lba + i) ? 0 : untrimmed(ftl, lba + i, count - i);
		if (!run)
			continue;
		trims_set(ftl, lba + i, run);
		l2p_change(ftl, zone, (uint32_t)(lba + i), run, L2P_UNMAPPED);
		unmapped += run;
	}
	lt_lock_release(lock, &node);
	self->counters.l2p_updates += unmapped;
	l2p_log_kick(self);
	return unmapped;
}

/* Without a change the copy on flash decides, and it has `from` as long as that place is valid: a replacement invalidates it. */
bool l2p_cached_conv_move(struct ftl_worker *self, uint64_t lba, uint32_t from, uint32_t to, struct hz_oob *oob)
{
	struct ftl *ftl = self->ftl;
	const struct zone *zone = zone_at(ftl, lba);
	uint32_t shard = zone->map_shard;
	const struct l2p_change *change;
	struct lt_lock_node node;
	bool here;

	lt_lock_acquire(&ftl->l2p->shard[shard], &node);
	change = l2p_change_of(ftl, shard, (uint32_t)lba);
	here = change ? change->place == from : place_valid(ftl, from);
	if (here) {
		oob->sequence = sequence_take(ftl, 1);
		l2p_change(ftl, zone, (uint32_t)lba, 1, to);
	}
	lt_lock_release(&ftl->l2p->shard[shard], &node);
	self->counters.l2p_updates += here;
	l2p_log_kick(self);
	return here;
}

static uint32_t hint_of_directory(struct ftl *ftl, const struct zone *zone, uint32_t lba, uint32_t index)
{
	uint32_t entry = l2p_directory_hint(ftl, map_page_index(ftl, zone, (uint32_t)(lba - zone->start)));
	bool whole = entry != UINT32_MAX && l2p_entry_level(entry) == HZ_MAP_CHUNK;

	return whole ? (entry & L2P_ADDRESS_MASK) + index : L2P_UNMAPPED;
}

static uint32_t hint_of_range(struct ftl *ftl, uint32_t shard, uint32_t lba, uint32_t index)
{
	ppa_t place = ftl->cfg->l2p_compress ? l2p_cache_find(&ftl->l2p->cache, shard, lba - index, HZ_MAP_CHUNK, l2p_cache_now(ftl->l2p))
					     : PPA_NONE;

	return place == PPA_NONE ? L2P_UNMAPPED : place + index;
}

uint32_t l2p_cached_conv_hint(struct ftl *ftl, uint64_t lba)
{
	const struct zone *zone = zone_at(ftl, lba);
	uint32_t shard = zone->map_shard, index = (uint32_t)(lba - zone->start) & (HZ_MAP_PAGE_ENTRIES - 1);
	uint32_t place = L2P_UNMAPPED;
	const struct l2p_change *change;
	struct lt_lock_node node;

	lt_lock_acquire(&ftl->l2p->shard[shard], &node);
	change = l2p_change_of(ftl, shard, (uint32_t)lba);
	if (change)
		place = change->place;
	else if (!l2p_cache_find_entries(&ftl->l2p->cache, shard, (uint32_t)lba, index, 1, l2p_cache_now(ftl->l2p), &place))
		place = ftl->l2p->directory.pages ? hint_of_directory(ftl, zone, (uint32_t)lba, index)
						  : hint_of_range(ftl, shard, (uint32_t)lba, index);
	lt_lock_release(&ftl->l2p->shard[shard], &node);
	return place;
}

/* Cached for consecutive LBAs: a place is programmed once in each opening of its superblock. */
static const uint32_t *peek_page(struct ftl *ftl, ppa_t ppa)
{
	struct l2p_peek *peek = &ftl->l2p->changes.peek;
	uint64_t opened = slc_block_of(ftl, ppa)->opened;
	struct sgl data = { &peek->image, 0, HZ_SECTOR_BYTES };

	if (peek->ppa != ppa || peek->opened != opened)
		tsu_read_now(ftl->tsu, ppa, 1, &data, 0, NULL);
	peek->ppa = ppa;
	peek->opened = opened;
	return (const uint32_t *)peek->image;
}

static uint32_t peek_copy(struct ftl *ftl, uint32_t index, uint32_t offset)
{
	ppa_t ppa = map_page_state(&ftl->l2p->table, index)->ppa;

	return ppa == MAP_NO_COPY ? L2P_UNMAPPED : peek_page(ftl, ppa)[offset & (HZ_MAP_PAGE_ENTRIES - 1)] & L2P_ADDRESS_MASK;
}

uint32_t l2p_cached_conv_peek(struct ftl *ftl, uint64_t lba)
{
	const struct zone *zone = zone_at(ftl, lba);
	uint32_t offset = (uint32_t)(lba - zone->start);
	const struct l2p_change *change;

	if (ftl->l2p->changes.scan)
		return l2p_scan_peek(ftl, zone, offset);
	change = l2p_change_of(ftl, zone->map_shard, (uint32_t)lba);
	return change ? change->place : peek_copy(ftl, map_page_index(ftl, zone, offset), offset);
}

/* Eight entries from a multiple of eight on, two in a word. */
static bool are_blank(const uint32_t *entry)
{
	const uint64_t *pair = (const uint64_t *)entry, blank = (uint64_t)L2P_UNMAPPED << 32 | L2P_UNMAPPED;

	return (pair[0] & pair[1] & pair[2] & pair[3] & blank) == blank;
}

/* The next index with an entry; `entries` or more: none. Most pages are mostly blank. The image is a whole page. */
static uint32_t skip_blank(const uint32_t *entry, uint32_t i, uint32_t entries)
{
	while (i < entries) {
		if (i % 8 == 0 && are_blank(&entry[i]))
			i += 8;
		else if ((entry[i] & L2P_ADDRESS_MASK) == L2P_UNMAPPED)
			i++;
		else
			break;
	}
	return i;
}

/* Entries of the copy that no change replaces. */
static uint32_t mapped_in_copy(struct ftl *ftl, const struct zone *zone, uint32_t index, struct l2p_sector *sector)
{
	const uint32_t *entry = peek_page(ftl, map_page_state(&ftl->l2p->table, index)->ppa);
	uint32_t lba = (uint32_t)zone->start + map_page_first(ftl, index), entries = map_page_entries(ftl, index), count = 0;

	for (uint32_t i = 0; (i = skip_blank(entry, i, entries)) < entries; i++)
		if (!l2p_change_of(ftl, zone->map_shard, lba + i))
			sector[count++] = (struct l2p_sector){ lba + i, entry[i] & L2P_ADDRESS_MASK };
	return count;
}

static uint32_t mapped_in_page(struct ftl *ftl, const struct zone *zone, uint32_t index, struct l2p_sector *sector)
{
	uint32_t count = 0;

	if (map_page_state(&ftl->l2p->table, index)->ppa != MAP_NO_COPY)
		count = mapped_in_copy(ftl, zone, index, sector);
	for (const struct l2p_change *change = NULL; (change = l2p_changes_next(ftl, index, change)) != NULL;)
		if (change->place != L2P_UNMAPPED)
			sector[count++] = (struct l2p_sector){ change->lba, change->place };
	return count;
}

uint32_t l2p_cached_conv_mapped(struct ftl *ftl, const struct zone *zone, uint32_t *offset, struct l2p_sector *sector)
{
	const struct map_page *page = map_page_state_at(&ftl->l2p->table, zone, *offset);
	uint32_t count = 0;

	for (; !count && *offset < ftl->capacity; *offset += HZ_MAP_PAGE_ENTRIES, page++)
		if (page->ppa != MAP_NO_COPY || may_have_changes(page)) /* of a large device most pages have neither */
			count = mapped_in_page(ftl, zone, map_page_index(ftl, zone, *offset), sector);
	return count;
}

static bool still_holds(struct ftl *ftl, uint32_t place, uint32_t lba)
{
	return place != L2P_UNMAPPED && place_valid(ftl, place) && zone_of_place(ftl, place)->places->lba[place_offset(ftl, place)] == lba;
}

/* Places still in the copies although a change replaces them, and not collected yet. */
uint64_t l2p_cached_conv_stale(struct ftl *ftl)
{
	uint64_t stale = 0;

	for (const struct l2p_change *change = NULL; (change = l2p_changes_walk(ftl, change)) != NULL;) {
		const struct zone *zone = zone_at(ftl, change->lba);
		uint32_t offset = change->lba - (uint32_t)zone->start, old = peek_copy(ftl, map_page_index(ftl, zone, offset), offset);

		stale += old != change->place && still_holds(ftl, old, change->lba);
	}
	return stale;
}

/* Copies of conventional zones' table pages at mount. */

struct copies {
	struct ftl *ftl;
	uint32_t pages;   /* indices of conventional zones' */
	uint8_t **memory; /* by sector of a flash page */
	uint8_t *aside;   /* as many sectors: for unwanted ones, or ones beyond a zone's last entry */
};

static uint32_t *entries_of(struct ftl *ftl, uint32_t page)
{
	return &ftl->l2p->changes.scan[map_page_zone(ftl, page)->index * ftl->capacity + map_page_first(ftl, page)];
}

/* The table page of this copy; not one of conventional zones: too high. */
static uint32_t page_at(struct ftl *ftl, ppa_t ppa) { return SLC_MAP_TAG - *slc_tag_of(ftl, ppa); }

static bool fits(struct ftl *ftl, uint32_t page) { return map_page_entries(ftl, page) == HZ_MAP_PAGE_ENTRIES; }

static uint8_t *place_for(const struct copies *copies, ppa_t ppa, uint32_t sector)
{
	uint32_t page = page_at(copies->ftl, ppa);

	return page < copies->pages && fits(copies->ftl, page) ? (uint8_t *)entries_of(copies->ftl, page)
							       : copies->aside + sector * HZ_SECTOR_BYTES;
}

/* Gap sectors between two copies need not be readable. */
static bool read_alone(const struct copies *copies, ppa_t ppa, uint32_t sector)
{
	struct sgl data = { &copies->memory[sector], 0, HZ_SECTOR_BYTES };

	return page_at(copies->ftl, ppa) >= copies->pages || tsu_read_now(copies->ftl->tsu, ppa, 1, &data, 0, NULL) == NAND_OK;
}

static void take_aside(const struct copies *copies, ppa_t ppa, uint32_t sector)
{
	uint32_t page = page_at(copies->ftl, ppa);

	if (page < copies->pages && !fits(copies->ftl, page))
		memcpy(entries_of(copies->ftl, page), copies->memory[sector], map_page_entries(copies->ftl, page) * sizeof(uint32_t));
}

/* Sectors [from, to) of the block of a column, all of one flash page. */
static bool read_span(const struct copies *copies, uint32_t block, uint32_t column, uint32_t from, uint32_t to)
{
	struct sgl data = { copies->memory, 0, (to - from) * HZ_SECTOR_BYTES };
	struct ftl *ftl = copies->ftl;
	bool good;

	for (uint32_t s = from; s < to; s++)
		copies->memory[s - from] = place_for(copies, slc_sector_at(ftl, block, column, s), s - from);
	good = tsu_data_now(ftl->tsu, slc_sector_at(ftl, block, column, from), to - from, &data, NULL) == NAND_OK;
	for (uint32_t s = from; s < to; s++) {
		ppa_t ppa = slc_sector_at(ftl, block, column, s);

		if (!good && !read_alone(copies, ppa, s - from))
			return false;
		take_aside(copies, ppa, s - from);
		if (page_at(ftl, ppa) < copies->pages)
			l2p_scan_filled(ftl, page_at(ftl, ppa));
	}
	return true;
}

/* From its first copy to its last one. */
static bool read_flash_page(const struct copies *copies, uint32_t block, uint32_t column, uint32_t page)
{
	uint32_t sectors = copies->ftl->page_sectors, first = page * sectors, from = first + sectors, to = first;

	for (uint32_t s = first; s < first + sectors; s++)
		if (page_at(copies->ftl, slc_sector_at(copies->ftl, block, column, s)) < copies->pages) {
			from = min_u32(from, s);
			to = s + 1;
		}
	return from >= to || read_span(copies, block, column, from, to);
}

static bool read_copies(struct ftl *ftl, struct arena *arena)
{
	struct copies copies = {
		.ftl = ftl,
		.pages = ftl->shape.conventional_zones << ftl->l2p->table.zone_shift,
		.memory = arena_borrow(arena, ftl->page_sectors, sizeof(uint8_t *), "table pages read at mount"),
		.aside = arena_borrow(arena, ftl->page_sectors, HZ_SECTOR_BYTES, "table pages read at mount"),
	};
	bool good = true;

	for (uint32_t b = 0; b < ftl->slc->blocks; b++)
		for (uint32_t p = 0; good && p < ftl->shape.slc_pages_per_block; p++)
			for (uint32_t c = 0; good && c < ftl->slc->planes; c++)
				good = read_flash_page(&copies, b, c, p);
	return good;
}

/* They are valid in the SLC log. */
static void validate_copies(struct ftl *ftl)
{
	const struct l2p_table *table = &ftl->l2p->table;

	for (uint32_t z = 0; z < ftl->shape.conventional_zones; z++)
		for (uint32_t i = 0; i < table->per_zone; i++) {
			uint32_t page = (z << table->zone_shift) + i;

			if (map_page_state(table, page)->ppa != MAP_NO_COPY)
				slc_validate(ftl, map_page_state(table, page)->ppa, 1, slc_map_tag(page));
		}
}

/* Drop entries of copies older than the trims' page: such a copy lacks earlier deallocations. */
static void drop_deallocated(struct ftl *ftl, const struct zone *zone)
{
	for (uint32_t o = 0, blank; o < ftl->capacity; o += blank ? blank : 1) {
		blank = l2p_scan_blank(ftl, zone->start + o);
		if (!blank && *l2p_scan_entry(ftl, zone->start + o) != UINT32_MAX &&
		    trims_dead(ftl, zone->start + o, *map_page_number(&ftl->l2p->table, map_page_index(ftl, zone, o))))
			l2p_scan_preset(ftl, zone->start + o, UINT32_MAX);
	}
}

uint64_t l2p_copies_scan(struct ftl *ftl, struct arena *arena)
{
	uint64_t before = l2p_checkpoint_before(ftl, ftl->l2p->log.item[0].image);
	bool trusted;

	l2p_scan_open(ftl, arena);
	validate_copies(ftl);
	trusted = before && read_copies(ftl, arena);
	if (before && !trusted)
		l2p_scan_clear(ftl);
	for (uint32_t z = 0; trusted && lt_load(&ftl->trims->used) && z < ftl->shape.conventional_zones; z++)
		drop_deallocated(ftl, &ftl->zones[z]);
	ftl->l2p->changes.trusted = trusted;
	return trusted ? before : 0;
}
