/* The map's table on flash, as far as RAM knows it: which table pages have a copy, how much of it is current, and reads under way.
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
 * Protected by the L2P lock of the zone. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_L2P_TABLE_H
#define FTL_L2P_TABLE_H

#include "base/extent.h"
#include "request/io.h"

struct arena;

enum {
	L2P_MAP_PAGE_SHIFT = 10, /* log2 of HZ_MAP_PAGE_ENTRIES */
	L2P_FETCHES_PER_WORKER = 8,
	L2P_TABLE_VERSION = 1, /* OOB stream of a table page */
};

enum map_page_flags {
	MAP_DIRTY = 1,     /* in its shard's list */
	MAP_WRITING = 2,   /* a new copy is on its way to flash */
	MAP_FORGOTTEN = 4, /* … and is void: the zone was reset or moved meanwhile */
	MAP_LOST = 16,     /* of a conventional zone: its copy cannot be read; of another: nor be believed of staged sectors. The next pass
			    * rebuilds it; counts as one entry of the log if it is another's */
	MAP_CHANGED = 32,  /* mount: an entry of a conventional zone's page may differ from its copy */
	MAP_STAGED = 64,   /* the copy has entries of staged sectors, behind `merged` */
	MAP_AGAIN = 128,   /* lost once more since the pass took it */
	MAP_HEAD = 8,      /* its first entry leads a larger range than its copy says; counts as one entry of the log */
};
struct map_page {
	ppa_t ppa;         /* copy on flash, or PPA_NONE */
	uint64_t sequence; /* of the copy; the log's job */
	uint16_t merged;
	uint8_t level; /* map bits of the first entry of the copy */
	uint8_t flags;
	uint32_t next;           /* dirty list */
	uint32_t epoch;          /* raised when everything that was read of it so far becomes void */
	struct map_fetch *fetch; /* read under way, or at hand for those who wait for it */
};

/* A read of a table page. From the first miss until everybody who waited has been served, so nobody has to come again. */
struct map_fetch {
	struct tsu_txn txn; /* first */
	struct lt_event released;
	struct ftl_worker *owner;
	struct map_fetch *next; /* owner's free list */
	uint32_t page, epoch;
	uint32_t merged; /* entries [0, merged) of the bytes are current */
	uint32_t refs;   /* requests that wait or have not been served yet */
	uint8_t tries;
	bool ready; /* the bytes are here, if they could be read */
	struct io_queue waiting;
	uint8_t *image;
};
struct map_fetch_pool {
	struct map_fetch *free;
	struct io_queue waiting;
}; /* of a worker; its hart only */

struct map_list {
	uint32_t first, last, count;
};
struct l2p_table {
	uint32_t pages; /* indices: zone << zone_shift | page of the zone */
	uint32_t all;   /* … and, from `pages` on, checkpoints (l2p_checkpoint.h) */
	uint32_t per_zone, zone_shift;
	uint32_t split; /* sectors of a zone before its patch: no range reaches across */
	struct map_page *page;
	struct map_list *dirty; /* by shard */
};

/* A range of a zone's sectors that one entry can stand for. */
struct map_range {
	uint32_t head, end;
};
/* The range of that level around an offset; false: the config or the zone's shape has none there. */
bool l2p_range_at(const struct ftl *ftl, uint8_t level, uint32_t offset, struct map_range *range);
/* The highest level whose range around `offset` is complete when `placed` sectors are. */
uint8_t l2p_level_at(const struct ftl *ftl, uint32_t placed, uint32_t offset, struct map_range *range);
static inline uint8_t l2p_entry_level(uint32_t entry) { return (uint8_t)(entry >> HZ_PPA_BITS); }

void l2p_table_init(struct ftl *ftl, struct arena *arena);
/* Of every worker; with the map in RAM it has none. */
void l2p_fetches_init(struct ftl_worker *worker, struct arena *arena);
uint32_t map_page_index(const struct ftl *ftl, const struct extent *ext, uint32_t offset);
struct extent *map_page_extent(struct ftl *ftl, uint32_t page);
uint32_t map_page_first(const struct ftl *ftl, uint32_t page);   /* offset in its zone of the page's first entry */
struct lt_lock *map_page_lock(struct ftl *ftl, uint32_t page);   /* its shard's, also of a checkpoint */
uint32_t map_page_lpa(const struct ftl *ftl, uint32_t page);     /* number on flash: zone * map_pages_per_zone + page of the zone */
uint32_t map_page_entries(const struct ftl *ftl, uint32_t page); /* those that stand for a sector: a zone's last page may have fewer */
/* Entries of the page that the zone has placed. Zone lock held. */
uint32_t map_page_placed(const struct ftl *ftl, const struct extent *ext, uint32_t page);

/* --- shard lock held from here on --- */
void map_page_dirty(struct ftl *ftl, uint32_t shard, uint32_t page);
/* UINT32_MAX if there is none. */
uint32_t map_page_oldest_dirty(const struct ftl *ftl, uint32_t shard);
/* The oldest dirty page, out of the list. */
void map_page_undirty(struct ftl *ftl, uint32_t shard);
/* The copy on flash becomes void. */
void map_page_drop_copy(struct ftl_worker *self, struct map_page *page);
/* A new copy is on flash. */
void map_page_set_copy(struct ftl_worker *self, uint32_t page, ppa_t ppa, uint32_t merged, uint8_t level);

/* The page, which has a copy, for this request: true: req.fetch is ready now; false: the request waits and will be dispatched again. */
bool l2p_fetch(struct ftl_worker *self, struct ftl_request *req, uint32_t page);
/* Own worker, no lock: if a fetch is free and a request waits for one, that goes on. Who was woken so (io.woken) calls it once more when it
 * has run, since it may have needed none. */
void l2p_fetches_wake(struct ftl_worker *self);
/* Has the page become void since? */
bool l2p_fetch_stale(const struct ftl *ftl, const struct map_fetch *fetch);
/* The request has been served, or wants it no more. */
void l2p_fetch_leave(struct ftl_worker *self, struct ftl_request *req);

bool l2p_conventional(const struct ftl *ftl, const struct extent *ext);

#endif
