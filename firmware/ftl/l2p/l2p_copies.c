/* Copies of conventional zones' table pages at mount. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "l2p/l2p_copies.h"

#include "l2p/l2p.h"
#include "lt/arena.h"
#include "places/trims.h"
#include "slc/slc.h"
#include "tsu/tsu_mount.h"

struct copies {
	struct ftl *ftl;
	uint32_t pages;   /* indices of conventional zones' */
	uint8_t **memory; /* by sector of a flash page */
	uint8_t *aside;   /* as many sectors: for those that are not wanted, or do not end with a zone's last entry */
};

static uint32_t *entries_of(struct ftl *ftl, uint32_t page)
{
	return &ftl->l2p->changes.scan[map_page_extent(ftl, page)->index * ftl->capacity + map_page_first(ftl, page)];
}

/* The table page whose copy this sector is; not one of conventional zones: too high. */
static uint32_t page_at(struct ftl *ftl, ppa_t ppa) { return SLC_MAP_TAG - *slc_tag_of(ftl, ppa); }

static bool fits(struct ftl *ftl, uint32_t page) { return map_page_entries(ftl, page) == HZ_MAP_PAGE_ENTRIES; }

static uint8_t *place_for(const struct copies *copies, ppa_t ppa, uint32_t sector)
{
	uint32_t page = page_at(copies->ftl, ppa);

	return page < copies->pages && fits(copies->ftl, page) ? (uint8_t *)entries_of(copies->ftl, page)
							       : copies->aside + sector * HZ_SECTOR_BYTES;
}

/* Which of the sectors between two copies cannot be read does not matter. */
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

/* A copy with a lower number than the trims' page does not know what was deallocated before that was saved. */
static void drop_deallocated(struct ftl *ftl, const struct extent *ext)
{
	for (uint32_t o = 0, blank; o < ftl->capacity; o += blank ? blank : 1) {
		blank = l2p_scan_blank(ftl, ext->start + o);
		if (!blank && *l2p_scan_entry(ftl, ext->start + o) != UINT32_MAX &&
		    trims_dead(ftl, ext->start + o, *map_page_number(&ftl->l2p->table, map_page_index(ftl, ext, o))))
			l2p_scan_preset(ftl, ext->start + o, UINT32_MAX);
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
		drop_deallocated(ftl, ftl->extent[z]);
	ftl->l2p->changes.trusted = trusted;
	return trusted ? before : 0;
}
