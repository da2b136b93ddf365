/* Lock statistics. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "stats.h"

bool lt_profile_on;

void lt_profile_init(enum lt_stats_level level) { lt_profile_on = level == LT_STATS_ALL; }

static unsigned bucket_of(uint64_t ns)
{
	unsigned top;

	if (ns < 1u << LT_HISTOGRAM_SUB_BITS)
		return (unsigned)ns;
	top = 63u - (unsigned)__builtin_clzll(ns);
	if (top >= LT_HISTOGRAM_BITS)
		return LT_HISTOGRAM_BUCKETS - 1;
	/* The octave of 2^3 … 2^4 - 1 follows the 8 exact values. */
	return ((top - LT_HISTOGRAM_SUB_BITS) << LT_HISTOGRAM_SUB_BITS) + (unsigned)(ns >> (top - LT_HISTOGRAM_SUB_BITS));
}

static uint64_t upper_edge(unsigned bucket)
{
	unsigned shift;

	if (bucket == LT_HISTOGRAM_BUCKETS - 1)
		return UINT64_MAX;
	if (bucket < 2u << LT_HISTOGRAM_SUB_BITS)
		return bucket;
	shift = (bucket >> LT_HISTOGRAM_SUB_BITS) - 1;
	return ((uint64_t)(bucket - (shift << LT_HISTOGRAM_SUB_BITS) + 1) << shift) - 1;
}

void lt_histogram_add(struct lt_histogram *h, uint64_t ns, bool shared) { lt_stats_add(&h->count[bucket_of(ns)], 1, shared); }

uint64_t lt_histogram_percentile(const struct lt_histogram *h, unsigned percent)
{
	uint64_t total = 0, below = 0;

	for (unsigned i = 0; i < LT_HISTOGRAM_BUCKETS; i++)
		total += lt_load(&h->count[i]);
	for (unsigned i = 0; i < LT_HISTOGRAM_BUCKETS; i++) {
		uint64_t here = lt_load(&h->count[i]);

		below += here;
		if (here && below * 100 >= total * percent)
			return upper_edge(i);
	}
	return 0;
}

struct lt_lock_stats *lt_lock_stats_new(struct arena *arena, enum lt_stats_level level, unsigned harts, bool side_by_side)
{
	struct lt_lock_stats *stats;

	if (level == LT_STATS_OFF)
		return NULL;
	stats = arena_alloc_model(arena, 1, sizeof(*stats) + harts * sizeof(stats->of_hart[0]), "lock statistics");
	stats->side_by_side = side_by_side;
	stats->wait = arena_alloc_model(arena, 1, sizeof(*stats->wait), "lock wait histogram");
	if (level == LT_STATS_ALL)
		stats->hold = arena_alloc_model(arena, 1, sizeof(*stats->hold), "lock hold histogram");
	return stats;
}

/* Only the hart itself raises its maximum; shared: another may read or clear it at the same time. */
static void note_most(lt_word *most, uint64_t ns, bool shared)
{
	if (shared && ns > lt_load(most))
		lt_store(most, ns);
	else if (!shared && ns > lt_peek(most))
		lt_preset(most, ns);
}

void lt_lock_stats_waited(struct lt_lock_stats *stats, uint64_t ns, bool shared)
{
	struct lt_lock_counters *counters = &stats->of_hart[lt_hart_id()];

	lt_stats_add(&counters->contended, 1, shared);
	lt_stats_add(&counters->wait_ns, ns, shared);
	note_most(&counters->wait_max_ns, ns, shared);
	lt_histogram_add(stats->wait, ns, shared || stats->side_by_side);
}

HZ_FROZEN void lt_lock_stats_released(struct lt_lock_stats *stats, bool shared)
{
	struct lt_lock_counters *counters = &stats->of_hart[lt_hart_id()];
	uint64_t ns;

	if (!stats->hold)
		return;
	ns = clock_frozen_ns() - counters->acquired_ns;
	lt_stats_add(&counters->hold_ns, ns, shared);
	note_most(&counters->hold_max_ns, ns, shared);
	lt_histogram_add(stats->hold, ns, shared || stats->side_by_side);
}

static void clear_counters(struct lt_lock_counters *c)
{
	lt_word *const sums[] = { &c->acquisitions, &c->contended, &c->wait_ns, &c->wait_max_ns, &c->hold_ns, &c->hold_max_ns };

	for (unsigned i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		lt_store(sums[i], 0);
	c->handovers = 0;
}

static void clear_histogram(struct lt_histogram *h)
{
	for (unsigned i = 0; i < LT_HISTOGRAM_BUCKETS; i++)
		lt_store(&h->count[i], 0);
}

void lt_lock_stats_clear(struct lt_lock_stats *stats, unsigned harts)
{
	for (unsigned i = 0; i < harts; i++)
		clear_counters(&stats->of_hart[i]);
	clear_histogram(stats->wait);
	if (stats->hold)
		clear_histogram(stats->hold);
	stats->last_owner = 0;
}

/* A bucket's edge may lie above the largest value seen. */
static uint32_t p99(const struct lt_histogram *h, uint64_t max_ns)
{
	uint64_t ns = h ? lt_histogram_percentile(h, 99) : 0;

	if (ns > max_ns)
		ns = max_ns;
	return ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
}

bool lt_lock_stats_used(const struct lt_lock_stats *stats, unsigned harts)
{
	for (unsigned i = 0; i < harts; i++)
		if (lt_load(&stats->of_hart[i].acquisitions))
			return true;
	return false;
}

void lt_lock_stats_sum(const struct lt_lock_stats *stats, unsigned harts, struct hz_lock_entry *out)
{
	for (unsigned i = 0; i < harts; i++) {
		const struct lt_lock_counters *c = &stats->of_hart[i];
		uint64_t wait_max_ns = lt_load(&c->wait_max_ns), hold_max_ns = lt_load(&c->hold_max_ns);

		out->acquisitions += lt_load(&c->acquisitions);
		out->contended += lt_load(&c->contended);
		out->handovers += c->handovers;
		out->wait_ns += lt_load(&c->wait_ns);
		out->hold_ns += lt_load(&c->hold_ns);
		out->wait_max_ns = wait_max_ns > out->wait_max_ns ? wait_max_ns : out->wait_max_ns;
		out->hold_max_ns = hold_max_ns > out->hold_max_ns ? hold_max_ns : out->hold_max_ns;
	}
	out->wait_p99_ns = p99(stats->wait, out->wait_max_ns);
	out->hold_p99_ns = p99(stats->hold, out->hold_max_ns);
}
