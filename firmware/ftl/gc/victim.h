/* Victim-selection policies, shared by the SLC log and conventional zones. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_VICTIM_H
#define FTL_VICTIM_H

#include <stdbool.h>
#include <stdint.h>

struct hz_device_config;

/* A candidate. Sequence numbers are the collector's clock: they grow with every sector written. */
struct gc_candidate {
	uint64_t valid;    /* sectors to copy */
	uint64_t filled;   /* sequence number when it began to take data: the order of FIFO */
	uint64_t youngest; /* of its youngest data: their age is the time since */
	uint64_t erases;
	uint64_t order; /* ties go to the lower order */
};
/* Facts common to all candidates. */
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
