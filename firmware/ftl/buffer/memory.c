/* Memory of the write buffers: accounts of sectors, and the stores of free slots. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "buffer/memory.h"

#include "base.h"
#include "buffer/buffer.h"
#include "buffer/buffer_internal.h"
#include "buffer/staged.h"
#include "device_config.h"
#include "dump_size.h"
#include "logical_locks.h"
#include "lt/arena.h"
#include "lt/lock.h"
#include "lt/logical.h"
#include "slc/slc.h"
#include "tsu/tsu_dump.h"

/* Memory shared by all write buffers: lent to landing sectors, given back when they are on flash or dropped. */

enum { GIVE_PIECE = SLOTS_PIECE }; /* most sectors given back under one acquisition of the lock */

/* Padding and folded sectors have other memory. */
static bool is_lent(const struct sector_pool *pool, const uint8_t *memory) { return memory >= pool->memory && memory < pool->end; }

static uint32_t beyond(uint32_t lent, uint32_t sure) { return lent > sure ? lent - sure : 0; }

/* Lock held: `count` sectors more, or less, of an account for this buffer. */
static void charge(struct sector_pool *pool, struct buffer_space *buffer, enum space_account which, int32_t count)
{
	struct space *space = &pool->space[which];

	space->shared_lent -= beyond(buffer->lent[which], space->sure);
	buffer->lent[which] += (uint32_t)count;
	space->shared_lent += beyond(buffer->lent[which], space->sure);
	lt_store(&space->lent, lt_load(&space->lent) + (uint64_t)(int64_t)count);
}

/* Lock held: how many more the buffer can have. */
static uint32_t account_room(const struct sector_pool *pool, const struct buffer_space *buffer, enum space_account which)
{
	const struct space *space = &pool->space[which];

	return beyond(space->sure, buffer->lent[which]) + space->shared - space->shared_lent;
}

static bool account_pressed(const struct space *space) { return lt_load(&space->waiting) || lt_load(&space->lent) > space->threshold; }

bool space_pressed(const struct zone *zone)
{
	const struct sector_pool *pool = zone->ftl->space;
	const struct buffer_space *buffer = &zone->buffer->space;

	return (buffer->lent[SPACE_VOLATILE] && account_pressed(&pool->space[SPACE_VOLATILE])) ||
	       (buffer->lent[SPACE_GUARDED] && account_pressed(&pool->space[SPACE_GUARDED]));
}

/* The account for a sector that must outlast a power cut: earlier buffered sectors move over to it first. Lock held. */
static enum space_account guard_before(struct sector_pool *pool, struct zone *zone)
{
	struct buffer_space *buffer = &zone->buffer->space;
	uint32_t before = buffer->lent[SPACE_VOLATILE], room = account_room(pool, buffer, SPACE_GUARDED);

	if (!slc_takes_dump(zone->ftl) || pool->closed || (before && room <= before))
		return SPACE_VOLATILE;
	if (before) {
		charge(pool, buffer, SPACE_VOLATILE, -(int32_t)before);
		charge(pool, buffer, SPACE_GUARDED, (int32_t)before);
	}
	zone->guarded = zone->landed;
	return SPACE_GUARDED;
}

/* Lock held. */
static void wait_for(struct sector_pool *pool, struct space *space, struct zone *zone)
{
	if (zone->for_space.queued)
		return;
	zone->for_space.queued = true;
	waiter_ask(&space->queue, &zone->for_space, HZ_LOGICAL_SPACE, (uint32_t)(space - pool->space));
	lt_add(&space->waiting, 1);
}

static void take_memory(struct sector_pool *pool, struct zone *zone, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		zone->buffer->memory[zone->landed_slot + i] = pool->free[--pool->free_count];
}

static uint32_t lend_counted(struct ftl_worker *self, struct zone *zone, uint32_t wanted, bool guarded)
{
	struct sector_pool *pool = self->ftl->space;
	struct buffer_space *buffer = &zone->buffer->space;
	struct lt_lock_node node;
	struct space *space;
	uint32_t room;
	bool before, after;

	lt_lock_acquire(&pool->lock, &node);
	buffer->last = guarded ? guard_before(pool, zone) : SPACE_VOLATILE;
	space = &pool->space[buffer->last];
	before = account_pressed(space);
	room = pool->closed ? 0 : min_u32(account_room(pool, buffer, buffer->last), wanted);
	take_memory(pool, zone, room);
	charge(pool, buffer, buffer->last, (int32_t)room);
	if (!room)
		wait_for(pool, space, zone);
	else
		lt_tell_had(HZ_LOGICAL_SPACE);
	after = account_pressed(space);
	lt_lock_release(&pool->lock, &node);
	self->counters.waits_space += !room;
	if (after && !before)
		buffers_kick(self); /* every bound zone programs from pressed accounts */
	return room;
}

/* --- slots --- */

static uint32_t home_of(const struct ftl_worker *self) { return (uint32_t)(self - self->ftl->workers); }

static uint32_t take_slots(struct ftl_worker *self, struct zone *zone, uint32_t wanted)
{
	struct write_buffer *buffer = zone->buffer;

	return slots_take(self->ftl->space->slots, &buffer->space.stash, home_of(self), &buffer->memory[zone->landed_slot], wanted);
}

/* Memory may have come back between the look and the queueing: a giver looks at the queue afterwards. */
static uint32_t wait_or_take(struct ftl_worker *self, struct zone *zone, uint32_t wanted)
{
	struct sector_pool *pool = self->ftl->space;
	struct lt_lock_node node;

	lt_lock_acquire(&pool->lock, &node);
	wait_for(pool, &pool->space[SPACE_VOLATILE], zone);
	lt_lock_release(&pool->lock, &node);
	return take_slots(self, zone, wanted);
}

/* The total lent is a word that all harts change: it is kept for flush by memory only. */
static bool comes_to_be_pressed(const struct ftl *ftl, struct space *space, uint32_t count)
{
	uint64_t before;

	if (ftl->cfg->buffer_flush != HZ_BUFFER_FLUSH_SHORT)
		return false;
	before = lt_add(&space->lent, count);
	return before <= space->threshold && before + count > space->threshold;
}

static uint32_t lend_slots(struct ftl_worker *self, struct zone *zone, uint32_t wanted)
{
	struct ftl *ftl = self->ftl;
	struct space *space = &ftl->space->space[SPACE_VOLATILE];
	uint32_t count = take_slots(self, zone, wanted);
	bool press = !count && !lt_load(&space->waiting);

	if (!count)
		count = wait_or_take(self, zone, wanted);
	else
		lt_tell_had(HZ_LOGICAL_SPACE);
	zone->buffer->space.lent[SPACE_VOLATILE] += count;
	self->counters.waits_space += !count;
	press |= comes_to_be_pressed(ftl, space, count);
	if (press)
		buffers_kick(self); /* as above */
	return count;
}

static void give_slots(struct ftl_worker *self, struct zone *zone, uint32_t from, uint32_t to)
{
	struct sector_pool *pool = self->ftl->space;
	struct buffer_space *space = &zone->buffer->space;
	uint8_t *given[SLOTS_PIECE];
	uint32_t count = 0;

	for (uint32_t at = from; at < to; at++) {
		uint8_t **memory = &zone->buffer->memory[zone_slot(zone, at)];

		if (is_lent(pool, *memory))
			given[count++] = *memory;
		*memory = NULL;
	}
	space->lent[SPACE_VOLATILE] -= count;
	slots_put(pool->slots, &space->stash, home_of(self), given, count);
	if (self->ftl->cfg->buffer_flush == HZ_BUFFER_FLUSH_SHORT)
		lt_add(&pool->space[SPACE_VOLATILE].lent, -(uint64_t)count);
}

/* --- both --- */

uint32_t space_lend(struct ftl_worker *self, struct zone *zone, uint32_t wanted, bool guarded)
{
	return self->ftl->space->slots ? lend_slots(self, zone, wanted) : lend_counted(self, zone, wanted, guarded);
}

void space_close(struct ftl *ftl)
{
	struct lt_lock_node node;

	lt_lock_acquire(&ftl->space->lock, &node);
	ftl->space->closed = true;
	lt_lock_release(&ftl->space->lock, &node);
}

/* A sector in the pool's memory. The record of one in SLC says nothing: a fold may be reading it just now. */
static void note_sector(const struct sector_pool *pool, const struct zone *zone, uint32_t at, bool keeps)
{
	uint32_t slot = at < zone->landed ? zone_slot(zone, at) : zone->landed_slot + at - zone->landed;
	const uint8_t *memory = zone->buffer->memory[slot];
	struct hz_oob oob = { .lpa = (uint32_t)(zone->start + at), .generation = zone->generation, .kind = HZ_OOB_DATA };

	if (at >= zone->landed || !staged_has(zone, at))
		oob.flags = zone->buffer->oob[slot].flags;
	if (is_lent(pool, memory))
		pool->media->ops->keep(pool->media, (uint32_t)((size_t)(memory - pool->memory) >> HZ_SECTOR_SHIFT), keeps ? memory : NULL,
				       &oob);
}

void space_note(struct zone *zone, uint32_t sectors)
{
	const struct sector_pool *pool = zone->ftl->space;
	struct noted *noted = &zone->buffer->space.noted;
	bool keeps = zone->buffer->space.last == SPACE_GUARDED;
	uint32_t at = zone->landed;

	if (keeps) {
		bool same = noted->zone == zone->index && noted->generation == zone->generation && noted->end > zone->placed;

		at = same ? noted->end : zone->placed;
		*noted = (struct noted){ zone->index, zone->generation, zone->landed + sectors };
	}
	for (; at < zone->landed + sectors; at++)
		note_sector(pool, zone, at, keeps);
}

void space_landed(struct zone *zone)
{
	if (zone->buffer->space.last == SPACE_GUARDED)
		zone->guarded = zone->landed;
}

/* Wake the zones queued before memory came back; later ones wait for the next time. */
static void wake(struct ftl_worker *self, struct space *space)
{
	struct sector_pool *pool = self->ftl->space;

	for (uint64_t n = lt_load(&space->waiting); n; n--) {
		struct waiter *waiter;
		struct lt_lock_node node;

		lt_lock_acquire(&pool->lock, &node);
		waiter = waiter_pop(&space->queue);
		if (waiter) {
			waiter->queued = false;
			lt_add(&space->waiting, (uint64_t)-1);
		}
		lt_lock_release(&pool->lock, &node);
		if (!waiter)
			return;
		zone_kick(self, waiter->zone);
	}
}

/* [from, to) of the ring under one acquisition of the lock. */
static void give_piece(struct sector_pool *pool, struct zone *zone, uint32_t from, uint32_t to)
{
	int32_t given[SPACES] = { 0 };
	struct lt_lock_node node;

	lt_lock_acquire(&pool->lock, &node);
	for (uint32_t at = from; at < to; at++) {
		uint8_t **memory = &zone->buffer->memory[zone_slot(zone, at)];

		if (is_lent(pool, *memory)) {
			given[at < zone->guarded ? SPACE_GUARDED : SPACE_VOLATILE]++;
			pool->free[pool->free_count++] = *memory;
		}
		*memory = NULL;
	}
	for (unsigned i = 0; i < SPACES; i++)
		charge(pool, &zone->buffer->space, i, -given[i]);
	lt_lock_release(&pool->lock, &node);
}

void space_give(struct ftl_worker *self, struct zone *zone, uint32_t from, uint32_t to)
{
	struct sector_pool *pool = self->ftl->space;

	for (; from < to; from = min_u32(from + GIVE_PIECE, to)) {
		if (pool->slots)
			give_slots(self, zone, from, min_u32(from + GIVE_PIECE, to));
		else
			give_piece(pool, zone, from, min_u32(from + GIVE_PIECE, to));
	}
	for (unsigned i = 0; i < SPACES; i++)
		wake(self, &pool->space[i]);
}

/* --- construction and check --- */

static void space_account_init(struct space *space, uint32_t limit, uint32_t buffers, uint32_t sure, uint32_t percent)
{
	space->limit = limit;
	space->sure = limit ? sure : 0;
	space->threshold = (uint32_t)((uint64_t)limit * percent / 100);
	space->shared = limit - (limit ? buffers * sure : 0);
}

static void slots_init(struct ftl *ftl, struct arena *arena, uint32_t stride)
{
	struct sector_pool *pool = ftl->space;

	pool->slots = slots_make(arena, ftl->cfg->buffer_slots, pool->memory, stride, pool->total, ftl->cfg->worker_count, 2);
	for (uint32_t i = 0; i < ftl->buffers->buffers; i++)
		slots_stash(arena, pool->slots, &ftl->buffers->buffer[i].space.stash, ftl->flush_sectors);
}

void space_init(struct ftl *ftl, struct arena *arena, uint32_t buffers)
{
	struct sector_pool *pool = arena_alloc(arena, 1, sizeof(*pool), "sector pool");
	uint32_t guarded = hz_dump_sectors(ftl->cfg, &ftl->shape), bytes = hz_sector_memory(ftl->cfg);

	ftl->space = pool;
	pool->media = tsu_dump_media(ftl->tsu);
	lt_lock_init(&pool->lock, HZ_LC_BUFFER, 1);
	pool->total = (uint32_t)(ftl->cfg->buffer_pool_bytes / HZ_SECTOR_BYTES);
	pool->memory = arena_alloc_data(arena, pool->total, bytes, "data of the sector pool");
	pool->end = pool->memory + (size_t)pool->total * bytes;
	if (ftl->cfg->buffer_slots != HZ_SLOTS_ACCOUNTS) {
		slots_init(ftl, arena, bytes);
	} else {
		pool->free = arena_alloc(arena, pool->total, sizeof(*pool->free), "free sectors of the pool");
		for (uint32_t i = 0; i < pool->total; i++)
			pool->free[i] = pool->memory + (size_t)(pool->total - 1 - i) * bytes;
		pool->free_count = pool->total;
	}
	space_account_init(&pool->space[SPACE_GUARDED], guarded, buffers, ftl->flush_sectors, ftl->cfg->buffer_flush_percent);
	space_account_init(&pool->space[SPACE_VOLATILE], pool->total - guarded, buffers, ftl->flush_sectors,
			   ftl->cfg->buffer_flush_percent);
}

static const char *slots_check(const struct ftl *ftl, uint64_t lent)
{
	const struct sector_pool *pool = ftl->space;
	uint64_t counted = ftl->cfg->buffer_flush == HZ_BUFFER_FLUSH_SHORT ? lent : 0, free = slots_count(pool->slots);

	for (uint32_t i = 0; i < ftl->buffers->buffers; i++) {
		const struct buffer_space *space = &ftl->buffers->buffer[i].space;

		free += space->stash.count;
		if (space->stash.count + space->lent[SPACE_VOLATILE] < space->stash.most)
			return "a buffer has lost slots that it is sure of";
	}
	if (counted != lt_load(&pool->space[SPACE_VOLATILE].lent))
		return "the buffers hold another number of slots than was lent";
	return lent + free != pool->total ? "slots of the buffers are lost" : NULL;
}

const char *space_check(struct ftl *ftl)
{
	const struct sector_pool *pool = ftl->space;
	uint64_t lent[SPACES] = { 0 };

	for (uint32_t i = 0; i < ftl->buffers->count; i++)
		for (unsigned a = 0; a < SPACES; a++)
			lent[a] += ftl->buffers->buffer[i].space.lent[a];
	if (pool->slots)
		return slots_check(ftl, lent[SPACE_VOLATILE]);
	if (lent[0] != lt_load(&pool->space[0].lent) || lent[1] != lt_load(&pool->space[1].lent))
		return "the buffers hold another number of shared sectors than was lent";
	if (lent[0] + lent[1] + pool->free_count != pool->total)
		return "shared sectors of the buffers are lost";
	return lent[0] > pool->space[0].limit || lent[1] > pool->space[1].limit ? "more shared sectors are lent than there are" : NULL;
}

/* Free slots of memory: three stores. */

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

/* The head has the first free slot and a change count, so that a slot that left and came back makes another head (ABA). The links are
 * apart from the slots: a slow hart may still follow the link of a slot already filled with data. */
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

static uint32_t shard_of(const struct slot_store *store, uint32_t worker) { return store->shards == 1 ? 0 : worker; }

static uint32_t store_take(struct slot_store *store, uint32_t worker, uint8_t **memory, uint32_t wanted)
{
	uint32_t taken = 0, shard = shard_of(store, worker);

	if (!store->shards)
		return list_take(&store->list, memory, wanted);
	for (uint32_t i = 0; i < store->shards && taken < wanted; i++) {
		taken += shard_take(&store->shard[shard], &memory[taken], wanted - taken);
		shard = shard + 1 == store->shards ? 0 : shard + 1;
	}
	return taken;
}

uint32_t slots_take(struct slot_store *store, struct slot_stash *stash, uint32_t worker, uint8_t **memory, uint32_t wanted)
{
	uint32_t taken = 0;

	while (taken < wanted && stash->count)
		memory[taken++] = stash->slot[--stash->count];
	return taken < wanted ? taken + store_take(store, worker, &memory[taken], wanted - taken) : taken;
}

void slots_put(struct slot_store *store, struct slot_stash *stash, uint32_t worker, uint8_t *const *memory, uint32_t count)
{
	uint32_t kept = 0;

	while (kept < count && stash->count < stash->most)
		stash->slot[stash->count++] = memory[kept++];
	if (kept == count)
		return;
	if (store->shards)
		shard_put(&store->shard[shard_of(store, worker)], &memory[kept], count - kept);
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

/* At boot, no lock. Shards give in turn. */
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
