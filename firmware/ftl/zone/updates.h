/* Sectors of sequential zones that the host has written again, in place (ZMS, ATC 2024): which, and where in the SLC log each lies. They
 * are mapped one by one, over the zone, whose own sectors stay where they are: who reads looks here first, where the zone has any.
 *
 * There are as many entries as `zones.in_place` allows: a write that would need one more is refused. An entry ends with its zone's reset,
 * or when the zone has moved to another superblock and the copy with it (update_fold.h).
 *
 * A copy is a sector of kind HZ_OOB_UPDATE with the LBA and the zone's generation; of those of an LBA the one with the highest sequence
 * number counts, unless the zone's record says that it has been folded. It is programmed only over what is durable, so mount finds none
 * that lies beyond its zone's write pointer.
 *
 * updates.lock is of class L2P (index: number of map shards + 3): taken under a zone's lock, SLC is taken under it. Copies are put and
 * dropped under both; the collector moves them under updates.lock alone, so who reads pins them under it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_UPDATES_H
#define FTL_UPDATES_H

#include "lt/lock.h"
#include "nand/flash_addr.h"

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
	uint32_t pending;       /* copies that are promised and not on flash yet */
	ppa_t ppa;              /* its newest copy; PPA_NONE: none */
	uint64_t sequence;      /* of that */
};

struct updates {
	struct lt_lock lock;
	uint32_t budget; /* entries; 0: nothing is written in place */
	uint32_t bits;   /* log2 of the buckets */
	uint32_t free;   /* first free entry */
	struct update *update;
	uint32_t *bucket;
	lt_word used; /* entries that are not free */
};

/* A zone's part in it. */
struct zone_updates {
	uint32_t first, last, listed; /* its entries, the oldest first. updates.lock */
	uint32_t to_look;             /* so many of them are still to be looked at by updates_drop. Zone lock, like all below */
	uint32_t copies;              /* entries with a copy */
	uint32_t writing;             /* requests that write in place */
	uint32_t folds;               /* times that its copies were about to be folded */
	uint64_t folding;             /* copies with lower numbers come along with the zone's move; 0: none do */
	uint64_t folded;              /* … have come along with the last one, and are dead */
	bool recording;               /* its record is told so */
};

void updates_init(struct ftl *ftl, struct arena *arena);

/* --- zone lock held --- */
/* Room for copies of [lba, lba + count), all of the zone; false: the budget does not last, and nothing has changed. */
bool updates_promise(struct ftl *ftl, struct zone *zone, uint64_t lba, uint32_t count);
/* These will not be written. */
void updates_unpromise(struct ftl *ftl, struct zone *zone, uint64_t lba, uint32_t count);
/* Copies of [lba, lba + count), which had been promised, are on flash from ppa on, with consecutive numbers. An older one is nothing new. */
void updates_put(struct ftl_worker *self, struct zone *zone, uint64_t lba, uint32_t count, ppa_t ppa, uint64_t sequence);
/* All that the zone has now is to be looked at. */
void updates_drop_begin(struct zone *zone);
/* A piece of it: copies with numbers below `before` become invalid. True: all have been looked at. */
bool updates_drop(struct ftl_worker *self, struct zone *zone, uint64_t before);
/* How many sectors from lba on, of count, have no copy. */
uint32_t updates_gap(struct ftl *ftl, uint64_t lba, uint32_t count);
/* How many from lba on have one: where, each pinned (slc_unpin). */
uint32_t updates_pin(struct ftl *ftl, uint64_t lba, uint32_t count, ppa_t *ppa);

/* Any hart, no lock: sectors of the budget that are in use. */
static inline bool updates_scarce(const struct updates *updates) { return lt_load(&updates->used) > updates->budget - updates->budget / 4; }

/* --- mount --- */
/* A sector of kind HZ_OOB_UPDATE, of the zone's generation and not folded. False: there are more than the budget allows. */
bool updates_found(struct ftl *ftl, struct zone *zone, const struct hz_oob *oob, ppa_t ppa);
/* All have been found, and zones know their write pointers. */
void updates_mounted(struct ftl *ftl);

/* Harts idle: where the sector was written in place, or PPA_NONE. */
ppa_t updates_peek(struct ftl *ftl, uint64_t lba);
/* Harts idle: NULL, or what is wrong. */
const char *updates_check(struct ftl *ftl);

#endif
