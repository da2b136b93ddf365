/* Memory of the write buffers: accounts of sectors, and the stores of free slots. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_BUFFER_MEMORY_H
#define FTL_BUFFER_MEMORY_H

#include <stdint.h>

#include "base/zone.h"
#include "lt/lock.h"

/* Slots: free sectors of the memory that write buffers share, kept as zone-aware buffer management does (ZUFS, FAST 2026, 4.2). A buffer
 * has a stash of its reserved slots; only slots beyond are in the store, shared by all harts. So a zone with little buffered data
 * touches no shared word, and a zone under heavy writes takes the slots that others leave unused.
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
/* A stash with `sure` slots from the store, which must have them. Before the harts run. */
void slots_stash(struct arena *arena, struct slot_store *store, struct slot_stash *stash, uint32_t sure);

/* At most `wanted` slots into memory[], those of the stash first; returns how many. worker: the caller's. Any hart, stash's lock held. */
uint32_t slots_take(struct slot_store *store, struct slot_stash *stash, uint32_t worker, uint8_t **memory, uint32_t wanted);
/* They come back: to the stash until it is full, then to the store. At most SLOTS_PIECE. */
void slots_put(struct slot_store *store, struct slot_stash *stash, uint32_t worker, uint8_t *const *memory, uint32_t count);
enum { SLOTS_PIECE = 64 };

/* Harts idle: how many slots the store holds. */
uint32_t slots_count(const struct slot_store *store);

/* A write buffer's part of the memory shared by all buffers. */

enum space_account { SPACE_VOLATILE, SPACE_GUARDED, SPACES };

/* Owner's lock. Sectors at or beyond the zone's `guarded` are of the volatile account. */
struct buffer_space {
	uint32_t lent[SPACES];
	uint8_t last;  /* account of the last loan, the one that lands now */
	struct noted { /* range noted in the image: sectors of this zone before `end` */
		uint32_t zone, generation, end;
	} noted;
	struct slot_stash stash; /* free slots of this buffer; empty with `slots: accounts` */
};

/* Memory that all write buffers share, sector by sector (selective power-loss protection, Yang et al. 2022, 4.3): a buffer is then a
 * ring of places for a zone's sectors, with memory only for places that hold data.
 *
 * Two accounts: memory kept alive by capacitors (plp_bytes), and the rest. Every buffer has one flush unit reserved in each account, so
 * that a partial unit can always be completed and programmed, which gives memory back. An account is *pressed* when more of it is lent
 * than buffer_flush_percent, or when a zone waits for it: then everything buffered from it is programmed.
 *
 * How free memory is kept is a choice (`buffers.slots`): counted for each buffer under the pool's lock (accounts), or in slots, where
 * that lock is for waiting only and all memory is of one account.
 *
 * Class BUFFER, index 1. Taken under a zone's lock. */

struct sector_pool {
	struct lt_lock lock;
	uint8_t *memory, *end; /* all of it */
	uint32_t total;
	struct slot_store *slots; /* NULL: accounts, free memory is in the stack */
	uint8_t **free;
	uint32_t free_count;
	bool closed;        /* power has gone */
	struct nand *media; /* media of the memory kept alive */
	struct space {
		uint32_t limit, threshold; /* sectors */
		uint32_t sure;             /* most that a buffer can ever have */
		uint32_t shared;           /* most that may be lent beyond the reservations */
		uint32_t shared_lent;
		lt_word lent;    /* in all; slots: kept with `flush: short` only. Accounts: written under the lock */
		lt_word waiting; /* zones in the queue; written under the lock */
		struct waiter_queue queue;
	} space[SPACES];
};

/* buffers: how many there are. */
void space_init(struct ftl *ftl, struct arena *arena, uint32_t buffers);

/* All with the zone's lock held, and the zone bound. */

/* Lend memory for at most `wanted` sectors from `landed` on; returns the number, 0: the zone is kicked when there may be some.
 * guarded: they must outlast a power cut, as must all earlier sectors of the zone, which move over to that account; if that is
 * impossible, memory of the other account is lent. The caller lands these sectors at once. */
uint32_t space_lend(struct ftl_worker *self, struct zone *zone, uint32_t wanted, bool guarded);
/* On a device with capacitors, clock frozen, while `sectors` sectors land: note in the image the memory that capacitors keep alive, and
 * the memory they no longer do (nand.h, keep). */
void space_note(struct zone *zone, uint32_t sectors);
/* The last loan has landed: raise `guarded` if it outlasts a power cut. */
void space_landed(struct zone *zone);
/* Give back lent memory of [from, to). */
void space_give(struct ftl_worker *self, struct zone *zone, uint32_t from, uint32_t to);
/* True if an account with data of the zone is pressed. */
bool space_pressed(const struct zone *zone);

/* Power has gone: nothing is lent any more. No zone's lock held. */
void space_close(struct ftl *ftl);

/* Harts idle: NULL or one sentence. */
const char *space_check(struct ftl *ftl);

#endif
