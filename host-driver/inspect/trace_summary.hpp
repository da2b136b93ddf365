/* What is in a trace: one pass, constant memory. docs/reference/traces.md says how each figure is found and how exact it is. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "inspect/footprint.hpp"
#include "inspect/popularity.hpp"
#include "results/histogram.hpp"
#include "trace/formats.hpp"

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <vector>

namespace hz::inspect {

class TraceSummary {
public:
	void add(const trace::Record &record);
	nlohmann::json to_json();

private:
	static constexpr size_t most_streams = 65536, followed = 4096;
	static constexpr uint64_t block = 4096, second = 1000000000;
	struct Kind {
		uint64_t records = 0, bytes = 0, sequential = 0;
		res::Histogram sizes;
	};
	struct Follower { /* of a stream's requests of one kind */
		uint64_t stream = 0, end = UINT64_MAX;
	};

	void note_time(uint64_t time_ns);
	void note_stream(uint64_t stream);
	void note_marks(const trace::Record &record);
	void note_place(const trace::Record &record, Kind &kind);
	nlohmann::json times() const;
	nlohmann::json kinds() const;
	nlohmann::json footprint();
	nlohmann::json skew();

	uint64_t records_ = 0, unaligned_ = 0;
	uint64_t first_ns_ = 0, last_ns_ = 0, span_ns_ = 0, backwards_ = 0; /* last_ns_: of the record before */
	uint64_t current_second_ = 0, in_current_ = 0, busiest_ = 0;
	uint64_t end_ = 0; /* of the highest address */
	std::array<Kind, trace::operations> kinds_;
	trace::LeftOut marks_; /* records by their marks, as the native format names them */
	std::vector<Follower> followers_ = std::vector<Follower>(2 * followed);
	std::unordered_set<uint64_t> streams_;
	uint64_t last_stream_ = 0;
	Cardinality stream_sketch_;
	Footprint footprint_;
	Popularity popularity_;
};

} // namespace hz::inspect
