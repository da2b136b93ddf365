/* The verbs: dispatch by kind, statistics and checks around it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "lt/lock.h"

#include <string.h>

#include "account.h"
#include "checks.h"
#include "kinds.h"
#include "stats.h"

static const struct lt_lock_ops *const ops_of_kind[LT_LOCK_KINDS] = {
#define LT_LOCK_KIND(constant, name, ...) &lt_##name##_ops,
#include "lt/lock_kinds.def"
};

/* Written by lt_locks_init and, for the list, by lt_lock_init, both before first use. */
static struct {
	struct arena *arena;
	unsigned harts;
	enum lt_stats_level level;
	struct lt_lock_class class[HZ_MAX_LOCK_CLASSES];
	struct lt_lock **shard[HZ_MAX_LOCK_CLASSES]; /* of a class: the first lock of each, once it is there */
	unsigned classes;
	struct lt_lock *one; /* one lock for all others; NULL: none */
	uint32_t base;       /* of the indices of locks that are apart */
	struct lt_lock *first, *last;
} all;

void lt_locks_init(struct arena *arena, const struct lt_lock_class *classes, unsigned count, enum lt_stats_level level, unsigned harts)
{
	all.arena = arena;
	all.harts = harts;
	all.level = level;
	all.first = all.last = all.one = NULL;
	all.base = 0;
	all.classes = count;
	if (count > HZ_MAX_LOCK_CLASSES)
		lt_fail("lt_locks_init: too many lock classes");
	for (unsigned c = 0; c < count; c++) {
		if (classes[c].kind >= LT_LOCK_KINDS)
			lt_fail("lt_locks_init: unknown lock kind");
		if (classes[c].shards > LT_MAX_LOCK_SHARDS)
			lt_fail("lt_locks_init: too many shards of a lock class");
		all.class[c] = classes[c];
		all.shard[c] = NULL;
	}
	lt_profile_init(level);
	lt_clh_harts_init(arena, harts);
	lt_cohort_harts_init(harts, 0);
	lt_checks_init();
}

void lt_locks_cluster(unsigned harts) { lt_cohort_harts_init(all.harts, harts); }

static void register_lock(struct lt_lock *lock)
{
	if (all.last)
		all.last->registered = lock;
	else
		all.first = lock;
	all.last = lock;
}

static void make_lock(struct lt_lock *lock, unsigned lock_class, uint32_t index, const struct lt_lock_ops *ops)
{
	lock->at = lock;
	lock->index = all.base + index;
	lock->one = all.one;
	lock->lock_class = (uint8_t)lock_class;
	lock->kind = all.class[lock_class].kind;
	lock->described = &all.class[lock_class];
	lock->ops = ops;
	if (ops->init)
		ops->init(lock, all.arena);
	clock_freeze();
	lock->stats = lt_lock_stats_new(all.arena, all.level, all.harts, lt_lock_has_looks(lock) || lt_lock_combines(lock));
	clock_thaw();
	register_lock(lock);
}

/* By the finalizer of MurmurHash3 (Appleby). */
uint32_t lt_lock_shard(uint32_t index, uint32_t shards)
{
	index = (index ^ index >> 16) * 0x85ebca6bu;
	index = (index ^ index >> 13) * 0xc2b2ae35u;
	index ^= index >> 16;
	return (uint32_t)((uint64_t)index * shards >> 32);
}

/* Slot of a shard's first lock. */
static struct lt_lock **place_of_shard(unsigned lock_class, uint32_t shard)
{
	if (!all.shard[lock_class])
		all.shard[lock_class] = arena_alloc(all.arena, all.class[lock_class].shards, sizeof(*all.shard[0]),
						    "shards of a lock class");
	return &all.shard[lock_class][shard];
}

void lt_lock_init(struct lt_lock *lock, unsigned lock_class, uint32_t index)
{
	const struct lt_lock_ops *ops;
	struct lt_lock **first = NULL;

	if (lock_class >= all.classes)
		lt_fail("lt_lock_init: nobody registered this lock class");
	memset(lock, 0, sizeof(*lock));
	if (all.class[lock_class].shards) {
		index = lt_lock_shard(index, all.class[lock_class].shards);
		first = place_of_shard(lock_class, index);
		if (*first) {
			lock->at = *first;
			return;
		}
		*first = lock;
	}
	ops = all.one ? &lt_part_ops : ops_of_kind[all.class[lock_class].kind];
	make_lock(lock, lock_class, index, ops);
}

static void make_one(unsigned lock_class)
{
	struct lt_lock *one = arena_alloc(all.arena, 1, sizeof(*one), "one lock for all");

	make_lock(one, lock_class, 0, ops_of_kind[all.class[lock_class].kind]);
	all.one = one;
}

void lt_locks_share_one(unsigned lock_class)
{
	for (unsigned c = 0; c < all.classes; c++) {
		all.class[c].shards = 1;
		all.class[c].kind = all.class[lock_class].kind;
	}
	make_one(lock_class);
	lt_parts_init();
}

void lt_locks_apart(void)
{
	all.base += LT_LOCKS_APART;
	for (unsigned c = 0; c < all.classes; c++)
		all.shard[c] = NULL;
	if (all.one)
		make_one(all.one->lock_class);
}

typedef void wait_fn(struct lt_lock *lock, struct lt_lock_node *node);

/* Reports and counts take no device time: the clock is frozen. noinline, so that each keeps freeze and thaw paired on one exit; called
 * at every level, so that the level does not change device time. */

static __attribute__((noinline)) void tell_profile(const struct lt_lock *lock, enum hz_vc_lock_event event)
{
	if (lt_profile_enabled())
		lt_tell_lock(event, lock->lock_class, lock->index, NULL);
}

static HZ_FROZEN __attribute__((noinline)) void tell_acquired(struct lt_lock *lock, const void *site)
{
	if (lt_checking)
		lt_check_acquired(lock);
	if (lock->stats)
		lt_lock_stats_acquired(lock->stats);
	if (lt_profile_enabled())
		lt_tell_lock(HZ_VC_LOCK_GOT, lock->lock_class, lock->index, site);
}

/* … for calls that may wait: check the order. After a wait the report has been made before. */
static HZ_FROZEN __attribute__((noinline)) void tell_acquired_in_order(struct lt_lock *lock, const void *site)
{
	if (lt_checking)
		lt_check_acquire(lock);
	tell_acquired(lock, site);
}

static __attribute__((noinline)) void tell_read(struct lt_lock *lock, const void *site)
{
	if (lt_checking) {
		lt_check_acquire(lock);
		lt_check_acquired(lock);
	}
	if (lock->stats)
		lt_lock_stats_read(lock->stats);
	if (lt_profile_enabled())
		lt_tell_lock(HZ_VC_LOCK_GOT_SHARED, lock->lock_class, lock->index, site);
}

static HZ_FROZEN __attribute__((noinline)) void tell_released(struct lt_lock *lock, bool shared)
{
	if (lt_checking)
		lt_check_release(lock);
	if (lock->stats)
		lt_lock_stats_released(lock->stats, shared);
	if (lt_profile_enabled())
		lt_tell_lock(HZ_VC_LOCK_GIVEN, lock->lock_class, lock->index, NULL);
}

static HZ_FROZEN __attribute__((noinline)) void tell_looked(struct lt_lock *lock, bool whole)
{
	tell_released(lock, true);
	if (!whole)
		tell_profile(lock, HZ_VC_LOCK_REFUSED);
}

/* Returns the time. */
static __attribute__((noinline)) uint64_t begin_wait(const struct lt_lock *lock, bool counts)
{
	uint64_t now_ns = clock_now_ns();

	lt_note_waiting(lock->lock_class, lock->index, now_ns);
	if (counts && lt_checking)
		lt_check_acquire(lock);
	if (counts)
		tell_profile(lock, HZ_VC_LOCK_ASKED);
	return now_ns;
}

/* Returns the start of the wait. */
static uint64_t wait(struct lt_lock *lock, struct lt_lock_node *node, wait_fn *how, bool counts)
{
	uint64_t from_ns;

	clock_freeze();
	from_ns = begin_wait(lock, counts);
	clock_thaw();
	how(lock, node);
	return from_ns;
}

/* The hart's account of spin time is kept at every level: it must sum up. */
static void wait_and_count(struct lt_lock *lock, struct lt_lock_node *node, wait_fn *how, bool shared)
{
	uint64_t from_ns = wait(lock, node, how, true), waited_ns;

	clock_freeze();
	lt_note_not_waiting();
	waited_ns = clock_now_ns() - from_ns;
	account_spin(lt_hart_id(), lock->lock_class, waited_ns);
	if (lock->stats)
		lt_lock_stats_waited(lock->stats, waited_ns, shared);
	tell_profile(lock, HZ_VC_LOCK_WAITED);
	clock_thaw();
}

void lt_lock_acquire(struct lt_lock *lock, struct lt_lock_node *node)
{
	lock = lock->at;
	lt_may_wait("lt_lock_acquire");
	if (!lock->ops->enter(lock, node))
		wait_and_count(lock, node, lock->ops->wait, false);
	clock_freeze();
	tell_acquired_in_order(lock, __builtin_return_address(0));
	clock_thaw();
}

void lt_lock_read(struct lt_lock *lock, struct lt_lock_node *node)
{
	const struct lt_reader_ops *readers;

	lock = lock->at;
	readers = lock->ops->readers;
	if (!readers) {
		lt_lock_acquire(lock, node);
		return;
	}
	lt_may_wait("lt_lock_read");
	if (!readers->enter(lock, node))
		wait_and_count(lock, node, readers->wait, true);
	clock_freeze();
	tell_read(lock, __builtin_return_address(0));
	clock_thaw();
}

bool lt_lock_try(struct lt_lock *lock, struct lt_lock_node *node)
{
	lock = lock->at;
	if (!lock->ops->try_(lock, node)) {
		clock_freeze();
		tell_profile(lock, HZ_VC_LOCK_REFUSED);
		clock_thaw();
		return false;
	}
	clock_freeze();
	tell_acquired(lock, __builtin_return_address(0));
	clock_thaw();
	return true;
}

/* MCS may wait for a successor about to link itself. */
void lt_lock_release(struct lt_lock *lock, struct lt_lock_node *node)
{
	lock = lock->at;
	lt_may_wait("lt_lock_release");
	clock_freeze();
	tell_released(lock, false);
	clock_thaw();
	lock->ops->release(lock, node);
}

void lt_lock_read_end(struct lt_lock *lock, struct lt_lock_node *node)
{
	const struct lt_reader_ops *readers;

	lock = lock->at;
	readers = lock->ops->readers;
	if (!readers) {
		lt_lock_release(lock, node);
		return;
	}
	lt_may_wait("lt_lock_read_end");
	clock_freeze();
	tell_released(lock, true);
	clock_thaw();
	readers->release(lock, node);
}

bool lt_lock_has_looks(const struct lt_lock *lock) { return lock->at->ops == &lt_seq_ops; }

bool lt_lock_look(struct lt_lock *lock, struct lt_lock_node *node)
{
	lock = lock->at;
	node->value = lt_load(&lock->serving);
	if (node->value & 1) {
		clock_freeze();
		tell_profile(lock, HZ_VC_LOCK_REFUSED);
		clock_thaw();
		return false;
	}
	clock_freeze();
	tell_read(lock, __builtin_return_address(0));
	lt_tell_look();
	clock_thaw();
	return true;
}

bool lt_lock_looked(struct lt_lock *lock, struct lt_lock_node *node)
{
	bool whole;

	lock = lock->at;
	whole = lt_load_last(&lock->serving) == node->value;
	clock_freeze();
	lt_tell_looked();
	tell_looked(lock, whole);
	clock_thaw();
	return whole;
}

bool lt_lock_combines(const struct lt_lock *lock) { return lock->at->ops == &lt_combine_ops; }

/* Another hart has run the section: lock and section are over. */
static HZ_FROZEN __attribute__((noinline)) void tell_was_run(struct lt_lock *lock, const void *site)
{
	tell_read(lock, site);
	tell_released(lock, true);
}

static void hold_and_run(struct lt_lock *lock, struct lt_lock_node *node, const void *site)
{
	struct lt_lock_node *last;

	clock_freeze();
	tell_acquired_in_order(lock, site);
	clock_thaw();
	last = lt_combine_run(node);
	clock_freeze();
	tell_released(lock, false);
	clock_thaw();
	lt_combine_release(lock, node, last);
}

static void run_combined(struct lt_lock *lock, struct lt_lock_node *node, const void *site)
{
	if (!lt_mcs_enter(lock, node)) {
		wait_and_count(lock, node, lt_mcs_wait, true);
		if (lt_combine_was_run(node)) {
			clock_freeze();
			tell_was_run(lock, site);
			clock_thaw();
			return;
		}
	}
	hold_and_run(lock, node, site);
}

void lt_lock_run(struct lt_lock *lock, lt_lock_section *section, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	struct lt_lock_node node;

	node.argument[0] = a;
	node.argument[1] = b;
	node.argument[2] = c;
	node.argument[3] = d;
	if (lt_lock_combines(lock)) {
		lt_may_wait("lt_lock_run");
		node.section = section;
		run_combined(lock->at, &node, __builtin_return_address(0));
		return;
	}
	lt_lock_acquire(lock, &node);
	section(node.argument);
	lt_lock_release(lock, &node);
}

/* The lock that excludes writers of a lock's statistics. */
static struct lt_lock *guard_of(struct lt_lock *lock) { return lock->ops == &lt_part_ops ? lock->one : lock; }

/* Straight to the kind: reading statistics must not show in them. With the clock running, since the holder may need time; at every
 * level, so that the level does not change device time. */
static void quiet_acquire(struct lt_lock *lock, struct lt_lock_node *node)
{
	struct lt_lock *guard = guard_of(lock);

	lt_may_wait("reading lock statistics");
	if (guard->ops->enter(guard, node))
		return;
	wait(guard, node, guard->ops->wait, false);
	lt_note_not_waiting();
}

static void quiet_release(struct lt_lock *lock, struct lt_lock_node *node)
{
	struct lt_lock *guard = guard_of(lock);

	guard->ops->release(guard, node);
}

static void tell_of_all(enum hz_vc_lock_event event)
{
	clock_freeze();
	lt_tell_lock(event, 0, 0, NULL);
	clock_thaw();
}

static void read_stats(const struct lt_lock *lock, struct hz_lock_entry *entry)
{
	*entry = (struct hz_lock_entry){ .lock_class = lock->lock_class, .index = lock->index, .kind = lock->kind };
	lt_lock_stats_sum(lock->stats, all.harts, entry);
}

uint32_t lt_lock_report(struct hz_lock_entry *out, uint32_t first, uint32_t max)
{
	uint32_t exist = 0;

	for (struct lt_lock *lock = all.first; lock; lock = lock->registered) {
		struct lt_lock_node node;

		quiet_acquire(lock, &node);
		clock_freeze();
		if (lock->stats && lt_lock_stats_used(lock->stats, all.harts)) {
			if (exist >= first && exist - first < max)
				read_stats(lock, &out[exist - first]);
			exist++;
		}
		clock_thaw();
		quiet_release(lock, &node);
	}
	tell_of_all(HZ_VC_LOCKS_REPORTED);
	return exist;
}

void lt_lock_stats_reset(void)
{
	tell_of_all(HZ_VC_LOCKS_RESET);
	for (struct lt_lock *lock = all.first; lock; lock = lock->registered) {
		struct lt_lock_node node;

		quiet_acquire(lock, &node);
		clock_freeze();
		if (lock->stats)
			lt_lock_stats_clear(lock->stats, all.harts);
		clock_thaw();
		quiet_release(lock, &node);
	}
}
