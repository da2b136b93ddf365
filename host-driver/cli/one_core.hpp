// OneCore: a command and the device that it boots take turns on one core of the host.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "session/machine/machine.hpp"

namespace hz::cli {

// To be called by a command, not by what is a library to others, before it boots a device with these options and before it has threads. Under
// the virtual clock the calling thread, its later threads and its children then stay on one core of those that they may use: device and host
// mostly wait for each other, and to wake a thread of another core costs more than the little that would run beside it. A core takes one such
// process at a time; who finds none free is moved about by the kernel, as are those whose options have a key `pin` of the clock, by which the
// user chooses.
void stay_on_one_core(const MachineOptions &options);

} // namespace hz::cli
