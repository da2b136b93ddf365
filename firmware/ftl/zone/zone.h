/* Zones: descriptor, the ZNS state machine (one enum, one validated setter), and the budget of open and active zones.
 *
 * zone.lock (class ZONE, index = zone number) protects every field of the zone that no other comment claims, and the content of the
 * write buffer that is bound to it. Never two zone locks at once. Taken first; see docs/locking.md. */
#ifndef FTL_ZONE_H
#define FTL_ZONE_H

#include "request/io.h"
#include "lt/lock.h"
#include "tsu/flash_addr.h"

#define SUPERBLOCK_NONE UINT32_MAX

struct page_zone;
struct write_buffer;

/* The zone's data, by offset in sectors:  0 … placed   in the superblock, durable
 *                                         … staged     in SLC, durable (staged > placed only for the unit that is filling)
 *                                         … landed     in the write buffer
 *                                         … wp         accepted, data still with the host; nothing in a backing zone
 * The buffer holds [resident, landed). */
struct zone {
	struct lt_lock lock;
	struct ftl *ftl;
	uint32_t index;
	uint64_t start;               /* first LBA */
	uint8_t state;                /* enum nvme_zone_state; zone_set_state only */
	bool backing;                 /* of the page space: outside budget and report */
	struct page_zone *page;       /* backing: what the page space knows of it */
	uint8_t stream;               /* backing: enum page_stream that fills it */
	bool failed;                  /* no superblock can be had: queued writes end with NVME_WRITE_FAULT */
	uint32_t generation;          /* raised by every reset; older data on flash are dead */
	uint32_t superblock;          /* SUPERBLOCK_NONE until the first write needs one */
	uint32_t patch;               /* SLC superblock with the sectors beyond it; SUPERBLOCK_NONE until one is needed */
	uint32_t wp, landed, placed, staged, resident;
	uint32_t staged_from;         /* start of the unit that [.., staged) belongs to */
	ppa_t *staged_ppa;            /* staged.h */
	uint32_t landed_slot;         /* buffer slot of sector `landed` */
	uint32_t flush_to;            /* somebody waits until [0, flush_to) is durable */
	bool idle_flush;              /* … nobody does, but the buffer was idle */
	struct write_buffer *buffer;  /* bound, or NULL */
	bool wants_buffer, wants_superblock;
	lt_word granted_buffer, granted_superblock; /* index + 1, set by who hands it over; then kick */

	struct io_queue writers;      /* accepted writes whose data have not all landed, in the order of their places */
	struct io_queue durable;      /* requests that wait for flush_to */
	struct io_queue parked;       /* arrived while op excludes them; dispatched again afterwards */
	uint8_t op, op_step;          /* running FTL_ZONE_FINISH, _RESET or _OFFLINE, 0 = none; enum op_step */
	struct ftl_request *op_request; /* to be answered when it ends; NULL: nobody waits for it any more */
	uint32_t readers;             /* read requests that may have flash reads of this zone under way */

	bool relocate;                /* the superblock cannot be continued: move to a fresh one before the next program */
	bool relocating;              /* a move is under way, or waits for its superblock */
	bool bad_superblock, bad_patch; /* a program failed in it: retire it instead of erasing it */
	uint32_t old_superblock;      /* or patch; after a move, until its last readers have gone; new reads are parked so long */
	bool old_bad;
	uint32_t move_target;         /* while it waits in the relocator's queue */
	bool fence;                   /* stale SLC copies beyond wp: make a fence durable before data land */
	lt_word erased;               /* how many of the superblocks that the zone gave up have been erased or retired; raised before a kick */
	uint32_t given_up;            /* how many there are */
	uint32_t wp_at_mount;         /* fence position */
	uint32_t record_ticket;       /* table version that holds the zone's last record; 0 = none wanted */

	bool log_queued;              /* waits for room in the L2P log; under the log's lock */
	uint64_t log_since_ns;        /* since then; 0: it does not */
	struct zone *next_log;        /* the L2P log's lock */

	lt_word kicked;               /* 1: kick is posted */
	struct lt_event kick;
	struct zone *next_buffer;     /* class BUFFER */
	struct zone *next_superblock; /* class BLOCK */
	struct zone *next_record;     /* zone table lock */
	lt_word record_queued;        /* 1: in a table page's waiting list */
	bool drains;                  /* FULL, but not all durable: still counts as active, since a power cut would make it CLOSED */
	bool waits_budget;            /* requests are parked until another zone has drained */
	bool budget_queued;           /* class OPEN */
	struct zone *next_budget;     /* class OPEN */
	struct zone *open_prev, *open_next;  /* class OPEN: implicitly opened zones, oldest first */
	bool open_linked;
};

/* Resources a zone must have before it enters a state. */
enum budget_need { BUDGET_NONE = 0, BUDGET_OPEN = 1, BUDGET_ACTIVE = 2 };
struct zone_budget {
	struct lt_lock lock;          /* class OPEN */
	uint32_t max_open, max_active;
	uint32_t open, active;        /* zones in such a state (active: or draining) plus reservations */
	uint32_t draining;
	struct zone *waiting_head, *waiting_tail; /* zones that wait until another has drained, by next_budget */
	struct zone *oldest, *newest; /* implicitly opened */
};

struct arena;
void zones_init(struct ftl *ftl, struct arena *arena);

bool zone_is_open(uint8_t state);
bool zone_is_active(uint8_t state);
/* True if ZNS 1.1 figure "Zone State Machine" has this edge (or it is our recovery's). */
bool zone_edge_legal(uint8_t from, uint8_t to);
/* Zone lock held. An illegal edge fails the run. Backing zones have no budget. reserved = what budget_reserve took for this change; the budget is balanced. */
void zone_set_state(struct zone *zone, uint8_t state, uint8_t reserved);
/* Zone lock held: FULL by writes that were taken back before they had landed, so it is CLOSED, as after a power cut. It stays active. */
void zone_unfill(struct zone *zone);

/* What a zone in this state lacks to be written or opened. */
uint8_t budget_need(uint8_t state);
/* No zone lock held. Takes the resources, closing the oldest implicitly opened zone if that makes room. 0, NVME_TOO_MANY_ACTIVE or
 * NVME_TOO_MANY_OPEN. */
uint16_t budget_reserve(struct ftl *ftl, uint8_t need);
/* The same for a request: its earlier reservation is exchanged for this one and kept in io.budget. */
uint16_t budget_for(struct ftl *ftl, struct ftl_request *req, uint8_t need);
/* No zone lock held, after NVME_TOO_MANY_ACTIVE: true if req is parked at the zone until a draining zone has drained. False: no zone
 * drains any more; the refusal stands if it is repeated. */
bool budget_wait(struct zone *zone, struct ftl_request *req, bool *retry);
/* Zone lock held: a FULL zone's last sector has become durable. */
void budget_drained(struct ftl_worker *self, struct zone *zone);
void budget_give_back(struct ftl *ftl, uint8_t need);

/* Any hart, any lock: run zone_pump on the caller's worker soon. At most one kick per zone is under way. */
void zone_kick(struct ftl_worker *self, struct zone *zone);
static inline uint32_t zone_durable(const struct zone *zone)
{
	return zone->staged > zone->placed && zone->placed >= zone->staged_from ? zone->staged : zone->placed;
}

#endif
