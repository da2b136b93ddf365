/* Mount of the map in flash: current copies of table pages, and the true part of each. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "map/l2p.h"
#include "map/l2p_internal.h"
#include "slc/slc.h"
#include "tsu/tsu_mount.h"

static uint32_t map_page_found(struct ftl *ftl, const struct hz_oob *oob)
{
	struct l2p_table *table = &ftl->l2p->table;
	uint32_t number = oob->lpa / table->per_zone;

	if (oob->kind == HZ_OOB_CHECKPOINT)
		return oob->lpa < ftl->shape.map_checkpoints ? table->pages + oob->lpa : UINT32_MAX;
	if (oob->kind == HZ_OOB_DIRECTORY)
		return oob->lpa < ftl->shape.map_directories ? ftl->l2p->directory.first + oob->lpa : UINT32_MAX;
	return number < ftl->l2p->zones ? (number << table->zone_shift) + oob->lpa % table->per_zone : UINT32_MAX;
}

/* The newest copy wins. Whether it is of the zone's present generation is not known yet. */
void l2p_found_map_page(struct ftl *ftl, const struct hz_oob *oob, ppa_t ppa)
{
	struct l2p_table *table = &ftl->l2p->table;
	bool ours = oob->stream == L2P_TABLE_VERSION && !(oob->flags & HZ_OOB_LOST);
	uint32_t index = ours ? map_page_found(ftl, oob) : UINT32_MAX;

	if (index == UINT32_MAX || (map_page_state(table, index)->ppa != MAP_NO_COPY && *map_page_number(table, index) >= oob->sequence))
		return;
	map_page_state(table, index)->ppa = ppa & MAP_NO_COPY;
	*map_page_number(table, index) = oob->sequence;
	table->generation[map_page_slot(table, index)] = oob->generation;
}

/* A copy of an older generation says nothing: the newest one is the log job's last. */
void l2p_drop_old_map_pages(struct ftl *ftl)
{
	struct l2p_table *table = &ftl->l2p->table;

	for (uint32_t slot = 0; slot < table->page_count; slot++) {
		if (table->page[slot].ppa == MAP_NO_COPY || table->generation[slot] == ftl->zones[slot / table->per_zone].generation)
			continue;
		table->page[slot].ppa = MAP_NO_COPY;
		table->sequence[slot] = 0;
	}
}

/* Map bits allowed for this entry: the first entry of a range decides how the range is read, so its bits must fit this boot's
 * configuration. */
static bool bits_right(const struct ftl *ftl, const struct zone *zone, uint32_t offset, uint32_t end, uint8_t level)
{
	struct map_range range;

	if (l2p_range_at(ftl, HZ_MAP_CHUNK, offset, &range) && range.head == offset && range.end <= end && level < HZ_MAP_CHUNK)
		return false;
	if (level == HZ_MAP_PAGE || (l2p_range_at(ftl, level, offset, &range) && range.head != offset))
		return true;
	return level <= l2p_level_at(ftl, zone->placed, offset, &range);
}

/* Number of leading entries of the copy that agree with the zone. */
uint32_t l2p_true_entries(const struct ftl *ftl, const struct zone *zone, uint32_t first, const uint32_t *entry, uint32_t placed)
{
	uint32_t i = 0;

	while (i < placed && (entry[i] & L2P_ADDRESS_MASK) == zone_place(zone, first + i))
		i++;
	for (uint32_t at = 0; at < i; at++)
		if (!bits_right(ftl, zone, first + at, first + i, l2p_entry_level(entry[at])))
			return at;
	return i;
}

/* --- copies read later --- */

static bool says(const struct ftl *ftl, const struct zone *zone, uint32_t first, const uint32_t *entry, uint32_t i, uint32_t end)
{
	return (entry[i] & L2P_ADDRESS_MASK) == zone_place(zone, first + i) &&
	       bits_right(ftl, zone, first + i, first + end, l2p_entry_level(entry[i]));
}

/* Entries follow one another from the first and, in a patched zone, from the split on. */
static bool addresses_right(const struct ftl *ftl, const struct zone *zone, uint32_t first, const uint32_t *entry, uint32_t end)
{
	uint32_t split = ftl->l2p->table.split;

	if (first < split && split < first + end &&
	    (!says(ftl, zone, first, entry, split - first - 1, end) || !says(ftl, zone, first, entry, split - first, end)))
		return false;
	return says(ftl, zone, first, entry, 0, end) && says(ftl, zone, first, entry, end - 1, end);
}

static bool heads_right(const struct ftl *ftl, const struct zone *zone, uint32_t first, const uint32_t *entry, uint32_t end)
{
	uint32_t chunk = ftl->cfg->l2p_chunk_sectors;

	for (uint32_t i = chunk; ftl->cfg->l2p_levels > HZ_MAP_PAGE && i < end; i += chunk)
		if (!says(ftl, zone, first, entry, i, end))
			return false;
	return true;
}

/* True if the first entry leads a range. *level: the highest, within the placed sectors. */
static bool leads(const struct ftl *ftl, const struct zone *zone, uint32_t first, uint8_t *level)
{
	struct map_range range;

	for (*level = HZ_MAP_ZONE; *level > HZ_MAP_PAGE; --*level)
		if (l2p_range_at(ftl, *level, first, &range) && range.head == first && range.end <= zone->placed)
			return true;
	return false;
}

bool l2p_unseen_true(struct ftl *ftl, const struct zone *zone, uint32_t index, const uint32_t *entry)
{
	struct map_page *page = map_page_state(&ftl->l2p->table, index);
	uint32_t first = map_page_first(ftl, index);
	uint8_t level;

	page->level = l2p_entry_level(*entry) & 3;
	if (!addresses_right(ftl, zone, first, entry, page->merged) || !heads_right(ftl, zone, first, entry, page->merged))
		return false;
	return !leads(ftl, zone, first, &level) || page->level == level;
}

/* The zone ends before this page: no entry of a copy can be true. */
static bool drop_beyond(struct ftl *ftl, const struct zone *zone, uint32_t index)
{
	if (zone->landed > map_page_first(ftl, index))
		return false;
	map_page_state(&ftl->l2p->table, index)->ppa = MAP_NO_COPY;
	return true;
}

/* Nothing can have been staged behind a full page, and all of it was news once: most likely it is all in the copy. */
static bool trust_full_page(struct ftl *ftl, const struct zone *zone, uint32_t index)
{
	struct map_page *page = map_page_state(&ftl->l2p->table, index);
	uint32_t entries = map_page_entries(ftl, index);

	if (page->ppa == MAP_NO_COPY || map_page_placed(ftl, zone, index) < entries)
		return false;
	page->merged = 0x7ff & entries;
	page->level = MAP_UNSEEN;
	slc_validate(ftl, page->ppa, 1, slc_map_tag(index));
	return true;
}

/* --- copies read now --- */

/* Read the page's copy, if there is a readable one, and find its true part. */
static void look_at_copy(struct ftl *ftl, const struct zone *zone, uint32_t index)
{
	struct map_page *page = map_page_state(&ftl->l2p->table, index);
	uint8_t *image = ftl->l2p->log.item[0].image;
	struct sgl data = { &image, 0, HZ_SECTOR_BYTES };
	const uint32_t *entry = (const uint32_t *)image;
	bool readable = page->ppa != MAP_NO_COPY && tsu_read_now(ftl->tsu, page->ppa, 1, &data, 0, NULL) == NAND_OK;

	if (readable)
		page->merged = 0x7ff & l2p_true_entries(ftl, zone, map_page_first(ftl, index), entry, map_page_placed(ftl, zone, index));
	if (page->merged)
		page->level = l2p_entry_level(*entry) & 3;
	page->staged = l2p_staged_mounted(ftl, zone, index, readable ? entry : NULL);
	if (page->merged || page->staged)
		slc_validate(ftl, page->ppa, 1, slc_map_tag(index));
	else
		page->ppa = MAP_NO_COPY;
}

/* Entries missing in the copies are in the log again. */
void l2p_mount_map_pages(struct ftl *ftl, const struct zone *zone)
{
	struct l2p_table *table = &ftl->l2p->table;

	for (uint32_t i = 0; i < table->per_zone; i++) {
		uint32_t index = (zone->index << table->zone_shift) + i, placed = map_page_placed(ftl, zone, index);

		if (drop_beyond(ftl, zone, index) || trust_full_page(ftl, zone, index))
			continue;
		look_at_copy(ftl, zone, index);
		if (map_page_state(table, index)->merged == placed)
			continue;
		l2p_log_add(ftl, placed - map_page_state(table, index)->merged);
		map_page_dirty(ftl, zone->map_shard, index);
	}
}
