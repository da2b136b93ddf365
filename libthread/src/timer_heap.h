/* Binary heap of armed timers, earliest deadline first, then arming order. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_TIMER_HEAP_H
#define LT_TIMER_HEAP_H

#include "lt/arena.h"
#include "lt/event.h"

struct timer_heap {
	struct lt_timer **at; /* at[1 … count] */
	uint32_t count, capacity;
	uint32_t order; /* of the next timer to be armed; compared modulo 2^32 */
};

void timer_heap_init(struct timer_heap *heap, struct arena *arena, uint32_t capacity);
void timer_heap_put(struct timer_heap *heap, struct lt_timer *timer);
void timer_heap_remove(struct timer_heap *heap, struct lt_timer *timer);
/* Run the timers due now, except those armed by them; returns how many. */
unsigned timer_heap_run_due(struct timer_heap *heap);
/* Earliest deadline, LT_FOREVER if nothing is armed. */
static inline uint64_t timer_heap_deadline(const struct timer_heap *heap) { return heap->count ? heap->at[1]->deadline_ns : LT_FOREVER; }
/* Reads the clock only if a timer is armed. */
static inline bool timer_heap_due(const struct timer_heap *heap) { return heap->count && heap->at[1]->deadline_ns <= clock_now_ns(); }

#endif
