/* Changed entries of conventional zones: records, and how they get into table pages. */
#include "l2p_changes.h"

#include "context.h"

enum { CHANGE_PIECE = 64 /* records looked at under one acquisition */ };

/* --- records --- */

static uint32_t *bucket_of(struct l2p_changes *changes, uint32_t shard, uint32_t lba)
{
	uint32_t hash = lba * 2654435769u; /* 2^32 / golden ratio: Knuth, TAOCP 6.4 */

	return &changes->bucket[shard << changes->bucket_bits | (uint64_t)hash >> (32 - changes->bucket_bits)];
}

struct l2p_change *l2p_change_of(struct ftl *ftl, uint32_t shard, uint32_t lba)
{
	struct l2p_changes *changes = &ftl->l2p.changes;
	uint32_t index = *bucket_of(changes, shard, lba);

	while (index != CHANGE_NONE && changes->record[index].lba != lba)
		index = changes->record[index].chain;
	return index == CHANGE_NONE ? NULL : &changes->record[index];
}

uint64_t l2p_changes_among(struct ftl *ftl, uint32_t shard, uint32_t lba, uint32_t count)
{
	uint64_t among = 0;

	for (uint32_t i = 0; i < count; i++)
		among |= (uint64_t)!!l2p_change_of(ftl, shard, lba + i) << i;
	return among;
}

/* The tag makes every state of the stack another word, so that an old top cannot be taken for the present one. */
static uint32_t record_take(struct l2p_changes *changes)
{
	uint64_t seen, next;

	do {
		seen = lt_load(&changes->free);
		if (!(uint32_t)seen)
			lt_fail("the L2P log was given more changes than it admits");
		next = lt_load(&changes->record[(uint32_t)seen - 1].free);
	} while (!lt_cas(&changes->free, seen, ((seen >> 32) + 1) << 32 | next));
	return (uint32_t)seen - 1;
}

static void record_give(struct l2p_changes *changes, uint32_t index)
{
	uint64_t seen;

	do {
		seen = lt_load(&changes->free);
		lt_store(&changes->record[index].free, (uint32_t)seen);
	} while (!lt_cas(&changes->free, seen, ((seen >> 32) + 1) << 32 | (index + 1)));
}

static uint32_t page_of_lba(struct ftl *ftl, uint32_t lba)
{
	const struct zone *zone = zone_at(ftl, lba);

	return l2p_page_index(ftl, zone, (uint32_t)(lba - zone->start));
}

static struct l2p_change *record_add(struct ftl *ftl, uint32_t shard, uint32_t lba, uint32_t place)
{
	struct l2p_changes *changes = &ftl->l2p.changes;
	uint32_t index = record_take(changes), page = page_of_lba(ftl, lba), *bucket = bucket_of(changes, shard, lba);
	struct l2p_change *record = &changes->record[index];

	record->lba = lba;
	record->place = place;
	record->recovered = false;
	record->chain = *bucket;
	*bucket = index;
	record->next = changes->of_page[page];
	changes->of_page[page] = index;
	l2p_log_add(ftl, 1);
	l2p_page_dirty(ftl, shard, page);
	return record;
}

void l2p_change(struct ftl *ftl, uint32_t shard, uint32_t lba, uint32_t place)
{
	struct l2p_change *record = l2p_change_of(ftl, shard, lba);

	l2p_cache_forget(&ftl->l2p.cache, shard, lba, (lba - (uint32_t)zone_at(ftl, lba)->start) & (HZ_MAP_PAGE_ENTRIES - 1), 1);
	if (!record) {
		record_add(ftl, shard, lba, place);
		return;
	}
	if (record->place != L2P_UNMAPPED)
		page_space_invalidate(ftl, record->place, UINT64_MAX);
	record->place = place;
	l2p_page_dirty(ftl, shard, page_of_lba(ftl, lba)); /* a copy that is on its way has the former place */
}

/* Out of its bucket, and free. Shard lock held. */
static void record_remove(struct ftl *ftl, uint32_t shard, uint32_t index)
{
	struct l2p_changes *changes = &ftl->l2p.changes;
	uint32_t *link = bucket_of(changes, shard, changes->record[index].lba);

	while (*link != index)
		link = &changes->record[*link].chain;
	*link = changes->record[index].chain;
	record_give(changes, index);
}

/* --- into the table page --- */

static uint32_t index_in(const struct log_item *item, struct ftl *ftl, uint32_t lba)
{
	return (uint32_t)(lba - l2p_page_zone(ftl, item->page)->start) - l2p_page_first(ftl, item->page);
}

static uint32_t entry_of_place(uint32_t place) { return place == L2P_UNMAPPED ? UINT32_MAX : place; }

static void merge_one(struct ftl *ftl, const struct log_item *item, const struct l2p_change *record)
{
	uint32_t *entry = (uint32_t *)item->image + index_in(item, ftl, record->lba), old = *entry & L2P_ADDRESS_MASK;

	*entry = entry_of_place(record->place);
	if (old != L2P_UNMAPPED && old != record->place && !record->recovered)
		page_space_invalidate(ftl, old, item->known);
}

/* A valid place of a backing zone whose LBA belongs to the page: its entry, unless a record says that it is old news. */
static void rebuild_place(struct ftl *ftl, struct log_item *item, struct zone *backing, uint32_t offset)
{
	uint32_t lba = backing->page->lba[offset], place = page_place(backing->page, offset), shard;
	const struct l2p_change *record;
	const struct zone *zone;
	struct lt_lock_node node;

	if (lba >= ftl->page.end || page_of_lba(ftl, lba) != item->page || !page_space_valid(ftl, place))
		return;
	zone = zone_at(ftl, lba);
	shard = l2p_shard_of(ftl, zone);
	lt_lock_acquire(&ftl->l2p.shard[shard], &node);
	record = l2p_change_of(ftl, shard, lba);
	if (!record)
		((uint32_t *)item->image)[index_in(item, ftl, lba)] = place;
	else if (record->place != place)
		page_space_invalidate(ftl, place, UINT64_MAX);
	lt_lock_release(&ftl->l2p.shard[shard], &node);
}

/* The copy cannot be read: the reverse maps know what it said. Slow, and rare. */
static void rebuild(struct ftl *ftl, struct log_item *item)
{
	for (uint32_t i = 0; i < ftl->page.zones; i++) {
		struct zone *backing = &ftl->zones[ftl->zone_count + i];

		for (uint32_t o = 0; o < ftl->page.capacity; o += CHANGE_PIECE) {
			uint32_t end = o + CHANGE_PIECE < ftl->page.capacity ? o + CHANGE_PIECE : ftl->page.capacity;
			struct lt_lock_node node;

			lt_lock_acquire(&backing->lock, &node);
			for (uint32_t at = o; at < end && at < backing->landed; at++)
				rebuild_place(ftl, item, backing, at);
			lt_lock_release(&backing->lock, &node);
		}
	}
}

void l2p_changes_merge(struct ftl_worker *self, struct log_item *item)
{
	struct ftl *ftl = self->ftl;
	struct l2p_changes *changes = &ftl->l2p.changes;
	struct lt_lock *lock = l2p_lock_of(ftl, l2p_page_zone(ftl, item->page));
	struct lt_lock_node node;
	uint32_t index;

	if (!item->reads)
		memset(item->image, 0xff, HZ_SECTOR_BYTES);
	if (item->lost)
		rebuild(ftl, item);
	lt_lock_acquire(lock, &node);
	index = changes->of_page[item->page];
	lt_lock_release(lock, &node);
	while (index != CHANGE_NONE) {
		lt_lock_acquire(lock, &node);
		for (uint32_t i = 0; i < CHANGE_PIECE && index != CHANGE_NONE; i++) {
			merge_one(ftl, item, &changes->record[index]);
			index = changes->record[index].next;
		}
		lt_lock_release(lock, &node);
	}
}

/* One piece of the detached chain; returns what is left of it. */
static uint32_t drop_piece(struct ftl *ftl, uint32_t shard, const struct log_item *item, uint32_t index, uint32_t *dropped)
{
	struct l2p_changes *changes = &ftl->l2p.changes;

	for (uint32_t i = 0; i < CHANGE_PIECE && index != CHANGE_NONE; i++) {
		struct l2p_change *record = &changes->record[index];
		uint32_t next = record->next;

		if (((const uint32_t *)item->image)[index_in(item, ftl, record->lba)] == entry_of_place(record->place)) {
			record_remove(ftl, shard, index);
			++*dropped;
		} else {
			record->recovered = false; /* the copy names what was true when it was written */
			record->next = changes->of_page[item->page];
			changes->of_page[item->page] = index;
			l2p_page_dirty(ftl, shard, item->page);
		}
		index = next;
	}
	return index;
}

uint32_t l2p_changes_drop(struct ftl_worker *self, const struct log_item *item)
{
	struct ftl *ftl = self->ftl;
	uint32_t shard = l2p_shard_of(ftl, l2p_page_zone(ftl, item->page)), dropped = 0, index;
	struct lt_lock *lock = &ftl->l2p.shard[shard];
	struct lt_lock_node node;

	lt_lock_acquire(lock, &node);
	index = ftl->l2p.changes.of_page[item->page];
	ftl->l2p.changes.of_page[item->page] = CHANGE_NONE;
	lt_lock_release(lock, &node);
	while (index != CHANGE_NONE) {
		lt_lock_acquire(lock, &node);
		index = drop_piece(ftl, shard, item, index, &dropped);
		lt_lock_release(lock, &node);
	}
	return dropped;
}

/* --- mount --- */

void l2p_scan_begin(struct ftl *ftl, struct arena *arena)
{
	size_t entries = (size_t)ftl->shape.conventional_zones * ftl->page.capacity;

	ftl->l2p.changes.scan = arena_alloc(arena, entries, sizeof(uint32_t), "places found at mount");
	memset(ftl->l2p.changes.scan, 0xff, entries * sizeof(uint32_t));
}

/* False: no record is left for a difference. */
static bool compare_page(struct ftl *ftl, const struct zone *zone, uint32_t index, const uint32_t *entry)
{
	struct l2p_changes *changes = &ftl->l2p.changes;
	uint32_t first = l2p_page_first(ftl, index), shard = l2p_shard_of(ftl, zone);

	for (uint32_t i = 0; i < l2p_page_entries(ftl, index); i++) {
		uint32_t place = changes->scan[zone->index * ftl->page.capacity + first + i] & L2P_ADDRESS_MASK;

		if ((entry[i] & L2P_ADDRESS_MASK) == place)
			continue;
		if (!(uint32_t)lt_load(&changes->free))
			return false;
		record_add(ftl, shard, (uint32_t)zone->start + first + i, place)->recovered = true;
	}
	return true;
}

static bool recover_page(struct ftl *ftl, const struct zone *zone, uint32_t index)
{
	struct map_page *page = &ftl->l2p.table.page[index];
	uint8_t *image = ftl->l2p.log.item[0].image;
	struct sgl data = { &image, 0, HZ_SECTOR_BYTES };

	if (page->ppa != PPA_NONE && tsu_read_now(ftl->tsu, page->ppa, 1, &data, 0, NULL) != NAND_OK)
		page->ppa = PPA_NONE;
	if (page->ppa == PPA_NONE) {
		memset(image, 0xff, HZ_SECTOR_BYTES);
	} else {
		page->merged = (uint16_t)l2p_page_entries(ftl, index);
		slc_validate(ftl, page->ppa, 1, slc_map_tag(index));
	}
	return compare_page(ftl, zone, index, (const uint32_t *)image);
}

const char *l2p_scan_end(struct ftl *ftl)
{
	const struct l2p_table *table = &ftl->l2p.table;

	for (uint32_t z = 0; z < ftl->shape.conventional_zones; z++)
		for (uint32_t i = 0; i < table->per_zone; i++)
			if (!recover_page(ftl, &ftl->zones[z], (z << table->zone_shift) + i))
				return "the map on flash lacks more entries than the L2P log can hold: raise l2p.log_entries";
	ftl->l2p.changes.scan = NULL;
	return NULL;
}

/* --- construction and check --- */

void l2p_changes_init(struct ftl *ftl, struct arena *arena)
{
	struct l2p_changes *changes = &ftl->l2p.changes;
	uint32_t buckets, pages = ftl->shape.conventional_zones << ftl->l2p.table.zone_shift;

	if (!pages)
		return;
	/* What may be in it at once, once more what a cut can take from the buffers, and two table pages that cannot be read. */
	changes->count = ftl->cfg->l2p_log_entries + 2 * (ftl->cfg->conventional_buffers + 1) * ftl->superpage_sectors +
			 2 * HZ_MAP_PAGE_ENTRIES;
	while (1u << changes->bucket_bits < changes->count / 2)
		changes->bucket_bits++;
	buckets = ftl->l2p.shards << changes->bucket_bits;
	changes->record = arena_alloc(arena, changes->count, sizeof(*changes->record), "changed mapping entries");
	changes->bucket = arena_alloc(arena, buckets, sizeof(uint32_t), "changed mapping entries");
	changes->of_page = arena_alloc(arena, pages, sizeof(uint32_t), "changed mapping entries");
	changes->peek = arena_alloc(arena, 1, HZ_SECTOR_BYTES, "table page");
	memset(changes->bucket, 0xff, buckets * sizeof(uint32_t));
	memset(changes->of_page, 0xff, pages * sizeof(uint32_t));
	for (uint32_t i = 0; i < changes->count; i++)
		record_give(changes, i);
}

const char *l2p_changes_check(struct ftl *ftl, uint64_t *count)
{
	struct l2p_changes *changes = &ftl->l2p.changes;
	uint32_t pages = ftl->shape.conventional_zones << ftl->l2p.table.zone_shift, free = 0;

	*count = 0;
	for (uint32_t p = 0; p < pages; p++)
		for (uint32_t i = changes->of_page[p]; i != CHANGE_NONE; i = changes->record[i].next, ++*count) {
			const struct l2p_change *record = &changes->record[i];

			if (page_of_lba(ftl, record->lba) != p || !(ftl->l2p.table.page[p].flags & MAP_DIRTY))
				return "a changed entry is with the wrong table page, or that is not dirty";
			if (l2p_change_of(ftl, l2p_shard_of(ftl, zone_at(ftl, record->lba)), record->lba) != record)
				return "a changed entry is not found by its LBA";
		}
	for (uint32_t i = (uint32_t)lt_load(&changes->free); i; i = (uint32_t)lt_load(&changes->record[i - 1].free))
		free++;
	return free + *count == changes->count ? NULL : "a changed entry was lost";
}
