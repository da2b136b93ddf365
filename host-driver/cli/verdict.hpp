// Verdict: whether a command's figures are repeatable, and the programs that produced them, for
// results of commands other than run.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

#include "session/machine/machine.hpp"

namespace hz::cli {

// For our own machine after its end, or another process's. Adds deterministic, deterministic_reason
// and software.
void add_verdict(nlohmann::json &result, Machine &machine, const MachineOptions &options);

} // namespace hz::cli
