/* Write buffers from the inside: the pool, its flush units, and how buffers change hands. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_BUFFER_BUFFER_INTERNAL_H
#define FTL_BUFFER_BUFFER_INTERNAL_H

#include <stdint.h>

#include "base/context.h"
#include "base/waiter.h"
#include "buffer/buffer.h"
#include "buffer/memory.h"
#include "lt/event.h"
#include "places/places.h"
#include "slc/slc.h"

/* Binding policies: the superpage buffer of a zone of the namespace. */

struct zone;
struct superpage_pool;

/* The buffer for the zone, free or to be waited for. Class BUFFER held. O(1), or O(buffers) where buffers are compared. */
typedef uint32_t binding_fn(const struct superpage_pool *pool, const struct zone *zone);

extern binding_fn *const binding_policies[]; /* by enum hz_buffer_binding */

/* Idle buffers: a buffer with volatile data and no new ones for buffer_idle_ns is flushed as if by a host. Device time; with
 * buffer_idle_ns 0 no timer is ever armed. */

struct ftl_worker;
struct write_buffer;

/* A timer belongs to the hart that armed it, so it is never moved: landing data only store their time in the buffer, and a timer that
 * fires early re-arms. */
struct idle_watch {
	struct lt_timer timer;     /* first: leads back to its bank (its first member is this) */
	struct ftl_worker *worker; /* worker of the hart that armed it */
	lt_word armed;             /* 1: the timer is armed or about to be */
	uint64_t last_ns;          /* when data last landed; under the zone's lock, as all of the buffer's content */
};

/* Zone lock held: data have landed in the zone's buffer. */
void idle_touch(struct ftl_worker *self, struct zone *zone);

/* Banks: the memory of superpage buffers, and how zones take it from each other.
 *
 * * fair: waiters queue, and get the bank when it is given away.
 * * polled: a zone that finds the bank taken asks again after `buffers.poll`, and so does its last owner; the first to ask gets it.
 * * kept: as fair, but an owner keeps the bank while it writes, until the zone is full. Backing zones give way to each other all the
 * same.
 *
 * With `buffers.release: transferred` a zone lends the bank as soon as the dies' registers have all its data. Programs in flight stay in
 * its write_buffer, which stands for the registers, and the bank's next owner fills a spare one. There are two for each die: as many
 * programs can be there. If none is spare, the bank stays until something has been programmed. */

struct arena;

struct bank {
	struct idle_watch idle; /* first: leads back to its bank */
	uint32_t index;
	struct zone *owner;           /* class BUFFER */
	struct waiter_queue queue;    /* class BUFFER: waiting zones */
	lt_word waiting;              /* how many; a hint outside the lock */
	lt_word fill;                 /* sectors not yet durable, for eviction policies */
	struct write_buffer *at_hand; /* owner's: its next write buffer, unless the zone has one */
};

/* A zone polling for a bank; under its lock. */
struct poll {
	struct lt_timer timer; /* first: leads back to its zone */
	struct zone *zone;
	struct ftl_worker *worker; /* worker of the timer's hart */
	uint64_t next_ns;          /* no sooner */
	struct bank *waits;        /* counted there */
	bool armed, asked;
};

/* Zone's lock held for all of them. */
/* True: the bank has another owner; programs in flight stay with the zone. */
bool bank_lend(struct ftl_worker *self, struct zone *zone);

void handover_init(struct ftl *ftl, struct arena *arena);

/* Superpage buffers (ConZone): a small pool shared by all zones. A buffer holds one superpage as a ring of flush units of the zone it
 * is bound to; if buffers share their memory (memory.h) the ring is longer, up to a zone, and complete units stay in it until the memory
 * is needed.
 *
 * Class BUFFER protects the owner and the waiters of each buffer's memory (its bank); the content belongs to the owner's lock. A buffer
 * is handed over when everything in it is durable: full units programmed, the partial one staged in SLC. With `buffers.release:
 * transferred` its memory is handed over when the registers of the dies have all of it; programs in flight then have no bank
 * (handover.c). */

enum unit_state {
	UNIT_EMPTY,
	UNIT_FILLING,
	UNIT_FULL,    /* complete, or padded; waits for its turn to be programmed */
	UNIT_FOLDING, /* its first sectors are read back from SLC */
	UNIT_PROGRAMMING,
	UNIT_DONE, /* programmed; an earlier unit is not yet */
};
struct flush_unit;
struct buffer_txn {
	struct tsu_txn txn;
	struct write_buffer *buffer;
	struct flush_unit *unit;
};
struct flush_unit {
	uint8_t state;
	bool failed;
	bool staged;                   /* some of its sectors have copies in SLC */
	bool folded;                   /* they are back in the ring */
	bool ends_superpage;           /* flush: superpage: once complete, earlier units are programmed too */
	uint16_t pending;              /* programs under way */
	uint16_t loading;              /* … data not yet in a register; only with release: transferred */
	uint32_t start, data_end, end; /* zone offsets; padding from data_end on */
	uint64_t not_before_ns;        /* when the last data will have crossed the link */
	struct buffer_txn *txn;        /* one per plane of the unit; a patch's unit is one program */
};

/* Premature flush: [from, to) of the filling unit on its way to SLC. */
struct stage {
	uint32_t from, to, pending; /* pending: programs under way; 0 = idle */
	uint32_t loading;           /* … data not yet in a register; only with release: transferred */
	bool refused;               /* some of them: the SLC log is worn out */
	struct slc_write *piece;
};
/* Read back of staged sectors into the ring. Their addresses are looked up first. */
struct fold {
	struct ftl_request request; /* waits for table pages of the map */
	uint32_t pending, tries;    /* pending: reads under way, or the look-up; 0 = idle */
	bool failed;
	struct buffer_txn *txn; /* one per sector */
	ppa_t *ppa;
	uint8_t **memory; /* slots of shared memory, by sector; NULL: not shared */
};

/* The parity of the row that a zone is in, and of the row before while that is programmed (rain). By number of the row, modulo 2. */
struct row_parity {
	uint8_t **memory; /* by sector of the parity: those of plane 0 first */
	struct hz_oob *oob;
	bool lost; /* a unit of the row could not be read: it has no parity */
};
struct parity {
	struct row_parity row[2];
	uint32_t at, end;       /* units of the row that are read back: [at, end) are missing */
	bool failed;            /* a read of the present one has */
	struct row_parity read; /* that one */
	struct buffer_txn *txn; /* of its reads, or of programs of a row that ends early */
};

struct write_buffer {
	struct bank *bank; /* its memory; NULL: handed over, and the programs in flight are in the dies' registers */
	struct write_buffer *next_spare;
	struct zone *lent;  /* class BUFFER: zone that lent its bank, until its programs end; or NULL */
	struct zone *zone;  /* owner as long as something is in the buffer; set under its lock */
	uint8_t **memory;   /* by slot */
	struct hz_oob *oob; /* by slot */
	ppa_t *staged;      /* by slot: addresses in SLC (staged.h) */
	uint32_t *origin;   /* by slot: of a collector's copy the place of its original; NULL: no backing zones */
	struct flush_unit *unit;
	uint32_t oldest;    /* next unit to become durable */
	uint32_t next;      /* next unit to program: [oldest, next) are in flight or done */
	uint32_t in_flight; /* units being programmed */
	uint32_t loading;   /* … data not yet in registers; only with release: transferred */
	uint32_t used;      /* sectors landed since it got the bank */
	struct stage stage;
	struct fold fold;
	struct buffer_space space; /* its part of the shared memory */
	struct parity *parity;     /* NULL: no rain */
	uint32_t parity_pending;   /* reads for it under way, or programs of a row that ends early; 0 = idle */
	bool parity_loaded;        /* the row of the next unit to program has all its units before that one */
};

struct superpage_pool {
	struct lt_lock lock;
	uint32_t count, shared; /* banks; the first `shared` are for the zones of the namespace, the rest for backing zones */
	uint32_t buffers;       /* one for each bank, and with release: transferred spares for data in registers */
	uint32_t slots, units;  /* of each buffer; units: of the finer grid */
	struct unit_grid {
		uint32_t units, sectors; /* flush units of a buffer, and how long one is */
		uint16_t *slot_unit;     /* slot → flush unit */
		uint16_t *slot_in_unit;
	} grid[2]; /* [1]: of zones in their patch */
	struct bank *bank;
	struct write_buffer *buffer, *spare;   /* spare: class BUFFER, by next_spare */
	struct poll *poll;                     /* of each zone; handover: polled */
	uint64_t reread_ns;                    /* of a flush unit, out of registers */
	binding_fn *choose;                    /* the policy */
	uint32_t *modulo;                      /* zone → zone modulo count */
	uint32_t of_frontier[PLACE_FRONTIERS]; /* write frontier → buffer */
};

/* The flush units of a superpage buffer: a ring, filled in order, programmed in order. Zone's lock held. */

/* Resume the fill position; staged sectors stay in SLC. */
void units_bind(struct zone *zone, struct write_buffer *buffer);
/* Empty all units and take the buffer off the zone. */
void units_drop(struct ftl_worker *self, struct zone *zone);
/* The unit of sector `landed`, ready to fill; NULL: it is still being programmed. */
struct flush_unit *units_fill(struct zone *zone);
/* The partial unit, or NULL. Bound. */
struct flush_unit *units_partial(const struct zone *zone);
/* Publish the durable offset (zone_on_flash) for readers without the lock. */
void units_note_fill(struct zone *zone);
/* All units in a buffer are of one kind: the superblock is complete on flash before the first sector of the patch lands. */
static inline const struct unit_grid *units_grid(const struct zone *zone) { return &zone->ftl->buffers->grid[zone_in_patch(zone)]; }
static inline struct flush_unit *unit_of(const struct zone *zone, uint32_t slot)
{
	return &zone->buffer->unit[units_grid(zone)->slot_unit[slot]];
}

/* Parity of the rows of a zone (parity.c), with rain. Zone's lock held for all of them. */

void parity_init(struct ftl *ftl, struct arena *arena, struct write_buffer *buffer);
/* The row of the zone's next unit has its parity so far. False: its units are being read back from flash, then the zone's pump goes on. */
bool parity_ready(struct ftl_worker *self, struct zone *zone);
/* The unit is about to be programmed: it counts. */
void parity_add(struct zone *zone, const struct flush_unit *unit);
/* True if nothing comes after the unit in its row: the parity is programmed with it. */
bool parity_ends_with(const struct zone *zone, const struct flush_unit *unit);
/* Programs of the parity of the unit's row, behind the unit's own, from `part` on. Returns how many. */
uint32_t parity_program(struct ftl_worker *self, struct zone *zone, struct flush_unit *unit, struct buffer_txn *part);

/* Folding staged sectors back into a superpage buffer. */

/* Read the staged sectors of the oldest unit, which is complete, into the ring; then the zone's pump goes on. Zone's lock held. */
void fold_start(struct ftl_worker *self, struct zone *zone);

#endif
