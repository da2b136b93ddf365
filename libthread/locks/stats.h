/* Lock statistics: counters per lock and hart, one pair of histograms per lock. The lock's holder writes them; sharing readers add to
 * their own counters and to the histograms concurrently, those that only look even while another hart reads or clears them. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_LOCK_STATS_H
#define LT_LOCK_STATS_H

#include "lt/lock.h"

/* Log-linear: values below 8 exactly, then 8 buckets per power of two up to 2^22 ns (4 ms); the last bucket takes the
 * rest. */
enum { LT_HISTOGRAM_SUB_BITS = 3, LT_HISTOGRAM_BITS = 22, LT_HISTOGRAM_BUCKETS = ((22 - 3 + 1) << 3) + 1 };
struct lt_histogram {
	lt_word count[LT_HISTOGRAM_BUCKETS];
};

/* shared: others may add, or clear the word, at the same time. */
static inline void lt_stats_add(lt_word *sum, uint64_t value, bool shared)
{
	if (shared)
		lt_add(sum, value);
	else
		lt_preset(sum, lt_peek(sum) + value);
}
void lt_histogram_add(struct lt_histogram *h, uint64_t ns, bool shared);
/* Upper edge of the bucket with the value of rank ceil(total * percent / 100); 0 if empty. The last bucket gives UINT64_MAX. */
uint64_t lt_histogram_percentile(const struct lt_histogram *h, unsigned percent);

struct lt_lock_counters {
	LT_OWN_LINE lt_word acquisitions;
	lt_word contended, wait_ns, wait_max_ns, hold_ns, hold_max_ns;
	uint64_t handovers;
	uint64_t acquired_ns; /* level all: when this hart got it */
};

struct lt_lock_stats {
	uint32_t last_owner;       /* hart of the last exclusive acquisition + 1; 0 = none yet */
	bool side_by_side;         /* others than the lock's holder add to the histograms, too */
	struct lt_histogram *wait; /* of contended acquisitions */
	struct lt_histogram *hold; /* level all, else NULL */
	struct lt_lock_counters of_hart[];
};

/* The lock profile of the virtual clock hears of each event at the most detailed level. */
void lt_profile_init(enum lt_stats_level level);
extern bool lt_profile_on; /* written before the harts run */
static inline bool lt_profile_enabled(void) { return lt_profile_on; }

struct lt_lock_stats *lt_lock_stats_new(struct arena *arena, enum lt_stats_level level, unsigned harts, bool side_by_side);
/* The calling hart holds the lock, or looks; the clock is frozen. */
static inline void lt_lock_stats_began(struct lt_lock_stats *stats, bool shared)
{
	struct lt_lock_counters *counters = &stats->of_hart[lt_hart_id()];

	lt_stats_add(&counters->acquisitions, 1, shared);
	if (stats->hold)
		counters->acquired_ns = clock_frozen_ns();
}
/* Acquired together with other readers: no hand-over. */
static inline void lt_lock_stats_read(struct lt_lock_stats *stats) { lt_lock_stats_began(stats, true); }
/* … alone. */
static inline void lt_lock_stats_acquired(struct lt_lock_stats *stats)
{
	unsigned hart = lt_hart_id();

	lt_lock_stats_began(stats, false);
	if (stats->last_owner && stats->last_owner != hart + 1)
		stats->of_hart[hart].handovers++;
	stats->last_owner = hart + 1;
}
void lt_lock_stats_waited(struct lt_lock_stats *stats, uint64_t ns, bool shared);
void lt_lock_stats_released(struct lt_lock_stats *stats, bool shared);
void lt_lock_stats_clear(struct lt_lock_stats *stats, unsigned harts);
/* Was the lock ever acquired? */
bool lt_lock_stats_used(const struct lt_lock_stats *stats, unsigned harts);
/* Adds the counters to *out. */
void lt_lock_stats_sum(const struct lt_lock_stats *stats, unsigned harts, struct hz_lock_entry *out);

#endif
