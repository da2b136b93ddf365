/* A trace file as a stream of records. */
#pragma once

#include "trace/formats.hpp"
#include "trace/line_source.hpp"

#include <memory>
#include <string>

namespace hz::trace {

struct ReaderOptions {
	std::string format = "auto";
	uint64_t time_unit_ns = 0;
};

/* Which format the first lines are in. Throws TraceError when none fits, or more than one (then --format decides). */
const Format &detect_format(LineSource &lines);

/* Streaming, constant memory. Throws TraceError "file:line: …" with what was expected on the first broken line. */
class Reader : public RecordStream {
public:
	Reader(const std::string &path, const ReaderOptions &options);
	/* Text in memory. */
	Reader(std::string_view text, const std::string &name, const ReaderOptions &options);
	bool next(Record &record) override;
	const Format &format() const { return *format_; }
	uint64_t line_number() const { return lines_->line_number(); }

private:
	const Format &choose(LineSource &sample, const ReaderOptions &options);

	std::unique_ptr<LineSource> lines_;
	const Format *format_;
	ParseState state_;
};

} // namespace hz::trace
