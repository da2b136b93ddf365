// A machine that a command boots for itself, on one core of the host with it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "session/machine.hpp"

namespace hz::cli {

// As Machine::launch. Under the virtual clock the calling thread, its later threads and its children then stay on one core of those that
// they may use: device and host mostly wait for each other, and to wake a thread of another core costs more than the little that would run
// beside it. A core takes one such program at a time; who finds none free is moved about by the kernel, as are those whose options have a
// key `pin` of the clock, by which the user chooses.
std::unique_ptr<Machine> launch_beside_us(const MachineOptions &options);

} // namespace hz::cli
