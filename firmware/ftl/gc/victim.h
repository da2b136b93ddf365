/* Which of two candidates a garbage collector had better take: one set of policies for the SLC log and for conventional zones. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_VICTIM_H
#define FTL_VICTIM_H

#include <stdbool.h>
#include <stdint.h>

struct hz_device_config;

/* What is known of a candidate. Sequence numbers are the collector's clock: they grow with every sector written. */
struct gc_candidate {
	uint64_t valid;    /* sectors that would have to be copied */
	uint64_t filled;   /* sequence number from which on it took data: the order of FIFO */
	uint64_t youngest; /* of its youngest data: their age is what they have been left alone for */
	uint64_t erases;
	uint64_t order; /* of candidates that the policy finds equal, the one with the lower order wins */
};
/* What is the same for all. */
struct gc_view {
	const struct hz_device_config *cfg;
	uint64_t now;                    /* next sequence number */
	uint64_t capacity;               /* sectors of a candidate */
	uint64_t wear_total, wear_count; /* erases of all superblocks, and how many superblocks */
};

/* Is a better than b? */
typedef bool gc_better_fn(const struct gc_view *view, const struct gc_candidate *a, const struct gc_candidate *b);
extern gc_better_fn *const gc_policies[]; /* by enum hz_gc_policy */

#endif
