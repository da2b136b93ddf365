/* Latency histogram: log-linear buckets (three significant digits and better), exact mean, minimum and maximum. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hz::res {

/* Values below 2048 have a bucket each; above, every power of two has 1024 buckets, so the error of
 * a percentile is below 0.1 %. Memory grows with the largest value only: at most 54 × 8 KiB. */
class Histogram {
public:
	void add(uint64_t value);
	void merge(const Histogram &other);

	uint64_t count() const { return count_; }
	uint64_t min() const { return count_ ? min_ : 0; }
	uint64_t max() const { return max_; }
	double mean() const { return count_ ? double(sum_) / double(count_) : 0.0; }
	/* Smallest recorded value (to bucket precision, rounded up, never above max) not exceeded
	 * by at least `part` (0…1) of all values; 0 when empty. */
	uint64_t quantile(double part) const;

	struct Bucket {
		uint64_t low, high, count; /* values low … high */
	};
	std::vector<Bucket> buckets() const; /* the non-empty ones, ascending */

private:
	static constexpr unsigned linear_bits = 11;
	static size_t index_of(uint64_t value);
	static uint64_t low_of(size_t index);

	std::vector<uint64_t> counts_;
	uint64_t count_ = 0, min_ = UINT64_MAX, max_ = 0;
	unsigned __int128 sum_ = 0;
};

} // namespace hz::res
