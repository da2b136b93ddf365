/* The timeline of a measurement, as Perfetto (ui.perfetto.dev) and chrome://tracing open it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "results/run_facts.hpp"

#include <string>

namespace hz::res {

/* Most commands of a queue that are kept for it. */
inline constexpr size_t most_command_spans = 50000;

struct Timeline {
	std::string json;      /* trace events: processes harts, flash and commands, in device time from the first arrival */
	uint64_t left_out = 0; /* spans that are not in it, since there were too many */
	uint64_t shown = 0;    /* spans that are */
};

/* spans: what the virtual clock's plugin wrote (vclock/profile/timeline.h). */
Timeline timeline_of(const RunFacts &facts, const std::string &spans);

} // namespace hz::res
