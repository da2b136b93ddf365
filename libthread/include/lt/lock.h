/* Spin locks: one set of verbs over tas, ttas, ticket, mcs, clh and none; kind chosen per class by configuration; with statistics.
 *
 * A waiter node is the caller's (on its stack) so that MCS and CLH spin locally; other kinds ignore it. No lock may be held across
 * a flash operation, an event handler's return or lt_hart_wait. Order of classes: docs/locking.md. */
#ifndef LT_LOCK_H
#define LT_LOCK_H

#include "lt/arch.h"
#include "lt/arena.h"
#include "device_config.h"
#include "logs.h"

struct lt_lock_node; /* per-acquisition state; see lt/lock_impl.h for the definition that makes it stack-allocatable */
struct lt_lock;

#include "lt/lock_impl.h"

/* Before the harts run: set kind per class and the statistics level. */
void lt_locks_init(struct arena *arena, const struct hz_device_config *cfg, unsigned harts);
/* Any time before first use, on one hart. index names the instance within its class (zone number, shard…). */
void lt_lock_init(struct lt_lock *lock, enum hz_lock_class lock_class, uint32_t index);
void lt_lock_acquire(struct lt_lock *lock, struct lt_lock_node *node);
bool lt_lock_try(struct lt_lock *lock, struct lt_lock_node *node);
void lt_lock_release(struct lt_lock *lock, struct lt_lock_node *node);
/* Fill up to max entries with the statistics of every registered lock instance that was ever acquired; returns how many exist. */
uint32_t lt_lock_report(struct hz_lock_entry *out, uint32_t first, uint32_t max);
void lt_lock_stats_reset(void);

#endif
