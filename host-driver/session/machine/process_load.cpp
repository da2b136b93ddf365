// ProcessLoad: the state of each thread, the times of the process.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/machine/process_load.hpp"

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>

namespace hz {

namespace {

namespace fs = std::filesystem;

// The fields after the name, which may contain any character: state first, user and system time in
// fields 12 and 13.
std::istringstream fields_of(const fs::path &file)
{
	std::string text;
	std::getline(std::ifstream(file), text);
	const size_t name_end = text.rfind(')');
	return std::istringstream(name_end == std::string::npos ? std::string() : text.substr(name_end + 1));
}

// A thread that reaps a child is reported as sleeping while the kernel works for it, which may take
// seconds on a loaded host; its wait channel shows that.
bool works_in_the_kernel(const fs::path &thread)
{
	std::string call;
	std::getline(std::ifstream(thread / "syscall"), call);
	return call == "running";
}

bool wants_cpu(const fs::path &thread)
{
	char state = 0;
	fields_of(thread / "stat") >> state;
	return state && (std::strchr("RDt", state) || (state == 'S' && works_in_the_kernel(thread)));
}

bool kill_pending(const fs::path &process)
{
	std::ifstream in(process / "status");
	for (std::string line; std::getline(in, line);)
		if (line.starts_with("SigPnd:") || line.starts_with("ShdPnd:"))
			if (std::stoull("0" + line.substr(line.find_last_of(" \t") + 1), nullptr, 16) >> (SIGKILL - 1) & 1)
				return true;
	return false;
}

} // namespace

ProcessLoad load_of(int pid)
{
	ProcessLoad load;
	const fs::path process = "/proc/" + std::to_string(pid);
	std::istringstream fields = fields_of(process / "stat");
	char state = 'X';
	fields >> state;
	load.alive = state != 'X' && state != 'Z';
	std::string skipped;
	for (int i = 0; i < 10; i++)
		fields >> skipped;
	int64_t user = 0, system = 0;
	fields >> user >> system;
	load.cpu = std::chrono::milliseconds((user + system) * 1000 / sysconf(_SC_CLK_TCK));
	std::error_code gone;
	for (fs::directory_iterator at(process / "task", gone), end; !gone && at != end; at.increment(gone))
		load.wants_cpu |= wants_cpu(at->path());
	load.killed = load.alive && kill_pending(process);
	return load;
}

} // namespace hz
