/* Runner: the threads of one phase, their progress and their end. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "replay/replay_thread.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace hz::replay {

struct PhaseThread {
	Port *port = nullptr;
	wl::Source *source = nullptr;
	ThreadOptions options;
};

/* Opens all ports, runs a host thread for each and waits for all. When one fails, `abort` is called once; it must make the others'
 * waits end (device time stands while a queue is left alone). The first exception is thrown again here. `title` is shown with
 * progress and ETA on stderr. When a stop is asked for (session/machine/interrupt.hpp), what is under way is finished and nothing more begun. */
std::vector<res::QueueAccount> run_phase(const std::vector<PhaseThread> &threads, const std::string &title, std::function<void()> abort);

} // namespace hz::replay
