// Store: finds room, and moves live data out of a zone so that it can be reset.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "apps/rocksdb/store/store.hpp"

namespace hz::store {

namespace {

constexpr uint64_t copy_blocks = 64; // size of one copy step

} // namespace

Place Store::find_place(Lifetime lifetime)
{
	if (zones_.empty() <= ZoneTable::reserve)
		collect();
	if (const auto place = zones_.place_for(lifetime, false))
		return *place;
	throw NoSpace("the zones are full: what is left of them is kept for moving data together");
}

void Store::collect()
{
	while (zones_.empty() <= ZoneTable::reserve) {
		const auto zone = zones_.victim();
		if (!zone || !collect_zone(*zone))
			return;
	}
}

// false: nothing was gained, because open handles still read removed files there. Old places are
// released only after the log records the new ones, so a failure on the way loses nothing.
bool Store::collect_zone(uint32_t zone)
{
	std::vector<Change> changes;
	std::vector<Extent> old;
	for (const auto &[path, file] : catalog_.files())
		if (move_extents(*file, zone, old))
			changes.push_back({.kind = ChangeKind::extents, .path = path, .extents = file->extents});
	device_.flush();
	for (const Change &one : changes)
		catalog_.find(one.path)->logged = uint32_t(one.extents.size());
	record(changes);
	for (const Extent &extent : old)
		zones_.release(extent);
	const bool gained = zones_.alive(zone) == 0;
	zones_.reset_dead();
	return gained;
}

bool Store::move_extents(File &file, uint32_t zone, std::vector<Extent> &old)
{
	std::vector<Extent> extents, left;
	for (const Extent &extent : file.extents) {
		if (extent.zone != zone) {
			extents.push_back(extent);
			continue;
		}
		for (const Extent &piece : copy(extent, file.lifetime))
			extents.push_back(piece);
		left.push_back(extent);
	}
	file.extents = std::move(extents);
	old.insert(old.end(), left.begin(), left.end());
	return !left.empty();
}

std::vector<Extent> Store::copy(const Extent &extent, Lifetime lifetime)
{
	std::vector<Extent> pieces;
	Bytes data;
	for (uint64_t done = 0; done < blocks_of(extent.bytes);) {
		const auto place = zones_.place_for(lifetime, true);
		if (!place)
			throw NoSpace("no zone is left to move data together");
		const uint64_t blocks = std::min({blocks_of(extent.bytes) - done, place->room, copy_blocks});
		data.resize(blocks * block_bytes);
		device_.read(extent.zone, extent.block + done, data);
		put(*place, lifetime, data);
		const uint64_t bytes = std::min(blocks * block_bytes, extent.bytes - done * block_bytes);
		if (!pieces.empty() && pieces.back().zone == place->zone)
			pieces.back().bytes += bytes;
		else
			pieces.push_back({place->zone, uint32_t(place->block), bytes});
		done += blocks;
		collected_ += blocks;
	}
	return pieces;
}

} // namespace hz::store
