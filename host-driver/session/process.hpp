// Process: a child that does not outlive its owner.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hz {

class Process {
public:
	Process() = default;
	Process(Process &&other) noexcept;
	Process &operator=(Process &&other) noexcept;
	// Kills and reaps.
	~Process();

	// Starts argv[0] (a path, or a name in PATH) in a session of its own, stdout and stderr into `log`, stdin from /dev/null
	// or from `input`. With `dies_with_parent` the kernel kills it when the calling thread
	// or its process ends, so a long-lived thread should start it.
	static Process start(const std::vector<std::string> &argv, const std::filesystem::path &log, bool dies_with_parent = true,
			     int input = -1);

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
	int pid_ = -1, pidfd_ = -1, code_ = 0;
};

// Path of a program in PATH, or empty.
std::filesystem::path find_program(const std::string &name);

} // namespace hz
