/* Mount of the map in flash: which table pages are alive, and how much of them is still true. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "l2p/l2p_mount.h"

#include "l2p/l2p.h"
#include "l2p/l2p_staged.h"
#include "slc/slc.h"
#include "tsu/tsu_mount.h"

/* A page of a zone must have the zone's generation; a checkpoint has none. */
static uint32_t map_page_found(struct ftl *ftl, const struct hz_oob *oob)
{
	struct l2p_table *table = &ftl->l2p->table;
	uint32_t number = oob->lpa / table->per_zone;

	if (oob->kind == HZ_OOB_CHECKPOINT)
		return oob->lpa < ftl->shape.map_checkpoints ? table->pages + oob->lpa : UINT32_MAX;
	if (number >= ftl->zone_count || oob->generation != ftl->extent[number]->generation)
		return UINT32_MAX;
	return (number << table->zone_shift) + oob->lpa % table->per_zone;
}

/* The newest copy wins. */
void l2p_found_map_page(struct ftl *ftl, const struct hz_oob *oob, ppa_t ppa)
{
	struct l2p_table *table = &ftl->l2p->table;
	uint32_t index = oob->stream == L2P_TABLE_VERSION ? map_page_found(ftl, oob) : UINT32_MAX;

	if (index == UINT32_MAX || (map_page_state(table, index)->ppa != MAP_NO_COPY && *map_page_number(table, index) >= oob->sequence))
		return;
	map_page_state(table, index)->ppa = ppa & MAP_NO_COPY;
	*map_page_number(table, index) = oob->sequence;
}

/* Map bits that this entry may have: those of the first entry of a range decide what is read through it, so they must be what the
 * configuration of this boot makes of it. */
static bool bits_right(const struct ftl *ftl, const struct extent *ext, uint32_t offset, uint32_t end, uint8_t level)
{
	struct map_range range;

	if (l2p_range_at(ftl, HZ_MAP_CHUNK, offset, &range) && range.head == offset && range.end <= end && level < HZ_MAP_CHUNK)
		return false;
	if (level == HZ_MAP_PAGE || (l2p_range_at(ftl, level, offset, &range) && range.head != offset))
		return true;
	return level <= l2p_level_at(ftl, ext->placed, offset, &range);
}

/* How many entries of the copy, from its first on, say what the zone says. */
uint32_t l2p_true_entries(const struct ftl *ftl, const struct extent *ext, uint32_t first, const uint32_t *entry, uint32_t placed)
{
	uint32_t i = 0;

	while (i < placed && (entry[i] & L2P_ADDRESS_MASK) == extent_place(ext, first + i))
		i++;
	for (uint32_t at = 0; at < i; at++)
		if (!bits_right(ftl, ext, first + at, first + i, l2p_entry_level(entry[at])))
			return at;
	return i;
}

/* The copy, if the page has one that can be read: what of it is true. */
static void look_at_copy(struct ftl *ftl, const struct extent *ext, uint32_t index)
{
	struct map_page *page = map_page_state(&ftl->l2p->table, index);
	uint8_t *image = ftl->l2p->log.item[0].image;
	struct sgl data = { &image, 0, HZ_SECTOR_BYTES };
	const uint32_t *entry = (const uint32_t *)image;
	bool readable = page->ppa != MAP_NO_COPY && tsu_read_now(ftl->tsu, page->ppa, 1, &data, 0, NULL) == NAND_OK;

	if (readable)
		page->merged = 0x7ff & l2p_true_entries(ftl, ext, map_page_first(ftl, index), entry, map_page_placed(ftl, ext, index));
	if (page->merged)
		page->level = l2p_entry_level(*entry) & 3;
	page->staged = l2p_staged_mounted(ftl, ext, index, readable ? entry : NULL);
	if (page->merged || page->staged)
		slc_validate(ftl, page->ppa, 1, slc_map_tag(index));
	else
		page->ppa = MAP_NO_COPY;
}

/* What the copies lack is in the log again. */
void l2p_mount_map_pages(struct ftl *ftl, const struct extent *ext)
{
	struct l2p_table *table = &ftl->l2p->table;

	for (uint32_t i = 0; i < table->per_zone; i++) {
		uint32_t index = (ext->index << table->zone_shift) + i, placed = map_page_placed(ftl, ext, index);

		look_at_copy(ftl, ext, index);
		if (map_page_state(table, index)->merged == placed)
			continue;
		l2p_log_add(ftl, placed - map_page_state(table, index)->merged);
		map_page_dirty(ftl, l2p_shard_of(ftl, ext), index);
	}
}
