// OneCore: a command and its device take turns on one core of the host.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "session/machine/machine.hpp"

namespace hz::cli {

// Called by a command (not by a library) before it boots a device with these options and before it
// starts threads. Under the virtual clock the calling thread, its later threads and its children
// then stay on one of their allowed cores: device and host mostly wait for each other, and waking a
// thread on another core costs more than the small gain from parallelism. A core takes one such
// process at a time; if none is free, the kernel schedules the process freely. The same holds if
// the options have the clock's key `pin`, by which the user chooses.
void stay_on_one_core(const MachineOptions &options);

} // namespace hz::cli
