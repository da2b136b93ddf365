// Output: where results go is tried before a run starts, and a result that could not be written is no success.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace hz::cli {

// Makes the file if it is missing; empty: nothing to do. Throws Error with the option's name and the cause.
void require_writable_file(const char *option, const std::string &file);
// The same with a folder and those above it.
void require_writable_folder(const char *option, const std::string &folder);
// Flushes standard output. Throws Error if any of it was lost.
void flush_output();

} // namespace hz::cli
