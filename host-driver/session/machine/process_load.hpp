// ProcessLoad: another process's use of the host's CPUs, from /proc.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

namespace hz {

struct ProcessLoad {
	bool alive = false;               // there is such a process, and it is no zombie
	std::chrono::milliseconds cpu{0}; // used by all its threads so far, in steps of 10 ms
	bool wants_cpu = false;           // some thread runs, waits for a CPU or a disk, or is held by a debugger
	bool killed = false;              // SIGKILL is on its way: the process is as good as dead, however long it waits for a CPU to die
};

// All zero when there is no such process.
ProcessLoad load_of(int pid);

} // namespace hz
