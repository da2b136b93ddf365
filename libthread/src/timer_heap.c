/* Binary heap of armed timers. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "timer_heap.h"

void timer_heap_init(struct timer_heap *heap, struct arena *arena, uint32_t capacity)
{
	heap->at = arena_alloc(arena, capacity + 1, sizeof(*heap->at), "timer heap");
	heap->count = 0;
	heap->capacity = capacity;
	heap->order = 0;
}

static bool earlier(const struct lt_timer *a, const struct lt_timer *b)
{
	if (a->deadline_ns != b->deadline_ns)
		return a->deadline_ns < b->deadline_ns;
	return (int32_t)(a->order - b->order) < 0;
}

static void place(struct timer_heap *heap, struct lt_timer *timer, uint32_t slot)
{
	heap->at[slot] = timer;
	timer->slot = slot;
}

/* Move `timer` up from the free place `slot` to its position. */
static void sift_up(struct timer_heap *heap, struct lt_timer *timer, uint32_t slot)
{
	for (; slot > 1 && earlier(timer, heap->at[slot / 2]); slot /= 2)
		place(heap, heap->at[slot / 2], slot);
	place(heap, timer, slot);
}

static void sift_down(struct timer_heap *heap, struct lt_timer *timer, uint32_t slot)
{
	for (;;) {
		uint32_t child = slot * 2;

		if (child < heap->count && earlier(heap->at[child + 1], heap->at[child]))
			child++;
		if (child > heap->count || !earlier(heap->at[child], timer))
			break;
		place(heap, heap->at[child], slot);
		slot = child;
	}
	place(heap, timer, slot);
}

void timer_heap_put(struct timer_heap *heap, struct lt_timer *timer)
{
	if (heap->count == heap->capacity)
		lt_fail("more timers armed on one hart than lt_harts_init reserved");
	timer->order = heap->order++;
	sift_up(heap, timer, ++heap->count);
}

void timer_heap_remove(struct timer_heap *heap, struct lt_timer *timer)
{
	uint32_t slot = timer->slot;
	struct lt_timer *last = heap->at[heap->count--];

	timer->slot = 0;
	if (last == timer)
		return;
	if (slot > 1 && earlier(last, heap->at[slot / 2]))
		sift_up(heap, last, slot);
	else
		sift_down(heap, last, slot);
}

unsigned timer_heap_run_due(struct timer_heap *heap)
{
	uint32_t first_new = heap->order;
	unsigned ran = 0;
	uint64_t now_ns = clock_now_ns();

	while (heap->count && heap->at[1]->deadline_ns <= now_ns && (int32_t)(heap->at[1]->order - first_new) < 0) {
		struct lt_timer *timer = heap->at[1];

		timer_heap_remove(heap, timer);
		timer->run(timer);
		ran++;
	}
	return ran;
}
