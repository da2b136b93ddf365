// TraceInput: reads one trace.
// SPDX-License-Identifier: BSD-3-Clause
#include "cli/trace_input.hpp"

#include <cinttypes>
#include <cstdio>
#include <filesystem>

#include "cli/options.hpp"
#include "session/machine/interrupt.hpp"

namespace hz::cli {

namespace {

constexpr double first_progress_s = 2, next_progress_s = 10; // where stderr is no terminal

} // namespace

void TraceInputFlags::add_to(CLI::App &command)
{
	command.add_option("file", file, "The trace, plain or compressed by xz, gzip or zstd")->required()->type_name("");
	reading.add_to(command);
}

TraceInput::TraceInput(const TraceInputFlags &flags, const std::string &doing)
	: reader_(flags.file, flags.reading.reader_options()),
	  progress_(doing + " " + std::filesystem::path(flags.file).filename().string(), first_progress_s, next_progress_s)
{
}

bool TraceInput::next(trace::Record &record)
{
	if (++records_ % (8 * replay::records_per_look) == 0) {
		check_interrupted();
		progress_.show(reader_.file().progress_ppm());
	}
	if (reader_.next(record))
		return true;
	records_--;
	return false;
}

void TraceInput::tell_skipped() const
{
	for (const auto &[what, times] : reader_.left_out())
		std::fprintf(stderr, "hartzone: left out, since no operation and no word says it: %s: %" PRIu64 "\n", what.c_str(), times);
	if (!reader_.skipped())
		return;
	std::fprintf(stderr, "hartzone: %" PRIu64 " lines or records were passed over; the first ones:\n", reader_.skipped());
	for (const std::string &line : reader_.skipped_lines())
		std::fprintf(stderr, "  %s\n", line.c_str());
}

} // namespace hz::cli
