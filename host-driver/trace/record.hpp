/* One operation of a trace, independent of its format. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

namespace hz::trace {

enum class Op : uint8_t { read, write, append, flush, trim, reset, finish, open, close, reset_all };
inline constexpr size_t operations = size_t(Op::reset_all) + 1;

/* Operations on addresses, of any device: read, write and trim. */
inline bool moves_data(Op op) { return op == Op::read || op == Op::write || op == Op::trim; }
inline bool stores(Op op) { return op == Op::write || op == Op::append; }

/* Marks of a record that no NVMe command of a replay can express: kept, and counted as left out
 * there. */
enum Hint : uint16_t {
	hint_sync = 1,        /* synchronous: a process waits for it */
	hint_metadata = 2,    /* of a file system */
	hint_ahead = 4,       /* read-ahead: not yet requested */
	hint_atomic = 8,      /* whole or not at all */
	hint_secure = 16,     /* trim: no copy may stay */
	hint_urgent = 32,     /* before others */
	hint_background = 64, /* after others */
};
inline constexpr size_t hints = 7;

/* A wait of a record for another stream: until that one's first `records` records have completed.
 * 0 records: none. */
struct After {
	uint64_t stream = 0, records = 0;
	bool operator==(const After &) const = default;
};
inline constexpr size_t most_afters = 2; /* of a record */

struct Record {
	uint64_t time_ns = 0;      /* of arrival; each format has its own zero */
	uint64_t stream = 0;       /* device, volume, file, process or queue of the trace: its operations are in order */
	bool shared_space = false; /* all streams use one address space; else each has its own */
	Op op = Op::read;
	bool zoned = false; /* `zone` is given and offset counts from the start of that zone (native format) */
	uint32_t zone = 0;
	uint64_t offset = 0; /* bytes */
	uint64_t bytes = 0;
	bool durable = false;     /* write, append: durable when it completes (FUA) */
	bool flush_first = false; /* write, append: begins after earlier completed writes are durable (a Flush before it) */
	uint16_t hints = 0;       /* of enum Hint */
	std::array<After, most_afters> after{};
	uint64_t think_ns = 0; /* the stream's own computing before it */
};

/* Properties of a trace that its records, or their replay, lack: count of each. */
using LeftOut = std::map<std::string, uint64_t, std::less<>>;

/* what() is "file:line: sentence". */
struct TraceError : std::runtime_error {
	using std::runtime_error::runtime_error;
};

/* Operations one after the other. */
class RecordStream {
public:
	virtual ~RecordStream() = default;
	virtual bool next(Record &record) = 0; /* false: the end */
};

} // namespace hz::trace
