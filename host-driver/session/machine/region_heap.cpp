// RegionHeap: free memory is always zero, so that an allocation costs nothing.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/machine/region_heap.hpp"

#include <string>

#include "session/machine/error.hpp"

namespace hz {

RegionHeap::RegionHeap(Region &region) : region_(region), ranges_(HZ_SHM_HEAP_OFFSET, region.bytes()) {}

BusAddress RegionHeap::allocate(uint64_t bytes)
{
	const uint64_t rounded = (bytes + 4095) & ~4095ull;
	const auto start = rounded < bytes ? std::nullopt : ranges_.take(rounded);
	if (!start)
		throw Error("the shared region of " + std::to_string(region_.bytes() >> 20) + " MiB has no room for " +
			    std::to_string((bytes >> 10) + (bytes % 1024 != 0)) + " KiB of queues and data buffers (at most " +
			    std::to_string(ranges_.largest_free() >> 10) +
			    " KiB): close queues, or open them with fewer or smaller buffers");
	return *start;
}

void RegionHeap::free(BusAddress address)
{
	if (const uint64_t bytes = ranges_.bytes_at(address))
		region_.clear(address, bytes);
	ranges_.give(address);
}

void RegionHeap::clear()
{
	region_.clear(HZ_SHM_HEAP_OFFSET, region_.bytes() - HZ_SHM_HEAP_OFFSET);
	ranges_ = RangeList(HZ_SHM_HEAP_OFFSET, region_.bytes());
}

} // namespace hz
