/* A table over a large index space whose pages exist once touched. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace hz::replay {

template <typename Entry> class SparseTable {
public:
	explicit SparseTable(uint64_t entries) : pages_((entries + page_entries - 1) / page_entries) {}

	Entry &operator[](uint64_t index)
	{
		auto &page = pages_[index / page_entries];
		if (!page)
			page = std::make_unique<Entry[]>(page_entries);
		return page[index % page_entries];
	}

	/* The index itself, or the first one of a later page that exists; a multiple of the page size beyond the end if there is none. */
	uint64_t next_touched(uint64_t index) const
	{
		while (index / page_entries < pages_.size() && !pages_[index / page_entries])
			index = (index / page_entries + 1) * page_entries;
		return index;
	}

private:
	static constexpr uint64_t page_entries = 1024;
	std::vector<std::unique_ptr<Entry[]>> pages_;
};

} // namespace hz::replay
