/* Blocks touched by a trace. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/footprint.hpp"

#include <algorithm>
#include <bit>

namespace hz::inspect {

Footprint::Footprint(uint32_t most_pages) : most_pages_(most_pages), table_(std::bit_ceil(size_t(most_pages) * 2), Place{0, 0})
{
	pages_.reserve(most_pages); /* address space only, until they are used */
}

Footprint::Place &Footprint::place_of(uint64_t hash)
{
	const size_t mask = table_.size() - 1; /* a power of two */
	size_t at = hash & mask;
	while (table_[at].page && table_[at].hash != hash)
		at = (at + 1) & mask;
	return table_[at];
}

/* nullptr: all pages are in use. */
Footprint::Page *Footprint::page_of(uint64_t space, uint64_t number)
{
	const uint64_t hash = block_hash(space, number);
	Place &place = place_of(hash);
	if (!place.page) {
		if (pages_.size() == most_pages_)
			return nullptr;
		pages_.push_back(Page{space, number, {}});
		place = {hash, uint32_t(pages_.size())};
	}
	return &pages_[place.page - 1];
}

void Footprint::mark(Page &page, uint64_t first, uint64_t count, bool written)
{
	for (uint64_t at = first, end = first + count; at < end;) {
		Word &word = page.words[at / 64];
		const uint64_t low = at % 64, bits = std::min(64 - low, end - at);
		const uint64_t mask = (bits == 64 ? ~0ull : (1ull << bits) - 1) << low;
		uint64_t &own = written ? word.written : word.read;
		at += bits;
		if ((mask & ~own) == 0)
			continue;
		exact_.touched += uint64_t(std::popcount(mask & ~word.read & ~word.written));
		(written ? exact_.written : exact_.read) += uint64_t(std::popcount(mask & ~own));
		own |= mask;
	}
}

void Footprint::estimate(const Request &r)
{
	for (uint64_t i = 0; i < r.blocks; i++) {
		const uint64_t hash = block_hash(r.space, r.first + i);
		sketch_->touched.add(hash);
		(r.written ? sketch_->written : sketch_->read).add(hash);
	}
}

void Footprint::give_up()
{
	sketch_ = std::make_unique<Sketch>();
	for (const Page &page : pages_)
		for (uint64_t block = 0; block < page_blocks; block++) {
			const Word &word = page.words[block / 64];
			const uint64_t bit = 1ull << block % 64, at = page.number * page_blocks + block;
			if (word.read & bit)
				estimate({page.space, at, 1, false});
			if (word.written & bit)
				estimate({page.space, at, 1, true});
		}
	pages_ = {};
	table_ = {};
}

/* Counts until pages run out. Blocks marked by then are in the sketch too, and do not count twice. */
void Footprint::count(const Request &r)
{
	for (uint64_t at = r.first, end = r.first + r.blocks; at < end && !sketch_;) {
		Page *page = page_of(r.space, at / page_blocks);
		if (!page) {
			give_up();
			break;
		}
		const uint64_t part = std::min(end - at, page_blocks - at % page_blocks);
		mark(*page, at % page_blocks, part, r.written);
		at += part;
	}
	if (sketch_)
		estimate(r);
}

/* The places in the table first, then the words that these lead to. */
void Footprint::fetch()
{
	const Place *places[batch];
	size_t i = 0;
	for (const Request &r : waiting_)
		__builtin_prefetch(&table_[block_hash(r.space, r.first / page_blocks) & (table_.size() - 1)]);
	for (const Request &r : waiting_)
		places[i++] = &place_of(block_hash(r.space, r.first / page_blocks));
	i = 0;
	for (const Request &r : waiting_)
		if (const uint32_t page = places[i++]->page)
			__builtin_prefetch(&pages_[page - 1].words[r.first % page_blocks / 64], 1);
}

void Footprint::work_off()
{
	if (!sketch_)
		fetch();
	for (const Request &r : waiting_)
		count(r);
	waiting_.clear();
}

Footprint::Blocks Footprint::blocks()
{
	work_off();
	if (!sketch_)
		return exact_;
	const auto rounded = [](const Cardinality &c) { return uint64_t(c.estimate() + 0.5); };
	return {rounded(sketch_->touched), rounded(sketch_->read), rounded(sketch_->written)};
}

} // namespace hz::inspect
