/* How unevenly accesses are spread over blocks. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/popularity.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>

namespace hz::inspect {
namespace {

/* Share of `accesses` outside the colder blocks; `counts` descend. */
double share_of_hottest(const std::vector<uint64_t> &counts, double part, double accesses)
{
	if (counts.empty())
		return 0;
	const auto hot = std::max<size_t>(1, size_t(std::llround(double(counts.size()) * part)));
	const double cold = std::accumulate(counts.begin() + ptrdiff_t(hot), counts.end(), 0.0);
	return std::max(0.0, 1 - cold / accesses);
}

double standard_error(const std::array<double, 8> &values)
{
	const double mean = std::accumulate(values.begin(), values.end(), 0.0) / 8;
	double squares = 0;
	for (const double value : values)
		squares += (value - mean) * (value - mean);
	return std::sqrt(squares / 7 / 8);
}

} // namespace

Popularity::Popularity(size_t most_blocks) : most_blocks_(most_blocks), table_(std::bit_ceil(most_blocks * 2)) {}

/* The hash is below the threshold, so only its lower bits vary. */
Popularity::Entry &Popularity::place_of(uint64_t hash)
{
	const size_t mask = table_.size() - 1;
	size_t at = hash & mask;
	while (table_[at].count && table_[at].hash != hash)
		at = (at + 1) & mask;
	return table_[at];
}

void Popularity::work_off()
{
	for (size_t i = 0; i < waiting_hashes_; i++)
		if (waiting_[i] < threshold_)
			count(waiting_[i]);
	waiting_hashes_ = 0;
}

void Popularity::count(uint64_t hash)
{
	Entry &entry = place_of(hash);
	if (entry.count++)
		return;
	entry.hash = hash;
	if (++blocks_ >= most_blocks_)
		halve();
}

void Popularity::halve()
{
	std::vector<Entry> before(table_.size());
	before.swap(table_);
	threshold_ /= 2;
	blocks_ = 0;
	for (const Entry &entry : before)
		if (entry.count && entry.hash < threshold_) {
			place_of(entry.hash) = entry;
			blocks_++;
		}
}

Popularity::Skew Popularity::skew()
{
	work_off();
	Skew skew;
	std::vector<uint64_t> all;
	std::array<std::vector<uint64_t>, 8> groups;
	for (const Entry &entry : table_)
		if (entry.count) {
			all.push_back(entry.count);
			groups[entry.hash % groups.size()].push_back(entry.count);
		}
	std::sort(all.begin(), all.end(), std::greater<>());
	for (auto &group : groups)
		std::sort(group.begin(), group.end(), std::greater<>());
	skew.blocks = blocks_;
	skew.sampled_part = std::ldexp(double(threshold_), -64);
	const double expected = double(accesses_) * (threshold_ == UINT64_MAX ? 1 : skew.sampled_part);
	for (size_t i = 0; i < parts.size(); i++) {
		std::array<double, 8> shares;
		for (size_t g = 0; g < groups.size(); g++)
			shares[g] = share_of_hottest(groups[g], parts[i], expected / 8);
		skew.share[i] = share_of_hottest(all, parts[i], expected);
		skew.error[i] = threshold_ == UINT64_MAX ? 0 : standard_error(shares);
	}
	return skew;
}

} // namespace hz::inspect
