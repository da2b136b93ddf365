/* The page space: conventional zones, and the whole of a block namespace. Every sector is mapped by itself to a *place* in a backing
 * zone, which takes its sectors in the order in which they land.
 *
 * Backing zones are zones (zone.h) beyond the namespace: written by appending through the zone write path, erased by the zone reset
 * path, but outside the budget, the report and the host's reach. Three streams fill one backing zone each: host writes that look hot,
 * host writes that look cold, and the collector's copies. Writing: page_write.c; reading: page_read.c; collecting: page_gc.c; mount:
 * page_mount.c.
 *
 * A place is valid while the map names it: one bit, and a count per backing zone, shared words. Which LBA lies there is in the reverse
 * map, under the backing zone's lock. page.lock (class BLOCK, index 2) protects the list of erased backing zones and the requests that
 * wait for one; nothing is taken under it. */
#ifndef FTL_PAGE_SPACE_H
#define FTL_PAGE_SPACE_H

#include "request/io.h"
#include "lt/lock.h"
#include "conventional/page_gc.h"

struct ftl;
struct zone;
struct arena;

enum page_stream { PAGE_COLD, PAGE_HOT, PAGE_COLLECT, PAGE_STREAMS, PAGE_NO_STREAM = PAGE_STREAMS };
enum page_zone_state {
	PAGE_ERASED,                  /* in the list */
	PAGE_OPEN,                    /* a stream fills it, or it is full and still being programmed */
	PAGE_SEALED,                  /* full and durable: may be collected */
	PAGE_COLLECTING,
	PAGE_LOST,                    /* a sector of it cannot be read, or it cannot be written any more: stays as it is */
};
enum { PAGE_VALID_BITS = 32 };

struct page_zone {
	uint32_t base;                /* place of its first sector */
	lt_word state;                /* enum page_zone_state */
	lt_word stream;               /* enum page_stream that may append, or PAGE_NO_STREAM */
	lt_word valid;                /* places that the map names */
	lt_word born;                 /* page.clock when it was opened; 0: before the boot */
	lt_word filled;               /* sequence number when it was filled: its age */
	lt_word erases;               /* of its superblock, when it was filled */
	uint32_t scanned;             /* mount: offset from which on its OOB records have been looked at */
	lt_word durable;              /* sectors of it that outlast a power cut; the map in flash names no others */
	lt_word reset_sequence;       /* sequence number at its last reset */
	lt_word *bits;                /* by offset / PAGE_VALID_BITS: validity below, number of resets above */
	uint32_t *lba;                /* reverse map by offset; UINT32_MAX: dead, so may be what is not valid. Backing zone's lock */
};

struct page_space {
	struct lt_lock lock;
	uint32_t zones;               /* backing zones; 0: there is no page space */
	uint32_t capacity;            /* sectors of one */
	uint64_t end;                 /* LBAs [0, end) are conventional */
	struct page_zone *zone;       /* by backing number */
	lt_word current[PAGE_STREAMS];/* backing number + 1 of the zone that the stream fills, 0 = none */
	uint32_t buffer[PAGE_STREAMS];/* write buffer of the stream */
	uint32_t *erased;             /* ring of backing numbers */
	uint32_t head;                /* oldest in the ring */
	lt_word free;                 /* how many; a hint outside the lock */
	struct io_queue waiting;      /* writes without an erased zone */
	lt_word losses;               /* backing zones that failed with data that were not durable */
	lt_word resets;               /* backing zones whose reset_sequence has been set */
	lt_word clock;                /* sectors that the host has written, from hot_age on */
	uint64_t hot_age;             /* an LBA whose place is younger than so many sectors is hot */
	struct page_gc gc;
};

/* A place: backing number << superblock shift | offset, 30 bits like a PPA. */
static inline uint32_t page_place(const struct page_zone *zone, uint32_t offset) { return zone->base | offset; }
struct zone *page_zone_of(struct ftl *ftl, uint32_t place);
uint32_t page_offset_of(const struct ftl *ftl, uint32_t place);

/* Is this conventional LBA below its zone's capacity? */
bool page_lba_exists(struct ftl *ftl, uint64_t lba);

void page_space_init(struct ftl *ftl, struct arena *arena);

/* --- for the map; any lock --- */
/* The map names the place no longer. `known`: sequence number of the youngest record that says that it did, UINT64_MAX if it did
 * until now: a place whose zone was reset after `known` belongs to somebody else and is left alone. Repeated calls do nothing. */
void page_space_invalidate(struct ftl *ftl, uint32_t place, uint64_t known);
bool page_space_valid(struct ftl *ftl, uint32_t place);

/* Lock of the backing zone held: places of it that the map is about to name. */
void page_mark_valid(struct zone *zone, uint32_t offset, uint32_t count);
/* Mount: no place of it is valid. */
void page_forget(struct ftl *ftl, struct page_zone *zone);
/* page.lock held, or harts idle. The ring must not be empty. */
void page_list_erased(struct page_space *page, uint32_t number);
uint32_t page_take_erased(struct page_space *page);

/* --- requests (page_write.c, page_read.c) --- */
static inline bool page_space_holds(const struct page_space *page, uint64_t lba) { return lba < page->end; }
/* FTL_WRITE and FTL_WRITE_ZEROES of a conventional LBA, also their continuation; the collector's copies, whose lba is 0; FTL_APPEND,
 * which is refused. */
void page_write_run(struct ftl_worker *self, struct ftl_request *req);
/* The part of a read that lies in one conventional zone, `sectors` from req->lba + done on. False: the request is parked. */
bool page_read_some(struct ftl_worker *self, struct ftl_request *req, uint32_t sectors);

/* Writes that wait for an erased zone try again; no lock held. */
void page_space_retry(struct ftl *ftl);

/* --- between the zone write path and the page space; lock of the backing zone held --- */
/* `sectors` of req have been copied to the slots from `oob` on: make their OOB records and map them. */
void page_land(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint32_t sectors, struct hz_oob *oob);
/* They have landed: req.done and zone.landed count them. */
void page_landed(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint32_t sectors);
/* A full backing zone is durable and has given its buffer away. */
void page_sealed(struct ftl_worker *self, struct zone *zone);
/* It can be written no more. */
void page_zone_lost(struct ftl_worker *self, struct zone *zone);

/* --- page_write.c for page_gc.c; no lock held --- */
/* The zone is EMPTY again. */
void page_zone_erased(struct ftl *ftl, struct zone *zone);
/* Nothing can be collected and nothing is under way that would change it: writes that wait for a zone fail. */
void page_space_despair(struct ftl *ftl);

/* Mount, harts idle: finds what the backing zones hold. Zones and SLC are settled. The map knows the sectors with sequence numbers below
 * `since` already; complete: there are no others. */
void page_mount(struct ftl *ftl, struct hz_oob *unit, uint64_t since, bool complete);
/* NULL or one sentence. Harts idle. */
const char *page_check(struct ftl *ftl);

#endif
