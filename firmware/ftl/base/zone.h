/* A zone, of the host or below conventional zones. Its sectors are written in order; by offset in sectors they are:
 *
 *     0 … placed   in the superblock (and, beyond it, in the patch: an SLC superblock; a backing zone may have nothing else), durable
 *       … staged   in SLC, durable (staged > placed only for the unit being filled, or after a power-loss dump)
 *       … guarded  in write-buffer memory kept alive by capacitors, durable
 *       … landed   in the write buffer, which holds [resident, landed)
 *       … wp       accepted, data still with the host; nothing in a backing zone
 *
 * The zone's lock (class ZONE, index = zone number) protects every field without a comment of its own on locking, and the content of
 * the zone's write buffer. Never two zone locks at once. Taken first; see docs/internals/locking.md. SLC log, map and write buffers use
 * the fields down to `erased`; each later part belongs to the header that it names. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_BASE_ZONE_H
#define FTL_BASE_ZONE_H

#include "base/context.h"
#include "base/waiter.h"
#include "lt/lock.h"

#define SUPERBLOCK_NONE UINT32_MAX
#define BODY_ALL UINT32_MAX

struct place_zone;
struct write_buffer;
struct zone_kind;
struct zrwa;

/* A running FTL_ZONE_FINISH, _RESET, _COMMIT or _OFFLINE of a zone (zone/zone.h). */
struct zone_op {
	uint8_t code, step;          /* 0: none; enum op_step */
	struct ftl_request *request; /* to be completed at its end; NULL: detached */
	/* A reset looks up the staged sectors [cursor, end) and drops them; without a request it sweeps the SLC log. */
	uint32_t cursor, end;
	ppa_t swept;
	bool asked; /* … a table page for that is being fetched: the request comes back */
};

/* Its move to a fresh superblock (zone/move.h). */
struct zone_move {
	bool under_way;  /* or waits for its superblock */
	bool patch;      /* its patch moves, not its superblock */
	bool refresh;    /* … for its data's sake (enum refresh_cause), not because it cannot be continued */
	uint32_t old;    /* superblock or patch after a move, until its last readers have gone; new reads are parked so long */
	bool old_bad;    /* retire it instead of erasing it */
	uint32_t target; /* while it waits in the relocator's queue */
	struct waiter queue;
};

/* … for its data's sake. */
struct zone_refresh {
	uint8_t cause;     /* enum refresh_cause: why it is due */
	bool patch;        /* its patch is, not its superblock */
	bool never;        /* a sector of it is unreadable: no move until it is reset */
	struct zone *next; /* in the list */
};

/* Its sectors written in place (zone/update.h). */
struct zone_updates {
	uint32_t first, last, listed; /* its entries, the oldest first. updates.lock */
	uint32_t to_look;             /* entries still to check by updates_drop. Zone lock, like all below */
	uint32_t copies;              /* entries with a copy */
	uint32_t writing;             /* requests writing in place */
	uint32_t folds;               /* folds of its copies begun so far */
	uint64_t folding;             /* copies with lower numbers come along with the zone's move; 0: none do */
	uint64_t folded;              /* … have come along with the last one, and are dead */
	bool recording;               /* its record is being written */
};

/* Its record in the zone table (zone/tables.h). */
struct zone_record_state {
	uint32_t ticket; /* table version with the zone's last record; 0 = none wanted */
	bool fence;      /* stale SLC copies beyond wp_at_mount: make a fence durable before data land */
	uint32_t wp_at_mount;
	struct zone_record_state *next; /* table lock */
	lt_word queued;                 /* 1: in a table page's waiting list */
};

/* Its part in the budget of open and active zones (zone/budget.h). Class OPEN, unless stated. */
struct budget_entry {
	bool drains;                        /* FULL, but not all durable: still counts as active, since a power cut would make it CLOSED */
	bool waits;                         /* requests are parked until another zone has drained; zone lock */
	struct waiter queue;                /* of those */
	struct zone *open_prev, *open_next; /* implicitly opened zones, oldest first */
	bool open_linked;
	bool closes; /* chosen to make room, off that list, and still open */
};

/* Whether the zone's sectors can be programmed. The host sees another state, that of the ZNS state machine (`state`).
 *
 *        +------ a program failed, or mount found a hole -----+
 *        |                                                    v
 *      SOUND <-------- it moved to a fresh superblock ----- BROKEN
 *      | | ^                                                  | |
 *      | | +-- its data are gone -- EMPTIED <-----------------+ |    reset: its record is on flash
 *      | +-----------------------------^                        |
 *      +-----------------> FAILED <-----------------------------+    no superblock for it, no room in the SLC log, the zone table is
 *                                                                    lost, or a sector that must move cannot be read */
enum zone_condition {
	ZONE_SOUND,   /* data are programmed at their place */
	ZONE_BROKEN,  /* its superblock cannot be continued: the zone moves to a fresh one before the next program */
	ZONE_FAILED,  /* nothing more can be programmed: queued writes end with NVME_WRITE_FAULT, it becomes READ ONLY */
	ZONE_EMPTIED, /* a reset is under way: staged copies are dead */
	ZONE_CONDITIONS,
};

struct zone {
	struct lt_lock lock;
	struct ftl *ftl;
	uint32_t index;            /* zone number */
	uint32_t map_shard;        /* of the map (map/l2p.h) */
	uint64_t start;            /* first LBA */
	uint32_t capacity;         /* sectors */
	uint32_t body;             /* sectors in the superblock, the rest is in the patch; BODY_ALL: no patch */
	struct place_zone *places; /* backing zone (places/places.h): its sectors are mapped one by one; else NULL */
	uint8_t stream, frontier;  /* backing: enum place_stream of its data, and the write frontier */
	uint32_t generation;       /* raised by every reset; older data on flash are dead */

	uint32_t superblock;            /* SUPERBLOCK_NONE until the first write needs one */
	uint32_t patch;                 /* SLC superblock with the sectors beyond it; SUPERBLOCK_NONE until one is needed */
	bool bad_superblock, bad_patch; /* a program failed in it: retire it instead of erasing it */
	uint8_t condition;              /* enum zone_condition; zone_become only */
	bool row_closed;                /* finished in the middle of a row, which has its parity (parity_closed) */
	bool reread;                    /* ZONE_BROKEN: the data to reprogram are only in registers of dies */

	uint32_t wp, landed, placed, staged, resident;
	uint32_t staged_from;        /* start of the unit of [.., staged) */
	ppa_t *staged_ppa;           /* buffer/staged.h: known addresses, by slot; NULL: none */
	uint32_t staged_before;      /* bound: [placed, this) was staged before, addresses are only in the map */
	uint32_t landed_slot;        /* buffer slot of sector `landed` */
	uint32_t flush_to;           /* a request waits until [0, flush_to) is durable */
	uint32_t guarded;            /* [0, guarded) is on flash, or in buffer memory kept alive by capacitors (buffer/memory.h) */
	uint32_t dumped;             /* a loss of power brought [placed, dumped) to SLC: it must be brought to its place; 0: nothing */
	uint32_t program_to;         /* … program buffered units of [0, program_to) as soon as they are complete */
	bool idle_flush;             /* … no request waits, but the buffer was idle */
	struct write_buffer *buffer; /* bound, or NULL */

	struct waiter for_superblock, for_buffer, for_space, for_log;
	uint64_t log_since_ns; /* waits for room in the map's log since then; 0: it does not */
	lt_word erased;        /* released superblocks erased or retired so far; incremented before a kick */

	LT_OWN_LINE const struct zone_kind *kind; /* zone/zone.h; NULL: written in order by the host */
	uint8_t state;                            /* enum nvme_zone_state; zone_set_state only */
	struct zrwa *zrwa;                        /* its random write area (zone/zrwa.h); NULL: none */

	struct io_queue writers; /* accepted writes with data still to land, in the order of their places */
	struct io_queue durable; /* requests waiting for flush_to */
	struct io_queue parked;  /* arrived while something excludes them; dispatched again afterwards, one by one (zone_park) */
	struct io_queue parked_reads;
	bool turn_taken;        /* a parked one has been dispatched again, and is neither accepted nor refused yet */
	uint64_t readers_begun; /* zone/zone.h */
	uint32_t given_up;      /* superblocks released by its resets; `erased` counts those erased */

	struct zone_op op;
	struct zone_move move;
	struct zone_refresh refresh;
	struct zone_updates updates;
	struct zone_record_state record;
	struct budget_entry budget;

	LT_OWN_LINE lt_word readers_ended; /* no lock: twice their number, and a mark (zone/zone.h) */
	lt_word kicked;                    /* the worker to run the pump; 0: no kick is posted */
	struct lt_event kick;
};

/* lba must be inside the namespace or a backing zone. */
static inline struct zone *zone_at(const struct ftl *ftl, uint64_t lba) { return &ftl->zones[zone_number(ftl, lba)]; }

/* Lock held. Nothing is on its way to its place any more, or it need not be. */
static inline void zone_dump_is_placed(struct zone *zone)
{
	if (zone->dumped)
		lt_add(&zone->ftl->dumped_zones, (uint64_t)-1);
	zone->dumped = 0;
}

static inline bool zone_is_backing(const struct zone *zone) { return zone->places; }

/* How far it is on flash. Lock held. */
static inline uint32_t zone_on_flash(const struct zone *zone)
{
	return zone->staged > zone->placed && zone->placed >= zone->staged_from ? zone->staged : zone->placed;
}

/* How far it is durable. Lock held. */
static inline uint32_t zone_durable(const struct zone *zone)
{
	uint32_t on_flash = zone_on_flash(zone);

	return on_flash > zone->guarded ? on_flash : zone->guarded;
}

/* True if the superblock is full, so that writes go to the patch. A patch is begun only when all sectors before it are placed: never are
 * superblock and patch programmed at the same time. Lock held. */
static inline bool zone_in_patch(const struct zone *zone) { return zone->placed >= zone->body; }

/* Sectors of a program into the current target, superblock or patch. Lock held. */
static inline uint32_t zone_program_sectors(const struct zone *zone)
{
	return zone_in_patch(zone) ? zone->ftl->cfg->slc_program_sectors : zone->ftl->unit_sectors;
}
static inline uint32_t *zone_part(struct zone *zone) { return zone_in_patch(zone) ? &zone->patch : &zone->superblock; }

/* Final place of a sector. */
static inline ppa_t zone_place(const struct zone *zone, uint32_t offset)
{
	uint32_t body = zone->body;

	return offset < body ? ppa_make(zone->ftl->map, zone->superblock, offset) : ppa_make(zone->ftl->map, zone->patch, offset - body);
}

/* Buffer slot of a resident or staged sector, or of `landed`. */
static inline uint32_t zone_slot(const struct zone *zone, uint32_t offset)
{
	uint32_t back = zone->landed - offset;

	return zone->landed_slot >= back ? zone->landed_slot - back : zone->landed_slot + zone->ftl->ring_sectors - back;
}

/* Known address of a staged sector, else PPA_NONE. */
static inline ppa_t zone_staged(const struct zone *zone, uint32_t offset)
{
	return zone->staged_ppa ? zone->staged_ppa[zone_slot(zone, offset)] : PPA_NONE;
}

/* Its lock held. An edge that is not drawn above fails the run; to become what it is changes nothing. Defined by zone/zone.c. */
void zone_become(struct zone *zone, enum zone_condition condition);
static inline bool zone_failed(const struct zone *zone) { return zone->condition == ZONE_FAILED; }

/* Defined by zone/zone.c. Runs the zone's pump soon, on the caller's worker. At most one kick per zone
 * is pending. Any hart, any lock. */
void zone_kick(struct ftl_worker *self, struct zone *zone);
/* Its lock held: look at it now. */
void zone_pump(struct ftl_worker *self, struct zone *zone);
/* Its lock held: it cannot be written any more. */
void zone_fail(struct ftl_worker *self, struct zone *zone);

#endif
