// Called: how the user calls this program: ./hartzone in a source tree, hartzone where it was installed.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace hz::cli {

// Texts name our commands as in a source tree. Returns the text with this program's own command
// name; `build` and `setup` exist in a tree only and stay.
std::string as_called(std::string text);

// Applies as_called() to every --help of the app.
void name_in_help(CLI::App &app);

} // namespace hz::cli
