/* Log-linear buckets. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "histogram.h"

unsigned vc_histogram_bucket(uint64_t ns)
{
	unsigned top;

	if (ns < 1u << VC_HISTOGRAM_SUB_BITS)
		return (unsigned)ns;
	top = 63u - (unsigned)__builtin_clzll(ns);
	return ((top - VC_HISTOGRAM_SUB_BITS) << VC_HISTOGRAM_SUB_BITS) + (unsigned)(ns >> (top - VC_HISTOGRAM_SUB_BITS));
}

static uint64_t upper_edge(unsigned bucket)
{
	unsigned shift;

	if (bucket < 2u << VC_HISTOGRAM_SUB_BITS)
		return bucket;
	shift = (bucket >> VC_HISTOGRAM_SUB_BITS) - 1;
	return ((uint64_t)(bucket - (shift << VC_HISTOGRAM_SUB_BITS) + 1) << shift) - 1;
}

void vc_histogram_add(struct vc_histogram *h, uint64_t ns)
{
	h->total++;
	h->sum += ns;
	if (ns > h->max)
		h->max = ns;
	h->count[vc_histogram_bucket(ns)]++;
}

uint64_t vc_histogram_rank(const struct vc_histogram *h, unsigned permille)
{
	uint64_t wanted = (h->total * permille + 999) / 1000, below = 0;

	for (unsigned i = 0; i < VC_HISTOGRAM_BUCKETS && h->total; i++) {
		below += h->count[i];
		if (below >= wanted)
			return upper_edge(i) < h->max ? upper_edge(i) : h->max;
	}
	return 0;
}
