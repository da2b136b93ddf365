// The commands that derive a trace from another one.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace hz::cli {

// trace convert, cut and scale.
void add_trace_edits(CLI::App &trace);

} // namespace hz::cli
