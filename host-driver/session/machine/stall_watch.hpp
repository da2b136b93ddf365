// StallWatch: tells a guest that is stuck from one that is merely slow.
//
// A firmware that runs beats: its host interface counts up shm.h's heartbeat, also while it waits for the host. So no beat while
// somebody waits for the device means one of three: the guest gets no CPU (a loaded host: patience), it burns CPU without coming
// round (stuck in a loop), or it does not even ask for CPU (stopped, or all harts asleep for good). CPU time and the state of
// QEMU's threads tell which; wall time alone never does.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "process_load.hpp"

namespace hz {

// The time that a process has had: what it slept and what it computed, but not what it waited for a CPU. Limits that tell a peer that does not
// answer from one that has no chance to do so count this.
class TimeGiven {
public:
	using Clock = std::chrono::steady_clock;

	static constexpr std::chrono::milliseconds longest_step{500}; // as below

	// Call about five times a second. What passed before the first call does not count.
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

	static constexpr std::chrono::milliseconds idle_limit{5000};  // of QEMU sleeping without a beat
	static constexpr std::chrono::milliseconds busy_limit{20000}; // of CPU time of QEMU without a beat
	static constexpr std::chrono::milliseconds longest_step{500}; // a longer gap between looks: the host stood, not the guest

	explicit StallWatch(std::chrono::milliseconds busy = busy_limit) : busy_limit_(busy) {}

	// Call about five times a second; `awaited`: somebody waits for the device, else `load` does not matter. With no beat ever (boot)
	// only sleeping counts. Returns one sentence once the guest is stuck, else nothing.
	std::string look(Clock::time_point now, uint32_t heartbeat, bool awaited, const ProcessLoad &load);

private:
	std::chrono::milliseconds busy_limit_;
	Clock::time_point last_look_{};
	bool counting_ = false;
	uint32_t heartbeat_ = 0;
	std::chrono::milliseconds cpu_at_beat_{0}, asleep_{0};
};

} // namespace hz
