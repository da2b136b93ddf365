// RunRecorded: repeats a recording of hosts' commands on our own machine.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "fabrics/record.hpp"
#include "results/run_facts.hpp"
#include "session/machine/machine.hpp"

namespace hz::cli {

// Boots, repeats and shuts down; the facts contain the comparison with the recording. `file`: name
// of the recording. Throws Error and its subclasses; the machine has ended then.
res::RunFacts run_recorded(MachineOptions options, const fabrics::Recording &recording, const std::string &file);

} // namespace hz::cli
