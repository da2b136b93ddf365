/* Zone table and trims on flash: saved, and found at mount. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_ZONE_TABLES_H
#define FTL_ZONE_TABLES_H

#include "lt/lock.h"
#include "request/io.h"
#include "slc/slc.h"
#include "slc_log_size.h"

/* Zone records that must survive power cuts: generation, finish, read-only/offline, fence; and each zone's offsets when the record was
 * made. Packed into 4 KiB table pages, written to the SLC log like any sector (OOB kind ZONE_TABLE, lpa = page number), in two programs:
 * the highest sequence number wins, one readable copy of it is enough.
 *
 * * table.lock is of class L2P (index: number of map shards), since a page's place is mapped like a sector's and SLC is taken under it.
 * One write per page at a time; records changed meanwhile go out together with the next. */

struct arena;
struct zone;

enum zone_record_kind { ZONE_RECORD_OPEN = 0, ZONE_RECORD_FINISHED = 1, ZONE_RECORD_READ_ONLY = 2, ZONE_RECORD_OFFLINE = 3 };
struct zone_record {
	uint32_t generation;
	uint32_t state;             /* enum zone_record_kind */
	uint32_t finish;            /* FINISHED: sectors written before the finish */
	uint32_t fence_offset;      /* sectors at or beyond it … */
	uint64_t fence_sequence;    /* … with a sequence number up to this one are dead */
	uint64_t reset_sequence;    /* backing zone: data with a sequence number up to this one are dead */
	uint32_t placed, wp;        /* sectors at their place; in all. Fewer may be readable, but no fewer exist */
	uint32_t superblock, patch; /* of the placed ones: true after a clean shutdown */
	uint64_t data_before; /* all sectors had sequence numbers below this one, if the map's pages had been brought up to date since */
	uint64_t folded;      /* copies of sectors written in place, with lower sequence numbers, are dead */
};
HZ_ASSERT_SIZE(struct zone_record, HZ_SECTOR_BYTES / HZ_ZONE_RECORDS_PER_PAGE);
enum { ZONE_RECORDS_PER_PAGE = HZ_ZONE_RECORDS_PER_PAGE, ZONE_TABLE_VERSION = 2, ZONE_TABLE_COPIES = HZ_ZONE_TABLE_COPIES };

struct table_page {
	uint32_t wanted, writing, durable; /* versions; wanted > durable: must be written */
	bool busy;
	uint32_t pending, reached;    /* copies being programmed; … programmed */
	uint32_t tries;               /* … repeated, since both copies were on one die */
	ppa_t ppa[ZONE_TABLE_COPIES]; /* valid ones; PPA_NONE before the first was written */
	struct slc_write write[ZONE_TABLE_COPIES];
	struct zone_record_state *waiting; /* zones waiting for the next version, by next */
	uint8_t *image;                    /* image being written */
};
struct zone_table {
	struct ftl *ftl;
	struct lt_lock lock;
	uint32_t pages, busy; /* busy: how many of them */
	uint32_t number;      /* of the last record of all zones: in the OOB record of every page since */
	struct table_page *page;
	struct zone_record *record; /* by zone */
	struct io_queue for_quiet;  /* requests waiting until no page is busy */
	lt_word lost;               /* 1: the SLC log is worn out, a page could not be written; none is from then on */
	struct lt_event mend;
};

void zone_table_init(struct ftl *ftl, struct arena *arena);
/* With rain, at construction: the collector of the SLC log brings the copies of a page to different dies. */
void zone_table_keep_apart(struct ftl *ftl);
/* With rain: both copies would be lost with one die. Table lock held, or mount. */
bool zone_table_on_one_die(const struct ftl *ftl, const struct table_page *page);
/* A record without finish or fence, of the present durable sectors (of all accepted ones, if the zone is unwritable). Zone lock held. */
struct zone_record zone_table_record(const struct zone *zone, uint32_t generation, enum zone_record_kind kind);
/* Zone lock held: start to make the zone's present record durable; the zone is kicked once it may be. */
void zone_table_commit(struct ftl_worker *self, struct zone *zone, const struct zone_record *record);
/* The same for the present record, with the zone's present place and the folded number (update.h). Zone lock held. */
void zone_table_fold(struct ftl_worker *self, struct zone *zone);
/* Zone lock held: has the last commit reached flash, or is the table lost? Else the zone is kicked when it may have. */
bool zone_table_reached(struct zone *zone);
/* No record reaches flash any more, nor the last committed one: nothing may be changed that depends on it. */
static inline bool zone_table_lost(const struct ftl *ftl) { return lt_load(&ftl->table->lost); }
/* Record all zones as they are, under the next number; the request is the only one running and is dispatched again at the end.
 * data_before: zone_record.data_before. */
void zone_table_record_all(struct ftl_worker *self, struct ftl_request *req, uint64_t data_before);
/* Mount: pages with only one copy left are written again as soon as the harts run. */
void zone_table_mend(struct ftl *ftl);

/* Trims on flash: a flush also saves the bits of deallocated LBAs (places/trims.h).
 *
 * A page's image takes its number first, then its bits; and it is programmed only when all data landed by then are durable. A bit that
 * is not set any more was cleared by a write: until that write is durable the former page must count, or a power cut in between would
 * bring deallocated data back. Nor may a backing zone be erased before the trims of its sectors are saved: older sectors of the same
 * LBAs may lie elsewhere (the collector flushes before each erase).
 *
 * saver.lock is of class L2P (index: number of map shards + 2): SLC is taken under it. One pass at a time; later requests wait for the
 * next one. */

enum { TRIM_VERSION = 1 };

struct trim_saver {
	struct lt_lock lock;
	bool running;
	struct io_queue joined;  /* for the next pass */
	struct io_queue waiting; /* for this one */
	/* of the worker running the pass */
	struct ftl_worker *worker;
	uint32_t cursor; /* next page to look at */
	uint32_t count;  /* pages of the round */
	bool failed;
	bool refused;            /* by a worn-out SLC log */
	struct flush_plan *plan; /* of its flush: flushes waiting for the map's log may hold all others */
	uint32_t *page;          /* by sector of the program */
	struct ftl_request request;
	struct slc_write write;
};

void trim_saver_init(struct ftl *ftl, struct arena *arena);
/* True: there are trims to save; the request waits for that and is dispatched again, with step FLUSH_SAVED, or FLUSH_FAILED if they
 * could not be saved. No lock held. */
bool trims_wait_saved(struct ftl_worker *self, struct ftl_request *req);

/* Mount: a sector of kind HZ_OOB_TRIM; when all have been found. */
void trims_found(struct ftl *ftl, const struct hz_oob *oob, ppa_t ppa);
void trims_mount(struct ftl *ftl);

#endif
