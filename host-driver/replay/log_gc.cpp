/* Mapping `log`: garbage collection, greedy, one victim at a time. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/log_shim.hpp"

#include <algorithm>

namespace hz::replay {

using wl::Cause;
using wl::Op;
using wl::Request;

bool LogShim::gc_needed() const { return victim_ != none || free_.size() < options_.gc_low_zones; }

/* The full zone with the least valid data, if it holds any garbage at all. */
bool LogShim::choose_victim()
{
	uint64_t least = share_.zone_capacity;
	for (uint32_t zone = 0; zone < zones_.size(); zone++) {
		const Zone &z = zones_[zone];
		if (z.state != ZoneState::full || z.writes || z.valid >= least)
			continue;
		least = z.valid;
		victim_ = zone;
	}
	if (victim_ == none)
		return false;
	zones_[victim_].state = ZoneState::victim;
	victim_cursor_ = 0;
	count_.gc_runs++;
	return true;
}

/* Issue one command of the collection, if possible now. */
bool LogShim::gc_step(Request &request)
{
	if (victim_ == none && !choose_victim())
		return false;
	if (gc_reads_ + gc_writes_ >= options_.gc_window)
		return false;
	return gc_write(request) || gc_read(request) || gc_reset(request);
}

/* Reads the next run of valid sectors. */
bool LogShim::gc_read(Request &request)
{
	Zone &zone = zones_[victim_];
	const uint64_t base = start(victim_);
	const auto valid_at = [&](uint64_t offset) { return map_[zone.owner[offset]].location == base + offset; };
	while (victim_cursor_ < share_.zone_capacity && !valid_at(victim_cursor_))
		victim_cursor_++;
	if (victim_cursor_ == share_.zone_capacity)
		return false;
	request.op = Op::read;
	request.lba = base + victim_cursor_;
	request.tag = victim_;
	request.stamps.clear();
	while (victim_cursor_ < share_.zone_capacity && request.stamps.size() < share_.max_transfer && valid_at(victim_cursor_)) {
		const uint64_t lba = zone.owner[victim_cursor_++];
		request.stamps.push_back(stamp(lba, map_[lba].version));
	}
	request.sectors = uint32_t(request.stamps.size());
	zone.reads++;
	gc_reads_++;
	count_.gc_read_sectors += request.sectors;
	issued(request, Cause::gc);
	return true;
}

/* Data that could not be read are written again as they should have been: the read stays counted as failed. */
void LogShim::finish_gc_read(const Request &request)
{
	gc_reads_--;
	for (uint32_t i = 0; i < request.sectors; i++)
		moving_.push_back({request.stamps[i].key & ((1ull << 40) - 1), request.lba + i, request.stamps[i].version});
}

/* Writes sectors that were read and are still valid. */
bool LogShim::gc_write(Request &request)
{
	while (!moving_.empty() && map_[moving_.front().lba].location != moving_.front().from)
		moving_.pop_front();
	if (moving_.empty() || !open_zone(gc_zone_, 0))
		return false;
	Zone &zone = zones_[gc_zone_];
	const uint64_t room = std::min<uint64_t>(share_.zone_capacity - zone.issued, share_.max_transfer);
	request.stamps.clear();
	while (!moving_.empty() && request.stamps.size() < room) {
		const Moved moved = moving_.front();
		moving_.pop_front();
		if (map_[moved.lba].location != moved.from)
			continue;
		zone.owner[zone.issued + request.stamps.size()] = moved.lba;
		request.stamps.push_back(stamp(moved.lba, moved.version));
	}
	take_places(request, gc_zone_, uint32_t(request.stamps.size()));
	gc_writes_++;
	count_.gc_copied_sectors += request.sectors;
	issued(request, Cause::gc);
	return true;
}

/* A sector that was overwritten meanwhile keeps its newer place. */
void LogShim::finish_gc_write(const Request &request, uint64_t location)
{
	for (uint32_t i = 0; i < request.sectors; i++) {
		const uint64_t lba = request.stamps[i].key & ((1ull << 40) - 1);
		const LogEntry &entry = map_[lba];
		if (entry.mapped() && entry.version == request.stamps[i].version && zone_of(entry.location) == victim_)
			settle(lba, location + i, entry.version);
	}
}

bool LogShim::gc_reset(Request &request)
{
	Zone &zone = zones_[victim_];
	if (zone.state != ZoneState::victim || victim_cursor_ < share_.zone_capacity || gc_reads_ || gc_writes_ || zone.reads ||
	    !moving_.empty())
		return false;
	if (zone.valid) { /* a copy failed: once more */
		victim_cursor_ = 0;
		return gc_read(request);
	}
	zone.state = ZoneState::resetting;
	request.op = Op::reset;
	request.lba = start(victim_);
	request.sectors = 0;
	request.tag = victim_;
	request.stamps.clear();
	issued(request, Cause::gc);
	return true;
}

void LogShim::finish_reset(const Request &request, bool ok)
{
	const auto zone = uint32_t(request.tag);
	count_.zone_resets++;
	victim_ = none;
	zones_[zone].state = ok ? ZoneState::free : ZoneState::lost;
	if (ok)
		free_.push_back(zone);
}

} // namespace hz::replay
