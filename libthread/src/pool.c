/* Pools with a share for each hart. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "lt/pool.h"

/* At the end of each object's memory, so that the object itself stays cache-line aligned. */
struct tag {
	struct tag *next;
	uint32_t owner; /* hart */
	uint32_t free;
};

/* Values of share.returned besides a list of tags, newest first. */
enum { NOTHING = 0, HUNGRY = 1 /* nothing, and the owner wants wake_remote posted with the next object */ };

struct share {
	LT_OWN_LINE lt_word returned; /* given back by other harts */

	/* The owner's. */
	LT_OWN_LINE struct tag *free;
	struct lt_pool_waiter *first, *last;
	bool local_wake; /* wake_local is posted */
	bool hungry;     /* HUNGRY was stored, and its end not yet seen */
	struct lt_event wake_local, wake_remote;
	struct lt_thread owner;
};

struct lt_pool {
	size_t tag_at; /* offset of the tag in an object's memory */
	struct share share[];
};

static struct tag *tag_of(struct lt_pool *pool, void *object) { return (struct tag *)((char *)object + pool->tag_at); }

static void *object_of(struct lt_pool *pool, struct tag *tag) { return (char *)tag - pool->tag_at; }

static void fill_share(struct lt_pool *pool, struct share *share, char *memory, uint32_t objects)
{
	for (uint32_t i = 0; i < objects; i++) {
		struct tag *tag = tag_of(pool, memory + i * (pool->tag_at + sizeof(*tag)));

		*tag = (struct tag){ share->free, share->owner.hart, 1 };
		share->free = tag;
	}
}

struct lt_pool *lt_pool_new(struct arena *arena, unsigned harts, uint32_t per_hart, size_t bytes, const char *what)
{
	size_t stride = (bytes + sizeof(struct tag) + LT_CACHE_LINE - 1) & ~(size_t)(LT_CACHE_LINE - 1);
	struct lt_pool *pool = arena_alloc(arena, 1, sizeof(*pool) + harts * sizeof(pool->share[0]), what);

	pool->tag_at = stride - sizeof(struct tag);
	for (unsigned i = 0; i < harts; i++) {
		pool->share[i].owner = (struct lt_thread){ what, i };
		fill_share(pool, &pool->share[i], arena_alloc(arena, per_hart, stride, what), per_hart);
	}
	return pool;
}

static struct tag *pop(struct share *share)
{
	struct tag *tag = share->free;

	share->free = tag->next;
	tag->free = 0;
	return tag;
}

/* Move objects given back by other harts to the owner's list. If HUNGRY is gone, wake_remote is on its way. */
static void take_returned(struct share *share)
{
	uint64_t list = lt_swap(&share->returned, NOTHING);

	if (list == HUNGRY) {
		share->hungry = false;
		return;
	}
	for (struct tag *tag = (struct tag *)(uintptr_t)list, *next; tag; tag = next) {
		next = tag->next;
		tag->next = share->free;
		share->free = tag;
	}
}

static void serve(struct share *share);

static void on_local_wake(struct lt_event *ev)
{
	struct share *share = (struct share *)((char *)ev - offsetof(struct share, wake_local));

	share->local_wake = false;
	serve(share);
}

static void on_remote_wake(struct lt_event *ev)
{
	struct share *share = (struct share *)((char *)ev - offsetof(struct share, wake_remote));

	share->hungry = false;
	serve(share);
}

static void wake_locally(struct share *share)
{
	if (share->local_wake)
		return;
	share->local_wake = true;
	lt_post(&share->owner, &share->wake_local, on_local_wake);
}

/* Ask for wake_remote, unless it is coming anyway; if an object has come back meanwhile, look again soon. */
static void become_hungry(struct share *share)
{
	if (share->hungry)
		return;
	if (lt_cas(&share->returned, NOTHING, HUNGRY))
		share->hungry = true;
	else
		wake_locally(share);
}

static void hand_over(struct lt_pool *pool, struct share *share)
{
	struct lt_pool_waiter *waiter = share->first;

	share->first = waiter->next;
	waiter->run(waiter, object_of(pool, pop(share)));
}

/* The pool of a share: shares lie in one array, each knows its place. */
static struct lt_pool *pool_of(struct share *share)
{
	return (struct lt_pool *)((char *)(share - share->owner.hart) - offsetof(struct lt_pool, share));
}

static void serve(struct share *share)
{
	take_returned(share);
	while (share->first && share->free)
		hand_over(pool_of(share), share);
	if (share->first)
		become_hungry(share);
}

void *lt_pool_get(struct lt_pool *pool)
{
	struct share *share = &pool->share[lt_hart_id()];

	if (share->first)
		return NULL;
	if (!share->free)
		take_returned(share);
	return share->free ? object_of(pool, pop(share)) : NULL;
}

static void give_back_remote(struct share *share, struct tag *tag)
{
	uint64_t guess, seen = NOTHING;

	do {
		guess = seen;
		tag->next = guess == HUNGRY ? NULL : (struct tag *)(uintptr_t)guess;
		seen = lt_cas_seen(&share->returned, guess, (uintptr_t)tag);
	} while (seen != guess);
	if (guess == HUNGRY)
		lt_post(&share->owner, &share->wake_remote, on_remote_wake);
}

void lt_pool_put(struct lt_pool *pool, void *object)
{
	struct tag *tag = tag_of(pool, object);
	struct share *share = &pool->share[tag->owner];

	if (tag->free)
		lt_fail("object given back twice to its pool");
	tag->free = 1;
	if (tag->owner != lt_hart_id()) {
		give_back_remote(share, tag);
		return;
	}
	tag->next = share->free;
	share->free = tag;
	if (share->first)
		wake_locally(share);
}

void lt_pool_wait(struct lt_pool *pool, struct lt_pool_waiter *waiter, lt_pool_fn *run)
{
	struct share *share = &pool->share[lt_hart_id()];

	waiter->next = NULL;
	waiter->run = run;
	if (share->first) {
		share->last->next = waiter;
	} else {
		share->first = waiter;
		become_hungry(share);
	}
	share->last = waiter;
}
