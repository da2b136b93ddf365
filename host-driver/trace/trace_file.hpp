/* Contents of a trace file, line by line or record by record; it may be compressed. Constant
 * memory. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hz::trace {

/* The first bytes, not the name, determine the compression: xz, gzip and zstd data go through the
 * tool of that name, started without a shell. Irregular files, lines longer than max_line bytes,
 * NULs in lines, truncated records and damaged archives throw TraceError. */
class TraceFile {
public:
	static constexpr size_t max_line = 4096;

	explicit TraceFile(const std::string &path);
	/* Content in memory, for tests and fuzzing; `name` is used in messages. */
	TraceFile(std::string_view content, const std::string &name);
	TraceFile(const TraceFile &) = delete;
	TraceFile &operator=(const TraceFile &) = delete;
	~TraceFile();

	/* Next line without its end ("\n" or "\r\n"), the first one without a byte-order mark, valid until the next call; false at the end. */
	bool next_line(std::string_view &line);
	/* Next `size` bytes, at most 4096, valid until the next call; false at the end. */
	bool next_record(size_t size, std::string_view &record);
	/* Skips this number of bytes, which belong to the last record. */
	void skip(size_t size);
	/* The first bytes of the content, up to 4096; before any other call. */
	std::string_view head();
	uint64_t number() const { return number_; } /* of the last line or record, from 1 */
	const std::string &name() const { return name_; }
	/* The tool that unpacks it; nullptr: it is not compressed. */
	const char *compression() const { return tool_; }
	[[noreturn]] void fail(const std::string &sentence) const;
	/* Read part of the file, in compressed bytes: 0 to 1000000. */
	uint32_t progress_ppm() const;

private:
	std::string start_tool(const char *tool);
	void close_files();
	bool refill();
	bool gather(size_t size);
	void finish_tool();

	std::string name_;
	int fd_ = -1;   /* of the content: the file, or the pipe that the tool writes to */
	int file_ = -1; /* of the file */
	uint64_t file_bytes_ = 0;
	int tool_pid_ = -1;
	const char *tool_ = nullptr;
	std::vector<char> buffer_;
	size_t begin_ = 0, end_ = 0;
	bool eof_ = false;
	uint64_t number_ = 0;
};

} // namespace hz::trace
