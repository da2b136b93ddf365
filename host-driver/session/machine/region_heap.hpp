// RegionHeap: allocates queues and data buffers in the shared region, by whole pages.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "range_list.hpp"
#include "region.hpp"

namespace hz {

// One thread at a time. Addresses depend only on the order of the calls.
class RegionHeap {
public:
	// The memory after HZ_SHM_HEAP_OFFSET, which must be zero; clear() makes it so.
	explicit RegionHeap(Region &region);

	// Page aligned and zero. Throws Error when no range is long enough.
	BusAddress allocate(uint64_t bytes);
	// Zeroes the memory and returns it to the host; it must not be used any more. Throws Error
	// for an address not returned by allocate().
	void free(BusAddress address);
	// Frees everything, also allocations of earlier users.
	void clear();

private:
	Region &region_;
	RangeList ranges_;
};

} // namespace hz
