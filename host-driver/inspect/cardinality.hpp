/* HyperLogLog: how many different hashes there were, in 64 KiB. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <cstdint>
#include <vector>

namespace hz::inspect {

/* A bijection whose output looks random: the finaliser of splitmix64. */
inline uint64_t mixed(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

/* With 2^16 registers and Ertl's estimator (arXiv 1702.01284), which needs no correction for any range: the standard error is
 * 1.04 / sqrt(2^16) = 0.41 % of the count. */
class Cardinality {
public:
	static constexpr double standard_error = 1.04 / 256;

	Cardinality() : registers_(1u << bits) {}
	void add(uint64_t hash);
	double estimate() const;

private:
	static constexpr unsigned bits = 16, most = 64 - bits; /* of the index; leading zeros of the rest */
	std::vector<uint8_t> registers_;
};

} // namespace hz::inspect
