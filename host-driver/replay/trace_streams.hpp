/* Mapping `direct` for traces with `order: streams`: the programs of a trace beside each other. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "replay/trace_zones.hpp"

#include <deque>

namespace hz::replay {

/* Each stream has one command under way at most, and goes on when that has completed. A record waits
 * for other streams as its `after` says. In a zone all records begin in the order of the trace: its
 * write pointer knows no other. All of them are kept in memory. */
class TraceStreams : public TraceZones {
public:
	static constexpr uint64_t most_records = 4 << 20, most_streams = 64;

	/* Reads the trace. Throws trace::TraceError for one with more records or streams, for a
	 * record that touches several zones, and for a wait for a record that comes later. */
	TraceStreams(std::shared_ptr<const TraceSurvey> survey, const wl::ZoneShare &device);
	wl::Step next(wl::Request &request) override;
	void complete(const wl::Request &request, uint16_t status, uint64_t result) override;
	uint32_t progress_ppm() const override { return uint32_t(completed_ * 1000000 / total_); }

private:
	struct Stream : Lane {
		std::deque<trace::Record> coming;
		uint64_t read = 0, completed = 0; /* records */
		bool under_way = false;           /* a command */
	};
	wl::Step pick(Lane *&lane) override;
	void take(trace::Record record);
	Stream &stream_of(uint64_t number);
	void refer(trace::Record &record) const;
	bool may_begin(const Stream &stream) const;
	bool ready(Stream &stream);
	void leave_zone(const trace::Record &record);
	void end_record(Stream &stream);

	std::deque<Stream> streams_;
	std::map<uint64_t, uint32_t> index_;                 /* of a stream, by its number in the trace */
	std::map<uint64_t, std::deque<uint32_t>> zone_turn_; /* by zone: the streams whose records come next there */
	uint64_t total_ = 0, completed_ = 0;                 /* records */
};

} // namespace hz::replay
