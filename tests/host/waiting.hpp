// What tests of the session ask of the world outside: does it come, does that process run, what was the error.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "session/error.hpp"

namespace session_test {

// Looks every 10 ms until `limit` is over.
inline bool within(std::chrono::milliseconds limit, const std::function<bool()> &condition)
{
	using Clock = std::chrono::steady_clock;
	for (auto until = Clock::now() + limit; Clock::now() < until; std::this_thread::sleep_for(std::chrono::milliseconds(10)))
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
