/* Latency histogram. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "results/histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace hz::res {

/* Group 0: values below 2^linear_bits, one each. Group g > 0: [2^(linear_bits+g-1), 2^(linear_bits+g)) in halves of 2^linear_bits. */
size_t Histogram::index_of(uint64_t value)
{
	const auto width = unsigned(std::bit_width(value));
	if (width <= linear_bits)
		return value;
	const unsigned shift = width - linear_bits;
	return (size_t(shift) << (linear_bits - 1)) + (value >> shift);
}

uint64_t Histogram::low_of(size_t index)
{
	constexpr size_t half = size_t(1) << (linear_bits - 1);
	if (index < 2 * half)
		return index;
	const size_t shift = index / half - 1;
	return uint64_t(index - shift * half) << shift;
}

void Histogram::add(uint64_t value)
{
	const size_t index = index_of(value);
	if (index >= counts_.size())
		counts_.resize(index + 1);
	counts_[index]++;
	count_++;
	sum_ += value;
	min_ = std::min(min_, value);
	max_ = std::max(max_, value);
}

void Histogram::merge(const Histogram &other)
{
	if (other.counts_.size() > counts_.size())
		counts_.resize(other.counts_.size());
	for (size_t i = 0; i < other.counts_.size(); i++)
		counts_[i] += other.counts_[i];
	count_ += other.count_;
	sum_ += other.sum_;
	min_ = std::min(min_, other.min_);
	max_ = std::max(max_, other.max_);
}

uint64_t Histogram::quantile(double part) const
{
	const auto rank = std::max<uint64_t>(1, uint64_t(std::ceil(part * double(count_))));
	uint64_t passed = 0;
	for (size_t i = 0; i < counts_.size(); i++) {
		passed += counts_[i];
		if (passed >= rank && counts_[i])
			return std::clamp(low_of(i + 1) - 1, min_, max_);
	}
	return 0;
}

std::vector<Histogram::Bucket> Histogram::buckets() const
{
	std::vector<Bucket> out;
	for (size_t i = 0; i < counts_.size(); i++)
		if (counts_[i])
			out.push_back({low_of(i), low_of(i + 1) - 1, counts_[i]});
	return out;
}

} // namespace hz::res
