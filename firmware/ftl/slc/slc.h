/* The SLC region: a log of 4 KiB sectors over the SLC superblocks, with valid accounting and garbage collection (slc_gc.c).
 *
 * Class SLC (index 0) protects allocation, validity and the collector's state; it is taken last, under ZONE or L2P. Three write heads:
 * staged data, tables (zone records, table pages of the map), the collector. One erased superblock is kept for the collector: with at
 * least hz_slc_log_least superblocks, some sealed one always has room to gain once the programs in flight have ended, so no writer waits
 * for ever. When failures leave fewer superblocks, the log is worn out: a program without room, and without a collection under way to
 * make some, is refused. A plane has at most one program of a head under way. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_SLC_SLC_H
#define FTL_SLC_SLC_H

#include <stdint.h>

#include "base/context.h"
#include "gc/victim.h"
#include "lt/event.h"
#include "lt/lock.h"
#include "slc_log_size.h"
#include "tsu/tsu.h"

/* A program of the SLC log, as its owner makes it. */

enum slc_stream { SLC_STAGE, SLC_MAP, SLC_COLLECT, SLC_STREAMS };
HZ_STATIC_ASSERT((int)SLC_STREAMS == (int)HZ_SLC_HEADS, "hz_slc_log_least counts the heads");

/* One program of slc_program_sectors sectors; the caller owns it, and its memory and OOB, until done runs on txn.owner's hart. */
struct slc_write {
	struct tsu_txn txn;
	struct slc_write *next; /* waits for room, or in its lane */
	uint32_t column;        /* lane */
	/* Programmed at ppa; failed programs are repeated elsewhere unseen. PPA_NONE: it is not, the log is worn out. */
	void (*done)(struct slc_write *write);
	void *context;
	ppa_t ppa;
	struct lt_event refused;
	uint8_t stream;   /* enum slc_stream */
	uint8_t cause;    /* enum hz_cause */
	uint8_t **memory; /* slc_program_sectors of them */
	struct hz_oob *oob;
};

/* Garbage collection of the SLC log: one at a time, all of it on the worker that began it. */

struct arena;
struct ftl;
struct ftl_worker;

enum {
	SLC_BATCH_SECTORS = 64,
	SLC_SCAN_SECTORS = 64, /* sectors scanned under one acquisition of the lock */
};

struct slc_gc {
	bool busy;             /* SLC lock; all else belongs to the collecting worker */
	struct lt_event event; /* posted to begin, and when the last pin has gone */
	struct ftl_worker *worker;
	uint32_t victim, position; /* next sector of the victim to look at */
	uint32_t count, pending;   /* sectors of the batch; transactions under way */
	uint32_t tries;
	bool failed;
	bool again;           /* a copy of the batch does not count (slc_copy_again) */
	struct tsu_txn *read; /* by sector of the batch */
	ppa_t *from;
	uint32_t *tag;
	struct hz_oob *oob;
	uint8_t **memory;
	struct slc_write *write;
	struct tsu_txn *erase; /* by plane */
};

void slc_gc_init(struct ftl *ftl, struct arena *arena);
/* SLC lock held: start if space is short and none is under way. */
void slc_collect(struct ftl_worker *self);
/* The victim has no readers any more. SLC lock not held, the collector's worker. */
void slc_gc_unpinned(struct ftl_worker *self);
/* Of slc_owner.moved: the owner does not take the copy, and gets another one, at the next place. False: there is no room for it. SLC lock
 * not held. */
bool slc_copy_again(struct ftl *ftl);

/* SLC superblocks reserved for the power-loss dump. */

/* Next program of each plane. */
struct slc_kept {
	uint32_t blocks;
	uint32_t *block; /* erased superblocks */
	struct slc_kept_column {
		uint32_t index, row; /* in block[]; its next row */
	} * column;
};

struct ftl_health;

/* Worth of collecting a superblock, ascending: not to be touched; gains room; gains much room for little work; nothing valid, or never
 * to be written again. */
enum slc_worth { SLC_KEEP, SLC_GAINS, SLC_CHEAP, SLC_EMPTY, SLC_WORTHS };
enum slc_block_state { SLC_FREE, SLC_OPEN, SLC_SEALED, SLC_ERASING, SLC_BAD };
enum { SLC_READ_TRIES = 4 };
enum { SLC_MAP_WRITES = HZ_MAP_WRITES };
#define SLC_NONE UINT32_MAX
#define SLC_PIN_WAITING (1ull << 32) /* in slc_block.pins: the collector waits for the count below to reach 0 */

struct slc_block {
	uint8_t state;
	uint8_t worth;      /* enum slc_worth */
	bool doomed;        /* a program failed: retire it instead of erasing it */
	bool stuck;         /* a valid sector is lost with its record, or no room is left for its copy: kept while anything is valid */
	uint32_t valid;     /* sectors */
	uint32_t in_flight; /* programs */
	uint64_t opened, youngest; /* OOB sequence numbers: when it was opened; of its youngest sector */
	lt_word pins;              /* reads under way, | SLC_PIN_WAITING */
};
/* Programs of one plane go to the TSU one after another: two harts' submissions have no order, and after a failure the rest must
 * go elsewhere. */
struct slc_queue {
	struct slc_write *head, *tail;
};
struct slc_lane {
	struct slc_queue queue;
	bool busy;
};
struct slc_head {
	uint32_t block;             /* SLC_NONE: takes a free one next */
	uint32_t unit, row, column; /* next place: unit = row * planes + column */
	uint32_t room;              /* units left */
	uint32_t *column_row;       /* a plane's next programmable row: differs after a power cut only */
	struct slc_lane *lane;      /* by column */
};

/* Tags of valid sectors. Each kind of data has a range of its own: LBAs of staged sectors from 0 on (zones end below HZ_MAX_LBAS), table
 * pages of the map, and behind them pages of the zone mapping log; copies of zone table pages, from the top, and pages of trims, from the
 * bottom of the same range; sectors written in place, by their entry, from HZ_MAX_LBAS on. */
#define SLC_MAP_TAG (SLC_NONE - 1 - SLC_TABLE_TAGS)
enum { SLC_TABLE_TAGS = 1 << 16 };
static inline uint32_t slc_table_tag(uint32_t index) { return SLC_NONE - 1 - index; }
static inline uint32_t slc_trim_tag(uint32_t index) { return SLC_MAP_TAG + 1 + index; }
static inline uint32_t slc_map_tag(uint32_t index) { return SLC_MAP_TAG - index; }
static inline uint32_t slc_update_tag(uint32_t index) { return HZ_MAX_LBAS + index; }

/* Owner of the sectors with tags from `first` to `last`. */
enum slc_owners { SLC_OWNS_STAGED, SLC_OWNS_MAP, SLC_OWNS_TABLE, SLC_OWNS_TRIMS, SLC_OWNS_UPDATES, SLC_OWNS_ZONE_LOG, SLC_OWNERS };
struct slc_owner {
	uint32_t first, last;
	/* No lock held: the collector has copied the sector; it counts (slc_move) if it still lies at `from`, unless slc_copy_again. */
	void (*moved)(struct ftl_worker *self, uint32_t tag, ppa_t from, ppa_t to);
	/* Harts idle: does it lie there? */
	bool (*lies_at)(struct ftl *ftl, uint32_t tag, ppa_t ppa);
};

struct slc {
	struct lt_lock lock;
	uint32_t blocks, sectors;                   /* superblocks; sectors of one */
	uint32_t unit_sectors, units, rows, planes; /* units and rows of one superblock */
	struct slc_block *block;
	uint32_t *tag;             /* by superblock * sectors + offset: tag of the valid sector, SLC_NONE = none */
	uint32_t dump_superblocks; /* reserved for the power-loss dump, once that many are erased */
	lt_word takes_dump;        /* 1: there are; set under the lock */
	struct slc_kept kept;
	uint32_t free, cursor; /* cursor: start of the search for a free one */
	uint32_t least;        /* superblocks needed so that no writer waits for ever (hz_slc_log_least) */
	lt_word usable;        /* not failed; written under the lock, also read without it */
	struct slc_head head[SLC_STREAMS];
	struct slc_queue waiting[SLC_STREAMS]; /* for room */
	uint8_t turn;                          /* SLC_STAGE or SLC_MAP: served first */
	gc_better_fn *better;                  /* the collector's policy */
	uint32_t gc_low, cheap_valid;          /* collect while no more are free; most valid sectors of an SLC_CHEAP one */
	uint32_t worth[SLC_WORTHS];            /* superblocks by worth */
	struct slc_gc gc;
	struct slc_owner owner[SLC_OWNERS];
};

void slc_init(struct ftl *ftl, struct arena *arena);
static inline void slc_own(struct slc *slc, enum slc_owners which, struct slc_owner owner) { slc->owner[which] = owner; }
/* Owner of a valid sector's tag; NULL: none. */
const struct slc_owner *slc_owner_of(const struct slc *slc, uint32_t tag);
/* Is it in SLC, and in the log? */
static inline bool slc_in_log(const struct ftl *ftl, ppa_t ppa) { return ppa_superblock(ftl->map, ppa) < ftl->slc->blocks; }
static inline bool slc_holds(const struct flash_map *map, ppa_t ppa) { return ppa_superblock(map, ppa) < map->slc_superblocks; }

/* Free superblocks, without those reserved for the power-loss dump. Lock held. */
static inline uint32_t slc_free_now(const struct slc *slc)
{
	uint32_t kept = lt_load(&slc->takes_dump) ? slc->dump_superblocks : 0;

	return slc->free > kept ? slc->free - kept : 0;
}

/* Lock held: one more is free. As soon as there are enough to keep, they are kept. */
static inline void slc_add_free(struct slc *slc)
{
	if (++slc->free > slc->dump_superblocks && slc->dump_superblocks)
		lt_store(&slc->takes_dump, 1);
}

/* Program at the head of write->stream, or as soon as there is room; refused when the log is worn out. Any lock but SLC may be held. */
void slc_write(struct ftl_worker *self, struct slc_write *write);
/* Validity. SLC lock not held. count sectors of one program, with consecutive tags. */
void slc_validate(struct ftl *ftl, ppa_t ppa, uint32_t count, uint32_t tag);
/* Sectors anywhere; starts the collector if a program waits for room. */
void slc_invalidate(struct ftl_worker *self, const ppa_t *ppa, uint32_t count);
/* The same for those still valid with their tag; tags are consecutive from `tag` on. PPA_NONE is skipped. */
void slc_invalidate_own(struct ftl_worker *self, const ppa_t *ppa, uint32_t count, uint32_t tag);
/* Address of the valid sector with this tag, at most one; PPA_NONE: none. Scans all of the log: slow. */
ppa_t slc_find(struct ftl *ftl, uint32_t tag);
/* A piece of the log from *at on, 0 to begin: valid sectors with tags from `first` to `last` become invalid. False: it was the last one. */
bool slc_sweep(struct ftl_worker *self, uint32_t first, uint32_t last, ppa_t *at);
/* The collector's copy at `to` is valid instead of the one at `from`. */
void slc_move(struct ftl *ftl, ppa_t from, ppa_t to);
/* The sector will be read. Under the lock that keeps the address true (a zone's for staged sectors). */
void slc_pin(struct ftl *ftl, ppa_t ppa);
void slc_unpin(struct ftl_worker *self, ppa_t ppa);
/* Spare of the log. Any hart, no lock. */
void slc_health(const struct ftl *ftl, struct ftl_health *out);
/* Nothing is being programmed, collected or waits for room. SLC lock not held. */
bool slc_quiet(struct ftl *ftl);

/* A sector of the block of a column of the stripe. */
ppa_t slc_sector_at(const struct ftl *ftl, uint32_t block, uint32_t column, uint32_t sector);

/* SLC lock held. */
struct slc_block *slc_block_of(struct ftl *ftl, ppa_t ppa);
uint32_t *slc_tag_of(struct ftl *ftl, ppa_t ppa);
/* A superblock has become free: start programs waiting for room. */
void slc_start_waiting(struct ftl_worker *self);
/* Refuse programs of a worn-out log that wait for room when nothing under way will make some. */
void slc_refuse_waiting(struct ftl_worker *self);
/* One more superblock has failed; called once for each. */
void slc_lose_block(struct ftl *ftl);
/* Mount: is this partly programmed superblock worth resuming? Then it becomes a head. */
void slc_resume_head(struct ftl *ftl, uint32_t block, const uint32_t *column_row);

/* Erasing of user data: every superblock opened at sequence number `before`, or earlier, is collected. Call it again until there is
 * none (SLC_PURGED); SLC_PURGE_FAILED: some cannot be. SLC lock not held. */
enum slc_purge { SLC_PURGED, SLC_PURGE_RUNS, SLC_PURGE_FAILED };
enum slc_purge slc_purge(struct ftl_worker *self, uint64_t before);

/* SLC superblocks reserved for the power-loss dump; their places are handed out on capacitors, first to the first free die. Nothing of
 * the log is running any more then. */

/* Are they there? Any hart, no lock. After a loss of power not before the log's collector has made room again. */
bool slc_takes_dump(const struct ftl *ftl);

/* On capacitors: before the first place. */
void slc_dump_begin(struct ftl *ftl);
/* The next one, or PPA_NONE: there is none left. */
ppa_t slc_dump_place(struct ftl *ftl);
/* A start that completes the dump of a killed run: places, from erased superblocks only once others are full, and the end of it. The
 * block table has the programmed units. */
void slc_belated_begin(struct ftl *ftl);
ppa_t slc_belated_place(struct ftl *ftl);
void slc_belated_end(struct ftl *ftl);
/* A program there failed: its block is used no more. */
void slc_dump_failed(struct ftl *ftl, ppa_t ppa);

/* The collector's victim selection, and the worth of each superblock to it. SLC lock held. */

void slc_victim_init(struct ftl *ftl);
/* After every change of a superblock's state, validity, programs in flight or flags: O(1). */
void slc_appraise(struct slc *slc, struct slc_block *block);
uint8_t slc_worth_of(const struct slc *slc, const struct slc_block *block);
uint32_t slc_victim(struct ftl *ftl); /* SLC_NONE: nothing need or can be collected */

#endif
