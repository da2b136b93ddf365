// RunRecorded: a recording of what hosts did, on a machine of our own.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "fabrics/record.hpp"
#include "results/run_facts.hpp"
#include "session/machine/machine.hpp"

namespace hz::cli {

// Boots, repeats and shuts down, and says in the facts how far the device did the same. `file`: where the recording is from. Throws Error and
// its like; the machine is gone then.
res::RunFacts run_recorded(MachineOptions options, const fabrics::Recording &recording, const std::string &file);

} // namespace hz::cli
