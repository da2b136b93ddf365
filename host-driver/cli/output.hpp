// Output: where results go is tried before a run starts, and a result that could not be written is no success.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <initializer_list>
#include <string>

namespace hz::cli {

// Makes the file if it is missing; empty: nothing to do. Throws Error with the option's name and the cause.
void require_writable_file(const char *option, const std::string &file);
// A file that an option names; empty: it names none.
struct NamedFile {
	const char *option;
	std::string file;
};
// Throws Error if the file to be written is one of the others: what that has would be lost.
void require_apart(const NamedFile &written, std::initializer_list<NamedFile> others);
// The same as require_writable_file with a folder and those above it.
void require_writable_folder(const char *option, const std::string &folder);
// Flushes standard output. Throws Error if any of it was lost.
void flush_output();

} // namespace hz::cli
