/* Table pages of the map: numbers, ranges, copies on flash, and fetches. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_MAP_FLASH_TABLE_H
#define FTL_MAP_FLASH_TABLE_H

#include "base/zone.h"
#include "request/io.h"

/* Table pages of the map: their numbering, their state in RAM, and the ranges that one entry may stand for.
 *
 * A table page is one sector of the SLC log with HZ_MAP_PAGE_ENTRIES entries of HZ_MAP_ENTRY_BYTES: a 30-bit address and two map bits
 * each.
 *
 * Of a sequential zone's page, the first `merged` entries are in the copy on flash. Those behind, up to the placed sectors, are the
 * page's part of the log (flash_log.h). The map bits of an entry give the length of the consecutive range at it; only those of the first
 * entry of a chunk or zone are kept up to date.
 *
 * Behind the placed ones are the entries of staged sectors (MAP_STAGED): their news are in flash_runs.h. So a page may have a copy with
 * no merged entries.
 *
 * Of a conventional zone's page, the copy on flash has all entries (merged); changes since are in flash_changes.h.
 *
 * Protected by the L2P lock of the zone. Calls none of its users. */

struct map_fetch;

enum { L2P_MAP_PAGE_SHIFT = 10 /* log2 of HZ_MAP_PAGE_ENTRIES */ };

/* No copy on flash: never a sector's address. */
#define MAP_NO_COPY ((1u << HZ_PPA_BITS) - 1)

/* In place of a level, for a page that is not conventional: the copy is unread since mount, which took it for complete (l2p_internal.h). */
#define MAP_UNSEEN 3
HZ_STATIC_ASSERT(HZ_MAP_LEVELS <= MAP_UNSEEN, "no level may look as if the copy were unseen");

/* State of each table page of the device in RAM, in 6 bytes; 2 more for a conventional zone's (map_page_version). State needed only
 * while a page is read or written is in its fetch (struct map_fetch) or in the log's item. */
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
	uint32_t unused;          /* indices of a zone without a page: 2^zone_shift - per_zone. These arrays have no room for them: */
	uint32_t split;           /* sectors of a zone before its patch: no range reaches across */
	struct map_page *page;    /* map_page_state */
	uint16_t *version;        /* of conventional zones' pages: the high bits */
	struct map_fetch **fetch; /* reads under way, or done with requests still to serve: shard * MAP_FETCH_LISTS + a list of the page */
	uint64_t *sequence;       /* lent to mount: of each page's copy */
	uint32_t *generation;     /* the same: of its zone */
};

/* A range of a zone's sectors that one entry can stand for. */
struct map_range {
	uint32_t head, end;
};
/* The highest level with a complete range around `offset`, with `placed` sectors placed. */
uint8_t l2p_level_at(const struct ftl *ftl, uint32_t placed, uint32_t offset, struct map_range *range);
/* A page's index in arrays with one entry per page. */
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
/* … of the page with a sector's entry. */
static inline struct map_page *map_page_state_at(const struct l2p_table *table, const struct zone *zone, uint32_t offset)
{
	return &table->page[zone->index * table->per_zone + (offset >> L2P_MAP_PAGE_SHIFT)];
}
static inline uint8_t l2p_entry_level(uint32_t entry) { return (uint8_t)(entry >> HZ_PPA_BITS); }

uint32_t map_page_index(const struct ftl *ftl, const struct zone *zone, uint32_t offset);
struct zone *map_page_zone(struct ftl *ftl, uint32_t page);
uint32_t map_page_shard(const struct ftl *ftl, uint32_t page);   /* also of a checkpoint or a page of the directory */
uint32_t map_page_first(const struct ftl *ftl, uint32_t page);   /* offset in its zone of the page's first entry */
struct lt_lock *map_page_lock(struct ftl *ftl, uint32_t page);   /* its shard's */
uint32_t map_page_lpa(const struct ftl *ftl, uint32_t page);     /* number on flash: zone * map_pages_per_zone + page of the zone */
uint32_t map_page_entries(const struct ftl *ftl, uint32_t page); /* entries for sectors: a zone's last page may have fewer */
/* Number of the page's entries placed in the zone. Zone lock held. */
uint32_t map_page_placed(const struct ftl *ftl, const struct zone *zone, uint32_t page);

bool l2p_conventional(const struct ftl *ftl, const struct zone *zone);
bool map_page_conventional(const struct ftl *ftl, uint32_t page); /* is it a table page of such a zone? */

/* Copies of table pages (flash_table.h) on flash: set, voided, lost; and reads of them, with their waiters.
 *
 * Protected by the L2P lock of the zone. */

struct arena;

enum {
	L2P_FETCHES_PER_WORKER = 8,
	L2P_TABLE_VERSION = 1, /* OOB stream of a table page */
};

/* A read of a table page. It lives from the first miss until all waiters have been served, so that none must fetch again. */
struct map_fetch {
	struct tsu_txn txn; /* first */
	struct lt_event released;
	struct ftl_worker *owner;
	struct map_fetch *next;  /* in its list, or the owner's free one */
	struct map_fetch **list; /* of l2p_table.fetch */
	uint32_t page;
	uint32_t merged; /* entries [0, merged) of the bytes are current */
	uint32_t refs;   /* requests waiting or not served yet */
	uint8_t tries;
	bool ready;    /* the bytes are here, if they could be read */
	bool outdated; /* there is another copy now, or none: no request joins */
	bool stale;    /* all data read have become void */
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
/* The copy on flash becomes void, and so do data read from it. */
void map_page_drop_copy(struct ftl_worker *self, uint32_t page);
/* A sequential zone's copy cannot be read or trusted. Its entries follow from the zone's record, so they are in the log again. */
void map_page_doubt(struct ftl_worker *self, uint32_t page);
/* The copy (or the directory's) cannot be read: a conventional zone's page is rebuilt by the next pass of the log, and waiters retry. */
void map_page_lost(struct ftl_worker *self, uint32_t page);
/* A new copy is on flash. Waiters for a read of an older one are served by that, unless its data become void too. */
void map_page_set_copy(struct ftl_worker *self, uint32_t page, ppa_t ppa);
/* All data read of it so far become void. */
void map_page_void_reads(struct ftl *ftl, uint32_t page);

/* Of a conventional zone's page, with all entries merged: low bits of its copy's sequence number; a checkpoint tells copies apart by it. */
enum { MAP_VERSION_BITS = 29 };
uint32_t map_page_version(const struct l2p_table *table, uint32_t page);
void map_page_set_version(struct l2p_table *table, uint32_t page, uint64_t sequence);

/* Fetch the page, which has a copy, for this request: true: req.fetch is ready now; false: the request waits and will be dispatched
 * again. */
bool l2p_fetch(struct ftl_worker *self, struct ftl_request *req, uint32_t shard, uint32_t page);
/* If a fetch is free, resume a request waiting for one. A request so resumed (io.woken) calls this once more when it has run, since it
 * may have needed none. Own worker, no lock. */
void l2p_fetches_wake(struct ftl_worker *self);
/* The request has been served, or wants it no more. */
void l2p_fetch_leave(struct ftl_worker *self, struct ftl_request *req);

#endif
