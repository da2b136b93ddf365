// ZoneTable: zone counters; the device is queried at the start only.
// SPDX-License-Identifier: BSD-3-Clause
#include "apps/rocksdb/store/zone_table.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace hz::store {

namespace {

// Keeping durable and other data apart has priority.
int distance(Lifetime a, Lifetime b) { return std::abs(int(a) - int(b)) + (is_durable(a) != is_durable(b) ? int(lifetimes) : 0); }

} // namespace

ZoneTable::ZoneTable(ZonedDevice &device, uint32_t first, uint32_t most_active)
	: device_(device), first_(first), most_active_(most_active), capacity_(device.shape().capacity),
	  zones_(device.shape().zones - first)
{
	for (uint32_t i = 0; i < zones_.size(); i++)
		ask_again(first_ + i);
}

void ZoneTable::ask_again(uint32_t zone)
{
	const ZoneState state = device_.state(zone);
	at(zone).written = state.written;
	at(zone).writable = state.writable;
}

uint32_t ZoneTable::empty() const
{
	return uint32_t(std::count_if(zones_.begin(), zones_.end(), [](const Zone &zone) { return zone.writable && !zone.written; }));
}

std::optional<Place> ZoneTable::place_for(Lifetime lifetime, bool collecting) const
{
	const Zone *nearest = nullptr, *fresh = nullptr;
	uint32_t active = 0;
	for (const Zone &zone : zones_) {
		if (!fresh && zone.writable && !zone.written)
			fresh = &zone;
		if (!is_active(zone))
			continue;
		active++;
		if (!nearest || distance(zone.lifetime, lifetime) < distance(nearest->lifetime, lifetime))
			nearest = &zone;
	}
	const bool may_begin = fresh && active < most_active_ && (collecting || empty() > reserve);
	const Zone *chosen = may_begin && (!nearest || nearest->lifetime != lifetime) ? fresh : nearest;
	if (!chosen)
		return std::nullopt;
	return Place{first_ + uint32_t(chosen - zones_.data()), chosen->written, capacity_ - chosen->written};
}

void ZoneTable::wrote(const Place &place, uint64_t blocks, Lifetime lifetime)
{
	Zone &zone = at(place.zone);
	if (!zone.written)
		zone.lifetime = lifetime;
	zone.written += blocks;
	zone.alive += blocks;
}

void ZoneTable::adopt(const Extent &extent, Lifetime lifetime)
{
	const uint64_t end = extent.block + blocks_of(extent.bytes);
	const std::string where = "blocks " + std::to_string(extent.block) + " to " + std::to_string(end) + " of zone " +
				  std::to_string(extent.zone);
	if (extent.zone < first_ || extent.zone - first_ >= zones_.size())
		throw Damaged("a file claims " + where + ", which holds no data of files");
	Zone &zone = at(extent.zone);
	if (extent.bytes > capacity_ * block_bytes || end > zone.written)
		throw Damaged("a file claims " + where + ", of which the device has only " + std::to_string(zone.written) +
			      ": durable data were lost");
	zone.claimed.resize(capacity_);
	for (uint64_t block = extent.block; block < end; block++) {
		if (zone.claimed[block])
			throw Damaged("two files claim block " + std::to_string(block) + " of zone " + std::to_string(extent.zone));
		zone.claimed[block] = true;
	}
	zone.lifetime = lifetime;
	zone.alive += end - extent.block;
}

void ZoneTable::release(const Extent &extent) { at(extent.zone).alive -= blocks_of(extent.bytes); }

void ZoneTable::reset_dead()
{
	for (Zone &zone : zones_) {
		zone.claimed = {};
		if (!zone.written || zone.alive || !zone.writable)
			continue;
		device_.reset(first_ + uint32_t(&zone - zones_.data()));
		zone.written = 0;
	}
}

std::optional<uint32_t> ZoneTable::victim() const
{
	const Zone *best = nullptr;
	for (const Zone &zone : zones_)
		if (zone.writable && zone.written == capacity_ && zone.alive < capacity_ && (!best || zone.alive < best->alive))
			best = &zone;
	if (!best)
		return std::nullopt;
	return first_ + uint32_t(best - zones_.data());
}

ZoneTable::Space ZoneTable::space() const
{
	Space space;
	for (const Zone &zone : zones_) {
		space.total += zone.writable ? capacity_ : 0;
		space.alive += zone.alive;
		space.dead += zone.written - zone.alive;
	}
	return space;
}

} // namespace hz::store
