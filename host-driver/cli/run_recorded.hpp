// RunRecorded: repeats a recording of hosts' commands on our own machine.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fabrics/dependencies.hpp"
#include "results/run_facts.hpp"
#include "session/machine/machine.hpp"

namespace hz::cli {

struct RepeatJob {
	const fabrics::Recording &recording;
	std::string file;                                // its name
	std::optional<std::vector<fabrics::Wait>> waits; // of each command, or nothing: at the recorded arrivals
	std::string record;                              // where the repeat is recorded; empty: nowhere
};

// Boots, repeats and shuts down; the facts contain the comparison with the recording. Throws Error and its
// subclasses; the machine has ended then.
res::RunFacts run_recorded(MachineOptions options, const RepeatJob &job);

} // namespace hz::cli
