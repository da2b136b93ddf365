/* Zipf ranks by rejection inversion: invert the integral of the density's hat, accept almost always. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "workload/zipf.hpp"

#include <cmath>

namespace hz::wl {

Zipf::Zipf(uint64_t items, double theta) : items_(items), theta_(theta)
{
	low_ = integral(1.5) - 1; /* the first item keeps its full weight of 1 */
	high_ = integral(double(items) + 0.5);
	shortcut_ = 2 - integral_inverse(integral(2.5) - density(2));
}

double Zipf::density(double x) const { return portable_exp(-theta_ * portable_log(x)); }

double Zipf::integral(double x) const
{
	const double power = 1 - theta_;
	if (std::fabs(power) < 1e-9)
		return portable_log(x);
	return (portable_pow(x, power) - 1) / power;
}

double Zipf::integral_inverse(double y) const
{
	const double power = 1 - theta_;
	if (std::fabs(power) < 1e-9)
		return portable_exp(y);
	return portable_pow(std::fmax(1 + power * y, 1e-300), 1 / power);
}

uint64_t Zipf::draw(Random &random) const
{
	for (;;) {
		const double y = low_ + random.unit() * (high_ - low_);
		const double x = integral_inverse(y);
		double rank = std::floor(x + 0.5);
		rank = std::fmin(std::fmax(rank, 1), double(items_));
		if (rank - x <= shortcut_ || y >= integral(rank + 0.5) - density(rank))
			return uint64_t(rank) - 1;
	}
}

} // namespace hz::wl
