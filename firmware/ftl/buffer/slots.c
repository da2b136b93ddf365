/* Free slots of memory: three stores. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "buffer/slots.h"

#include "base.h"
#include "device_config.h"
#include "lt/arena.h"
#include "lt/lock.h"

/* --- under locks --- */

struct slot_shard {
	LT_OWN_LINE struct lt_lock lock;
	uint8_t **free; /* stack */
	uint32_t count;
};

static uint32_t shard_take(struct slot_shard *shard, uint8_t **memory, uint32_t wanted)
{
	struct lt_lock_node node;
	uint32_t taken = 0;

	lt_lock_acquire(&shard->lock, &node);
	while (taken < wanted && shard->count)
		memory[taken++] = shard->free[--shard->count];
	lt_lock_release(&shard->lock, &node);
	return taken;
}

static void shard_put(struct slot_shard *shard, uint8_t *const *memory, uint32_t count)
{
	struct lt_lock_node node;

	lt_lock_acquire(&shard->lock, &node);
	for (uint32_t i = 0; i < count; i++)
		shard->free[shard->count++] = memory[i];
	lt_lock_release(&shard->lock, &node);
}

/* --- without a lock --- */

/* The head names the first free slot, and how often it has been changed: a slot that left and came back makes another head. The links are
 * apart from the slots, since who is late may still follow one of a slot that another hart has filled with data. */
struct slot_link {
	lt_word next; /* number of a slot */
	uint8_t *memory;
};
enum { SLOT_BITS = 32, SLOT_SHIFT = 12 }; /* 2^32 changes while one hart is between load and swap: never */
#define SLOT_NONE UINT32_MAX

struct slot_list {
	LT_OWN_LINE lt_word head;
	struct slot_link *link;
	const uint8_t *memory;
};

/* Slots are no smaller than 4 KiB: a number for each, without division. */
static uint32_t slot_number(const struct slot_list *list, const uint8_t *memory)
{
	return (uint32_t)((size_t)(memory - list->memory) >> SLOT_SHIFT);
}

static uint64_t head_after(uint64_t head, uint32_t first) { return ((head >> SLOT_BITS) + 1) << SLOT_BITS | first; }

static uint32_t list_take(struct slot_list *list, uint8_t **memory, uint32_t wanted)
{
	for (;;) {
		uint64_t head = lt_load(&list->head);
		uint32_t at = (uint32_t)head, taken = 0;

		while (taken < wanted && at != SLOT_NONE) {
			memory[taken++] = list->link[at].memory;
			at = (uint32_t)lt_load(&list->link[at].next);
		}
		if (!taken || lt_cas(&list->head, head, head_after(head, at)))
			return taken;
		lt_relax();
	}
}

static void list_put(struct slot_list *list, uint8_t *const *memory, uint32_t count)
{
	uint32_t first = slot_number(list, memory[0]), last = slot_number(list, memory[count - 1]);
	uint64_t head;

	for (uint32_t i = 0; i + 1 < count; i++)
		lt_store(&list->link[slot_number(list, memory[i])].next, slot_number(list, memory[i + 1]));
	for (;;) {
		head = lt_load(&list->head);
		lt_store(&list->link[last].next, (uint32_t)head);
		if (lt_cas(&list->head, head, head_after(head, first)))
			return;
		lt_relax();
	}
}

/* --- the store --- */

struct slot_store {
	uint32_t shards; /* 0: without a lock */
	struct slot_shard *shard;
	struct slot_list list;
};

static uint32_t shard_of(const struct slot_store *store, uint32_t home) { return store->shards == 1 ? 0 : home; }

static uint32_t store_take(struct slot_store *store, uint32_t home, uint8_t **memory, uint32_t wanted)
{
	uint32_t taken = 0;

	if (!store->shards)
		return list_take(&store->list, memory, wanted);
	home = shard_of(store, home);
	for (uint32_t i = 0; i < store->shards && taken < wanted; i++) {
		taken += shard_take(&store->shard[home], &memory[taken], wanted - taken);
		home = home + 1 == store->shards ? 0 : home + 1;
	}
	return taken;
}

uint32_t slots_take(struct slot_store *store, struct slot_stash *stash, uint32_t home, uint8_t **memory, uint32_t wanted)
{
	uint32_t taken = 0;

	while (taken < wanted && stash->count)
		memory[taken++] = stash->slot[--stash->count];
	return taken < wanted ? taken + store_take(store, home, &memory[taken], wanted - taken) : taken;
}

void slots_put(struct slot_store *store, struct slot_stash *stash, uint32_t home, uint8_t *const *memory, uint32_t count)
{
	uint32_t kept = 0;

	while (kept < count && stash->count < stash->most)
		stash->slot[stash->count++] = memory[kept++];
	if (kept == count)
		return;
	if (store->shards)
		shard_put(&store->shard[shard_of(store, home)], &memory[kept], count - kept);
	else
		list_put(&store->list, &memory[kept], count - kept);
}

/* --- construction --- */

static void shards_make(struct arena *arena, struct slot_store *store, uint8_t *memory, uint32_t stride, uint32_t total,
			uint32_t first_lock)
{
	store->shard = arena_alloc(arena, store->shards, sizeof(*store->shard), "shards of slots");
	for (uint32_t i = 0; i < store->shards; i++) {
		lt_lock_init(&store->shard[i].lock, HZ_LC_BUFFER, first_lock + i);
		store->shard[i].free = arena_alloc(arena, total, sizeof(uint8_t *), "free slots");
	}
	for (uint32_t i = 0; i < total; i++) {
		struct slot_shard *shard = &store->shard[i % store->shards];

		shard->free[shard->count++] = memory + (size_t)(total - 1 - i) * stride;
	}
}

static void list_make(struct arena *arena, struct slot_list *list, uint8_t *memory, uint32_t stride, uint32_t total)
{
	uint32_t numbers = (uint32_t)(((size_t)total * stride) >> SLOT_SHIFT) + 1;
	uint32_t first = SLOT_NONE;

	list->memory = memory;
	list->link = arena_alloc(arena, numbers, sizeof(*list->link), "links of slots");
	for (uint32_t i = total; i--;) {
		uint8_t *slot = memory + (size_t)i * stride;
		uint32_t number = slot_number(list, slot);

		list->link[number].memory = slot;
		lt_preset(&list->link[number].next, first);
		first = number;
	}
	lt_preset(&list->head, first);
}

struct slot_store *slots_make(struct arena *arena, uint32_t kind, uint8_t *memory, uint32_t stride, uint32_t total, uint32_t shards,
			      uint32_t first_lock)
{
	struct slot_store *store = arena_alloc(arena, 1, sizeof(*store), "slots");

	store->shards = kind == HZ_SLOTS_LOCK_FREE ? 0 : kind == HZ_SLOTS_SHARDED ? shards : 1;
	if (store->shards)
		shards_make(arena, store, memory, stride, total, first_lock);
	else
		list_make(arena, &store->list, memory, stride, total);
	return store;
}

/* No lock: nobody else is there yet. Shards give in turn. */
static uint8_t *slot_at_boot(struct slot_store *store)
{
	struct slot_shard *fullest = store->shard;
	uint8_t *memory = NULL;

	if (!store->shards) {
		list_take(&store->list, &memory, 1);
		return memory;
	}
	for (uint32_t i = 0; i < store->shards; i++)
		if (store->shard[i].count > fullest->count)
			fullest = &store->shard[i];
	return fullest->free[--fullest->count];
}

void slots_stash(struct arena *arena, struct slot_store *store, struct slot_stash *stash, uint32_t sure)
{
	stash->slot = arena_alloc(arena, sure, sizeof(*stash->slot), "slots of a buffer");
	stash->most = sure;
	while (stash->count < sure)
		stash->slot[stash->count++] = slot_at_boot(store);
}

uint32_t slots_count(const struct slot_store *store)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < store->shards; i++)
		count += store->shard[i].count;
	for (uint32_t at = store->shards ? SLOT_NONE : (uint32_t)lt_load(&store->list.head); at != SLOT_NONE;
	     at = (uint32_t)lt_load(&store->list.link[at].next))
		count++;
	return count;
}
