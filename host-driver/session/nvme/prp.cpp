// PRP: entries are counted first, so that the list knows where it must chain.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/nvme/prp.hpp"

#include <cstring>
#include <vector>

#include "session/machine/error.hpp"

namespace hz {

namespace {

void put(const Region &region, BusAddress where, uint64_t value) { std::memcpy(region.at(where, sizeof(value)), &value, sizeof(value)); }

// The last entry of a list page points to the next list page when more than one data entry is left.
void write_list(const Region &region, std::span<const BusAddress> entries, BusAddress list)
{
	size_t i = 0;
	while (i < entries.size()) {
		bool last_slot = list % host_page_bytes == host_page_bytes - 8;
		if (last_slot && entries.size() - i > 1) {
			put(region, list, list + 8);
			list += 8;
			continue;
		}
		put(region, list, entries[i++]);
		list += 8;
	}
}

} // namespace

uint64_t prp_list_entries(uint64_t offset, uint64_t bytes)
{
	uint64_t pages = (offset + bytes + host_page_bytes - 1) / host_page_bytes;
	return pages > 2 ? pages - 1 : 0;
}

PrpPair build_prps(const Region &region, std::span<const BusAddress> pages, uint64_t offset, uint64_t bytes, BusAddress list)
{
	uint64_t needed = (offset + bytes + host_page_bytes - 1) / host_page_bytes;
	if (bytes == 0)
		return {};
	if (offset >= host_page_bytes || offset % 4 || list % 8 || needed > pages.size())
		throw Error("a PRP needs dword aligned data, a quadword aligned list and a page for every byte");
	PrpPair pair{pages[0] + offset, 0};
	if (needed == 2)
		pair.prp2 = pages[1];
	if (needed > 2) {
		pair.prp2 = list;
		write_list(region, pages.subspan(1, needed - 1), list);
	}
	return pair;
}

PrpPair build_prps(const Region &region, BusAddress data, uint64_t bytes, BusAddress list)
{
	std::vector<BusAddress> pages;
	BusAddress first = data & ~(host_page_bytes - 1);
	for (BusAddress p = first; p < data + bytes; p += host_page_bytes)
		pages.push_back(p);
	return build_prps(region, pages, data - first, bytes, list);
}

} // namespace hz
