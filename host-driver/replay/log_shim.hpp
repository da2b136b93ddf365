/* Mapping `log`: a log-structured layer that maps block operations to zones, with its own host
 * garbage collection.
 *
 * Writes go to the write pointer of the user zone; a map holds the address of the newest copy of
 * each sector. When few zones are free, the full zone with the least valid data is the victim: its
 * valid sectors are read and written to the GC zone (which separates surviving data from fresh
 * data), and the victim is reset. One free zone is reserved for that. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "replay/log_map.hpp"
#include "workload/block_op.hpp"
#include "workload/source.hpp"

#include <deque>
#include <memory>

namespace hz::replay {

struct LogOptions {
	double over_provisioning = 0.2;
	uint32_t gc_low_zones = 2; /* collect while fewer zones are free */
	uint32_t gc_window = 4;    /* GC commands under way at most */
};

class LogShim : public wl::Source {
public:
	/* Throws WorkloadError if the share has fewer than 4 zones. */
	LogShim(const wl::ZoneShare &share, const LogOptions &options, std::unique_ptr<wl::BlockSource> blocks);

	/* Sectors of the address space offered on a share: the log itself uses three zones. */
	static uint64_t space_of(const wl::ZoneShare &share, double over_provisioning);

	wl::Step next(wl::Request &request) override;
	bool plans_ahead() const override { return preparing_ || !blocks_->timed(); }
	bool foresees() override { return !gc_needed(); } /* the collector goes by how commands ended */
	void complete(const wl::Request &request, uint16_t status, uint64_t result) override;
	void begin_measurement() override;
	uint32_t progress_ppm() const override;
	std::vector<wl::LiveSector> live() override;
	nlohmann::json cost() const override;

	/* Empty, or a sentence that names a broken invariant (valid counts, map and owners agree). For tests. */
	std::string check();

private:
	enum class ZoneState : uint8_t { free, open, full, victim, resetting, lost };
	struct Zone {
		ZoneState state = ZoneState::free;
		uint64_t issued = 0, valid = 0;
		uint32_t reads = 0, writes = 0;
		std::vector<uint64_t> owner; /* logical sector written at each place */
	};
	struct Moved { /* a valid sector that is moved out of the victim */
		uint64_t lba, from, version;
	};
	struct Counters {
		uint64_t user_reads = 0, user_writes = 0, user_trims = 0, user_flushes = 0;
		uint64_t user_read_sectors = 0, user_written_sectors = 0, unmapped_read_sectors = 0;
		uint64_t gc_runs = 0, gc_read_sectors = 0, gc_copied_sectors = 0, zone_resets = 0, failed_writes = 0;
	};
	static constexpr uint32_t none = UINT32_MAX;

	uint32_t zone_of(uint64_t location) const { return uint32_t(location / share_.zone_size) - share_.first_zone; }
	uint64_t start(uint32_t zone) const { return share_.start_of(share_.first_zone + zone); }
	wl::Stamp stamp(uint64_t lba, uint64_t version) const;
	bool load_op();
	bool advance_op(uint64_t sectors);
	wl::Step user_step(wl::Request &request);
	wl::Step user_read(wl::Request &request);
	wl::Step user_write(wl::Request &request);
	void user_trim();
	bool writers_in_op();
	void count_op();
	bool open_zone(uint32_t &zone, uint32_t keep_free);
	void take_places(wl::Request &request, uint32_t &zone, uint32_t sectors);
	bool gc_needed() const;
	bool choose_victim();
	bool gc_step(wl::Request &request);
	bool gc_read(wl::Request &request);
	bool gc_write(wl::Request &request);
	bool gc_reset(wl::Request &request);
	void issued(wl::Request &request, wl::Cause cause);
	void finish_user_write(const wl::Request &request, uint64_t location);
	void finish_gc_write(const wl::Request &request, uint64_t location);
	void finish_gc_read(const wl::Request &request);
	void finish_write(const wl::Request &request, bool ok);
	void finish_reset(const wl::Request &request, bool ok);
	void settle(uint64_t lba, uint64_t location, uint64_t version);

	wl::ZoneShare share_;
	LogOptions options_;
	std::unique_ptr<wl::BlockSource> blocks_;
	uint64_t space_;
	LogMap map_;
	std::vector<Zone> zones_;
	std::deque<uint32_t> free_;
	uint32_t user_zone_ = none, gc_zone_ = none, victim_ = none;
	uint64_t victim_cursor_ = 0;
	std::deque<Moved> moving_;
	uint32_t gc_reads_ = 0, gc_writes_ = 0, outstanding_ = 0;
	uint32_t flushes_ = 0; /* under way */
	bool preparing_ = true, have_op_ = false, ended_ = false;
	wl::BlockOp op_;
	Counters count_;
};

} // namespace hz::replay
