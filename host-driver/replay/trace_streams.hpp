/* Mapping `direct` for traces with `order: streams`: the programs of a trace beside each other. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "replay/trace_zones.hpp"

#include <deque>
#include <map>
#include <set>
#include <vector>

namespace hz::replay {

/* Each stream has one command under way at most, and goes on when that has completed. A record waits
 * for other streams as its `after` says. In a zone, between two resets, the writes of several streams
 * come as they come and go to the write pointer, and reads find them there; all else waits for what
 * the trace has before it in the zone. A stream computes for the `think` of a record before that, beside
 * the others; what is due while another one's read or write is under way begins when that has ended.
 * All records are kept in memory. */
class TraceStreams : public TraceZones {
public:
	static constexpr uint64_t most_records = 4 << 20, most_streams = 64;

	/* Reads the trace. Throws trace::TraceError for one with more records or streams, for a
	 * record that touches several zones, and for a wait for a record that comes later. */
	TraceStreams(std::shared_ptr<const TraceSurvey> survey, const wl::ZoneShare &device);
	void at(uint64_t ns) override { now_ns_ = ns; }
	wl::Step next(wl::Request &request) override;
	void complete(const wl::Request &request, uint16_t status, uint64_t result) override;
	uint32_t progress_ppm() const override { return uint32_t(completed_ * 1000000 / total_); }

private:
	struct Coming {
		trace::Record record;
		uint64_t number, life; /* in the trace; of its zone: how many resets came before */
	};
	struct Stream : Lane {
		std::deque<Coming> coming;
		uint64_t read = 0, completed = 0; /* records */
		uint64_t begun = 0;               /* number of the record in the lane */
		uint64_t due_ns = 0;              /* that record */
		bool placed = false;              /* it has its place in the zone */
		bool under_way = false;           /* a command */
		bool flushing = false;            /* it is a Flush */
	};
	struct Zone {
		uint64_t resets_read = 0, life = 0, written = 0; /* blocks */
		std::set<uint64_t> waiting;                      /* numbers of records that are not issued */
		std::vector<uint32_t> place;                     /* of the trace's blocks in this life */
	};
	wl::Step pick(Lane *&lane) override;
	void take(trace::Record record);
	Stream &stream_of(uint64_t number);
	void refer(trace::Record &record) const;
	bool has_turn(const Coming &next) const;
	bool may_begin(const Stream &stream) const;
	void begin(Stream &stream);
	void place(Stream &stream);
	void leave_zone(const Stream &stream);
	void end_record(Stream &stream);

	std::deque<Stream> streams_;
	std::map<uint64_t, uint32_t> index_; /* of a stream, by its number in the trace */
	std::map<uint64_t, Zone> zones_;
	uint64_t now_ns_ = 0;
	uint64_t total_ = 0, completed_ = 0; /* records */
};

} // namespace hz::replay
