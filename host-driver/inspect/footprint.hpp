/* 4 KiB blocks touched by a trace: exact while a bitmap of 64 MiB holds them, else an estimate.
 * Constant memory. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "inspect/cardinality.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace hz::inspect {

/* The bitmap has pages, each for 16 MiB of one space's addresses; dense traces of up to 1 TiB are
 * exact. When all pages are in use, their contents move to HyperLogLog counters, which continue
 * alone. */
class Footprint {
public:
	struct Blocks {
		uint64_t touched = 0, read = 0, written = 0;
	};

	explicit Footprint(uint32_t most_pages = 65536);
	void add(uint64_t space, uint64_t first_block, uint64_t blocks, bool written)
	{
		waiting_.push_back({space, first_block, blocks, written});
		if (waiting_.size() == batch)
			work_off();
	}
	Blocks blocks();
	bool exact() const { return !sketch_; } /* of the last blocks() */

private:
	static constexpr uint64_t page_blocks = 4096, page_words = page_blocks / 64;
	static constexpr size_t batch = 64; /* requests prefetched together: their memory is random, so each would wait for its own miss */
	struct Request {
		uint64_t space, first, blocks;
		bool written;
	};
	struct Word { /* of 64 blocks */
		uint64_t read, written;
	};
	struct Page {
		uint64_t space, number;
		Word words[page_words];
	};
	struct Place { /* of the table; the hash identifies the page: 2^16 pages share none of 2^64 */
		uint64_t hash;
		uint32_t page; /* index + 1; 0: free */
	};
	struct Sketch {
		Cardinality touched, read, written;
	};

	Place &place_of(uint64_t hash);
	Page *page_of(uint64_t space, uint64_t number);
	void work_off();
	void fetch();
	void count(const Request &request);
	void mark(Page &page, uint64_t first, uint64_t count, bool written);
	void estimate(const Request &request);
	void give_up();

	uint32_t most_pages_;
	std::vector<Request> waiting_;
	std::vector<Page> pages_;
	std::vector<Place> table_; /* open addressing */
	Blocks exact_;
	std::unique_ptr<Sketch> sketch_;
};

/* Hash of a block over all spaces. */
inline uint64_t block_hash(uint64_t space, uint64_t block) { return mixed(mixed(space) + block); }

} // namespace hz::inspect
