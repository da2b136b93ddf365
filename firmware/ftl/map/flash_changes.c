/* Changed entries of conventional zones: records, and how they get into table pages. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "map/flash_changes.h"

#include "lt/arena.h"
#include "map/l2p.h"
#include "places/places.h"
#include "slc/slc.h"
#include "tsu/tsu_mount.h"

enum { CHANGE_PIECE = 64 /* records looked at under one acquisition */ };

/* --- records --- */

/* Neighbours share a row of buckets, one each: one hash finds them all. Other bits of the hash turn the row, so that the same LBA of
 * many rows does not meet in one bucket. */
enum { ROW = 64 /* LBAs, buckets */ };
struct row {
	uint32_t *bucket;
	uint32_t turn;
};

static struct row row_of(const struct l2p_changes *changes, uint32_t shard, uint32_t lba)
{
	uint32_t hash = lba / ROW * 2654435769u; /* 2^32 / golden ratio: Knuth, TAOCP 6.4 */
	uint32_t index = (uint32_t)((uint64_t)hash >> (32 - changes->bucket_bits));

	return (struct row){ &changes->bucket[shard << changes->bucket_bits | (index & ~(ROW - 1u))], index };
}

static uint32_t *bucket_in(const struct row *row, uint32_t lba) { return &row->bucket[(row->turn + lba) & (ROW - 1)]; }

static uint32_t *change_bucket(const struct l2p_changes *changes, uint32_t shard, uint32_t lba)
{
	struct row row = row_of(changes, shard, lba);

	return bucket_in(&row, lba);
}

static struct l2p_change *find_in(const struct l2p_changes *changes, const struct row *row, uint32_t lba)
{
	uint32_t index = *bucket_in(row, lba);

	while (index != CHANGE_NONE && changes->record[index].lba != lba)
		index = changes->record[index].chain;
	return index == CHANGE_NONE ? NULL : &changes->record[index];
}

struct l2p_change *l2p_change_of(struct ftl *ftl, uint32_t shard, uint32_t lba)
{
	struct row row = row_of(&ftl->l2p->changes, shard, lba);

	return find_in(&ftl->l2p->changes, &row, lba);
}

uint64_t l2p_changes_among(struct ftl *ftl, uint32_t shard, uint32_t lba, uint32_t count)
{
	const struct l2p_changes *changes = &ftl->l2p->changes;
	struct row row = row_of(changes, shard, lba);
	uint64_t among = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (i && (lba + i) % ROW == 0)
			row = row_of(changes, shard, lba + i);
		among |= (uint64_t) !!find_in(changes, &row, lba + i) << i;
	}
	return among;
}

static uint32_t free_after(const struct l2p_changes *changes, uint32_t index)
{
	return (uint32_t)lt_load(&changes->record[index].free) + index + 1;
}

static void set_free_after(struct l2p_changes *changes, uint32_t index, uint32_t next)
{
	lt_store(&changes->record[index].free, next - index - 1);
}

/* The last of the first `count` free records, as seen; CHANGE_NONE: there are fewer, or others took some meanwhile. */
static uint32_t free_at(const struct l2p_changes *changes, uint64_t seen, uint32_t count)
{
	uint32_t next = (uint32_t)seen, index = CHANGE_NONE;

	for (uint32_t i = 0; i < count; i++) {
		if (next == CHANGE_NONE)
			return CHANGE_NONE;
		index = next;
		next = free_after(changes, index);
	}
	return index;
}

/* A chain of `count` free records. The tag makes every state of the stack a different word, so that an old top is never taken for the
 * present one (ABA). */
static uint32_t records_take(struct l2p_changes *changes, uint32_t count)
{
	uint64_t seen, next = 0;
	uint32_t last;

	do {
		seen = lt_load(&changes->free);
		last = free_at(changes, seen, count);
		if (last != CHANGE_NONE)
			next = free_after(changes, last);
		else if (lt_load(&changes->free) == seen)
			lt_fail("the L2P log was given more changes than it admits");
	} while (last == CHANGE_NONE || !lt_cas(&changes->free, seen, ((seen >> 32) + 1) << 32 | next));
	return (uint32_t)seen;
}

/* A chain of records, linked like free ones. */
static void records_give(struct l2p_changes *changes, uint32_t first, uint32_t last)
{
	uint64_t seen;

	do {
		seen = lt_load(&changes->free);
		set_free_after(changes, last, (uint32_t)seen);
	} while (!lt_cas(&changes->free, seen, ((seen >> 32) + 1) << 32 | first));
}

static uint32_t map_page_of_lba(struct ftl *ftl, uint32_t lba)
{
	const struct zone *zone = zone_at(ftl, lba);

	return map_page_index(ftl, zone, (uint32_t)(lba - zone->start));
}

/* LBAs of a table page. */
struct page_lbas {
	uint32_t first, count;
};

static struct page_lbas lbas_of(struct ftl *ftl, uint32_t page)
{
	return (struct page_lbas){ (uint32_t)map_page_zone(ftl, page)->start + map_page_first(ftl, page), map_page_entries(ftl, page) };
}

static bool has_lba(const struct page_lbas *lbas, uint32_t lba) { return lba - lbas->first < lbas->count; }

/* Hash bucket of a table page; other pages may share it. */
static uint32_t *page_list(const struct l2p_changes *changes, uint32_t shard, uint32_t page)
{
	uint32_t hash = page * 2654435769u; /* as above */

	return &changes->of_page[shard << changes->page_bits | (uint32_t)((uint64_t)hash >> (32 - changes->page_bits))];
}

struct l2p_change *l2p_changes_next(struct ftl *ftl, uint32_t page, const struct l2p_change *record)
{
	const struct l2p_changes *changes = &ftl->l2p->changes;
	uint32_t index = record ? record->next : *page_list(changes, map_page_shard(ftl, page), page);
	struct page_lbas lbas;

	if (index == CHANGE_NONE) /* of most pages there is none */
		return NULL;
	lbas = lbas_of(ftl, page);
	while (index != CHANGE_NONE && !has_lba(&lbas, changes->record[index].lba))
		index = changes->record[index].next;
	return index == CHANGE_NONE ? NULL : &changes->record[index];
}

static uint32_t list_count(const struct ftl *ftl)
{
	return ftl->shape.conventional_zones ? ftl->l2p->shards << ftl->l2p->changes.page_bits : 0;
}

static struct l2p_change *first_from(struct ftl *ftl, uint32_t list)
{
	const struct l2p_changes *changes = &ftl->l2p->changes;
	uint32_t lists = list_count(ftl);

	while (list < lists && changes->of_page[list] == CHANGE_NONE)
		list++;
	return list < lists ? &changes->record[changes->of_page[list]] : NULL;
}

struct l2p_change *l2p_changes_walk(struct ftl *ftl, const struct l2p_change *record)
{
	const struct l2p_changes *changes = &ftl->l2p->changes;
	uint32_t page;

	if (!record)
		return first_from(ftl, 0);
	if (record->next != CHANGE_NONE)
		return &changes->record[record->next];
	page = map_page_of_lba(ftl, record->lba);
	return first_from(ftl, (uint32_t)(page_list(changes, map_page_shard(ftl, page), page) - changes->of_page) + 1);
}

static void record_link(struct l2p_changes *changes, uint32_t index, uint32_t *bucket, uint32_t *list)
{
	struct l2p_change *record = &changes->record[index];

	record->chain = *bucket;
	*bucket = index;
	record->next = *list;
	*list = index;
}

static struct l2p_change *record_add(struct ftl *ftl, uint32_t shard, uint32_t lba, uint32_t place)
{
	struct l2p_changes *changes = &ftl->l2p->changes;
	uint32_t index = records_take(changes, 1), page = map_page_of_lba(ftl, lba);
	struct l2p_change *record = &changes->record[index];

	record->lba = lba;
	record->place = place;
	record->recovered = false;
	record->again = true;
	record_link(changes, index, change_bucket(changes, shard, lba), page_list(changes, shard, page));
	l2p_log_add(ftl, 1);
	map_page_dirty(ftl, shard, page);
	return record;
}

/* Part of a row within one table page; its next place is `place`. */
struct change_run {
	struct row row;
	uint32_t *list; /* of its table page */
	uint32_t page, lba, count, place;
	uint32_t step; /* from one place to the next; 0: they are L2P_UNMAPPED */
};

static void replace(struct ftl *ftl, struct l2p_change *record, uint32_t place)
{
	if (record->place != L2P_UNMAPPED)
		place_invalidate(ftl, record->place, UINT64_MAX);
	record->place = place;
	record->again = true;
}

/* Update existing records; returns how many LBAs have none: bit i of *missing: lba + i. */
static uint32_t run_replace(struct ftl *ftl, const struct change_run *run, uint64_t *missing)
{
	uint32_t count = 0;

	*missing = 0;
	for (uint32_t i = 0; i < run->count; i++) {
		struct l2p_change *record = find_in(&ftl->l2p->changes, &run->row, run->lba + i);

		if (record) {
			replace(ftl, record, run->place + i * run->step);
			continue;
		}
		*missing |= 1ull << i;
		count++;
	}
	return count;
}

static void run_add(struct ftl *ftl, const struct change_run *run, uint64_t missing, uint32_t count)
{
	struct l2p_changes *changes = &ftl->l2p->changes;
	uint32_t index = records_take(changes, count), next;

	l2p_log_add(ftl, count);
	for (uint32_t i = 0; missing; i++, missing >>= 1) {
		if (!(missing & 1))
			continue;
		next = free_after(changes, index);
		changes->record[index].lba = run->lba + i;
		changes->record[index].place = run->place + i * run->step;
		changes->record[index].recovered = false;
		changes->record[index].again = true;
		record_link(changes, index, bucket_in(&run->row, run->lba + i), run->list);
		index = next;
	}
}

/* The page becomes dirty even if all LBAs have records: a copy being written has their former places. */
void l2p_change(struct ftl *ftl, const struct zone *zone, uint32_t lba, uint32_t count, uint32_t place)
{
	uint32_t shard = zone->map_shard;
	struct change_run run = { .lba = lba, .place = place, .step = place != L2P_UNMAPPED };

	for (; count; run.lba += run.count, run.place += run.count * run.step, count -= run.count) {
		uint32_t offset = run.lba - (uint32_t)zone->start, index = offset & (HZ_MAP_PAGE_ENTRIES - 1), added;
		uint64_t missing;

		run.count = min_u32(min_u32(count, ROW - run.lba % ROW), HZ_MAP_PAGE_ENTRIES - index);
		run.page = map_page_index(ftl, zone, offset);
		run.list = page_list(&ftl->l2p->changes, shard, run.page);
		run.row = row_of(&ftl->l2p->changes, shard, run.lba);
		l2p_cache_forget(&ftl->l2p->cache, shard, run.lba, index, run.count);
		if (ftl->cfg->l2p_compress)
			l2p_cache_forget_range(&ftl->l2p->cache, shard, run.lba - index, HZ_MAP_CHUNK);
		added = run_replace(ftl, &run, &missing);
		if (added)
			run_add(ftl, &run, missing, added);
		if (added < run.count)
			lt_add(&ftl->l2p->log.again, run.count - added);
		map_page_dirty(ftl, shard, run.page);
	}
}

/* Out of its bucket. Shard lock held. */
static void record_remove(struct l2p_changes *changes, uint32_t shard, uint32_t index)
{
	uint32_t *link = change_bucket(changes, shard, changes->record[index].lba);

	while (*link != index)
		link = &changes->record[*link].chain;
	*link = changes->record[index].chain;
}

/* --- into the table page --- */

static uint32_t entry_of_place(uint32_t place) { return place == L2P_UNMAPPED ? UINT32_MAX : place; }

/* The image has this place: it must not be on flash before the place's data. */
static void note_undurable(struct ftl *ftl, uint32_t place)
{
	if (place != L2P_UNMAPPED && lt_load(&zone_of_place(ftl, place)->places->durable) <= place_offset(ftl, place))
		l2p_log_await(&ftl->l2p->log, zone_of_place(ftl, place)->places, place_offset(ftl, place));
}

/* True if a copy with this number means the present sector at the place. If the zone was reset since, it means the former sector, even
 * if the same LBA has come to the same place again. */
static bool means_present(const struct ftl *ftl, uint32_t place, uint64_t number)
{
	return place == L2P_UNMAPPED || lt_load(&ftl->places->zone[place_number(ftl, place)].reset_sequence) <= number;
}

/* The image has the LBA as deallocated: so must the trims on flash, before it, or a full scan would find the older sectors. The flush
 * before the image is written saves them. */
static void note_deallocated(struct ftl *ftl, const struct l2p_change *record)
{
	if (record->place == L2P_UNMAPPED)
		ftl->l2p->log.crowded = true;
}

static void merge_one(struct ftl *ftl, const struct log_item *item, uint32_t first, struct l2p_change *record)
{
	uint32_t *entry = (uint32_t *)item->image + (record->lba - first), old = *entry & L2P_ADDRESS_MASK;

	*entry = entry_of_place(record->place);
	record->again = false;
	note_undurable(ftl, record->place);
	note_deallocated(ftl, record);
	if (old != L2P_UNMAPPED && old != record->place && !record->recovered)
		place_invalidate(ftl, old, item->known);
}

/* A valid place of a backing zone with an LBA of the page: make its entry, unless a newer record exists. */
static void rebuild_place(struct ftl *ftl, struct log_item *item, struct zone *backing, uint32_t offset)
{
	uint32_t lba, place = place_make(backing->places, offset), shard;
	const struct l2p_change *record;
	const struct zone *zone;
	struct lt_lock_node node;

	if (!place_valid(ftl, place))
		return;
	lba = backing->places->lba[offset];
	if (map_page_of_lba(ftl, lba) != item->page)
		return;
	zone = zone_at(ftl, lba);
	shard = zone->map_shard;
	lt_lock_acquire(&ftl->l2p->shard[shard], &node);
	record = l2p_change_of(ftl, shard, lba);
	if (!record) {
		((uint32_t *)item->image)[lba - lbas_of(ftl, item->page).first] = place;
		note_undurable(ftl, place);
	} else if (record->place != place) {
		place_invalidate(ftl, place, UINT64_MAX);
	}
	lt_lock_release(&ftl->l2p->shard[shard], &node);
}

/* The copy cannot be read: rebuild it from the reverse maps. Slow, and rare. */
static void rebuild(struct ftl *ftl, struct log_item *item)
{
	for (uint32_t i = 0; i < ftl->shape.backing_zones; i++) {
		struct zone *backing = &ftl->zones[ftl->zone_count + i];

		for (uint32_t o = 0; o < backing->capacity; o += CHANGE_PIECE) {
			uint32_t end = min_u32(o + CHANGE_PIECE, backing->capacity);
			struct lt_lock_node node;

			lt_lock_acquire(&backing->lock, &node);
			for (uint32_t at = o; at < end && at < backing->landed; at++)
				rebuild_place(ftl, item, backing, at);
			lt_lock_release(&backing->lock, &node);
		}
	}
}

static bool all_in_order(const uint32_t *entry, uint32_t count)
{
	uint32_t first = entry[0] & L2P_ADDRESS_MASK, i = 1;

	if (first == L2P_UNMAPPED || (entry[count - 1] & L2P_ADDRESS_MASK) != first + count - 1)
		return false;
	while (i < count && (entry[i] & L2P_ADDRESS_MASK) == first + i)
		i++;
	return i == count;
}

/* Map bits of the first entry: do all lie one after another? */
static void mark_page(struct ftl *ftl, const struct log_item *item)
{
	uint32_t *entry = (uint32_t *)item->image;
	bool whole = ftl->cfg->l2p_compress && all_in_order(entry, map_page_entries(ftl, item->page));

	if (entry[0] != UINT32_MAX)
		entry[0] = (entry[0] & L2P_ADDRESS_MASK) | (whole ? (uint32_t)HZ_MAP_CHUNK << HZ_PPA_BITS : 0);
}

void l2p_changes_merge(struct ftl_worker *self, struct log_item *item)
{
	struct ftl *ftl = self->ftl;
	struct l2p_changes *changes = &ftl->l2p->changes;
	uint32_t shard = map_page_shard(ftl, item->page), index;
	struct lt_lock *lock = &ftl->l2p->shard[shard];
	struct page_lbas lbas = lbas_of(ftl, item->page);
	struct lt_lock_node node;

	if (!item->reads)
		memset(item->image, 0xff, HZ_SECTOR_BYTES);
	if (item->lost)
		rebuild(ftl, item);
	lt_lock_acquire(lock, &node);
	index = *page_list(changes, shard, item->page);
	lt_lock_release(lock, &node);
	while (index != CHANGE_NONE) {
		lt_lock_acquire(lock, &node);
		for (uint32_t i = 0; i < CHANGE_PIECE && index != CHANGE_NONE; i++) {
			if (has_lba(&lbas, changes->record[index].lba))
				merge_one(ftl, item, lbas.first, &changes->record[index]);
			index = changes->record[index].next;
		}
		lt_lock_release(lock, &node);
	}
	mark_page(ftl, item);
}

static bool says_the_same(const struct log_item *item, const struct l2p_change *record, uint32_t first)
{
	return !record->again && (((const uint32_t *)item->image)[record->lba - first] & L2P_ADDRESS_MASK) == record->place;
}

static void record_stays(struct ftl *ftl, uint32_t shard, uint32_t page, struct l2p_change *record)
{
	record->recovered = false; /* the copy is as old as its write */
	map_page_dirty(ftl, shard, page);
}

/* Drop one piece of the detached list; returns the rest of it. Records of other pages stay. */
static uint32_t drop_piece(struct ftl *ftl, uint32_t shard, const struct log_item *item, uint32_t index, uint32_t *dropped)
{
	struct l2p_changes *changes = &ftl->l2p->changes;
	uint32_t free = CHANGE_NONE, last = CHANGE_NONE, *list = page_list(changes, shard, item->page);
	struct page_lbas lbas = lbas_of(ftl, item->page);

	for (uint32_t i = 0; i < CHANGE_PIECE && index != CHANGE_NONE; i++) {
		struct l2p_change *record = &changes->record[index];
		bool own = has_lba(&lbas, record->lba);
		uint32_t next = record->next;

		if (own && says_the_same(item, record, lbas.first)) {
			record_remove(changes, shard, index);
			set_free_after(changes, index, free);
			last = free == CHANGE_NONE ? index : last;
			free = index;
			++*dropped;
		} else {
			if (own)
				record_stays(ftl, shard, item->page, record);
			record->next = *list;
			*list = index;
		}
		index = next;
	}
	if (free != CHANGE_NONE)
		records_give(changes, free, last);
	return index;
}

uint32_t l2p_changes_drop(struct ftl_worker *self, const struct log_item *item)
{
	struct ftl *ftl = self->ftl;
	uint32_t shard = map_page_shard(ftl, item->page), dropped = 0, index;
	uint32_t *list = page_list(&ftl->l2p->changes, shard, item->page);
	struct lt_lock *lock = &ftl->l2p->shard[shard];
	struct lt_lock_node node;

	lt_lock_acquire(lock, &node);
	index = *list;
	*list = CHANGE_NONE;
	lt_lock_release(lock, &node);
	while (index != CHANGE_NONE) {
		lt_lock_acquire(lock, &node);
		index = drop_piece(ftl, shard, item, index, &dropped);
		lt_lock_release(lock, &node);
	}
	return dropped;
}

/* --- mount --- */

static uint32_t *scanned(struct ftl *ftl, const struct zone *zone, uint32_t offset)
{
	return &ftl->l2p->changes.scan[zone->index * ftl->capacity + offset];
}

static bool *scan_filled(const struct ftl *ftl, uint32_t page) { return &ftl->l2p->changes.filled[map_page_slot(&ftl->l2p->table, page)]; }

void l2p_scan_filled(struct ftl *ftl, uint32_t page) { *scan_filled(ftl, page) = true; }

/* Entries of a page without findings: all unmapped. Filled page by page, since most pages are never read. */
static uint32_t *fill_page(struct ftl *ftl, const struct zone *zone, uint32_t page)
{
	uint32_t *entry = scanned(ftl, zone, map_page_first(ftl, page));

	if (!*scan_filled(ftl, page))
		memset(entry, 0xff, map_page_entries(ftl, page) * sizeof(*entry));
	*scan_filled(ftl, page) = true;
	return entry;
}

void l2p_scan_preset(struct ftl *ftl, uint64_t lba, uint32_t place)
{
	const struct zone *zone = zone_at(ftl, lba);
	uint32_t offset = (uint32_t)(lba - zone->start), page = map_page_index(ftl, zone, offset);

	fill_page(ftl, zone, page)[offset & (HZ_MAP_PAGE_ENTRIES - 1)] = place;
	ftl->l2p->changes.differs[map_page_slot(&ftl->l2p->table, page)] = true;
}

uint32_t l2p_scan_peek(struct ftl *ftl, const struct zone *zone, uint32_t offset)
{
	return *scan_filled(ftl, map_page_index(ftl, zone, offset)) ? *scanned(ftl, zone, offset) & L2P_ADDRESS_MASK : L2P_UNMAPPED;
}

const uint32_t *l2p_scan_entry(struct ftl *ftl, uint64_t lba)
{
	const struct zone *zone = zone_at(ftl, lba);

	return scanned(ftl, zone, (uint32_t)(lba - zone->start));
}

uint32_t l2p_scan_blank(struct ftl *ftl, uint64_t lba)
{
	const struct zone *zone = zone_at(ftl, lba);
	uint32_t offset = (uint32_t)(lba - zone->start), page = offset >> L2P_MAP_PAGE_SHIFT;
	const bool *filled = scan_filled(ftl, map_page_index(ftl, zone, 0));

	if (filled[page])
		return 0;
	while (page < ftl->l2p->table.per_zone && !filled[page])
		page++;
	return min_u32(page << L2P_MAP_PAGE_SHIFT, ftl->capacity) - offset;
}

static bool scan_read_copy(struct ftl *ftl, uint32_t index)
{
	uint8_t *image = ftl->l2p->log.item[0].image;
	struct sgl data = { &image, 0, HZ_SECTOR_BYTES };

	return tsu_read_now(ftl->tsu, map_page_state(&ftl->l2p->table, index)->ppa, 1, &data, 0, NULL) == NAND_OK;
}

void l2p_scan_open(struct ftl *ftl, struct arena *arena)
{
	struct l2p_changes *changes = &ftl->l2p->changes;

	changes->scan = arena_borrow_raw(arena, (size_t)ftl->shape.conventional_zones * ftl->capacity, sizeof(uint32_t),
					 "places found at mount");
	changes->filled = arena_borrow(arena, (size_t)ftl->shape.conventional_zones * ftl->l2p->table.per_zone, sizeof(bool),
				       "places found at mount");
	changes->differs = arena_borrow(arena, (size_t)ftl->shape.conventional_zones * ftl->l2p->table.per_zone, sizeof(bool),
					"places found at mount");
}

void l2p_scan_clear(struct ftl *ftl)
{
	memset(ftl->l2p->changes.filled, 0, (size_t)ftl->shape.conventional_zones * ftl->l2p->table.per_zone * sizeof(bool));
}

/* entry: NULL if there is no copy. False: no record is left for a difference. */
static bool compare_map_page(struct ftl *ftl, const struct zone *zone, uint32_t index, const uint32_t *entry)
{
	struct l2p_changes *changes = &ftl->l2p->changes;
	uint32_t first = map_page_first(ftl, index), shard = zone->map_shard, entries = map_page_entries(ftl, index);
	const uint32_t *found = fill_page(ftl, zone, index);
	uint64_t number = *map_page_number(&ftl->l2p->table, index);

	for (uint32_t i = 0; i < entries; i++) {
		uint32_t place = found[i] & L2P_ADDRESS_MASK, says = entry ? entry[i] & L2P_ADDRESS_MASK : L2P_UNMAPPED;

		if (says == place && means_present(ftl, place, number))
			continue;
		if (!(uint32_t)lt_load(&changes->free))
			return false;
		record_add(ftl, shard, (uint32_t)zone->start + first + i, place)->recovered = true;
	}
	return true;
}

static bool recover_map_page(struct ftl *ftl, const struct zone *zone, uint32_t index)
{
	struct map_page *page = map_page_state(&ftl->l2p->table, index);
	uint8_t *image = ftl->l2p->log.item[0].image;
	bool known = ftl->l2p->changes.trusted || page->ppa == MAP_NO_COPY;
	bool same = known && !ftl->l2p->changes.differs[map_page_slot(&ftl->l2p->table, index)];
	const uint32_t *copy = same ? scanned(ftl, zone, map_page_first(ftl, index)) : (const uint32_t *)image;

	if (page->ppa != MAP_NO_COPY && !same && !scan_read_copy(ftl, index)) {
		slc_invalidate(&ftl->workers[0], &(ppa_t){ page->ppa }, 1);
		page->ppa = MAP_NO_COPY;
	}
	if (page->ppa != MAP_NO_COPY)
		map_page_set_version(&ftl->l2p->table, index, *map_page_number(&ftl->l2p->table, index));
	l2p_directory_found(ftl, index, page->ppa, copy);
	return same || compare_map_page(ftl, zone, index, page->ppa == MAP_NO_COPY ? NULL : copy);
}

/* … and the pages of the directory. */
static void keep_checkpoints(struct ftl *ftl)
{
	const struct l2p_table *table = &ftl->l2p->table;

	for (uint32_t i = table->pages; i < table->all; i++)
		if (map_page_state(table, i)->ppa != MAP_NO_COPY)
			slc_validate(ftl, map_page_state(table, i)->ppa, 1, slc_map_tag(i));
}

/* Nothing was found of it and nothing is on flash, as the directory, too, says from the first. */
static bool stays_blank(const struct ftl *ftl, uint32_t slot)
{
	return ftl->l2p->table.page[slot].ppa == MAP_NO_COPY && !ftl->l2p->changes.differs[slot];
}

const char *l2p_scan_end(struct ftl *ftl)
{
	const struct l2p_table *table = &ftl->l2p->table;

	for (uint32_t z = 0; z < ftl->shape.conventional_zones; z++)
		for (uint32_t i = 0; i < table->per_zone; i++)
			if (!stays_blank(ftl, z * table->per_zone + i) &&
			    !recover_map_page(ftl, &ftl->zones[z], (z << table->zone_shift) + i))
				return "the map on flash lacks more entries than the L2P log can hold: raise l2p.log_entries";
	keep_checkpoints(ftl);
	ftl->l2p->changes.scan = NULL;
	return NULL;
}

/* --- construction and check --- */

void l2p_changes_init(struct ftl *ftl, struct arena *arena)
{
	struct l2p_changes *changes = &ftl->l2p->changes;
	uint32_t buckets, lists;

	if (!ftl->shape.conventional_zones)
		return;
	/* The log's limit, plus the most that a power cut can take from the buffers, and two unreadable table pages. Each worker may
	 * have been admitted once with a piece to unmap. */
	changes->count = ftl->cfg->l2p_log_entries + 2 * (ftl->cfg->conventional_buffers + 1) * ftl->ring_sectors +
			 2 * HZ_MAP_PAGE_ENTRIES + ftl->cfg->worker_count * L2P_PIECE;
	while (1u << changes->bucket_bits < changes->count / 2) /* at least HZ_MAP_PAGE_ENTRIES: whole rows */
		changes->bucket_bits++;
	changes->page_bits = 1;
	while (ftl->l2p->shards << changes->page_bits < changes->count / 4)
		changes->page_bits++;
	buckets = ftl->l2p->shards << changes->bucket_bits;
	lists = ftl->l2p->shards << changes->page_bits;
	changes->record = arena_alloc(arena, changes->count + 1, sizeof(*changes->record), "changed mapping entries");
	changes->bucket = arena_alloc(arena, buckets, sizeof(uint32_t), "changed mapping entries");
	changes->of_page = arena_alloc(arena, lists, sizeof(uint32_t), "changed mapping entries");
	changes->peek = (struct l2p_peek){ .ppa = PPA_NONE };
	changes->peek.image = arena_alloc_model(arena, 1, HZ_SECTOR_BYTES, "table page");
	lt_preset(&changes->free, 1); /* all, in their order */
	set_free_after(changes, changes->count, CHANGE_NONE);
}

/* The lists may be wrong: they are followed no further than there are records. */
static const char *check_record(struct ftl *ftl, const uint32_t *list, const struct l2p_change *record, uint64_t number)
{
	uint32_t index = map_page_of_lba(ftl, record->lba), shard = map_page_shard(ftl, index);
	const struct map_page *page = map_page_state(&ftl->l2p->table, index);

	if (number > ftl->l2p->changes.count)
		return "a list of changed entries has no end";
	if (!page->dirty && !page->writing)
		return "a table page with changed entries is not dirty";
	if (l2p_change_of(ftl, shard, record->lba) != record)
		return "a changed entry is not found by its LBA";
	return page_list(&ftl->l2p->changes, shard, index) == list ? NULL : "a changed entry is in another table page's list";
}

static const char *check_record_list(struct ftl *ftl, const uint32_t *list, uint64_t *count)
{
	const struct l2p_change *record = ftl->l2p->changes.record;
	const char *error = NULL;

	for (uint32_t index = *list; !error && index != CHANGE_NONE; index = record[index].next)
		error = check_record(ftl, list, &record[index], ++*count);
	return error;
}

const char *l2p_changes_check(struct ftl *ftl, uint64_t *count)
{
	struct l2p_changes *changes = &ftl->l2p->changes;
	const char *error = NULL;
	uint32_t free = 0;

	*count = 0;
	for (uint32_t list = 0; !error && list < list_count(ftl); list++)
		error = check_record_list(ftl, &changes->of_page[list], count);
	if (error)
		return error;
	for (uint32_t i = (uint32_t)lt_load(&changes->free); i != CHANGE_NONE; i = free_after(changes, i))
		free++;
	return free + *count == changes->count ? NULL : "a changed entry was lost";
}
