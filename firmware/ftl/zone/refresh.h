/* Refreshing: full zones move to another superblock before their data suffer, or their superblock stays young. Policy keys say when: many
 * reads have come from a superblock (read disturb), its data are old (retention; looked at by mount), or it has been erased much less
 * often than the others (wear levelling; looked at zone by zone, one at each reset). A zone with sectors that were written in place moves
 * so that they come along (update_fold.h).
 *
 * Zones that are due wait in a list and move one at a time, in the background (relocate.h). Reads are served from the old superblock
 * until the new one is complete; a map in RAM follows row by row. A move takes a superblock only if nobody waits for one, and ends when the zone is reset.
 * The list and `resting` are under the relocator's lock. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_REFRESH_H
#define FTL_REFRESH_H

#include "base/extent.h"

struct arena;
struct zone;

enum refresh_cause { REFRESH_NONE, REFRESH_READS, REFRESH_AGE, REFRESH_WEAR, REFRESH_FOLD };

/* A zone's part in it. Zone lock. */
struct zone_refresh {
	uint8_t cause;     /* enum refresh_cause: why it is due */
	bool patch;        /* its patch is, not its superblock */
	bool never;        /* a sector of it cannot be read: it stays where it is until it is reset */
	struct zone *next; /* in the list */
};

struct refresher {
	struct zone *head, *tail; /* due */
	bool resting;             /* the device comes to rest: no move begins */
	lt_word candidate;        /* the zone whose turn it is; 0: none */
	lt_word looking;          /* 1: the event is posted */
	struct ftl_worker *worker;
	uint32_t cursor; /* zone that is looked at next. The event's hart */
	struct lt_event event;
	lt_event_fn *begin, *look;
};

void refresh_init(struct ftl *ftl, struct arena *arena);
/* Zone lock held, of a device that counts them (refresh_reads): a read comes from this place. */
void refresh_counted(struct ftl_worker *self, struct zone *zone, ppa_t ppa);
/* Zone lock held: it has sectors that were written in place, which are to come to their places. */
void refresh_fold(struct ftl_worker *self, struct zone *zone);
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
