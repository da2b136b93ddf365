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

private:
	struct Part { /* of a record, in one zone */
		uint32_t zone;
		uint64_t lba, sectors;
		bool flush = false;
	};
	bool fetch();
	void cut();
	void cut_reset_all();
	void add_part(uint64_t zone, uint64_t sector, uint64_t sectors);
	bool must_wait(const wl::ZoneCell &cell) const;
	void fill_data(wl::Request &request, wl::ZoneCell &cell, Part &part);
	void finish_data(const wl::Request &request, wl::ZoneCell &cell, uint32_t zone, uint64_t lba);

	TraceCursor trace_;
	wl::ZoneCells cells_;
	uint32_t thread_;
	bool preparing_ = true;
	trace::Record record_;
	std::vector<Part> parts_;
	size_t part_ = 0;
	uint64_t records_ = 0, serial_ = 0;
	Ignored ignored_;
	uint32_t flushes_ = 0; /* under way */
};

} // namespace hz::replay
