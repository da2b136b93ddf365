/* Histogram of times: values below 8 ns exactly, then 8 buckets to each power of two. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_PROFILE_HISTOGRAM_H
#define VCLOCK_PROFILE_HISTOGRAM_H

#include <stdint.h>

enum { VC_HISTOGRAM_SUB_BITS = 3, VC_HISTOGRAM_BUCKETS = (64 - VC_HISTOGRAM_SUB_BITS + 1) << VC_HISTOGRAM_SUB_BITS };

struct vc_histogram {
	uint64_t total, sum, max;
	uint64_t count[VC_HISTOGRAM_BUCKETS];
};

/* Bucket of a value. */
unsigned vc_histogram_bucket(uint64_t ns);
void vc_histogram_add(struct vc_histogram *h, uint64_t ns);
/* Upper edge (at most the maximum) of the bucket with the value of rank ceil(total * permille /
 * 1000); 0 if empty. */
uint64_t vc_histogram_rank(const struct vc_histogram *h, unsigned permille);

#endif
