/* Table pages of the map: numbers, ranges, copies on flash, and fetches. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_MAP_FLASH_TABLE_H
#define FTL_MAP_FLASH_TABLE_H

#include "base/extent.h"
#include "request/io.h"

/* Table pages of the map: which there are, what RAM knows of each, and for which ranges of sectors one entry may stand.
 *
 * A table page is one sector of the SLC log with HZ_MAP_PAGE_ENTRIES entries of HZ_MAP_ENTRY_BYTES: a 30-bit address and two map bits each.
 *
 * Of a sequential zone's page, the first `merged` entries are in the copy on flash. Those behind, up to what the zone has placed, are the
 * page's part of the log (flash_log.h). The map bits of an entry say how far the sectors from it on lie together; only those of the first
 * entry of a chunk or zone are kept up to date.
 *
 * Behind what is placed lie the entries of staged sectors (MAP_STAGED): what is new of those is in flash_runs.h. So a page may have a copy of
 * which nothing is merged.
 *
 * Of a conventional zone's page, the copy on flash has all entries (merged); what has changed since is in flash_changes.h.
 *
 * Protected by the L2P lock of the zone. Calls nothing of those who use it. */

struct map_fetch;

enum { L2P_MAP_PAGE_SHIFT = 10 /* log2 of HZ_MAP_PAGE_ENTRIES */ };

/* No copy on flash: an address that no sector has. */
#define MAP_NO_COPY ((1u << HZ_PPA_BITS) - 1)

/* In place of a level, of a page that is not conventional: nobody has looked at the copy since mount, which took it for complete
 * (l2p_internal.h). */
#define MAP_UNSEEN 3
HZ_STATIC_ASSERT(HZ_MAP_LEVELS <= MAP_UNSEEN, "no level may look as if the copy were unseen");

/* What RAM knows of each table page of the device, in 6 bytes; of a conventional zone's 2 more (map_page_version). What only a page needs
 * that is read or written now is in its fetch (struct map_fetch) or in the log's item. */
struct map_page {
	uint32_t ppa : HZ_PPA_BITS; /* copy on flash, or MAP_NO_COPY */
	uint32_t dirty : 1;         /* flash_log.h */
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
	uint32_t all;   /* … and, from `pages` on, checkpoints (flash_log.h), and pages of the directory (flash_directory.h) */
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

/* Copies of table pages (flash_table.h) on flash: they come, become void, are lost; and reads of them, with all who wait for those.
 *
 * Protected by the L2P lock of the zone. */

struct arena;

enum {
	L2P_FETCHES_PER_WORKER = 8,
	L2P_TABLE_VERSION = 1, /* OOB stream of a table page */
};

/* A read of a table page. From the first miss until everybody who waited has been served, so nobody has to come again. */
struct map_fetch {
	struct tsu_txn txn; /* first */
	struct lt_event released;
	struct ftl_worker *owner;
	struct map_fetch *next;  /* in its list, or the owner's free one */
	struct map_fetch **list; /* of l2p_table.fetch */
	uint32_t page;
	uint32_t merged; /* entries [0, merged) of the bytes are current */
	uint32_t refs;   /* requests that wait or have not been served yet */
	uint8_t tries;
	bool ready;    /* the bytes are here, if they could be read */
	bool outdated; /* there is another copy now, or none: nobody joins */
	bool stale;    /* all that was read has become void */
	struct io_queue waiting;
	uint8_t *image;
};
struct map_fetch_pool {
	struct map_fetch *free;
	struct io_queue waiting;
}; /* of a worker; its hart only */

enum { MAP_FETCH_LISTS = 8 /* of each shard */ };

void l2p_table_init(struct ftl *ftl, struct arena *arena);
/* Of every worker; with the map in RAM it has none. */
void l2p_fetches_init(struct ftl_worker *worker, struct arena *arena);

/* --- shard lock held from here on --- */
/* The copy on flash becomes void, and so does what has been read of it. */
void map_page_drop_copy(struct ftl_worker *self, uint32_t page);
/* Of a sequential zone's page, the copy cannot be read or believed. What it held can be told from the zone's record, so it is in the log
 * again. */
void map_page_doubt(struct ftl_worker *self, uint32_t page);
/* The copy cannot be read, also of the directory: a conventional zone's is rebuilt by the next pass of the log, and who waits asks again. */
void map_page_lost(struct ftl_worker *self, uint32_t page);
/* A new copy is on flash. Who waits for a read of an older one is served by that, unless its bytes become void too. */
void map_page_set_copy(struct ftl_worker *self, uint32_t page, ppa_t ppa);
/* Everything that was read of it so far becomes void. */
void map_page_void_reads(struct ftl *ftl, uint32_t page);

/* Of a conventional zone's page, in which all entries are merged: low bits of its copy's sequence number, by which a checkpoint knows that
 * copy from older ones. */
enum { MAP_VERSION_BITS = 29 };
uint32_t map_page_version(const struct l2p_table *table, uint32_t page);
void map_page_set_version(struct l2p_table *table, uint32_t page, uint64_t sequence);

/* The page, which has a copy, for this request: true: req.fetch is ready now; false: the request waits and will be dispatched again. */
bool l2p_fetch(struct ftl_worker *self, struct ftl_request *req, uint32_t shard, uint32_t page);
/* Own worker, no lock: if a fetch is free and a request waits for one, that goes on. Who was woken so (io.woken) calls it once more when it
 * has run, since it may have needed none. */
void l2p_fetches_wake(struct ftl_worker *self);
/* The request has been served, or wants it no more. */
void l2p_fetch_leave(struct ftl_worker *self, struct ftl_request *req);

#endif
