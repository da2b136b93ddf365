/* Conventional zones over backing zones: erased ones, the collector, and their requests. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_CONVENTIONAL_CONVENTIONAL_H
#define FTL_CONVENTIONAL_CONVENTIONAL_H

#include "base/context.h"
#include "lt/lock.h"
#include "places/places.h"
#include "port/ftl_port.h"
#include "request/io.h"
#include "zone/zone.h"

/* Conventional zones, and the whole of a block namespace: sectors mapped one by one to places (places/places.h) in backing zones.
 *
 * * Backing zones are zones (zone/zone.h) beyond the namespace: written by appending through the zone write path, erased by the zone
 * reset path, but outside the budget, the report and the host's reach. Three streams fill them: host writes taken for hot, host writes
 * taken for cold, and the collector's copies. Host streams may have several write frontiers, in a zone each, so that writes do not meet
 * at one zone's lock. Writing: conv_io.c; landing: conventional.c; reading: conv_io.c; collecting: conv_gc.c; mount: conv_mount.c. */

struct arena;
struct conventional;

/* At construction, once zones and places are there. */
void conv_init(struct ftl *ftl, struct arena *arena);

/* Collectors of conventional zones: each picks a full backing zone, copies its valid sectors in batches to its write frontier, waits until
 * everything that replaced its sectors is durable, and resets it.
 *
 * There are `conventional.collectors`, dealt to the workers in turn. Each copies from one victim while the one before it leaves, which
 * means that it is flushed and reset; the worker that started the collector runs every step. `busy`: a victim is there; `wanted`: another
 * collection was requested meanwhile. A collection whose copies may not fit into the collector's open zone promises itself an erased one
 * before it begins (conventional.promised), so it never waits for space. */

struct zone;

enum { CONV_GC_BATCH = 64, CONV_GC_READ_TRIES = 4 };

struct conv_gc {
	lt_word busy, wanted;
	uint32_t number;
	bool promised; /* one of conventional.promised; conventional.lock */
	struct ftl_worker *worker;
	struct lt_event start;   /* posted when `busy` is set */
	struct zone *victim;     /* copied from, or copied and about to leave; NULL: none */
	bool copied;             /* nothing of it is left to copy: it waits until the zone before it has left */
	uint32_t position;       /* next sector of the victim to look at */
	uint32_t count;          /* sectors of the batch */
	uint32_t moved, first;   /* sectors of the victim moved so far; LBA of the first of them */
	uint32_t pending, tries; /* reads under way */
	bool failed;
	uint32_t *offset, *lba; /* by sector of the batch */
	struct hz_oob *oob;     /* … as read: marks of the host go along */
	uint8_t **memory;
	struct tsu_txn *read;
	struct ftl_request request; /* the batch's write */
	struct zone *leaving;       /* NULL: none */
	struct ftl_request leave;   /* its flush, then its reset */
};

void conv_gc_init(struct ftl *ftl, struct arena *arena);
/* No collection is under way. Any lock. */
bool conv_gc_quiet(const struct ftl *ftl);
/* The collector whose request it is, or NULL. */
struct conv_gc *conv_gc_of(const struct ftl *ftl, struct ftl_request *req);
/* conventional.lock held: the collection needs no erased zone any more, or has taken it. */
void conv_promise_ends(struct conventional *conv, struct conv_gc *gc);
/* Any lock: collect if erased backing zones are short. */
void conv_gc_kick(struct ftl_worker *self);
/* Erasing of user data, when nothing is mapped and the host sends nothing: the worker's collector takes backing zone after backing zone
 * from *next on. False: call it again later. True: each was EMPTY, has been reset, or cannot be. */
bool conv_purge(struct ftl_worker *self, uint32_t *next);

/* The backing zones of conventional ones: their states, the erased ones, and requests waiting for one.
 *
 * conventional.lock (class BLOCK, index 2) protects the list of erased backing zones, what of it is promised, and the requests waiting for
 * one; nothing is taken under it. */

enum backing_state {
	BACKING_ERASED, /* in the list */
	BACKING_OPEN,   /* a write frontier is there, or it is full and still being programmed */
	BACKING_SEALED, /* full and durable: may be collected */
	BACKING_COLLECTING,
	BACKING_LOST, /* a sector of it cannot be read, or it cannot be written any more: stays as it is */
};

/* State of a backing zone besides its zone and its places. */
struct backing {
	lt_word state;    /* enum backing_state */
	lt_word frontier; /* its write frontier, or FRONTIER_NONE: nothing may be appended */
	lt_word born;     /* conventional.clock when it was opened; 0: before the boot */
	lt_word filled;   /* sequence number when it was filled: its age */
	lt_word erases;   /* of its superblock, when it was filled */
	uint32_t scanned; /* mount: OOB records have been read from this offset on */
};

struct conventional {
	struct lt_lock lock;
	struct backing *backing;                  /* by backing number */
	lt_word current[PLACE_FRONTIERS];         /* backing number + 1 of the frontier's zone, 0: none */
	uint32_t *erased;                         /* ring of backing numbers */
	uint32_t head;                            /* oldest in the ring */
	lt_word free;                             /* how many; a hint outside the lock */
	lt_word promised;                         /* … of these to collections that have begun; a hint outside the lock */
	lt_word leaving;                          /* victims about to be erased */
	struct io_queue waiting[PLACE_FRONTIERS]; /* by write frontier: writes without an erased zone */
	uint8_t line[PLACE_FRONTIERS]; /* ring of write frontiers: those with such writes, in the order in which they began to wait */
	uint32_t line_head, line_count;
	uint64_t lined;              /* bit = frontier: it is in the ring, where a frontier may stay that waits no longer */
	lt_word losses;              /* failed backing zones that lost volatile host data */
	lt_word losing;              /* … of these still with a buffer, so that the loss is not known yet */
	uint64_t hot_age;            /* an LBA with a younger place, in such sectors, is hot */
	struct placement *placement; /* NULL: no reclaim unit handles */
	struct conv_gc *gc;          /* by number: the collectors */
	LT_OWN_LINE lt_word clock;   /* with two streams: sectors written by the host, from hot_age on; each write changes it */
};

/* True if newer data are lost, or may turn out to be: after a power cut the older ones are current again, so nothing may be erased until
 * then. Copies do not count: the map has their originals again. Any lock. */
static inline bool conv_may_miss(const struct conventional *conv) { return lt_load(&conv->losing) || lt_load(&conv->losses); }

/* Erased zones that the host may take: those that are not promised, and the last one is always kept for a collection. Any lock: a hint
 * outside conventional.lock. */
static inline uint64_t conv_free_for_host(const struct conventional *conv)
{
	uint64_t free = lt_load(&conv->free); /* first: a promise that is kept meanwhile must not hide a zone */
	uint64_t promised = lt_load(&conv->promised), kept = promised ? promised : 1;

	return free > kept ? free - kept : 0;
}

/* The zone with this backing number; the number and the state of a backing zone. */
static inline struct zone *backing_zone(const struct ftl *ftl, uint32_t number) { return &ftl->zones[ftl->zone_count + number]; }
static inline uint32_t backing_number(const struct zone *zone) { return zone->index - zone->ftl->zone_count; }
static inline struct backing *backing_of(const struct zone *zone) { return &zone->ftl->conventional->backing[backing_number(zone)]; }

/* Lock held, or harts idle. The ring must not be empty. */
void conv_list_erased(struct ftl *ftl, uint32_t number);
uint32_t conv_take_erased(struct ftl *ftl);

/* Lock held: park a write to this frontier until the frontier may take an erased zone. */
void conv_wait(struct conventional *conv, uint32_t frontier, struct ftl_request *req);
/* Lock held: the writes parked there. */
struct io_queue conv_take_waiting(struct conventional *conv, uint32_t frontier);
/* Retry the writes of as many frontiers as there are erased zones for; … of all that wait now. No lock held. */
void conv_retry(struct ftl *ftl);
void conv_retry_all(struct ftl *ftl);
/* Fail writes parked for a zone if nothing can be collected and nothing under way would change that. No lock held. */
void conv_despair(struct ftl *ftl);

/* Data landing in backing zones: operations of their zone_kind (zone/zone.h). Lock of the backing zone held. */

void conv_land(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint32_t sectors, struct hz_oob *oob);
void conv_landed(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint32_t sectors);
void conv_sealed(struct ftl_worker *self, struct zone *zone);
void conv_lost(struct ftl_worker *self, struct zone *zone);
void conv_dropped(struct ftl_worker *self, struct zone *zone);

/* Flexible data placement (TP 4146): the host chooses the stream of a write by a placement identifier. With one reclaim group it is the
 * number of a reclaim unit handle: a stream with one write frontier, whose backing zone is the reclaim unit. Handles are initially
 * isolated: the collector has one stream for all.
 *
 * An update leaves a handle's zone before it is full: the zone is finished as a host's zone would be, and writes of the handle wait
 * meanwhile. So a handle never has two partly filled zones, also after a power cut. One update at a time.
 *
 * conventional.lock protects all but `noted`. */

struct placement_log {
	uint32_t head, count; /* a ring: the oldest, how many */
	struct ftl_placement_event event[NVME_FDP_EVENTS_MOST];
};

struct placement {
	uint32_t updating;             /* 1 + the write frontier whose zone is being finished; 0: none */
	struct io_queue waiting;       /* other updates, and writes to that frontier */
	struct io_queue updater;       /* whose update it is, until its host is gone */
	struct ftl_request request;    /* the finish */
	lt_word noted[HZ_MAX_HANDLES]; /* types of events, by handle */
	struct placement_log log[2];   /* the controller's events, the host's */
};

void placement_init(struct ftl *ftl, struct arena *arena);
/* The stream of a write that names one. An invalid identifier is noted once, and is handle 0's from then on. Any hart, no lock. */
enum place_stream placement_stream(struct ftl *ftl, struct ftl_request *req);
/* Lock held. True: the frontier's zone is being finished, and the request waits for that. */
static inline bool placement_waits(struct conventional *conv, uint32_t frontier, struct ftl_request *req)
{
	if (!conv->placement || conv->placement->updating != frontier + 1)
		return false;
	io_wait(&conv->placement->waiting, req, HZ_LOGICAL_BACKING, 0);
	return true;
}
/* No update is under way. No lock held. */
bool placement_quiet(struct ftl *ftl);
/* All workers know of the controller reset: end what waits for the old host. No lock held. */
void placement_cancel(struct ftl_worker *self);
/* `moved` sectors, from this LBA on, have left a backing zone of the stream. No lock held. */
void placement_moved(struct ftl *ftl, enum place_stream stream, uint64_t lba, uint32_t moved);
/* FTL_PLACEMENT_STATUS; FTL_PLACEMENT_UPDATE, also its continuation. */
void placement_status_run(struct ftl_worker *self, struct ftl_request *req);
void placement_update_run(struct ftl_worker *self, struct ftl_request *req);

/* Reads of conventional zones. */

/* zone_kind.read: sectors between a zone's capacity and its size are zeros. */
bool conv_read(struct ftl_worker *self, struct ftl_request *req, uint32_t sectors);

/* Writes to conventional zones. */

/* Why the host's write of conventional sectors is refused, or NVME_SUCCESS. */
uint16_t conv_write_status(const struct ftl *ftl, const struct ftl_request *req);
/* FTL_WRITE and FTL_WRITE_ZEROES of a conventional LBA, also their continuation; the collector's copies, with lba 0; FTL_APPEND
 * (refused). */
void conv_write_run(struct ftl_worker *self, struct ftl_request *req);

/* Deallocation of conventional sectors. */

/* Ranges of the request, as in the host's list now: the host may change it at any time, so each value read is checked. */
uint32_t conv_range_count(const struct ftl_request *req);
struct nvme_dsm_range conv_range_at(const struct ftl_request *req, uint32_t index);
/* True if the range has only existing LBAs; … if all ranges have. */
bool conv_range_exists(const struct ftl *ftl, const struct ftl_request *req, const struct nvme_dsm_range *range);
bool conv_ranges_exist(const struct ftl *ftl, const struct ftl_request *req);
/* FTL_DEALLOCATE, also its continuation. Parts of its ranges in sequential zones stay as they are. */
void conv_deallocate_run(struct ftl_worker *self, struct ftl_request *req);

/* Mount of conventional zones. */

/* Find the content of the backing zones. Zones and SLC are settled. The map already has the sectors with sequence numbers below `since`;
 * complete: there are no others. oob: room for the records of a superpage. Harts idle. */
void conv_mount(struct ftl *ftl, struct hz_oob *oob, uint64_t since, bool complete);

/* Check of conventional zones. */

/* Harts idle: NULL or one sentence. */
const char *conv_check(struct ftl *ftl);

#endif
