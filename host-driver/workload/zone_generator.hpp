/* Synthetic zoned workload of one thread: reads, sequential writes or appends into its own zones, resets, flushes. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "workload/log_record.hpp"
#include "workload/random.hpp"
#include "workload/source.hpp"
#include "workload/spec.hpp"
#include "workload/zipf.hpp"
#include "workload/zone_cells.hpp"

#include <optional>

namespace hz::wl {

class ZoneGenerator : public Source {
public:
	/* Throws WorkloadError when the spec and the share do not fit. */
	ZoneGenerator(const ThreadSpec &spec, const ZoneShare &share, uint64_t seed);

	Step next(Request &request) override;
	bool plans_ahead() const override;
	bool foresees() override;
	void complete(const Request &request, uint16_t status, uint64_t result) override;
	uint64_t newest_version(const Request &request, uint32_t index) override;
	void begin_measurement() override;
	uint32_t progress_ppm() const override;
	std::vector<LiveSector> live() override { return cells_.live(); }

private:
	enum class Choice { none, read, write };

	bool finished() const;
	Choice draw();
	uint32_t draw_block();
	uint64_t draw_think();
	bool draw_durable();
	Step issue_read(Request &request);
	Step issue_write(Request &request);
	Step issue_flush(Request &request);
	Step issue_zone(Request &request, uint32_t zone);
	void fill_read(Request &request, uint32_t zone, uint64_t offset);
	SectorRange next_range(ZoneCell &cell) const;
	void fill_write(Request &request, uint32_t zone);
	void fill_stamps(Request &request, uint32_t zone);
	void random_place(uint32_t &zone, uint64_t &offset);
	void sequential_place(uint32_t &zone, uint64_t &offset);
	bool has_open_lane() const;
	uint32_t zone_depth() const;
	bool writes_records() const { return spec_.record && !preparing_; }
	uint64_t prefill_of(uint64_t space) const;
	std::optional<size_t> writable_lane(bool &waiting);
	std::optional<uint32_t> find_empty();
	std::optional<uint32_t> find_full();
	bool start_reset(Request &request, bool &waiting);
	void issued(Request &request);
	void finish_write(const Request &request, bool ok, uint64_t result);
	void finish_zone(const Request &request, bool ok);
	void lose(uint32_t zone);

	ThreadSpec spec_;
	ZoneCells cells_;
	Random random_;
	uint32_t depth_; /* writes under way per zone, 0: no limit */
	std::optional<Zipf> zipf_;
	uint64_t blocks_per_zone_, total_weight_ = 0;
	uint64_t span_sectors_, span_blocks_; /* reads stay in the first sectors, blocks of the zones */
	bool preparing_ = true;
	uint64_t prefill_sectors_;

	Choice pending_ = Choice::none; /* drawn, not issued yet */
	uint32_t pending_block_ = 0;
	std::vector<uint32_t> lanes_; /* zone that each open place writes, or none; an idle lane may wait for one reset */
	size_t turn_ = 0;             /* sequential writing goes round the lanes */
	uint32_t empty_hint_ = 0, full_hint_ = 0, draining_;
	uint32_t read_zone_ = 0;
	uint64_t read_offset_ = 0;
	uint64_t ops_ = 0, sectors_ = 0, unflushed_ = 0, serial_ = 0;
	uint32_t outstanding_ = 0, resets_ = 0;
};

} // namespace hz::wl
