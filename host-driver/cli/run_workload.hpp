// Run: boot a device, prepare it, replay a workload or trace on it, account for everything.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

#include "results/run_facts.hpp"
#include "session/machine/machine.hpp"
#include "workload/spec.hpp"

namespace hz::cli {

// The main job as a library call, for the run command, benches and studies. `title` goes into the progress line. Machine options
// are taken as they are, but for shm_bytes, which follows from the workload. Throws Error and its like; the machine is gone then.
res::RunFacts run_workload(MachineOptions machine, wl::Workload workload, const std::string &title);

// What such a run is made of: the entry "software" of a result. qemu_greeting: as Machine tells it.
nlohmann::json software_of(const MachineOptions &machine, const std::string &qemu_greeting);

// The same on a machine that another process keeps up, which runs on. Only empty zones are used; overwrite: and all that can be overwritten.
res::RunFacts run_workload_on(Machine &attached, bool overwrite, wl::Workload workload, const std::string &title);

} // namespace hz::cli
