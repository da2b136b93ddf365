/* Writes in place, before the write pointer of a sequential zone. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_ZONE_UPDATE_H
#define FTL_ZONE_UPDATE_H

#include <stdbool.h>

#include "lt/lock.h"
#include "nand/flash_addr.h"
#include "request/io.h"
#include "slc/slc.h"

/* Sectors of sequential zones that the host has written again, in place (ZMS, ATC 2024): which, and their addresses in the SLC log. They
 * are mapped one by one, over the zone. The zone's own sectors stay in place: a read looks here first, if the zone has any.
 *
 * There are as many entries as `zones.in_place` allows: a write in need of one more is refused. An entry ends with its zone's reset, or
 * when the zone has moved to another superblock and the copy with it.
 *
 * A copy is a sector of kind HZ_OOB_UPDATE with the LBA and the zone's generation; among copies of an LBA the one with the highest
 * sequence number counts, unless the zone's record marks it as folded. It is programmed only over durable sectors, so mount finds none
 * beyond its zone's write pointer.
 *
 * updates.lock is of class L2P (index: number of map shards + 3): taken under a zone's lock, SLC is taken under it. Copies are put and
 * dropped under both; the collector moves them under updates.lock alone, so reads pin them under it. */

struct arena;
struct ftl;
struct ftl_worker;
struct hz_oob;
struct zone;

#define UPDATE_NONE UINT32_MAX

/* Of one LBA. */
struct update {
	uint32_t lba;
	uint32_t chain;         /* next of its bucket, or of the free ones */
	uint32_t before, after; /* in its zone's list */
	uint32_t pending;       /* copies promised and not on flash yet */
	ppa_t ppa;              /* its newest copy; PPA_NONE: none */
	uint64_t sequence;      /* of the newest one */
};

/* The event that folds another zone than the one that is written; where there is a budget. */
struct update_folder {
	struct lt_event event;
	lt_word worker; /* that runs it; 0: it is not posted */
};

struct updates {
	struct lt_lock lock;
	uint32_t budget; /* entries; 0: nothing is written in place, and there are no windows (zone/zrwa.h) */
	uint32_t bits;   /* log2 of the buckets */
	uint32_t free;   /* first free entry */
	struct update *update;
	uint32_t *bucket;
	lt_word used; /* entries in use */
	struct update_folder *folder;
};

void updates_init(struct ftl *ftl, struct arena *arena);
void update_folder_make(struct ftl *ftl, struct arena *arena);

/* --- zone lock held --- */
/* Room for copies of [lba, lba + count), all of the zone; false: the budget does not last, and nothing has changed. */
bool updates_promise(struct ftl *ftl, struct zone *zone, uint64_t lba, uint32_t count);
/* These will not be written. */
void updates_unpromise(struct ftl *ftl, struct zone *zone, uint64_t lba, uint32_t count);
/* Copies of [lba, lba + count), promised before, are on flash from ppa on, with consecutive numbers. Copies older than the present ones
 * are ignored. */
void updates_put(struct ftl_worker *self, struct zone *zone, uint64_t lba, uint32_t count, ppa_t ppa, uint64_t sequence);
/* All present entries of the zone are to be checked. */
void updates_drop_begin(struct zone *zone);
/* A piece of it: copies with numbers below `before` become invalid. True: all have been looked at. */
bool updates_drop(struct ftl_worker *self, struct zone *zone, uint64_t before);
/* Copies of [lba, lba + count) are dead, and none is promised. */
void updates_end_range(struct ftl_worker *self, struct zone *zone, uint64_t lba, uint32_t count);
/* How many of these sectors there are up to the last one with a copy. */
uint32_t updates_end(struct ftl *ftl, uint64_t lba, uint32_t count);
/* How many sectors from lba on, of count, have no copy. */
uint32_t updates_gap(struct ftl *ftl, uint64_t lba, uint32_t count);
/* Number of sectors from lba on with a copy; addresses, each pinned (slc_unpin). */
uint32_t updates_pin(struct ftl *ftl, uint64_t lba, uint32_t count, ppa_t *ppa);

/* True if more than three quarters of the budget are in use. Any hart, no lock. */
static inline bool updates_scarce(const struct updates *updates) { return lt_load(&updates->used) > updates->budget - updates->budget / 4; }

/* --- mount --- */
/* A sector of kind HZ_OOB_UPDATE or HZ_OOB_WINDOW, of the zone's generation and not folded. False: there are more than the budget allows. */
bool updates_found(struct ftl *ftl, struct zone *zone, const struct hz_oob *oob, ppa_t ppa);
/* All have been found, and zones know their write pointers. */
void updates_mounted(struct ftl *ftl);

/* Address of the sector's copy written in place, or PPA_NONE. Harts idle. */
ppa_t updates_peek(struct ftl *ftl, uint64_t lba);
/* NULL, or the fault. Harts idle. */
const char *updates_check(struct ftl *ftl);

/* Folding of sectors written in place: when a full zone moves to another superblock (move.h), the copies come along, and their entries
 * are free again. It moves for that when it is finished, and when the budget becomes scarce. Only full zones can move: if the zone that is
 * written cannot, the one with the oldest copy moves of those that can. So it is when the budget has refused a write.
 *
 * The zone's record has a number: copies with lower ones are dead. It is committed when the new superblock is complete, and the copies
 * are dropped when the record is on flash: until then mount puts them over either superblock, without a change of data. Copies in flight
 * when a fold begins are programmed once more, with a higher number, unless they have arrived (update.c). All with the zone's lock held. */

/* The zone was finished, or the budget is scarce. */
void update_fold_wanted(struct ftl_worker *self, struct zone *zone);
/* The budget is scarce, or has refused a write: the zone is folded, or else another one. */
void update_fold_some(struct ftl_worker *self, struct zone *zone);
/* Its move begins; has ended with all sectors in the new superblock; has ended where it began. */
void update_fold_begin(struct zone *zone);
void update_fold_moved(struct ftl_worker *self, struct zone *zone);
void update_fold_cancel(struct zone *zone);
/* zone->updates.recording: has the record arrived? */
void update_fold_go_on(struct ftl_worker *self, struct zone *zone);
/* The zone's reset, or its way offline: all copies go, piece by piece. True: none is left. */
void update_forget_begin(struct zone *zone);
bool update_forget(struct ftl_worker *self, struct zone *zone);

/* Writes in place: sectors before a sequential zone's write pointer are written again. They go to the SLC log, program by program, and
 * are durable when the request ends; the replaced sectors must be durable before. */

enum { UPDATE_PIECES = 16 /* programs of a worker under way */ };

/* One program. */
struct update_piece {
	struct slc_write write;
	struct update_piece *next; /* free */
	struct ftl_request *req;
	struct zone *zone;
	uint32_t lba, count;
	uint32_t folds; /* zone.updates.folds when it got its numbers */
};
struct update_pool {
	struct update_piece *free;
	struct io_queue waiting;
}; /* of a worker; its hart only */

void update_pool_init(struct ftl_worker *worker, struct arena *arena);
/* FTL_UPDATE, also its continuation. At a zone's write pointer, and in conventional zones, it is a plain write. */
void update_run(struct ftl_worker *self, struct ftl_request *req);
/* The next `sectors` of a write to the zone's window are accepted, to be written by update_go_on. Zone lock held. */
void updates_window(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint32_t sectors);
/* Write what has been accepted, as far as there is memory for it now. No lock held. */
void update_go_on(struct ftl_worker *self, struct zone *zone, struct ftl_request *req);
/* End a cancelled one, as soon as it has no program in flight. */
void update_cancel(struct ftl_worker *self, struct ftl_request *req);

#endif
