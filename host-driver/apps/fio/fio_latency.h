/* Latencies of one job and direction in device time, in buckets an eighth wide. No allocation; one
 * thread. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FIO_LATENCY_H
#define FIO_LATENCY_H

#include <stdint.h>
#include <stdio.h>

enum { FIO_LATENCY_BUCKETS = 64 * 8 };

struct fio_latency {
	uint64_t count, sum_ns, most_ns;
	uint64_t in[FIO_LATENCY_BUCKETS];
};

void fio_latency_add(struct fio_latency *latency, uint64_t ns);
/* One line; nothing when there is none. */
void fio_latency_print(FILE *to, const char *job, const char *kind, const struct fio_latency *latency);

#endif
