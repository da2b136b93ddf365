// Memory reused by the requests of a test: buffers, and the CRCs of sectors seen before.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "port_arch.h"
#include "tuple.h"

namespace ftl_rig {

// Buffers of zeros. A returned buffer waits behind some others, poisoned, so that a late write to it is found.
class Buffers {
public:
	static std::vector<uint8_t> take(size_t bytes)
	{
		auto &spare = spare_of(bytes);
		if (spare.size() < waiting)
			return std::vector<uint8_t>(bytes);
		std::vector<uint8_t> buffer = std::move(spare.front());
		spare.pop_front();
		lt_guard(buffer.data(), bytes, 0);
		std::fill(buffer.begin(), buffer.end(), uint8_t(0));
		return buffer;
	}
	static void give(std::vector<uint8_t> buffer)
	{
		auto &spare = spare_of(buffer.size());
		lt_guard(buffer.data(), 0, buffer.size());
		spare.push_back(std::move(buffer));
	}

private:
	static constexpr size_t waiting = 16;
	static std::deque<std::vector<uint8_t>> &spare_of(size_t bytes)
	{
		thread_local std::map<size_t, std::deque<std::vector<uint8_t>>> all;
		return all[bytes];
	}
};

// The guard of a sector's tuple. Tests move the same patterns again and again: to compare with one is much faster than its CRC.
inline uint16_t guard_of(const uint8_t *sector)
{
	struct Seen {
		std::vector<uint8_t> sector;
		uint16_t guard;
	};
	constexpr unsigned bits = 12;
	thread_local std::vector<Seen> all(1 << bits);
	uint64_t begin[2];
	memcpy(begin, sector, sizeof(begin));
	Seen &seen = all[(begin[0] ^ begin[1]) * 0x9e3779b97f4a7c15 >> (64 - bits)];
	if (seen.sector.empty() || memcmp(seen.sector.data(), sector, HZ_SECTOR_BYTES) != 0)
		seen = {{sector, sector + HZ_SECTOR_BYTES}, hz_crc16(0, sector, HZ_SECTOR_BYTES)};
	return seen.guard;
}

} // namespace ftl_rig
