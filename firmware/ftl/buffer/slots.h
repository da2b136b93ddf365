/* Slots: free sectors of the memory that write buffers share, kept as zone-aware buffer management does (ZUFS, FAST 2026, 4.2). A buffer has
 * a stash of the slots that it is sure of; only those beyond are in the store, which all harts share. So a zone of which little is buffered
 * touches no shared word, and one that is written hard takes what others do not use.
 *
 * The store is one stack under a lock, a stack for each worker under its lock, or one stack without a lock (enum hz_buffer_slots). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_SLOTS_H
#define FTL_SLOTS_H

#include <stdint.h>

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

#endif
