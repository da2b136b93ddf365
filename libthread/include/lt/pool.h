/* Pool of preallocated objects, a share for each hart: the point of back-pressure.
 *
 * Taking and giving back on the owning hart costs no atomic operation. An object given back on another hart returns to its owner's share
 * through a list. The owner takes that list over when its own is empty, or at once when there is a waiter. An empty share gives NULL;
 * the taker parks a waiter and is handed the next returned object, first come, first served. Nothing ever spins. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_POOL_H
#define LT_POOL_H

#include <stddef.h>

#include "lt/arena.h"
#include "lt/event.h"

#ifdef __cplusplus
extern "C" {
#endif

struct lt_pool;
struct lt_pool_waiter;
typedef void lt_pool_fn(struct lt_pool_waiter *waiter, void *object);
struct lt_pool_waiter {
	struct lt_pool_waiter *next; /* owned by the pool while parked */
	lt_pool_fn *run;
};

/* per_hart objects of `bytes` for each of `harts` harts, cache-line aligned, zeroed once. Boot time, after
 * lt_harts_init. */
struct lt_pool *lt_pool_new(struct arena *arena, unsigned harts, uint32_t per_hart, size_t bytes, const char *what);
/* From the calling hart's share; contents as they were left. NULL: the share is empty, or others already wait for it.
 * O(1). */
void *lt_pool_get(struct lt_pool *pool);
/* Any hart. Everything written before is visible to the next taker. Giving back twice fails the run. O(1). */
void lt_pool_put(struct lt_pool *pool, void *object);
/* After lt_pool_get gave NULL: call run(waiter, object) as an event of this hart when an object of its share is there. */
void lt_pool_wait(struct lt_pool *pool, struct lt_pool_waiter *waiter, lt_pool_fn *run);

#ifdef __cplusplus
}
#endif
#endif
