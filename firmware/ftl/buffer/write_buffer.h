/* Write buffers: a small pool shared by all zones. A buffer holds one superpage as a ring of flush units of the zone it is bound to.
 *
 * Class BUFFER protects who owns which buffer and who waits; the content belongs to the owner zone's lock. A buffer is handed over
 * when everything in it is durable: full units programmed, the partial one staged in SLC. */
#ifndef FTL_WRITE_BUFFER_H
#define FTL_WRITE_BUFFER_H

#include "buffer/idle.h"
#include "lt/lock.h"
#include "slc/slc.h"

struct ftl;
struct ftl_worker;
struct zone;
struct arena;

enum unit_state {
	UNIT_EMPTY,
	UNIT_FILLING,
	UNIT_FULL,         /* complete, or padded; waits for its turn to be programmed */
	UNIT_FOLDING,      /* its first sectors are read back from SLC */
	UNIT_PROGRAMMING,
	UNIT_DONE,         /* programmed; an earlier unit is not yet */
};
struct write_buffer;
struct flush_unit;
struct buffer_txn { struct tsu_txn txn; struct write_buffer *buffer; struct flush_unit *unit; };
struct flush_unit {
	uint8_t state;
	bool failed;
	bool staged;                  /* some of its sectors have copies in SLC */
	uint16_t pending;             /* programs under way */
	uint32_t start, data_end, end;/* zone offsets; padding from data_end on */
	uint64_t not_before_ns;       /* when the last data will have crossed the link */
	struct buffer_txn *txn;       /* one per plane of the unit; a patch's unit is one program */
};

/* Premature flush: [from, to) of the filling unit on its way to SLC. */
struct stage {
	uint32_t from, to, pending;   /* pending: programs under way; 0 = idle */
	struct slc_write *piece;
};
/* Read back of staged sectors into the ring. */
struct fold {
	uint32_t pending, tries;      /* pending: reads under way; 0 = idle */
	bool failed;
	struct buffer_txn *txn;       /* one per sector */
	ppa_t *ppa;
};

struct write_buffer {
	uint32_t index;
	struct zone *owner;           /* class BUFFER */
	struct zone *waiting_head, *waiting_tail; /* class BUFFER */
	lt_word waiting;              /* how many; a hint outside the lock */
	lt_word fill;                 /* sectors not yet durable: what eviction policies look at */
	lt_word draining;             /* 1: the owner is FULL, the buffer comes free by itself */
	struct zone *zone;            /* owner as long as something is in the buffer; set under its lock */
	uint8_t **page;               /* by slot */
	struct hz_oob *oob;           /* by slot */
	struct flush_unit *unit;
	uint32_t oldest;              /* unit that becomes durable next */
	uint32_t in_flight;           /* units that are being programmed */
	bool wrote;                   /* a write has landed since the buffer was bound */
	struct stage stage;
	struct fold fold;
	struct idle_watch idle;
};

struct write_pool;
/* Chooses the buffer that the zone gets (if free) or waits for. Class BUFFER held. O(1), or O(buffers) where it must compare. */
struct binding_policy {
	const char *name;
	uint32_t (*choose)(const struct write_pool *pool, const struct zone *zone);
};

struct write_pool {
	struct lt_lock lock;
	uint32_t count, shared;       /* buffers; the first `shared` are for the zones of the namespace, the rest for backing zones */
	uint32_t slots, units;        /* of each buffer; units: of the finer grid */
	struct unit_grid {
		uint32_t units, sectors;      /* flush units of a buffer, and how long one is */
		uint16_t *slot_unit;          /* slot → flush unit */
		uint16_t *slot_in_unit;
	} grid[2];                    /* [1]: of zones that are in their patch */
	struct write_buffer *buffer;
	const struct binding_policy *policy;
	uint32_t *home;               /* zone → zone modulo count */
};

extern const struct binding_policy binding_policies[3]; /* by enum hz_buffer_binding */

void write_pool_init(struct ftl *ftl, struct arena *arena);
/* Zone lock held: a free buffer, or NULL: the zone waits and is kicked when granted_buffer names one. The present owner, if
 * it must give way, is kicked too. */
struct write_buffer *write_pool_take(struct ftl_worker *self, struct zone *zone);
/* Zone lock held: everything in it is durable or void. The next waiting zone gets it. */
void write_pool_give(struct ftl_worker *self, struct write_buffer *buffer);
/* The zone that owns the buffer now, or NULL. */
struct zone *write_pool_owner(struct ftl *ftl, uint32_t buffer);

#endif
