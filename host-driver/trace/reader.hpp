/* A trace file as a stream of records. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "trace/dialect.hpp"

#include <memory>
#include <string>
#include <vector>

namespace hz::trace {

/* Streaming, constant memory. Skips as many broken lines (or records of a binary file) as the
 * dialect allows; on the next one throws TraceError "file:line: …" with the expected form. */
class Reader : public RecordStream {
public:
	Reader(const std::string &path, const Dialect &dialect);
	/* With a look at the first lines before. */
	Reader(const std::string &path, const ReaderOptions &options);
	/* Content in memory. */
	Reader(std::string_view content, const std::string &name, const ReaderOptions &options);
	bool next(Record &record) override;
	const Dialect &dialect() const { return dialect_; }
	const TraceFile &file() const { return *file_; }
	/* Broken lines so far, and the first ones as sentences. */
	uint64_t skipped() const { return skipped_; }
	const std::vector<std::string> &skipped_lines() const { return skipped_lines_; }
	/* Properties of the lines so far that records do not have. */
	const LeftOut &left_out() const { return state_.left_out; }

	static constexpr size_t most_sentences = 10;

private:
	bool next_item(std::string_view &item);
	void pass_over(const std::string &why);

	std::unique_ptr<TraceFile> file_;
	Dialect dialect_;
	ParseState state_;
	uint64_t skipped_ = 0;
	std::vector<std::string> skipped_lines_;
};

} // namespace hz::trace
