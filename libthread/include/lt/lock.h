/* Spin locks: one set of verbs over all kinds of lt/lock_kinds.def; every lock belongs to a class with a kind and a place in the order
 * of acquisition; with statistics.
 *
 * A waiter node is the caller's (on its stack) so that MCS spins locally and each acquisition has its own state; it lives from acquire
 * to release. No lock may be held across an event handler's return or lt_hart_wait. Nothing but lt_lock_try may stand inside
 * clock_freeze: it might wait for another hart. Statistics are counted with the clock frozen: device time is the same at every level. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_LOCK_H
#define LT_LOCK_H

#include "lt/arch.h"
#include "lt/arena.h"
#include "lt/lock_impl.h" /* struct lt_lock and struct lt_lock_node: complete, so that they can be members and locals */
#include "lt/lock_kind.h"
#include "thread_logs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A class of locks, as defined by the library's user. */
struct lt_lock_class {
	const char *name; /* for messages */
	uint8_t kind;     /* enum lt_lock_kind */
	uint8_t level;    /* while a lock is held, only locks of a higher level may be acquired */
	uint32_t shards;  /* 0: each lock is one of its own; n: locks of the same shard are one and the same */
};
enum { LT_MAX_LOCK_SHARDS = 4096 };
/* Shard of an index, below shards: spreads neighbours, and indices at equal distances. */
uint32_t lt_lock_shard(uint32_t index, uint32_t shards);
/* Before the harts run: the classes, numbered as in the table, at most HZ_MAX_LOCK_CLASSES, and the level of statistics. Locks of an
 * earlier call must not be used any more. */
void lt_locks_init(struct arena *arena, const struct lt_lock_class *classes, unsigned count, enum lt_stats_level level, unsigned harts);
/* Next, before the first lt_lock_init: that many harts are a cluster, by their numbers, for kind cohort; default 4. */
void lt_locks_cluster(unsigned harts);
/* Also before the first lt_lock_init: one lock, of that class, replaces all locks of all others. Its level must be below theirs, since
 * it is taken with the first of them and released with the last. */
void lt_locks_share_one(unsigned lock_class);
/* Locks initialized from here on share nothing with earlier ones: shards, and the one lock, are new. Their indices, below
 * LT_LOCKS_APART, are reported beyond all earlier ones. */
void lt_locks_apart(void);
enum { LT_LOCKS_APART = 1 << 28 };
/* Any time before first use, on one hart. index numbers the instance within its class (number of the protected object, shard…). Takes
 * memory from the arena of lt_locks_init. */
void lt_lock_init(struct lt_lock *lock, unsigned lock_class, uint32_t index);
void lt_lock_acquire(struct lt_lock *lock, struct lt_lock_node *node);
/* Never waits; false leaves no trace but in the lock profile. */
bool lt_lock_try(struct lt_lock *lock, struct lt_lock_node *node);
/* By the hart of the acquisition, with the same node. */
void lt_lock_release(struct lt_lock *lock, struct lt_lock_node *node);
/* Shared acquisition, with other readers if the kind has them (rw), else like the two above. Not recursive, no upgrade: a second read
 * behind a waiting writer would deadlock. */
void lt_lock_read(struct lt_lock *lock, struct lt_lock_node *node);
void lt_lock_read_end(struct lt_lock *lock, struct lt_lock_node *node);
/* A look reads without the lock, and writes no shared line, under kinds with a sequence. lt_lock_has_looks: is this lock of one? Under
 * granularity `global` none is. lt_lock_look: false: a writer is inside. lt_lock_looked, by the hart that looked, with the same node: true:
 * no writer has been inside since, so all that lt_glance read in between is whole. After a false of either, take the lock. Writers write
 * such data by lt_put; where another lock excludes them from those who look, plain stores do. Between the two calls there is no other lock,
 * and the data stay in place; the values may be of no use, so they steer nothing. A look that has begun counts as a shared acquisition; one
 * in vain, begun or not, counts as refused in the lock profile. */
bool lt_lock_has_looks(const struct lt_lock *lock);
bool lt_lock_look(struct lt_lock *lock, struct lt_lock_node *node);
bool lt_lock_looked(struct lt_lock *lock, struct lt_lock_node *node);
/* section((uint64_t[]){ a, b, c, d }) under the lock, as if acquired before it and released behind it, by whichever hart: under `combine` the
 * holder runs what others wait with. So a section depends neither on its hart nor on another lock that it holds; it may take and release
 * locks of higher levels. lt_lock_combines: is this lock of that kind? Under granularity `global` none is. A section that another hart has
 * run counts as a shared acquisition by its own hart, after a wait and for no time; the other hart's hold contains it. */
bool lt_lock_combines(const struct lt_lock *lock);
void lt_lock_run(struct lt_lock *lock, lt_lock_section *section, uint64_t a, uint64_t b, uint64_t c, uint64_t d);
/* Fill up to max entries with the statistics of every lock ever acquired (a shard's locks are one entry, with the shard's index),
 * beginning with the first-th; returns how many exist. Takes each lock, perhaps after a wait, and reads it with the clock frozen; the
 * caller must hold none. p99 is exact below 16 ns, else at most 1/8 too high. Level off: nothing is counted. hold_*: level all only. */
uint32_t lt_lock_report(struct hz_lock_entry *out, uint32_t first, uint32_t max);
/* All counters to zero, lock by lock; waits as lt_lock_report does. */
void lt_lock_stats_reset(void);

#ifdef __cplusplus
}
#endif
#endif
