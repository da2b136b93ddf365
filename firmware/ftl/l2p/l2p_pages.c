/* Table pages: numbers, zones, sectors, ranges. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "l2p/l2p_pages.h"

#include "l2p/l2p.h"

static bool complete(const struct ftl *ftl, uint8_t level, const struct map_range *range, uint32_t placed)
{
	return placed >= (level == HZ_MAP_ZONE ? ftl->capacity : range->end);
}

uint8_t l2p_level_at(const struct ftl *ftl, uint32_t placed, uint32_t offset, struct map_range *range)
{
	uint8_t level = HZ_MAP_ZONE;

	while (level > HZ_MAP_PAGE && !(l2p_range_at(ftl, level, offset, range) && complete(ftl, level, range, placed)))
		level--;
	if (level == HZ_MAP_PAGE)
		l2p_range_at(ftl, level, offset, range);
	return level;
}

uint32_t map_page_index(const struct ftl *ftl, const struct extent *ext, uint32_t offset)
{
	return ext->index << ftl->l2p->table.zone_shift | offset >> L2P_MAP_PAGE_SHIFT;
}

bool map_page_conventional(const struct ftl *ftl, uint32_t page)
{
	return page >> ftl->l2p->table.zone_shift < ftl->shape.conventional_zones;
}

bool l2p_conventional(const struct ftl *ftl, const struct extent *ext) { return ext->index < ftl->shape.conventional_zones; }

struct extent *map_page_extent(struct ftl *ftl, uint32_t page) { return ftl->extent[page >> ftl->l2p->table.zone_shift]; }

uint32_t map_page_first(const struct ftl *ftl, uint32_t page)
{
	return (page & ((1u << ftl->l2p->table.zone_shift) - 1)) << L2P_MAP_PAGE_SHIFT;
}

uint32_t map_page_shard(const struct ftl *ftl, uint32_t page)
{
	const struct l2p_table *table = &ftl->l2p->table;

	return page < table->pages ? ftl->extent[page >> table->zone_shift]->map_shard : 0;
}

struct lt_lock *map_page_lock(struct ftl *ftl, uint32_t page) { return &ftl->l2p->shard[map_page_shard(ftl, page)]; }

uint32_t map_page_lpa(const struct ftl *ftl, uint32_t page)
{
	const struct l2p_table *table = &ftl->l2p->table;
	uint32_t ext = page >> table->zone_shift;

	return ext * table->per_zone + (page - (ext << table->zone_shift));
}

uint32_t map_page_entries(const struct ftl *ftl, uint32_t page)
{
	uint32_t rest = ftl->capacity - map_page_first(ftl, page);

	return rest < HZ_MAP_PAGE_ENTRIES ? rest : HZ_MAP_PAGE_ENTRIES;
}

uint32_t map_page_placed(const struct ftl *ftl, const struct extent *ext, uint32_t page)
{
	uint32_t first = map_page_first(ftl, page);

	if (ext->placed <= first)
		return 0;
	return ext->placed - first < HZ_MAP_PAGE_ENTRIES ? ext->placed - first : HZ_MAP_PAGE_ENTRIES;
}
