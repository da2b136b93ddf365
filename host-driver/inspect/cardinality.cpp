/* HyperLogLog with Ertl's estimator. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/cardinality.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace hz::inspect {
namespace {

/* Contribution of empty registers; `x` is their share. */
double of_empty(double x)
{
	if (x == 1)
		return INFINITY;
	double sum = x, weight = 1, before;
	do {
		before = sum;
		x *= x;
		sum += x * weight;
		weight *= 2;
	} while (sum != before);
	return sum;
}

/* Contribution of full registers; `x` is the share of the others. */
double of_full(double x)
{
	if (x == 0 || x == 1)
		return 0;
	double sum = 1 - x, weight = 1, before;
	do {
		before = sum;
		x = std::sqrt(x);
		weight /= 2;
		sum -= (1 - x) * (1 - x) * weight;
	} while (sum != before);
	return sum / 3;
}

} // namespace

void Cardinality::add(uint64_t hash)
{
	const uint64_t rest = hash << bits;
	const auto rank = uint8_t(rest ? std::countl_zero(rest) + 1 : int(most) + 1);
	uint8_t &place = registers_[hash >> most];
	place = std::max(place, rank);
}

double Cardinality::estimate() const
{
	std::array<double, most + 2> count{};
	for (const uint8_t value : registers_)
		count[value]++;
	const auto m = double(registers_.size());
	double z = m * of_full(1 - count[most + 1] / m);
	for (unsigned k = most; k >= 1; k--)
		z = (z + count[k]) / 2;
	z += m * of_empty(count[0] / m);
	return m * m / z / (2 * std::log(2.0));
}

} // namespace hz::inspect
