/* Mapping `direct` for traces: zoned operations go to the device as they are. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "replay/trace_cursor.hpp"
#include "workload/source.hpp"
#include "workload/spec.hpp"
#include "workload/zone_cells.hpp"

#include "nvme.h"

#include <memory>
#include <vector>

namespace hz::replay {

/* Thread t replays the operations on zones z with z mod threads = t, so that a zone has one owner;
 * flushes go by stream. Order within a zone is kept if it affects the data: a read waits for writes
 * under way in its zone, and reset and finish wait for all commands under way there. */
class TraceZones : public wl::Source {
public:
	/* device: all sequential zones of the namespace; zone 0 of the trace is the first of them.
	 * A trace of a block device is replayed too, but the device refuses non-sequential writes.
	 * Throws wl::WorkloadError for a key of block operations. */
	TraceZones(std::shared_ptr<const TraceSurvey> survey, const wl::ZoneShare &device, uint32_t thread);
	wl::Step next(wl::Request &request) override;
	void complete(const wl::Request &request, uint16_t status, uint64_t result) override;
	void begin_measurement() override { preparing_ = false; }
	uint32_t progress_ppm() const override { return trace_.progress_ppm(); }
	std::vector<wl::LiveSector> live() override { return cells_.live(); }
	nlohmann::json cost() const override;
	/* The trace itself may break the rules of zones. */
	bool provokes(uint16_t status) const override { return status >= NVME_ZONE_BOUNDARY && status <= NVME_ZONE_INVALID_TRANSITION; }

protected:
	struct Part { /* of a record, in one zone */
		uint32_t zone;
		uint64_t lba, sectors;
		bool flush = false;
	};
	/* A record that is being issued, in parts. */
	struct Lane {
		uint32_t number = 0;
		trace::Record record;
		std::vector<Part> parts;
		size_t part = 0;

		bool issued() const { return part == parts.size(); } /* all of it */
	};
	/* The lane whose next part goes out now. */
	virtual wl::Step pick(Lane *&lane);
	/* This thread's parts of the lane's record; none if it has none. */
	void start(Lane &lane);
	bool must_wait(const Lane &lane) const;
	static uint32_t lane_of(const wl::Request &request) { return uint32_t(request.tag >> 32); }
	uint64_t zone_of(const trace::Record &record) const { return record.zoned ? record.zone : record.offset / zone_bytes(); }
	uint64_t zone_bytes() const { return cells_.share().zone_size * 4096; }

	TraceCursor trace_;

private:
	void cut(Lane &lane);
	void cut_reset_all(Lane &lane);
	void add_part(Lane &lane, uint64_t zone, uint64_t sector, uint64_t sectors);
	void fill_head(wl::Request &request, const Lane &lane, const Part &part);
	void fill_data(wl::Request &request, Lane &lane);
	void finish_data(const wl::Request &request, wl::ZoneCell &cell, uint32_t zone, uint64_t lba);

	wl::ZoneCells cells_;
	uint32_t thread_;
	bool preparing_ = true;
	Lane only_;
	uint64_t records_ = 0, serial_ = 0;
	Ignored ignored_;
	uint32_t flushes_ = 0; /* under way */
};

} // namespace hz::replay
