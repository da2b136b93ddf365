/* The timeline of a measurement, in the format of Perfetto (ui.perfetto.dev) and chrome://tracing. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "results/run_facts.hpp"

#include <string>

namespace hz::res {

/* Maximum commands of a queue in the timeline. */
inline constexpr size_t most_command_spans = 50000;

struct Timeline {
	std::string json;      /* trace events: processes harts, flash and commands, in device time from the first arrival */
	uint64_t left_out = 0; /* spans that are not in it, since there were too many */
	uint64_t shown = 0;    /* spans that are */
};

/* spans: output of the virtual clock's plugin (vclock/profile/timeline.h). */
Timeline timeline_of(const RunFacts &facts, const std::string &spans);

} // namespace hz::res
