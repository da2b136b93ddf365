/* Zones: an extent of data with its state of the ZNS state machine (one enum, one validated setter), and what its commands wait for.
 *
 * The extent's lock (class ZONE, index = zone number) protects every field that no other comment claims. Never two zone locks at once.
 * Taken first; see docs/locking.md. Each part belongs to the file that declares it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_ZONE_H
#define FTL_ZONE_H

#include "base/extent.h"
#include "request/io.h"
#include "zone/budget.h"
#include "zone/refresh.h"
#include "zone/relocate.h"
#include "zone/updates.h"
#include "zone/zone_ops.h"
#include "zone/zone_table.h"

struct arena;
struct zone;

/* What differs for conventional zones, of which the host's are mapped sector by sector to backing ones. A zone that is written in order by
 * the host has none. Lock held unless said otherwise. */
struct zone_kind {
	/* Host's: the part of a read in it, `sectors` from the request's next one on. False: the request is parked. No lock held. */
	bool (*read)(struct ftl_worker *self, struct ftl_request *req, uint32_t sectors);
	/* Backing: `sectors` of req are in the buffer from `oob` on: make their OOB records and map them. */
	void (*land)(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint32_t sectors, struct hz_oob *oob);
	/* Backing: they have landed; req.done and zone.landed count them. */
	void (*landed)(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint32_t sectors);
	/* Backing: full, durable, and its buffer is given away. */
	void (*sealed)(struct ftl_worker *self, struct zone *zone);
	/* Backing: it can be written no more. */
	void (*lost)(struct ftl_worker *self, struct zone *zone);
	/* … and now everything under way has ended: what is in its buffer and not durable is about to go. */
	void (*dropped)(struct ftl_worker *self, struct zone *zone);
};

struct zone {
	struct extent ext;            /* first: where its data lie */
	const struct zone_kind *kind; /* NULL: written in order by the host */
	uint8_t state;                /* enum nvme_zone_state; zone_set_state only */

	struct io_queue writers; /* accepted writes whose data have not all landed, in the order of their places */
	struct io_queue durable; /* requests that wait for flush_to */
	struct io_queue parked;  /* arrived while something excludes them; dispatched again afterwards, one by one (park.h) */
	struct io_queue parked_reads;
	bool turn_taken;        /* one that was parked has been dispatched again, and is neither accepted nor refused yet */
	uint64_t readers_begun; /* zone/readers.h */
	uint32_t given_up;      /* superblocks that its reset released; ext.erased counts those that are erased */

	struct zone_op op;
	struct zone_move move;
	struct zone_refresh refresh;
	struct zone_updates updates;
	struct zone_record_state record;
	struct budget_entry budget;

	LT_OWN_LINE lt_word readers_ended; /* no lock: twice their number, and a mark (zone/readers.h) */
	lt_word kicked;                    /* the worker that will run the pump; 0: no kick is posted */
	struct lt_event kick;
};

/* owner: what its extents are told (zone/pump.h). */
void zones_init(struct ftl *ftl, struct arena *arena, const struct extent_owner *owner);

/* lba must be inside the namespace or a backing zone. */
static inline struct zone *zone_at(const struct ftl *ftl, uint64_t lba) { return &ftl->zones[zone_number(ftl, lba)]; }
static inline struct zone *zone_of(struct extent *ext) { return (struct zone *)ext; }

/* Lock held: has the zone's last record reached flash? Else it is kicked when it may have. */
static inline bool zone_table_settled(struct zone *zone) { return !zone->record.ticket || zone_table_reached(zone); }

/* Lock held, a FULL zone's: a loss of power would leave it FULL. Memory that buffers share keeps data back from their place. */
static inline bool zone_drained(const struct zone *zone)
{
	return zone->ext.wp == (zone->ext.ftl->space ? extent_durable(&zone->ext) : zone->ext.placed);
}

bool zone_is_open(uint8_t state);
bool zone_is_active(uint8_t state);
/* True if ZNS 1.1 figure "Zone State Machine" has this edge (or it is our recovery's). */
bool zone_edge_legal(uint8_t from, uint8_t to);
/* Lock held. An illegal edge fails the run. Backing zones have no budget. reserved = what budget_reserve took for this change; the budget
 * is balanced. */
void zone_set_state(struct zone *zone, uint8_t state, uint8_t reserved);

#endif
