/* Skew of accesses over blocks, from a sample of the blocks. Constant memory. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hz::inspect {

/* Spatially hashed sampling with a bounded sample (SHARDS, FAST 2015): a block is in the sample if
 * its hash is below a threshold, and then all of its accesses count. When the sample is full, the
 * threshold is halved. Exact as long as the sample has all blocks.
 *
 * The few hottest blocks may all be missing from the sample, or all be in it. So the accesses of
 * cold blocks are scaled up from the sample, and the hot ones get the rest of the known total. */
class Popularity {
public:
	static constexpr std::array<double, 4> parts = {0.01, 0.05, 0.10, 0.20};
	struct Skew {
		uint64_t blocks = 0;           /* in the sample */
		double sampled_part = 1;       /* of all blocks; 1: exact */
		std::array<double, 4> share{}; /* share of accesses to the hottest 1, 5, 10 and 20 % of the touched blocks */
		std::array<double, 4> error{}; /* its standard error, from eight parts of the sample; 0 if exact */
	};

	explicit Popularity(size_t most_blocks = 1 << 17);
	void add(uint64_t hash)
	{
		accesses_++;
		if (hash >= threshold_)
			return;
		__builtin_prefetch(&table_[hash & (table_.size() - 1)], 1);
		waiting_[waiting_hashes_++] = hash;
		if (waiting_hashes_ == waiting_.size())
			work_off();
	}
	Skew skew();

private:
	struct Entry {
		uint64_t hash, count; /* count 0: free */
	};
	void work_off();
	void count(uint64_t hash);
	void halve();
	Entry &place_of(uint64_t hash);

	size_t most_blocks_, blocks_ = 0;
	uint64_t accesses_ = 0; /* of all blocks */
	uint64_t threshold_ = UINT64_MAX;
	std::vector<Entry> table_;           /* as many as a power of two */
	std::array<uint64_t, 64> waiting_{}; /* counted when their entries have come from memory */
	size_t waiting_hashes_ = 0;
};

} // namespace hz::inspect
