// StallWatch: distinguishes a stuck guest from a slow one.
//
// A running firmware has a heartbeat: its host interface increments shm.h's counter, also while it
// waits for the host. So a missing beat while a caller waits for the device has one of three
// causes: the guest gets no CPU (a loaded host: patience), it uses CPU without a beat (stuck in a
// loop), or it does not even want CPU (stopped, or all harts asleep for good). CPU time and the
// state of QEMU's threads distinguish them; wall time alone never does.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "process_load.hpp"

namespace hz {

// Time that a process was able to use: sleeping and computing, but not waiting for a CPU. Limits
// that distinguish a silent peer from one without a chance to answer count this.
class TimeGiven {
public:
	using Clock = std::chrono::steady_clock;

	static constexpr std::chrono::milliseconds longest_step{500}; // as below

	// Call about five times a second. Time before the first call does not count.
	void look(Clock::time_point now, const ProcessLoad &load);
	Clock::duration passed() const { return passed_; }

private:
	std::optional<Clock::time_point> last_look_;
	std::chrono::milliseconds cpu_{0};
	Clock::duration passed_{0};
};

class StallWatch {
public:
	using Clock = std::chrono::steady_clock;

	static constexpr std::chrono::milliseconds idle_limit{5000};  // of sleep of QEMU without a beat
	static constexpr std::chrono::milliseconds busy_limit{20000}; // of CPU time of QEMU without a beat
	static constexpr std::chrono::milliseconds longest_step{500}; // a longer gap between looks: the host stood, not the guest

	explicit StallWatch(std::chrono::milliseconds busy = busy_limit) : busy_limit_(busy) {}

	// Call about five times a second; `awaited`: a caller waits for the device, else `load`
	// does not matter. Before the first beat (boot) only sleeping counts. Returns one sentence
	// once the guest is stuck, else an empty string.
	std::string look(Clock::time_point now, uint32_t heartbeat, bool awaited, const ProcessLoad &load);

private:
	std::chrono::milliseconds busy_limit_;
	Clock::time_point last_look_{};
	bool counting_ = false;
	uint32_t heartbeat_ = 0;
	std::chrono::milliseconds cpu_at_beat_{0}, asleep_{0};
};

} // namespace hz
