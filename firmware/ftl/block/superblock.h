/* Superblocks, the unit of allocation of zones: allocation of erased ones, erasing of released ones through the TSU, retirement of bad
 * ones. Two pools: normal superblocks, and SLC superblocks, permanent parts of zones: a patch beyond a superblock, or the whole zone.
 *
 * Class BLOCK protects everything here, one lock per pool. A superblock with one bad block is retired whole: zones stay contiguous. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_SUPERBLOCK_H
#define FTL_SUPERBLOCK_H

#include "base/zone.h"

struct arena;
struct ftl_health;

enum superblock_state { SB_FREE, SB_USED, SB_DIRTY, SB_ERASING, SB_BAD };
enum { ERASE_JOBS = 4 }; /* superblocks erased at the same time */

struct superblock {
	uint8_t state;
	uint32_t erases;     /* so far, of its most worn block */
	lt_word reads;       /* host reads since the erase, plus the media's count at mount; with refresh_reads */
	uint32_t next;       /* in the free or the dirty FIFO, as index */
	struct zone *notify; /* kicked once it is erased or retired */
};
struct superblock_fifo {
	uint32_t head, tail, count;
};
struct erase_job {
	struct tsu_txn *txn; /* one for each block of the superblock */
	uint32_t superblock, pending;
	bool failed, busy;
};

struct superblocks {
	struct lt_lock lock;
	uint32_t first, count;   /* superblock numbers first … first + count - 1 */
	uint32_t blocks;         /* of one superblock, with those of its parity */
	uint32_t unit_sectors;   /* program unit of one plane */
	struct superblock *info; /* by number - first */
	struct superblock_fifo free, dirty;
	struct waiter_queue waiting;
	lt_word erases, bad;     /* of all superblocks, counted under the lock; read without it, too */
	uint32_t moving;         /* superblocks to be released by running relocations */
	struct zone *background; /* kicked when an erased superblock finds no waiter; or NULL */
	struct erase_job job[ERASE_JOBS];
};

void superblocks_init(struct ftl *ftl, struct arena *arena);
/* Lock held. An erased superblock, or SLC superblock if the zone is in its patch; or SUPERBLOCK_NONE: then it is queued, and kicked when
 * for_superblock.granted holds one + 1, or UINT32_MAX: there will be none. *hopeless: none is free and none will be: it was not queued. */
uint32_t superblock_take(struct zone *zone, bool *hopeless);
/* Take an erased superblock of this kind, already promised back, for a background move: only if no other zone waits. SUPERBLOCK_NONE:
 * the zone is kicked when there may be one. Lock held. */
uint32_t superblock_take_spare(struct zone *zone, bool slc);
/* … it has not been used. */
void superblock_untake(struct ftl_worker *self, uint32_t number);
/* How many reads came from it since its erase, this one included. Of the SLC log: 0. Any lock. */
uint64_t superblock_count_read(struct ftl *ftl, uint32_t number);
/* Back to be erased; notify (may be NULL) has `erased` set and is kicked afterwards. */
void superblock_release(struct ftl_worker *self, uint32_t number, struct zone *notify);
/* A program failed in it: never used again. */
void superblock_retire(struct ftl_worker *self, uint32_t number);
/* +1: this used superblock will be released soon; -1: it has been released. Waiters do not fail meanwhile. */
void superblock_promise(struct ftl *ftl, uint32_t number, int count);
/* enum superblock_state. */
uint8_t superblock_state(struct ftl *ftl, uint32_t number);
uint32_t superblock_erases(struct ftl *ftl, uint32_t number);
/* Spare and wear of the superblocks of zones. Any hart, no lock. */
void superblocks_health(const struct ftl *ftl, struct ftl_health *out);
/* Erases of all superblocks of a pool, and how many there are. */
void superblocks_wear(struct ftl *ftl, bool slc, uint64_t *erases, uint64_t *count);
/* Mount: the states and erase counts are known; build the free and dirty lists. */
void superblocks_sort(struct ftl *ftl);
/* Start erasing if a job is idle and something is dirty. */
void superblocks_kick(struct ftl_worker *self);
/* No superblock is being erased. */
bool superblocks_quiet(struct ftl *ftl);

#endif
