/* Memory of the write buffers: accounts of sectors, and the stores of free slots. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_BUFFER_MEMORY_H
#define FTL_BUFFER_MEMORY_H

#include <stdint.h>

#include "base/extent.h"
#include "lt/lock.h"

/* Slots: free sectors of the memory that write buffers share, kept as zone-aware buffer management does (ZUFS, FAST 2026, 4.2). A buffer has
 * a stash of the slots that it is sure of; only those beyond are in the store, which all harts share. So a zone of which little is buffered
 * touches no shared word, and one that is written hard takes what others do not use.
 *
 * The store is one stack under a lock, a stack for each worker under its lock, or one stack without a lock (enum hz_buffer_slots). */

struct arena;
struct slot_store;

/* Of one buffer, under its owner's lock. */
struct slot_stash {
	uint8_t **slot;
	uint32_t count, most;
};

/* A store for slots at memory + i * stride, 4096 <= stride, all handed out to `stashes` of `sure` slots each, then to the store.
 * kind: enum hz_buffer_slots, but not accounts; locks: of the shards, 1 or more, class BUFFER from index `first_lock` on. */
struct slot_store *slots_make(struct arena *arena, uint32_t kind, uint8_t *memory, uint32_t stride, uint32_t total, uint32_t shards,
			      uint32_t first_lock);
/* A stash with `sure` slots out of the store, which must have them. Before the harts run. */
void slots_stash(struct arena *arena, struct slot_store *store, struct slot_stash *stash, uint32_t sure);

/* At most `wanted` slots into memory[], those of the stash first; returns how many. home: the caller's worker. Any hart, stash's lock held. */
uint32_t slots_take(struct slot_store *store, struct slot_stash *stash, uint32_t home, uint8_t **memory, uint32_t wanted);
/* They come back: to the stash until it is full, then to the store. At most SLOTS_PIECE. */
void slots_put(struct slot_store *store, struct slot_stash *stash, uint32_t home, uint8_t *const *memory, uint32_t count);
enum { SLOTS_PIECE = 64 };

/* Harts idle: how many slots the store holds. */
uint32_t slots_count(const struct slot_store *store);

/* A write buffer's part in the memory that all buffers share; see memory.h. */

enum space_account { SPACE_VOLATILE, SPACE_GUARDED, SPACES };

/* Owner's lock. Sectors at or beyond the extent's `guarded` are of the volatile account. */
struct buffer_space {
	uint32_t lent[SPACES];
	uint8_t last;  /* account of what was lent last, and lands now */
	struct noted { /* what the image knows of it: sectors of this zone before `end` */
		uint32_t zone, generation, end;
	} noted;
	struct slot_stash stash; /* free slots that are this buffer's; empty with `slots: accounts` */
};

/* Memory that all write buffers share, sector by sector (selective power-loss protection, Yang et al. 2022, 4.3): a buffer is then a ring
 * of places for a zone's sectors, of which only those that hold data have memory.
 *
 * Two accounts: what capacitors keep alive when power goes (plp_bytes), and the rest. Of each account every buffer is sure of one flush
 * unit, so that a unit that was begun can always be completed and then programmed, which gives memory back. An account is *pressed* when
 * more of it is lent than buffer_flush_percent, or when somebody waits for it: then everything that is buffered from it is programmed.
 *
 * How free memory is kept is a choice (`buffers.slots`): counted for each buffer under the pool's lock (accounts), or in slots (slots.h),
 * where that lock is for waiting only and all memory is of one account.
 *
 * Class BUFFER, index 1. Taken under an extent's lock. */

struct arena;

struct sector_pool {
	struct lt_lock lock;
	uint8_t *memory, *end; /* all of it */
	uint32_t total;
	struct slot_store *slots; /* NULL: accounts, and what is free is in the stack */
	uint8_t **free;
	uint32_t free_count;
	bool closed;        /* power has gone */
	struct nand *media; /* whose memory is kept alive */
	struct space {
		uint32_t limit, threshold; /* sectors */
		uint32_t sure;             /* that a buffer can have at any time */
		uint32_t shared;           /* how many may be lent beyond what buffers are sure of */
		uint32_t shared_lent;
		lt_word lent;    /* in all; slots: kept with `flush: short` only. Accounts: written under the lock */
		lt_word waiting; /* extents in the queue; written under the lock */
		struct waiter_queue queue;
	} space[SPACES];
};

/* buffers: how many there are. */
void space_init(struct ftl *ftl, struct arena *arena, uint32_t buffers);

/* All with the extent's lock held, and the extent bound. */

/* Memory for at most `wanted` sectors from `landed` on; returns for how many, 0: the extent is kicked when there may be some. guarded: they
 * must outlast a loss of power, and so must all that lies before them in the zone, which is brought over to that account; if that cannot
 * be, memory of the other account is lent. The caller lands what it was lent, at once. */
uint32_t space_lend(struct ftl_worker *self, struct extent *ext, uint32_t wanted, bool guarded);
/* On a device with capacitors, clock frozen, while `sectors` sectors land: the image comes to know what they keep alive (nand.h, keep), and
 * what they do not any more. */
void space_note(struct extent *ext, uint32_t sectors);
/* What was just lent has landed: as far as it outlasts a loss of power, `guarded` says so. */
void space_landed(struct extent *ext);
/* Memory of [from, to) goes back, as far as it was lent. */
void space_give(struct ftl_worker *self, struct extent *ext, uint32_t from, uint32_t to);
/* Is an account that holds data of the extent pressed? */
bool space_pressed(const struct extent *ext);

/* Power has gone: nothing is lent any more. No extent's lock held. */
void space_close(struct ftl *ftl);

/* Harts idle: NULL or one sentence. */
const char *space_check(struct ftl *ftl);

#endif
