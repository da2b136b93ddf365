/* Seeded randomness. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "workload/random.hpp"

#include <cmath>

namespace hz::wl {
namespace {

constexpr uint64_t golden = 0x9e3779b97f4a7c15ull;
constexpr double ln2 = 0.693147180559945309417;

} // namespace

uint64_t mix64(uint64_t value)
{
	value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
	value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
	return value ^ (value >> 31);
}

uint64_t thread_seed(uint64_t seed, uint64_t index) { return mix64(mix64(seed + golden) + (index + 1) * golden); }

uint64_t Random::next()
{
	state_ += golden;
	return mix64(state_);
}

uint64_t Random::below(uint64_t bound) { return uint64_t(((unsigned __int128)next() * bound) >> 64); }

double Random::unit() { return double(next() >> 11) * 0x1p-53; }

uint64_t Random::exponential(uint64_t mean) { return uint64_t(-portable_log(1.0 - unit()) * double(mean) + 0.5); }

/* x = m * 2^e with m in [sqrt(1/2), sqrt(2)); log m = 2 artanh((m-1)/(m+1)) as a series in its square (< 0.0295). */
double portable_log(double x)
{
	int exponent = 0;
	double m = std::frexp(x, &exponent);
	if (m < 0.70710678118654752440) {
		m *= 2;
		exponent--;
	}
	const double z = (m - 1) / (m + 1), square = z * z;
	double sum = 0;
	for (int k = 21; k >= 1; k -= 2)
		sum = sum * square + 1.0 / k;
	return 2 * z * sum + exponent * ln2;
}

/* x = n ln2 + r, |r| <= ln2/2; e^r by its Taylor polynomial of degree 17. */
double portable_exp(double x)
{
	if (x < -700 || x > 700)
		return x < 0 ? 0 : HUGE_VAL;
	const double n = std::floor(x / ln2 + 0.5), r = x - n * ln2;
	double sum = 1;
	for (int k = 17; k >= 1; k--)
		sum = 1 + sum * r / k;
	return std::ldexp(sum, int(n));
}

double portable_pow(double base, double exponent) { return portable_exp(portable_log(base) * exponent); }

} // namespace hz::wl
