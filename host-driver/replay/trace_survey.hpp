/* Survey: reads the whole trace before the device boots, to check every line, count the records,
 * and choose how to divide them among the threads. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "trace/reader.hpp"
#include "workload/spec.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <memory>

namespace hz::replay {

struct TraceSurvey {
	struct Stream {
		uint64_t records = 0;
		uint32_t rank = 0; /* among the numbers of all streams, ascending */
	};
	wl::TraceSpec spec;
	trace::Dialect dialect;
	uint64_t records = 0;               /* of one pass; spec.max_ops at most */
	uint64_t first_ns = 0, span_ns = 0; /* time of the first record; from there to the latest one */
	bool shared_space = false;
	uint64_t first_sector = UINT64_MAX, end_sector = 0, most_sectors = 0; /* of the addresses in use, of one request */
	std::map<uint64_t, Stream> streams;                                   /* by number; empty if there are more than most_streams */
	uint64_t skipped = 0;
	std::vector<std::string> skipped_lines;
	trace::LeftOut left_out;              /* by the reader, and properties that no replay command can express */
	wl::Split split = wl::Split::address; /* as decided */
	uint64_t chunk_sectors = most_chunk;  /* split address: a power of two */

	static constexpr size_t most_streams = 65536;
	static constexpr uint64_t most_chunk = 256; /* 1 MiB */

	/* Split stream, and flushes: streams are dealt out to the threads in turn, in the order of their numbers. */
	uint32_t thread_of_stream(uint64_t stream) const;
	/* Arrival of a record since the first one, as device time; 0 with timing closed. */
	uint64_t arrival_ns(uint64_t time_ns) const;
	/* by_zone: the replay's actual division, overriding `split`. */
	nlohmann::json to_json(bool by_zone) const;
};

/* Longest open replay; two of the 26 days of device time are reserved for the phases before it. */
inline constexpr uint64_t longest_replay_ns = 24ull * 24 * 3600 * 1000000000;

/* Reads the trace once and decides. Shows its progress on stderr. Throws trace::TraceError
 * ("file:line: …") on the first line that cannot be read, or with a time beyond longest_replay_ns,
 * and Interrupted. */
std::shared_ptr<const TraceSurvey> survey_trace(const wl::TraceSpec &spec);

/* Split auto. A stream stays in order only within one thread, so streams are divided if they are
 * enough, no thread gets more than twice its share, and no two of them share addresses. Else
 * addresses are divided. */
wl::Split choose_split(const TraceSurvey &survey);

/* The largest power of two, up to 1 MiB, that gives each thread many chunks of the addresses in use, and cuts no request into more than
 * two pieces if it can. */
uint64_t choose_chunk(const TraceSurvey &survey);

} // namespace hz::replay
