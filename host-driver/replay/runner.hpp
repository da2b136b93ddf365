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

/* Opens all ports, runs a host thread for each and waits for all. When one fails, `abort` is called
 * once; it must end the waits of the others (device time stands while a queue is idle). The first
 * exception is rethrown here. `title` is shown with progress and ETA on stderr. After a request to
 * stop (session/machine/interrupt.hpp), commands under way are finished and no new ones begun. */
std::vector<res::QueueAccount> run_phase(const std::vector<PhaseThread> &threads, const std::string &title, std::function<void()> abort);

} // namespace hz::replay
