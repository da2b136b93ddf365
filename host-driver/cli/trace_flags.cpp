// TraceFlags: from command line words to trace::ReaderOptions.
// SPDX-License-Identifier: BSD-3-Clause
#include "cli/trace_flags.hpp"

#include <vector>

#include "cli/options.hpp"
#include "config/quantity.hpp"
#include "trace/formats.hpp"

namespace hz::cli {

namespace {

std::span<const std::string_view> format_words()
{
	static const std::vector<std::string_view> words = [] {
		std::vector<std::string_view> all{"auto"};
		for (const trace::Format &format : trace::formats())
			all.push_back(format.name);
		return all;
	}();
	return words;
}

// "us" is "1us".
std::string take_time_unit(const std::string &text, uint64_t &out)
{
	const bool number = text.front() >= '0' && text.front() <= '9';
	const auto unit = conf::parse_duration_ns(number ? text : "1" + text);
	if (!unit || *unit < 1 || *unit > 1000000000)
		return "takes ns, us, ms, s, or a duration from 1ns to 1s such as 100ns, not '" + text + "'";
	out = *unit;
	return {};
}

} // namespace

void TraceFlags::add_to(CLI::App &command)
{
	add_choice(command, "--format", format, format_words(),
		   "Format of the trace. Default: auto, detected from the first lines. E.g. --format mqsim");
	add_option(command, "--time-unit", "ns|us|ms|s|TIME",
		   "What one unit of the trace's times is, where it is not the format's usual one. E.g. --time-unit us, --time-unit 100ns",
		   [this](const std::string &text) { return take_time_unit(text, time_unit_ns); });
	add_count(command, "--skip-bad", skip_bad, 0, most_count,
		  "Skip up to N unreadable lines (counted and listed); fail on the next one. Default: 0. E.g. --skip-bad 10");
}

} // namespace hz::cli
