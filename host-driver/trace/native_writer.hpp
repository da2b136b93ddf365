/* Records as lines of the native trace format. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "trace/record.hpp"

#include <string>
#include <vector>

namespace hz::trace {

/* Addresses and lengths in bytes (unit=1), so that nothing is rounded, for any source format. */
class NativeWriter {
public:
	/* A new file, or standard output for "-". Writes to a temporary file next to it, which
	 * finish() renames, so that there is never half a trace. Throws TraceError; an existing
	 * file is refused. */
	explicit NativeWriter(const std::string &path);
	NativeWriter(const NativeWriter &) = delete;
	NativeWriter &operator=(const NativeWriter &) = delete;
	~NativeWriter(); /* without finish(): removes what was written */

	/* All records of a trace agree on shared_space. */
	void put(const Record &record);
	void finish();
	uint64_t records() const { return records_; }

private:
	void write_out();

	std::string path_, part_;
	int fd_ = -1;
	std::vector<char> buffer_;
	size_t used_ = 0;
	uint64_t records_ = 0;
};

/* "0 3 write 4096 8192", at most longest_line characters, without a terminator; returns the end of
 * the text. */
inline constexpr size_t longest_line = 320;
char *write_line(char *out, const Record &record);

} // namespace hz::trace
