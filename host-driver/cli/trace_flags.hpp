// TraceFlags: how a trace file is to be read, the same options for every command that reads one.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>

#include "trace/dialect.hpp"

namespace hz::cli {

struct TraceFlags {
	std::string format; // empty: not given
	uint64_t time_unit_ns = 0, skip_bad = 0;

	void add_to(CLI::App &command);
	trace::ReaderOptions reader_options() const { return {format.empty() ? "auto" : format, time_unit_ns, skip_bad}; }
};

} // namespace hz::cli
