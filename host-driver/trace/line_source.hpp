/* Lines of a text file that may be compressed; constant memory. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hz::trace {

/* Compression is told by the first bytes, not the name: xz, gzip and zstd data go through the tool of that name, started
 * without a shell. What is no regular file, lines longer than max_line bytes, embedded NULs and damaged archives throw TraceError. */
class LineSource {
public:
	static constexpr size_t max_line = 4096;

	explicit LineSource(const std::string &path);
	/* Text in memory, for tests and fuzzing; `name` is used in messages. */
	LineSource(std::string_view text, const std::string &name);
	LineSource(const LineSource &) = delete;
	LineSource &operator=(const LineSource &) = delete;
	~LineSource();

	/* Next line without its end ("\n" or "\r\n"), valid until the next call; false at the end. */
	bool next(std::string_view &line);
	uint64_t line_number() const { return line_number_; } /* of the last line, from 1 */
	const std::string &name() const { return name_; }
	[[noreturn]] void fail(const std::string &sentence) const;
	/* How much of the file, compressed as it is, was read: 0 to 1000000. */
	uint32_t progress_ppm() const;

private:
	std::string start_tool(const char *tool);
	void close_files();
	bool refill();
	void finish_tool();

	std::string name_;
	int fd_ = -1;   /* of the text: the file, or the pipe that the tool writes to */
	int file_ = -1; /* of the file */
	uint64_t file_bytes_ = 0;
	int tool_pid_ = -1;
	const char *tool_ = nullptr;
	std::vector<char> buffer_;
	size_t begin_ = 0, end_ = 0;
	bool eof_ = false;
	uint64_t line_number_ = 0;
};

} // namespace hz::trace
