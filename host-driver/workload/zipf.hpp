/* Zipf-distributed ranks over any number of items in constant time and memory. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "workload/random.hpp"

namespace hz::wl {

/* Rejection inversion (Hörmann and Derflinger, ACM TOMACS 6(3), 1996): P(rank k) is proportional to 1/(k+1)^theta. */
class Zipf {
public:
	Zipf(uint64_t items, double theta); /* items >= 1, theta > 0 */
	uint64_t items() const { return items_; }
	/* 0 … items-1, 0 the most frequent. */
	uint64_t draw(Random &random) const;

private:
	double integral(double x) const; /* of x^-theta, up to a constant */
	double integral_inverse(double y) const;
	double density(double x) const;

	uint64_t items_;
	double theta_, low_, high_, shortcut_;
};

} // namespace hz::wl
