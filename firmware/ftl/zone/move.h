/* Moving a zone to a fresh superblock: why, and how. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_ZONE_MOVE_H
#define FTL_ZONE_MOVE_H

#include "base/zone.h"
#include "base/waiter.h"
#include "lt/lock.h"
#include "tsu/tsu.h"

/* Moving a zone, or its patch, to a fresh superblock: after a failed program, and for zones with a hole or a torn unit after a power
 * cut.
 *
 * * One zone at a time, a superpage at a time: read, program, remap. The old superblock stays until the copy is complete, so a power cut
 * in between loses nothing: mount takes the superblock with the longer prefix. Class BLOCK (index 1) protects the queue; the rest
 * belongs to the worker running the move. */

struct arena;
struct ftl;
struct ftl_worker;
struct zone;

enum { RELOCATE_TRIES = 4 };

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
	/* With rain: the parity of the row under way, by sector as in the write buffer: read to rebuild units, then that of the copy. */
	uint8_t **parity;
	struct hz_oob *parity_oob;
	struct tsu_txn *parity_read;
};

void relocator_init(struct ftl *ftl, struct arena *arena);
/* A refreshed zone moves in the background. */
static inline uint8_t relocate_cause(const struct relocator *mover) { return mover->zone->move.refresh ? HZ_CAUSE_GC : HZ_CAUSE_RECOVERY; }
/* The rest of the row under way has been rebuilt, or cannot be. */
void relocate_mended(struct ftl_worker *self, bool good);
/* Zone lock held; zone->move.under_way is set and `target` is fresh: start, or queue. */
void relocate_zone(struct ftl_worker *self, struct zone *zone, uint32_t target);
/* The same for a BROKEN zone, with a superblock of its choice, once something must be programmed and nothing is. Zone lock held. */
void relocate_broken(struct ftl_worker *self, struct zone *zone);
/* The same for zone->refresh.patch of a due zone, if no other moves and no shutdown is under way. Zone lock held. */
bool relocate_refreshed(struct ftl_worker *self, struct zone *zone, uint32_t target);
/* Zone lock held, after a move: give the old superblock back once its last readers have gone. */
void relocate_settle(struct ftl_worker *self, struct zone *zone);
/* A shutdown is under way: is no zone being moved? None begins any more unless the host goes on. */
bool relocator_quiet(struct ftl *ftl);

/* With rain (move_parity.c): the mover's worker, for the row under way. */

/* At construction, on a device with rain. */
void move_parity_init(struct ftl *ftl, struct arena *arena);
/* Does the moving part have parity? */
bool move_has_parity(const struct relocator *mover);
/* Programs of the row's parity, if the row ends, follow the last one of its units. */
void move_add_parity(struct ftl_worker *self, struct tsu_txn *last);
/* A read of the row came back unreadable: its sectors are noted. */
void move_read_failed(struct relocator *mover, const struct tsu_txn *txn);
/* Rebuild the sectors noted; then relocate_mended. */
void move_read_parity(struct ftl_worker *self);

/* Refreshing: full zones move to another superblock before their data suffer, or their superblock stays young. Policy keys set the
 * causes: many reads of a superblock (read disturb), old data (retention; checked by mount), or far fewer erases than the others (wear
 * levelling; checked zone by zone, one at each reset). A zone with sectors written in place moves so that they come along (update.h).
 *
 * Due zones wait in a list and move one at a time, in the background. Reads are served from the old superblock until the new one is
 * complete; a map in RAM follows row by row. A move takes a superblock only if no zone waits for one, and ends when the zone is reset.
 * The list and `shutting_down` are under the relocator's lock. */

enum refresh_cause { REFRESH_NONE, REFRESH_READS, REFRESH_AGE, REFRESH_WEAR, REFRESH_FOLD, REFRESH_REBUILT };

struct refresher {
	struct zone *head, *tail; /* due */
	bool shutting_down;       /* a shutdown is under way: no move begins */
	lt_word candidate;        /* the zone to move next; 0: none */
	lt_word looking;          /* 1: the event is posted */
	struct ftl_worker *worker;
	uint32_t cursor; /* next zone to check. The event's hart */
	struct lt_event event;
	lt_event_fn *begin, *look;
};

void refresh_init(struct ftl *ftl, struct arena *arena);
/* Count a read from this place, on a device with refresh_reads. Zone lock held. */
void refresh_counted(struct ftl_worker *self, struct zone *zone, ppa_t ppa);
/* Make the zone due, to bring its sectors written in place to their places. Zone lock held. */
void refresh_fold(struct ftl_worker *self, struct zone *zone);
/* Make the zone due: a sector of it had to be rebuilt. Zone lock held. */
void refresh_rebuilt(struct ftl_worker *self, struct zone *zone);
/* Any lock: a zone was reset. */
void refresh_look(struct ftl_worker *self);
/* Zone lock held, zone->refresh.cause is set: begin its move if it is its turn. */
void refresh_go_on(struct ftl_worker *self, struct zone *zone);
/* Zone lock held: its move has ended, or will not begin. */
void refresh_end(struct zone *zone, bool moved, struct ftl_worker *self);
/* No zone lock held, or any: the next zone may begin. */
void refresh_next(struct ftl_worker *self);
/* Mount, harts idle: this part of the zone is due. */
void refresh_due(struct zone *zone, bool patch, enum refresh_cause cause);
/* … and all have been named: they begin with the harts. */
void refresh_start(struct ftl *ftl);

#endif
