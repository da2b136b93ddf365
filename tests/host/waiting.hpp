// Helpers for tests of the session: wait for a condition, find a process, catch an error.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "session/machine/error.hpp"

namespace session_test {

// Polls every 10 ms, as often as `limit` allows. No time is measured: if this thread gets no CPU,
// the awaited process gets none either.
inline bool within(std::chrono::milliseconds limit, const std::function<bool()> &condition)
{
	constexpr std::chrono::milliseconds pause{10};
	for (auto looks = limit / pause; looks; looks--, std::this_thread::sleep_for(pause))
		if (condition())
			return true;
	return condition();
}

// False for a zombie too: an orphan in a container may have no init that reaps it.
inline bool runs(int pid)
{
	std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
	std::string id, name, state;
	stat >> id >> name >> state;
	return pid > 0 && stat && state != "Z" && state != "X";
}

// "" if there was none.
template <class Action> std::string error_of(Action action)
{
	try {
		action();
	} catch (const hz::Error &e) {
		return e.what();
	}
	return "";
}

} // namespace session_test
