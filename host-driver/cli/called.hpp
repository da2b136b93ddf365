// Called: how the user calls this program: ./hartzone in a source tree, hartzone where it was installed.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace hz::cli {

// Texts name our commands as in a source tree. The same text with the name under which this program was called; `build` and `setup` exist
// in a tree only and stay.
std::string as_called(std::string text);

// Every --help of the app, as called.
void name_in_help(CLI::App &app);

} // namespace hz::cli
