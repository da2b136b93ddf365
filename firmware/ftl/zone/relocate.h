/* Moving a zone, or its patch, to a fresh superblock: after a failed program, and for zones that a power cut left with a hole or a torn
 * unit.
 *
 * * One zone at a time, a superpage at a time: read, program, remap. The old superblock stays until the copy is complete, so a power cut
 * in between loses nothing: mount takes the superblock with the longer prefix. Class BLOCK (index 1) protects the queue; the rest belongs
 * to the worker that runs the move. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_RELOCATE_H
#define FTL_RELOCATE_H

#include "base/waiter.h"
#include "lt/lock.h"
#include "tsu/tsu.h"

struct arena;
struct ftl;
struct ftl_worker;
struct zone;

enum { RELOCATE_TRIES = 4 };

/* A zone's part in it. */
struct zone_move {
	bool under_way;  /* or waits for its superblock */
	bool patch;      /* its patch moves, not its superblock */
	bool refresh;    /* … for its data's sake (refresh.h), not because it cannot be continued */
	uint32_t old;    /* superblock or patch after a move, until its last readers have gone; new reads are parked so long */
	bool old_bad;    /* retire it instead of erasing it */
	uint32_t target; /* while it waits in the relocator's queue */
	struct waiter queue;
};

struct relocator {
	struct lt_lock lock;
	struct zone *zone;         /* being moved, or NULL */
	struct waiter_queue queue; /* each holds a fresh superblock already */
	struct ftl_worker *worker;
	struct lt_event event;
	lt_event_fn *begin;                        /* posted: the row work starts without a zone lock */
	uint32_t source, target;                   /* superblocks, or the SLC superblocks of a patch */
	uint32_t base;                             /* offset in the zone of the first sector there */
	uint32_t unit_sectors, read_sectors, most; /* of a program, of a read, of a row */
	uint32_t offset, end;                      /* from base on: [0, offset) has been copied */
	uint32_t row_sectors;                      /* of the row under way */
	uint32_t pending, tries;
	bool failed;
	uint8_t **memory;
	struct hz_oob *oob;
	struct tsu_txn *read, *program;
};

void relocator_init(struct ftl *ftl, struct arena *arena);
/* Zone lock held; zone->move.under_way is set and `target` is fresh: start, or queue. */
void relocate_zone(struct ftl_worker *self, struct zone *zone, uint32_t target);
/* Zone lock held: the same for zone->refresh.patch of a zone that is due, if no other moves and the device does not come to rest. */
bool relocate_refreshed(struct ftl_worker *self, struct zone *zone, uint32_t target);
/* Zone lock held, after a move: give the old superblock back once its last readers have gone. */
void relocate_settle(struct ftl_worker *self, struct zone *zone);
/* The device comes to rest: is no zone being moved? None begins any more unless the host goes on. */
bool relocator_quiet(struct ftl *ftl);

#endif
