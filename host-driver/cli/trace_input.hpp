// TraceInput: the trace that a command reads, with the options how, progress with ETA, and Ctrl-C.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

#include "cli/trace_flags.hpp"
#include "replay/progress.hpp"
#include "trace/reader.hpp"

namespace hz::cli {

struct TraceInputFlags {
	std::string file;
	TraceFlags reading;

	void add_to(CLI::App &command);
};

class TraceInput : public trace::RecordStream {
public:
	// `doing` is the verb of the progress line: "reading".
	TraceInput(const TraceInputFlags &flags, const std::string &doing);
	// Throws trace::TraceError and Interrupted.
	bool next(trace::Record &record) override;
	const trace::Reader &reader() const { return reader_; }
	uint64_t records() const { return records_; } // read so far
	// A warning on stderr if lines were passed over.
	void tell_skipped() const;

private:
	trace::Reader reader_;
	replay::Progress progress_;
	uint64_t records_ = 0;
};

} // namespace hz::cli
