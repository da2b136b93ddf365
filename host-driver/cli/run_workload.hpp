// Run: boot a device, prepare it, replay a workload or trace on it, account for everything.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

#include "results/run_facts.hpp"
#include "session/machine/machine.hpp"
#include "workload/spec.hpp"

namespace hz::cli {

// The main job as a library call, for the run command, benches and studies. `title` is shown in the
// progress line. Machine options are used unchanged, except shm_bytes, which follows from the
// workload. Throws Error and its subclasses; the machine has ended then.
res::RunFacts run_workload(MachineOptions machine, wl::Workload workload, const std::string &title);

// Programs of such a run: the entry "software" of a result. qemu_greeting: from Machine.
nlohmann::json software_of(const MachineOptions &machine, const std::string &qemu_greeting);

// The same on another process's machine, which stays up. Uses empty zones only; with overwrite,
// also conventional zones and blocks.
res::RunFacts run_workload_on(Machine &attached, bool overwrite, wl::Workload workload, const std::string &title);

} // namespace hz::cli
