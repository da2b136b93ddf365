// RegionHeap: the part of the shared region that queues and data buffers lie in, handed out and taken back by whole pages.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "range_list.hpp"
#include "region.hpp"

namespace hz {

// One thread at a time. Addresses depend on nothing but the order of the calls.
class RegionHeap {
public:
	// Everything behind HZ_SHM_HEAP_OFFSET, which must be zero; clear() makes it so.
	explicit RegionHeap(Region &region);

	// Page aligned and zero. Throws Error when no range is long enough.
	BusAddress allocate(uint64_t bytes);
	// Zeroes it and gives its memory back to the host; nobody may use it any more. Throws Error for what allocate() did not return.
	void free(BusAddress address);
	// Takes everything back, also what somebody else had before.
	void clear();

private:
	Region &region_;
	RangeList ranges_;
};

} // namespace hz
