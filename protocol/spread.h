/* Array times of flash that vary from operation to operation: a normal distribution around the configured time, cut on both sides at
 * equal distances, so that the mean is the configured time. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_SPREAD_H
#define HZ_PROTOCOL_SPREAD_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* dice: 64 random bits. Sum of eight uniform bytes, less its mean: standard deviation 209.02 (Irwin and Hall), at most 1020 from 0, so
 * tails end at 4.9 sigma. */
int64_t hz_bell(uint64_t dice);
/* Most by which a drawn time differs from its mean: 4.9 sigma, and less than 15/16 of the mean, so a time is never 0. */
uint64_t hz_spread_reach_ns(uint64_t mean_ns, uint64_t sigma_ns);
/* A time. mean_ns: 1 ns … 1 s; sigma_ns: at most half of it, where the cut takes 5 % of sigma at most. */
uint64_t hz_spread_ns(uint64_t mean_ns, uint64_t sigma_ns, uint64_t dice);

#ifdef __cplusplus
}
#endif
#endif
