/* Counters of a queue during the measurement. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "results/digest.hpp"
#include "results/histogram.hpp"
#include "results/steady.hpp"

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hz::res {

/* Commands by kind; gc_* are the mapping's own reads and writes. Appends count as writes. */
enum class Kind : uint8_t { read, write, flush, zone, gc_read, gc_write, trim };
inline constexpr size_t kinds = 7;
inline constexpr std::array<std::string_view, kinds> kind_names = {"read", "write", "flush", "zone", "gc_read", "gc_write", "trim"};

/* ops, bytes and latency count successful commands only. */
struct KindAccount {
	uint64_t ops = 0, bytes = 0, errors = 0;
	Histogram latency;
	void merge(const KindAccount &other);
};

/* A command from its arrival to its completion, in device time. */
struct CommandSpan {
	Kind kind;
	uint64_t begin_ns, end_ns;
};

struct QueueAccount {
	unsigned qid = 0, nsid = 1;
	std::array<KindAccount, kinds> kind;
	std::map<uint16_t, uint64_t> errors; /* by NVMe status, SCT << 8 | SC */
	uint64_t submitted = 0, completed = 0, appends = 0;
	uint64_t verified_bytes = 0, mismatched_sectors = 0;
	std::string first_mismatch;
	uint64_t failures = 0; /* errors that the workload did not provoke */
	std::string first_failure;
	uint64_t first_arrival_ns = UINT64_MAX, last_completion_ns = 0;
	uint64_t late_arrivals = 0; /* open loop: arrived later than in the trace, because the queue was full or data depended */
	bool interrupted = false;   /* the user stopped it before its end */
	Series series;              /* commands that succeeded, but for the mapping's own */
	Digest digest;
	std::vector<CommandSpan> spans; /* the first ones, if the run keeps a timeline */

	KindAccount &of(Kind k) { return kind[size_t(k)]; }
	const KindAccount &of(Kind k) const { return kind[size_t(k)]; }
	void merge(const QueueAccount &other); /* everything but qid, nsid, digest and spans */
};

} // namespace hz::res
