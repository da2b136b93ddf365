// Verdict: whether a command's figures are the same each time, and which programs made them, for results that are not run's.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

#include "session/machine/machine.hpp"

namespace hz::cli {

// Of a machine that has ended, or of another process's. Adds deterministic, deterministic_reason and software.
void add_verdict(nlohmann::json &result, Machine &machine, const MachineOptions &options);

} // namespace hz::cli
