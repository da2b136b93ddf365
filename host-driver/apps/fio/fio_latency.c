/* Latencies: a bucket is a power of two and the next three bits. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "fio_latency.h"

#include <inttypes.h>

static unsigned bucket_of(uint64_t ns)
{
	unsigned power;

	if (ns < 8)
		return (unsigned)ns;
	power = 63 - (unsigned)__builtin_clzll(ns);
	return (power - 2) * 8 + (unsigned)(ns >> (power - 3) & 7);
}

/* Lower bound of the next bucket. */
static uint64_t above(unsigned bucket)
{
	const unsigned next = bucket + 1;

	return next < 8 ? next : (uint64_t)(8 + next % 8) << (next / 8 - 1);
}

void fio_latency_add(struct fio_latency *latency, uint64_t ns)
{
	latency->count++;
	latency->sum_ns += ns;
	latency->most_ns = ns > latency->most_ns ? ns : latency->most_ns;
	latency->in[bucket_of(ns)]++;
}

static double microseconds_below(const struct fio_latency *latency, uint64_t permille)
{
	const uint64_t rank = (latency->count * permille + 999) / 1000;
	unsigned bucket = 0;

	for (uint64_t seen = latency->in[0]; seen < rank; seen += latency->in[bucket])
		bucket++;
	return (double)(above(bucket) < latency->most_ns ? above(bucket) : latency->most_ns) / 1e3;
}

void fio_latency_print(FILE *to, const char *job, const char *kind, const struct fio_latency *latency)
{
	if (!latency->count)
		return;
	fprintf(to, "%s: %s, latency of the device: %" PRIu64 " commands, mean %.1f us, 50 %% up to %.1f, 99 %% up to %.1f, most %.1f us\n",
		job, kind, latency->count, (double)latency->sum_ns / (double)latency->count / 1e3, microseconds_below(latency, 500),
		microseconds_below(latency, 990), (double)latency->most_ns / 1e3);
}
