/* The backing zones of conventional ones: what they are doing, which are erased, and who waits for one.
 *
 * conventional.lock (class BLOCK, index 2) protects the list of erased backing zones and the requests that wait for one; nothing is taken
 * under it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_CONV_SPACE_H
#define FTL_CONV_SPACE_H

#include "conventional/conv_gc.h"
#include "lt/lock.h"
#include "places/places.h"
#include "request/io.h"
#include "zone/zone.h"

enum backing_state {
	BACKING_ERASED, /* in the list */
	BACKING_OPEN,   /* a write frontier is there, or it is full and still being programmed */
	BACKING_SEALED, /* full and durable: may be collected */
	BACKING_COLLECTING,
	BACKING_LOST, /* a sector of it cannot be read, or it cannot be written any more: stays as it is */
};

/* A backing zone, beside its extent and its places. */
struct backing {
	lt_word state;    /* enum backing_state */
	lt_word frontier; /* which write frontier is there, or FRONTIER_NONE: nothing may be appended */
	lt_word born;     /* conventional.clock when it was opened; 0: before the boot */
	lt_word filled;   /* sequence number when it was filled: its age */
	lt_word erases;   /* of its superblock, when it was filled */
	uint32_t scanned; /* mount: offset from which on its OOB records have been looked at */
};

struct conventional {
	struct lt_lock lock;
	struct backing *backing;          /* by backing number */
	lt_word current[PLACE_FRONTIERS]; /* backing number + 1 of the zone where the write frontier is, 0 = nowhere */
	uint32_t *erased;                 /* ring of backing numbers */
	uint32_t head;                    /* oldest in the ring */
	lt_word free;                     /* how many; a hint outside the lock */
	struct io_queue waiting;          /* writes without an erased zone */
	lt_word losses;                   /* backing zones that failed with the host's data that were not durable */
	lt_word losing;                   /* of those that failed, how many still have a buffer, so that nobody knows yet what is lost */
	lt_word clock;                    /* sectors that the host has written, from hot_age on */
	uint64_t hot_age;                 /* an LBA whose place is younger than so many sectors is hot */
	struct conv_gc gc;
};

/* Something that replaced other sectors is lost, or may turn out to be: a power cut will bring the older ones back, so nothing may be
 * erased until then. Copies do not count: the map names their originals again. Any lock. */
static inline bool conv_may_miss(const struct conventional *conv) { return lt_load(&conv->losing) || lt_load(&conv->losses); }

/* The zone with this backing number; of a backing zone, what is here about it. */
static inline struct zone *backing_zone(const struct ftl *ftl, uint32_t number) { return &ftl->zones[ftl->zone_count + number]; }
static inline uint32_t backing_number(const struct extent *ext) { return ext->index - ext->ftl->zone_count; }
static inline struct backing *backing_of(const struct extent *ext) { return &ext->ftl->conventional->backing[backing_number(ext)]; }

/* Lock held, or harts idle. The ring must not be empty. */
void conv_list_erased(struct ftl *ftl, uint32_t number);
uint32_t conv_take_erased(struct ftl *ftl);

/* No lock held. Writes that wait for an erased zone try again. */
void conv_retry(struct ftl *ftl);
/* No lock held. Nothing can be collected and nothing is under way that would change it: writes that wait for a zone fail. */
void conv_despair(struct ftl *ftl);

#endif
