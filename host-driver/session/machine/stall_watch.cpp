// StallWatch: two sums since the last beat, time asleep and CPU time. TimeGiven: one of both.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/machine/stall_watch.hpp"

#include <algorithm>

namespace hz {

void TimeGiven::look(Clock::time_point now, const ProcessLoad &load)
{
	const Clock::duration step = std::min<Clock::duration>(now - last_look_.value_or(now), longest_step);
	passed_ += load.wants_cpu ? std::clamp<Clock::duration>(load.cpu - cpu_, Clock::duration::zero(), step) : step;
	last_look_ = now;
	cpu_ = load.cpu;
}

std::string StallWatch::look(Clock::time_point now, uint32_t heartbeat, bool awaited, const ProcessLoad &load)
{
	const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(now - last_look_);
	last_look_ = now;
	if (!awaited || !counting_ || heartbeat != heartbeat_) {
		counting_ = awaited;
		heartbeat_ = heartbeat;
		cpu_at_beat_ = load.cpu;
		asleep_ = {};
		return {};
	}
	const auto busy = load.cpu - cpu_at_beat_;
	asleep_ = load.wants_cpu ? std::chrono::milliseconds(0) : asleep_ + std::min(passed, longest_step);
	if (asleep_ >= idle_limit)
		return "the firmware stopped beating: QEMU has been asleep for " + std::to_string(asleep_.count() / 1000) +
		       " s while the device had work";
	if (heartbeat && busy >= busy_limit_)
		return "the firmware stopped beating: no turn of its host interface in " + std::to_string(busy.count() / 1000) +
		       " s of QEMU's CPU time";
	return {};
}

} // namespace hz
