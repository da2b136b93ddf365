/* The L2P log, its checkpoints, and the list of dirty table pages. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_MAP_FLASH_LOG_H
#define FTL_MAP_FLASH_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "device_config.h"
#include "places/places.h"
#include "request/io.h"
#include "slc/slc.h"

/* Checkpoints: up to which sequence number mount may trust the table pages of conventional zones, so that it need not read the OOB
 * records of all backing zones.
 *
 * A checkpoint holds two things: `before`, the next sequence number at the beginning of a pass of the log; and, for each table page, the
 * low bits of its copy's sequence number at the end of the pass (map_page_version). With these mount tells that copy from an older one.
 *
 * Its promise: take any sector of a backing zone with a sequence number below `before`. The table page of its LBA, in the recorded copy
 * or in a younger one, has that sector or a newer version of the LBA. For a pass writes every page with changes at its beginning, and
 * the places in a copy are durable before the copy is written. The promise never becomes false: an old checkpoint makes mount read more,
 * never wrong.
 *
 * Each is a sector of the SLC log, with an index behind those of the table pages (l2p_table.all). The log's job rewrites them all after
 * L2P_CHECKPOINT_EVERY times as many table pages as there are checkpoints. */

struct ftl;
struct ftl_worker;

enum { L2P_CHECKPOINT_EVERY = 4 /* table pages of conventional zones, for each checkpoint */ };

struct l2p_checkpoint {
	uint64_t before;
	uint32_t copy[HZ_CHECKPOINT_PAGES]; /* by index of the table page: 2^29 + the low 29 bits of the number; 0: it has no copy */
};
HZ_ASSERT_SIZE(struct l2p_checkpoint, HZ_SECTOR_BYTES);

/* Of the log's job. */
struct l2p_checkpoints {
	uint64_t before;     /* next sequence number when the pass began */
	uint32_t unrecorded; /* table pages written since the last checkpoints */
	uint32_t next;       /* the next one to be written; as many as there are: none is */
};

/* A pass begins. */
void l2p_checkpoint_pass(struct ftl *ftl);
/* The pass has written every page: makes the next checkpoint's image and returns its index; UINT32_MAX: none is due. */
uint32_t l2p_checkpoint_next(struct ftl *ftl, uint8_t *image);
/* No L2P lock held: bring the table pages up to date and checkpoint them now. */
void l2p_checkpoint_now(struct ftl_worker *self);
/* Mount, copies found: every sector of a backing zone below this number is known to the copies; 0: no such number. */
uint64_t l2p_checkpoint_before(struct ftl *ftl, uint8_t *image);

/* The L2P log: changes of the map that are in RAM only, and the job that brings them into table pages on flash.
 *
 * Sequential zones need no memory for it. A zone is mapped in order, so the log's part of one of its table pages is always the entries
 * [merged, placed), and their addresses follow from the zone. Changes of conventional zones are records (flash_changes.h). Either way
 * the log counts entries, like a device with a log of single entries.
 *
 * A *pass* of the job takes every page dirty at its beginning, in *rounds* of a few pages: read the old copies, merge the changes, set
 * the map bits, write. The places in a page of a conventional zone must be durable before the page is written: the round waits for that
 * a while, then it flushes the buffers of conventional zones. A pass ends with the directory, if that is on flash (flash_directory.h),
 * and now and then with checkpoints (flash_log.h).
 *
 * Writes are admitted while the log has room; programs in flight may exceed it. The job never waits for waiters of the log: SLC space is
 * made by the SLC collector, which changes RAM only.
 *
 * `used` is a shared word. log.lock (class L2P, index: number of map shards + 1) protects the lists of waiters; nothing is taken under
 * it. */

struct arena;

/* A table page in the round. */
struct log_item {
	struct tsu_txn txn; /* first: read of the old copy */
	uint32_t page;
	uint32_t from, to; /* new entries; [0, from) come from the old copy */
	uint32_t kept;     /* … and entries [to, kept) of staged sectors do, too */
	uint32_t placed;   /* sectors placed at that time */
	uint32_t generation;
	ppa_t base, patch; /* place of the page's first entry; of the first one in the zone's patch */
	bool conventional; /* news are in flash_changes.h */
	bool lost;         /* the old copy of one could not be read; another's entries of staged sectors are not trusted */
	bool staged;       /* not conventional: the new copy has staged sectors */
	struct hz_oob oob; /* of the old copy */
	uint64_t known;    /* conventional: sequence number when the old entries were true */
	uint8_t tries;
	bool reads;        /* has an old copy */
	bool head;         /* took the page's `head` along */
	bool checkpoint;   /* not a table page; nothing was read or merged */
	bool directory;    /* not a table page, but one of the directory */
	uint64_t sequence; /* of the new copy */
	uint8_t *image;
	/* Shard lock: */
	struct log_item *next; /* taken too, of the same shard */
	bool forgotten;        /* the new copy is void: the zone was reset or moved meanwhile */
	bool again;            /* the page was lost once more since it was taken */
};

enum { L2P_AWAITED = 8 };

struct l2p_log {
	lt_word used;                 /* entries */
	lt_word again;                /* repeated changes since the pass began: not counted in `used` */
	lt_word running;              /* 1: a pass is under way */
	lt_word closed;               /* 1: full under the blocking policy, until the pass has ended */
	lt_word lost;                 /* 1: the SLC log is worn out, a page could not be written; there is no pass any more */
	uint32_t capacity, threshold; /* entries; a pass begins at the threshold */
	struct lt_lock lock;
	struct waiter_queue waiting;
	struct io_queue for_room;  /* deallocations */
	struct io_queue for_quiet; /* flushes waiting for an empty log */
	struct io_queue for_pass;  /* requests for a lost page */
	/* of the worker running the pass */
	struct ftl_worker *worker;
	struct lt_event event;
	uint32_t count, pending; /* items of the round; flash operations under way */
	uint32_t most;           /* items of a round: whole SLC program units */
	struct log_item *item;
	struct log_item **taken; /* by shard: items of pages being written; its lock */
	struct slc_write *write;
	/* Sectors to become durable before the round's images. */
	struct l2p_awaited {
		const struct place_zone *zone;
		uint32_t to;
	} awaited[L2P_AWAITED];
	uint32_t awaits, looks;   /* of them in use; looks taken */
	bool crowded;             /* more zones than fit, or deallocated sectors: a flush settles it */
	struct lt_timer timer;    /* the next look */
	struct ftl_request flush; /* … if looking does not help */
	struct flush_plan *plan;
	struct l2p_checkpoints checkpoints;
};

/* The round's images have a place at this offset that is not durable. The job's hart. */
void l2p_log_await(struct l2p_log *log, const struct place_zone *zone, uint32_t offset);

void l2p_log_init(struct ftl *ftl, struct arena *arena);
/* Any lock: entries come into the log, or leave it (negative: as the two's complement). */
void l2p_log_add(struct ftl *ftl, uint32_t entries);
void l2p_log_remove(struct ftl *ftl, uint32_t entries);
/* The item of a page being written (map_page.writing). Shard lock held. */
struct log_item *l2p_log_item(const struct ftl *ftl, uint32_t shard, uint32_t page);
/* Begin a pass if the threshold has been reached and none is under way. No L2P lock held. */
void l2p_log_kick(struct ftl_worker *self);
/* Begin a pass if none is under way. */
void l2p_log_flush(struct ftl_worker *self);
/* Zone lock held: may another unit be programmed? False: the zone waits and is kicked, or it has failed since the log is lost. */
bool l2p_log_room(struct ftl_worker *self, struct zone *zone);
/* True if the log has room or is lost, else the request waits until then and is dispatched again. */
bool l2p_log_admits(struct ftl_worker *self, struct ftl_request *req);
/* Dispatch the request again when the present pass, or the next one, has ended. No L2P lock held. */
void l2p_log_await_pass(struct ftl_worker *self, struct ftl_request *req);
/* True if the log is empty or lost, else the request waits until it is and is dispatched again. */
bool l2p_log_settled(struct ftl_worker *self, struct ftl_request *req);

/* Dirty table pages: pages with news missing in the copy on flash (map_page.dirty). Zones with dirty pages are in a list of their shard,
 * in the order of becoming dirty; a pass of the log goes through the pages of each.
 *
 * A page stays dirty until the pass takes it: a page neither dirty nor being written, even for a moment, would look unchanged. */

#define L2P_NOT_LISTED UINT32_MAX

struct l2p_dirty_list {
	uint32_t first, last, count; /* zones */
};
struct l2p_dirty {
	struct l2p_dirty_list *list; /* by shard; its lock */
	uint32_t *next;              /* by zone: the next one in the list, of the last one itself; L2P_NOT_LISTED: it is in none */
	/* of the worker running the pass */
	uint32_t shard, left; /* zones of this shard still to do … */
	uint32_t at, end;     /* … and pages of the present one */
};

void l2p_dirty_init(struct ftl *ftl, struct arena *arena);
/* Shard lock held: there is news of this page. */
void map_page_dirty(struct ftl *ftl, uint32_t shard, uint32_t page);
/* A pass begins. */
void l2p_dirty_begin(struct ftl *ftl);
/* The next dirty page of this pass, or UINT32_MAX. Each zone in a shard's list when the pass reaches the shard is visited once. No lock
 * held. */
uint32_t l2p_dirty_next(struct ftl *ftl);
/* NULL, or the fault. Harts idle. */
const char *l2p_dirty_check(const struct ftl *ftl);

#endif
