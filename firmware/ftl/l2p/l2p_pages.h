/* Table pages of the map: which there are, what RAM knows of each, and for which ranges of sectors one entry may stand.
 *
 * A table page is one sector of the SLC log with HZ_MAP_PAGE_ENTRIES entries of HZ_MAP_ENTRY_BYTES: a 30-bit address and two map bits each.
 *
 * Of a sequential zone's page, the first `merged` entries are in the copy on flash. Those behind, up to what the zone has placed, are the
 * page's part of the log (l2p_log.h). The map bits of an entry say how far the sectors from it on lie together; only those of the first
 * entry of a chunk or zone are kept up to date.
 *
 * Behind what is placed lie the entries of staged sectors (MAP_STAGED): what is new of those is in l2p_runs.h. So a page may have a copy of
 * which nothing is merged.
 *
 * Of a conventional zone's page, the copy on flash has all entries (merged); what has changed since is in l2p_changes.h.
 *
 * Protected by the L2P lock of the zone. Calls nothing of those who use it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_L2P_PAGES_H
#define FTL_L2P_PAGES_H

#include "base/extent.h"

struct map_fetch;

enum { L2P_MAP_PAGE_SHIFT = 10 /* log2 of HZ_MAP_PAGE_ENTRIES */ };

/* No copy on flash: an address that no sector has. */
#define MAP_NO_COPY ((1u << HZ_PPA_BITS) - 1)

/* In place of a level, of a page that is not conventional: nobody has looked at the copy since mount, which took it for complete
 * (l2p_mount.h). */
#define MAP_UNSEEN 3
HZ_STATIC_ASSERT(HZ_MAP_LEVELS <= MAP_UNSEEN, "no level may look as if the copy were unseen");

/* What RAM knows of each table page of the device, in 6 bytes; of a conventional zone's 2 more (map_page_version). What only a page needs
 * that is read or written now is in its fetch (struct map_fetch) or in the log's item. */
struct map_page {
	uint32_t ppa : HZ_PPA_BITS; /* copy on flash, or MAP_NO_COPY */
	uint32_t dirty : 1;         /* l2p_dirty.h */
	uint32_t writing : 1;       /* a new copy is on its way to flash (l2p_log_item) */
	uint16_t merged : 11;
	uint16_t level : 2; /* map bits of the first entry of the copy, or MAP_UNSEEN */
	uint16_t head : 1;  /* its first entry leads a larger range than its copy says; counts as one entry of the log */
	uint16_t lost : 1;  /* of a conventional zone: its copy cannot be read; of another: nor be believed of staged sectors. The next pass
			     * rebuilds it; counts as one entry of the log if it is another's */
	uint16_t staged : 1; /* the copy has entries of staged sectors, behind `merged` */
} __attribute__((packed, aligned(2)));
HZ_ASSERT_SIZE(struct map_page, 6);

struct l2p_table {
	uint32_t pages; /* indices: zone << zone_shift | page of the zone */
	uint32_t all;   /* … and, from `pages` on, checkpoints (l2p_checkpoint.h), and pages of the directory (l2p_directory.h) */
	uint32_t page_count;
	uint32_t per_zone, zone_shift;
	uint32_t unused;       /* indices of a zone that stand for no page: 2^zone_shift - per_zone. These arrays have no room for them: */
	uint32_t split;        /* sectors of a zone before its patch: no range reaches across */
	struct map_page *page; /* map_page_state */
	uint16_t *version;     /* of conventional zones' pages: the high bits */
	struct map_fetch *
		*fetch;       /* reads under way, or at hand for those who wait for them: shard * MAP_FETCH_LISTS + a list of the page */
	uint64_t *sequence;   /* lent to mount: of each page's copy */
	uint32_t *generation; /* the same: of its zone */
};

/* A range of a zone's sectors that one entry can stand for. */
struct map_range {
	uint32_t head, end;
};
/* The highest level whose range around `offset` is complete when `placed` sectors are. */
uint8_t l2p_level_at(const struct ftl *ftl, uint32_t placed, uint32_t offset, struct map_range *range);
/* A page's place in arrays that have one entry for each. */
static inline uint32_t map_page_slot(const struct l2p_table *table, uint32_t page)
{
	return page < table->pages ? page - (page >> table->zone_shift) * table->unused : page - table->pages + table->page_count;
}
static inline struct map_page *map_page_state(const struct l2p_table *table, uint32_t page)
{
	return &table->page[map_page_slot(table, page)];
}
/* Mount: the sequence number of its copy. */
static inline uint64_t *map_page_number(const struct l2p_table *table, uint32_t page)
{
	return &table->sequence[map_page_slot(table, page)];
}
/* … of the page that has a sector's entry. */
static inline struct map_page *map_page_state_at(const struct l2p_table *table, const struct extent *ext, uint32_t offset)
{
	return &table->page[ext->index * table->per_zone + (offset >> L2P_MAP_PAGE_SHIFT)];
}
static inline uint8_t l2p_entry_level(uint32_t entry) { return (uint8_t)(entry >> HZ_PPA_BITS); }

uint32_t map_page_index(const struct ftl *ftl, const struct extent *ext, uint32_t offset);
struct extent *map_page_extent(struct ftl *ftl, uint32_t page);
uint32_t map_page_shard(const struct ftl *ftl, uint32_t page);   /* also of a checkpoint or a page of the directory */
uint32_t map_page_first(const struct ftl *ftl, uint32_t page);   /* offset in its zone of the page's first entry */
struct lt_lock *map_page_lock(struct ftl *ftl, uint32_t page);   /* its shard's */
uint32_t map_page_lpa(const struct ftl *ftl, uint32_t page);     /* number on flash: zone * map_pages_per_zone + page of the zone */
uint32_t map_page_entries(const struct ftl *ftl, uint32_t page); /* those that stand for a sector: a zone's last page may have fewer */
/* Entries of the page that the zone has placed. Zone lock held. */
uint32_t map_page_placed(const struct ftl *ftl, const struct extent *ext, uint32_t page);

bool l2p_conventional(const struct ftl *ftl, const struct extent *ext);
bool map_page_conventional(const struct ftl *ftl, uint32_t page); /* is it a table page of such a zone? */

#endif
