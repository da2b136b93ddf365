// RangeList: allocated ranges of an address space. First fit; adjacent free ranges merge.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace hz {

// O(ranges), and there are never more free ranges than taken ones plus one. One thread at a time.
class RangeList {
public:
	RangeList(uint64_t begin, uint64_t end);

	// The lowest free range of this size (not 0), or none.
	std::optional<uint64_t> take(uint64_t bytes);
	// The range that was taken at `start` is free again. Throws Error, and changes nothing, if none was taken there.
	void give(uint64_t start);
	// Of the range that was taken at `start`; 0 if none was.
	uint64_t bytes_at(uint64_t start) const;
	uint64_t largest_free() const;

private:
	std::map<uint64_t, uint64_t> free_, taken_; // start → bytes
};

} // namespace hz
