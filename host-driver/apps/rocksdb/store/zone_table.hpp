// ZoneTable: data zones, their fill level and live data, and the zone for the next data.
//
// A zone holds data of one lifetime while the device has enough active zones; else it shares with
// the nearest lifetime.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "apps/rocksdb/store/change.hpp"
#include "storage/zoned_device.hpp"

namespace hz::store {

struct Place {
	uint32_t zone;
	uint64_t block, room; // room: blocks up to the zone's end, at least 1
};

class ZoneTable {
public:
	static constexpr uint32_t reserve = 2; // empty zones that only the collector may begin

	// Zones from `first` on; at most `most_active` of them are active at once.
	ZoneTable(ZonedDevice &device, uint32_t first, uint32_t most_active);

	// Where data may go now; nothing: there is no room. `collecting`: the collector asks.
	std::optional<Place> place_for(Lifetime lifetime, bool collecting) const;
	void wrote(const Place &place, uint64_t blocks, Lifetime lifetime);
	// Data of an existing file; throws Damaged if they lie in an unwritten place, or overlap
	// other data.
	void adopt(const Extent &extent, Lifetime lifetime);
	void release(const Extent &extent);
	// Reset zones that are written and wholly dead.
	void reset_dead();
	// After a write that failed.
	void ask_again(uint32_t zone);

	uint32_t empty() const;
	// The full zone with the least alive, if it is not wholly alive.
	std::optional<uint32_t> victim() const;
	uint64_t alive(uint32_t zone) const { return zones_[zone - first_].alive; }

	struct Space {
		uint64_t total = 0, alive = 0, dead = 0; // blocks
	};
	Space space() const;

private:
	struct Zone {
		uint64_t written = 0, alive = 0;
		bool writable = false;
		Lifetime lifetime = Lifetime::unknown;
		std::vector<bool> claimed; // blocks, while files are adopted
	};

	bool is_active(const Zone &zone) const { return zone.writable && zone.written && zone.written < capacity_; }
	Zone &at(uint32_t zone) { return zones_[zone - first_]; }

	ZonedDevice &device_;
	uint32_t first_, most_active_;
	uint64_t capacity_;
	std::vector<Zone> zones_;
};

} // namespace hz::store
