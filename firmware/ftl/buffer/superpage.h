/* Superpage buffers (ConZone): a small pool shared by all zones. A buffer holds one superpage as a ring of flush units of the extent it is
 * bound to; if buffers share their memory (sector_pool.h) the ring is longer, up to a zone, and what is complete stays in it until the
 * memory is needed.
 *
 * Class BUFFER protects who owns which buffer's memory (its bank) and who waits; the content belongs to the owner's lock. A buffer is
 * handed over when everything in it is durable: full units programmed, the partial one staged in SLC. With `buffers.release: transferred`
 * its memory is handed over when the registers of the dies have all of it; what is under way then has no bank (handover.h). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_SUPERPAGE_H
#define FTL_SUPERPAGE_H

#include "buffer/binding.h"
#include "buffer/buffer.h"
#include "buffer/handover.h"
#include "buffer/idle.h"
#include "buffer/space.h"
#include "places/places.h"
#include "slc/slc_write.h"

enum unit_state {
	UNIT_EMPTY,
	UNIT_FILLING,
	UNIT_FULL,    /* complete, or padded; waits for its turn to be programmed */
	UNIT_FOLDING, /* its first sectors are read back from SLC */
	UNIT_PROGRAMMING,
	UNIT_DONE, /* programmed; an earlier unit is not yet */
};
struct write_buffer;
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
	bool ends_superpage;           /* of flush: superpage: when it is complete, what is before it is programmed too */
	uint16_t pending;              /* programs under way */
	uint16_t loading;              /* … whose data are not in a register yet; only with release: transferred */
	uint32_t start, data_end, end; /* zone offsets; padding from data_end on */
	uint64_t not_before_ns;        /* when the last data will have crossed the link */
	struct buffer_txn *txn;        /* one per plane of the unit; a patch's unit is one program */
};

/* Premature flush: [from, to) of the filling unit on its way to SLC. */
struct stage {
	uint32_t from, to, pending; /* pending: programs under way; 0 = idle */
	uint32_t loading;           /* … whose data are not in a register yet; only with release: transferred */
	bool refused;               /* some of them: the SLC log is worn out */
	struct slc_write *piece;
};
/* Read back of staged sectors into the ring. Where they are is looked up before. */
struct fold {
	struct ftl_request request; /* waits for table pages of the map */
	uint32_t pending, tries;    /* pending: reads under way, or the look-up; 0 = idle */
	bool failed;
	struct buffer_txn *txn; /* one per sector */
	ppa_t *ppa;
	uint8_t **memory; /* of shared memory's buffers, which has to be at hand: one per sector; else NULL */
};

struct write_buffer {
	struct bank *bank; /* its memory, or NULL: that is another's, and what is under way lies in the dies' registers */
	struct write_buffer *next_spare;
	struct extent *lent; /* class BUFFER: whose bank has become another's, until nothing is under way any more; or NULL */
	struct extent *ext;  /* owner as long as something is in the buffer; set under its lock */
	uint8_t **memory;    /* by slot */
	struct hz_oob *oob;  /* by slot */
	ppa_t *staged;       /* by slot: addresses in SLC (staged.h) */
	struct flush_unit *unit;
	uint32_t oldest;    /* unit that becomes durable next */
	uint32_t next;      /* unit that is programmed next: those from oldest to it are on their way, or have arrived */
	uint32_t in_flight; /* units that are being programmed */
	uint32_t loading;   /* … whose data are not in registers yet; only with release: transferred */
	uint32_t used;      /* sectors that have landed since it got the bank */
	struct stage stage;
	struct fold fold;
	struct buffer_space space; /* of the memory that all share */
};

struct superpage_pool {
	struct lt_lock lock;
	uint32_t count, shared; /* banks; the first `shared` are for the zones of the namespace, the rest for backing zones */
	uint32_t buffers;       /* one for each bank, and with release: transferred some whose data lie in registers */
	uint32_t slots, units;  /* of each buffer; units: of the finer grid */
	struct unit_grid {
		uint32_t units, sectors; /* flush units of a buffer, and how long one is */
		uint16_t *slot_unit;     /* slot → flush unit */
		uint16_t *slot_in_unit;
	} grid[2]; /* [1]: of zones that are in their patch */
	struct bank *bank;
	struct write_buffer *buffer, *spare;   /* spare: class BUFFER, by next_spare */
	struct poll *poll;                     /* of each zone; handover: polled */
	uint64_t reread_ns;                    /* of a flush unit, out of registers */
	binding_fn *choose;                    /* the policy */
	uint32_t *home;                        /* zone → zone modulo count */
	uint32_t of_frontier[PLACE_FRONTIERS]; /* write frontier → buffer */
};

extern const struct buffer_ops superpage_buffers;

#endif
