/* Mapping `direct` for traces: zoned operations go to the device as they are. */
#pragma once

#include "trace/reader.hpp"
#include "workload/source.hpp"
#include "workload/spec.hpp"
#include "workload/zone_cells.hpp"

#include "nvme.h"

#include <memory>

namespace hz::replay {

/* Thread t replays the operations on zones z with z mod threads = t, so that a zone has one owner; flushes go by stream.
 * Order within a zone is kept where it decides what comes back: a read waits for writes under way in its zone, and reset and
 * finish wait for everything under way there. */
class TraceZones : public wl::Source {
public:
	/* device: all sequential zones of the namespace; zone 0 of the trace is the first of them. Throws trace::TraceError, and for a format without zones unless its writes happen to
	 * be sequential: the device refuses those that are not. */
	TraceZones(const wl::TraceSpec &spec, const wl::ZoneShare &device, uint32_t thread);
	wl::Step next(wl::Request &request) override;
	void complete(const wl::Request &request, uint16_t status, uint64_t result) override;
	void begin_measurement() override { preparing_ = false; }
	uint32_t progress_ppm() const override;
	std::vector<wl::LiveSector> live() override { return cells_.live(); }
	nlohmann::json cost() const override;
	/* The trace may break the rules of zones: that is its own doing. */
	bool provokes(uint16_t status) const override { return status >= NVME_ZONE_BOUNDARY && status <= NVME_ZONE_INVALID_TRANSITION; }

private:
	bool fetch();
	bool mine(const trace::Record &record, uint64_t lba) const;
	uint64_t lba_of(const trace::Record &record) const;
	bool must_wait(const wl::ZoneCell &cell) const;
	void fill_data(wl::Request &request, wl::ZoneCell &cell, uint32_t zone);
	void finish_data(const wl::Request &request, wl::ZoneCell &cell, uint32_t zone, uint64_t lba);

	wl::TraceSpec spec_;
	wl::ZoneCells cells_;
	uint32_t thread_;
	std::unique_ptr<trace::Reader> reader_;
	bool preparing_ = true, have_ = false;
	trace::Record record_;
	uint64_t lba_ = 0, left_ = 0, records_ = 0, own_records_ = 0, first_ns_ = 0, not_before_ns_ = 0, serial_ = 0;
};

} // namespace hz::replay
