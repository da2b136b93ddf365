// CrashSource: random zoned operations on a share of zones, with a model of data that must and data
// that may survive a power cut.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <random>

#include "nvme.h"
#include "workload/source.hpp"

namespace e2e {

// One zone as the host knows it. Offsets are sectors from the zone start.
struct CrashZone {
	std::vector<uint64_t> versions;     // of every sector handed out to a write; its size is where the next write goes
	uint64_t acked = 0;                 // prefix of completed writes
	uint64_t durable = 0;               // prefix that must survive
	std::map<uint64_t, uint64_t> ahead; // completed beyond `acked`: offset → sectors
	bool full = false;                  // written up, or finished
	bool finished = false;              // a finish completed: the state itself must survive
	bool finishing = false, resetting = false;
	unsigned under_way = 0;
};

class CrashSource : public hz::wl::Source {
public:
	CrashSource(const hz::wl::ZoneShare &share, uint64_t seed, unsigned writable_zones);
	// Zones of this source that the device may count as active.
	unsigned active() const;
	void allow(unsigned writable_zones) { writable_zones_ = writable_zones; }

	// The next run issues this many commands; `each` is called before every one.
	void start(uint64_t commands, std::function<void()> each = {});

	hz::wl::Step next(hz::wl::Request &request) override;
	void complete(const hz::wl::Request &request, uint16_t status, uint64_t result) override;
	void begin_measurement() override {}
	uint32_t progress_ppm() const override { return 0; }
	std::vector<hz::wl::LiveSector> live() override;

	const hz::wl::ZoneShare &share() const { return share_; }
	// After a boot: compares a zone of this share with the model, then adopts its content.
	// stamp_at(offset): does the sector hold this stamp? version 0 = zeros.
	using Holds = std::function<bool(uint64_t offset, const hz::wl::Stamp &stamp)>;
	void recover(uint32_t zone, const nvme_zone_descriptor &found, const Holds &holds);
	// Everything completed is durable: an orderly shutdown.
	void settle();
	uint64_t durable_sectors() const;
	// Sectors of writes that no boot found again: the loss due to the cuts.
	uint64_t lost_sectors() const { return lost_; }

private:
	uint64_t start_of(uint32_t zone) const { return share_.start_of(share_.first_zone + zone); }
	uint32_t roll(uint32_t below) { return static_cast<uint32_t>(random_() % below); }
	bool choose(hz::wl::Request &request);
	bool choose_write(hz::wl::Request &request, uint32_t zone);
	bool choose_read(hz::wl::Request &request, uint32_t zone);
	bool choose_zone_command(hz::wl::Request &request, uint32_t zone, hz::wl::Op op);
	void choose_flush(hz::wl::Request &request);
	void written(CrashZone &zone, uint64_t offset, const hz::wl::Request &request);

	hz::wl::ZoneShare share_;
	std::mt19937_64 random_;
	unsigned writable_zones_;
	std::vector<CrashZone> zones_;
	std::map<uint64_t, std::vector<uint64_t>> flushes_; // by tag: the sectors that each flush must make durable
	uint64_t next_version_ = 1, next_flush_ = 1, left_ = 0, lost_ = 0;
	unsigned outstanding_ = 0;
	std::function<void()> each_;
};

} // namespace e2e
