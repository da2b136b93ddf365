// Child: a program that works for a command, in the foreground: with our terminal, and ended with us, however we end.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace hz::cli {

struct Child {
	std::vector<std::string> words;    // [0]: its path, or a name in PATH
	std::vector<std::string> settings; // NAME=VALUE, override our own environment
	int output = -1;                   // of a file for its output; -1: our own output
	std::function<bool()> forsaken{};  // polled at least every 100 ms; true: its reason to run is gone, and it gets a SIGTERM; or empty
};

// Runs it to its end; its exit code, or 128 + signal. A signal to us is passed on once, as SIGTERM. Calls forsaken in the caller's
// thread. Throws Error if it cannot be started.
int call(const Child &child);

struct Printed {
	int code;
	std::string text; // standard output and error
};
// The same for a program that is run for its output.
Printed listen_to(const std::vector<std::string> &words);

} // namespace hz::cli
