// PRP: physical region pages of a command (NVMe base spec 4.1.1), from pages anywhere in the region.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "session/machine/region.hpp"

namespace hz {

struct PrpPair {
	uint64_t prp1 = 0, prp2 = 0;
};

// Entries that a list for `bytes` starting `offset` bytes into a page needs (0: both PRPs fit in the command).
uint64_t prp_list_entries(uint64_t offset, uint64_t bytes);

// pages: bus addresses of the data pages, in order, each page aligned; data start `offset` bytes
// into pages[0]. list: bus address (8-byte aligned, may be inside a page) of room for the list;
// list pages are contiguous and chained through their last entry. Returns the pair for the command.
PrpPair build_prps(const Region &region, std::span<const BusAddress> pages, uint64_t offset, uint64_t bytes, BusAddress list);

// The same for contiguous bytes at `data` (aligned to 4).
PrpPair build_prps(const Region &region, BusAddress data, uint64_t bytes, BusAddress list);

} // namespace hz
