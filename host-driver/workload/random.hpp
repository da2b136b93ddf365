/* Seeded randomness that gives the same values on every host: integer mixing and basic IEEE arithmetic only, no libm. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <cstdint>

namespace hz::wl {

/* A bijective mix of 64 bits (the finaliser of SplitMix64, Steele et al., OOPSLA 2014). */
uint64_t mix64(uint64_t value);

/* Seed of thread `index` of a run: distinct for every (seed, index). */
uint64_t thread_seed(uint64_t seed, uint64_t index);

/* SplitMix64: one add and one mix per value. */
class Random {
public:
	explicit Random(uint64_t seed) : state_(seed) {}
	uint64_t next();
	/* 0 … bound-1 without bias from division; bound > 0. */
	uint64_t below(uint64_t bound);
	/* [0, 1) with 53 bits. */
	double unit();
	/* Exponential with this mean, rounded to whole units. */
	uint64_t exponential(uint64_t mean);

private:
	uint64_t state_;
};

/* Natural logarithm of x > 0 and e^x, relative error below 1e-14: bit-equal everywhere, unlike libm's CPU variants. */
double portable_log(double x);
double portable_exp(double x);
double portable_pow(double base, double exponent); /* base > 0 */

} // namespace hz::wl
