/* One operation of a trace, whatever its format was. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <cstdint>
#include <stdexcept>

namespace hz::trace {

enum class Op : uint8_t { read, write, append, flush, trim, reset, finish, open, close };

/* On addresses, of any device: read, write and trim. */
inline bool moves_data(Op op) { return op == Op::read || op == Op::write || op == Op::trim; }

struct Record {
	uint64_t time_ns = 0;      /* of arrival; each format has its own zero */
	uint64_t stream = 0;       /* device, volume, file, process or queue of the trace: what happens in it happens in order */
	bool shared_space = false; /* all streams use one address space; else each has its own */
	Op op = Op::read;
	bool zoned = false; /* `zone` is given and offset counts from the start of that zone (native format) */
	uint32_t zone = 0;
	uint64_t offset = 0; /* bytes */
	uint64_t bytes = 0;
	bool durable = false; /* write, append: durable when it completes (native format) */
};

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
