/* Spin locks: one set of verbs over tas, ttas, ticket, mcs, clh and none; kind chosen per class by configuration; with
 * statistics.
 *
 * A waiter node is the caller's (on its stack) so that MCS spins locally and each acquisition has its own state; it
 * lives from acquire to release. No lock may be held across a flash operation, an event handler's return or
 * lt_hart_wait. Nothing but lt_lock_try may stand inside clock_freeze: it might wait for another hart. Order of classes:
 * docs/locking.md. Statistics are counted with the clock frozen: device time is the same at every level. */
#ifndef LT_LOCK_H
#define LT_LOCK_H

#include "device_config.h"
#include "logs.h"
#include "lt/arch.h"
#include "lt/arena.h"
#include "lt/lock_impl.h" /* struct lt_lock and struct lt_lock_node: complete, so that they can be members and locals */

#ifdef __cplusplus
extern "C" {
#endif

/* Before the harts run: kind per class and the statistics level. Locks of an earlier call must not be used any more. */
void lt_locks_init(struct arena *arena, const struct hz_device_config *cfg, unsigned harts);
/* Check recursion, release by the owner and that no event ends with a lock held; a violation fails the run. Default:
 * off. */
void lt_locks_check(bool on);
/* With checks on and harts idle: true if the classes were ever acquired inside each other in a cycle (a class inside
 * itself is one), which is a deadlock that needs only the right moment. *in_cycle = one of the classes. */
bool lt_locks_order_cycle(enum hz_lock_class *in_cycle);
const char *lt_lock_class_name(enum hz_lock_class lock_class); /* as in configurations: "zone", "l2p"… */
/* Any time before first use, on one hart. index names the instance within its class (zone number, shard…). Takes memory
 * from the arena of lt_locks_init. */
void lt_lock_init(struct lt_lock *lock, enum hz_lock_class lock_class, uint32_t index);
void lt_lock_acquire(struct lt_lock *lock, struct lt_lock_node *node);
/* Never waits; false leaves no trace. */
bool lt_lock_try(struct lt_lock *lock, struct lt_lock_node *node);
/* By the hart that acquired, with the same node. */
void lt_lock_release(struct lt_lock *lock, struct lt_lock_node *node);
/* Fill up to max entries with the statistics of every registered lock instance that was ever acquired, beginning with
 * the first-th; returns how many exist. Takes each lock, which may mean to wait for it, and reads it with the clock frozen;
 * the caller must hold none. p99 is exact below 16 ns, else at most 1/8 too high. Level off: nothing is counted. hold_*: level all only. */
uint32_t lt_lock_report(struct hz_lock_entry *out, uint32_t first, uint32_t max);
/* All counters to zero, lock by lock; waits as lt_lock_report does. */
void lt_lock_stats_reset(void);

#ifdef __cplusplus
}
#endif
#endif
