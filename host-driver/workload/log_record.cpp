/* Records of a log. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "workload/log_record.hpp"

#include <algorithm>
#include <numeric>

namespace hz::wl {
namespace {

constexpr uint64_t sector_bytes = 4096;

} // namespace

uint64_t most_sectors(const ThreadSpec &spec)
{
	uint64_t block = 1;
	for (const BlockSize &size : spec.blocks)
		block = std::max(block, size.sectors);
	if (!spec.record)
		return block;
	const uint64_t bytes = block * sector_bytes, step = std::gcd(uint64_t(spec.record), bytes); /* records begin at its multiples */
	return ((bytes - step + spec.record - 1) / bytes + 1) * block;
}

SectorRange next_record(const ThreadSpec &spec, uint64_t &filled, uint64_t capacity)
{
	const uint64_t block = spec.blocks.front().sectors, bytes = block * sector_bytes;
	const uint64_t first = filled / bytes * block;
	filled = std::min(filled + spec.record, capacity * sector_bytes);
	return {first, std::min((filled + bytes - 1) / bytes * block, capacity)};
}

} // namespace hz::wl
