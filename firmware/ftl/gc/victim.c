/* Policies of garbage collection. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "gc/victim.h"

#include "device_config.h"

static bool sooner(const struct gc_candidate *a, const struct gc_candidate *b) { return a->order < b->order; }

static bool fewer_valid(const struct gc_view *view, const struct gc_candidate *a, const struct gc_candidate *b)
{
	(void)view;
	return a->valid != b->valid ? a->valid < b->valid : sooner(a, b);
}

/* (1 - u) / 2u * age with u = valid / capacity, compared crosswise instead of divided (Rosenblum and Ousterhout, LFS). */
static bool more_benefit(const struct gc_view *view, const struct gc_candidate *a, const struct gc_candidate *b)
{
	unsigned __int128 of_a = (unsigned __int128)(view->capacity - a->valid) * b->valid * (view->now - a->youngest);
	unsigned __int128 of_b = (unsigned __int128)(view->capacity - b->valid) * a->valid * (view->now - b->youngest);

	return of_a != of_b ? of_a > of_b : sooner(a, b);
}

static bool filled_before(const struct gc_view *view, const struct gc_candidate *a, const struct gc_candidate *b)
{
	(void)view;
	return a->filled != b->filled ? a->filled < b->filled : sooner(a, b);
}

/* Erased more often than the mean, or nothing to gain. */
static bool spared(const struct gc_view *view, const struct gc_candidate *candidate)
{
	return candidate->erases * view->wear_count > view->wear_total || candidate->valid >= view->capacity;
}

static bool less_worn(const struct gc_view *view, const struct gc_candidate *a, const struct gc_candidate *b)
{
	bool spared_a = spared(view, a), spared_b = spared(view, b);

	return spared_a != spared_b ? spared_b : fewer_valid(view, a, b);
}

#define HZ_DECLARED(constant, function) extern gc_better_fn function;
HZ_WITH_GC_FUNCTIONS(HZ_DECLARED);
#define HZ_ENTRY(constant, function) [constant] = function,

/* clang-format off */
gc_better_fn *const gc_policies[HZ_GC_POLICIES] = {
	[HZ_GC_GREEDY] = fewer_valid,
	[HZ_GC_COST_BENEFIT] = more_benefit,
	[HZ_GC_FIFO] = filled_before,
	[HZ_GC_WEAR] = less_worn,
	HZ_WITH_GC_FUNCTIONS(HZ_ENTRY)
};
/* clang-format on */
