/* A table over a large index space, allocated in parts on first use. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

namespace hz::replay {

template <typename Entry> class SparseTable {
public:
	explicit SparseTable(uint64_t entries) : parts_((entries + part_entries - 1) / part_entries) {}

	Entry &operator[](uint64_t index)
	{
		auto &part = parts_[index / part_entries];
		if (!part)
			part = std::make_unique<Entry[]>(part_entries);
		return part[index % part_entries];
	}

	/* The index itself, or the first index of the next existing part; a multiple of the part
	 * size beyond the end if there is none. */
	uint64_t next_touched(uint64_t index) const
	{
		while (index / part_entries < parts_.size() && !parts_[index / part_entries])
			index = (index / part_entries + 1) * part_entries;
		return index;
	}

private:
	/* A page of memory: the unit of allocation for sparse use. */
	static constexpr uint64_t part_entries = std::bit_floor(4096 / sizeof(Entry));
	std::vector<std::unique_ptr<Entry[]>> parts_;
};

} // namespace hz::replay
