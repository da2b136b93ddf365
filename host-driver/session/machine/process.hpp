// Process: a child that does not outlive its owner.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hz {

struct ChildSetup;

class Process {
public:
	Process() = default;
	Process(Process &&other) noexcept;
	Process &operator=(Process &&other) noexcept;
	// Kills and reaps.
	~Process();

	struct Options {
		// The kernel kills it when the calling thread or its process ends, so a long-lived thread should start it.
		bool dies_with_parent = true;
		int input = -1;                      // its stdin; -1: /dev/null
		int kept = -1;                       // a descriptor inherited under the same number; -1: none
		std::filesystem::path folder{};      // where it runs; empty: where the caller does
		std::vector<std::string> settings{}; // NAME=VALUE, override the environment
	};
	// Starts argv[0] (a path, or a name in PATH) in its own session, with stdout and stderr
	// into `log`, and the maximum number of open files.
	static Process start(const std::vector<std::string> &argv, const std::filesystem::path &log, const Options &options);
	static Process start(const std::vector<std::string> &argv, const std::filesystem::path &log);
	// Starts a program that works for the caller, with its terminal; when the calling thread or its process ends it gets SIGTERM. settings:
	// as above. output: takes its stdout and stderr; -1: they go where the caller's go.
	static Process start_in_foreground(const std::vector<std::string> &argv, const std::vector<std::string> &settings, int output = -1);

	int pid() const { return pid_; }
	// Readable when the child has ended; -1 when none was started.
	int pidfd() const { return pidfd_; }
	bool running();
	// Exit code, or 128 + signal; only after running() said false.
	int exit_code() const { return code_; }
	void signal(int number) const;
	// True if it ended within the time.
	bool wait(int milliseconds);
	// Sleeps until it has ended, at most so long; changes nothing, so that another thread may ask at the same time.
	void await(int milliseconds) const;

private:
	static Process run(const ChildSetup &setup);

	int pid_ = -1, pidfd_ = -1, code_ = 0;
};

// Absolute path of a program, from PATH or a given path; empty if it cannot be started.
std::filesystem::path find_program(const std::string &name);

} // namespace hz
