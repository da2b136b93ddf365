// The flash of one device: its configured times, and measurements on the rig and on the machine.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace nandbench {

// For the machine: writes the parameter block of flashbench.elf to a file, and prints QEMU's
// parameters for it as JSON.
void write_plan(const std::string &device, const std::string &block);
// Measures on the rig, reads the block left by flashbench.elf (none if empty), prints the table,
// and writes JSON to `out` unless that is empty. False if one of them differs from the expected
// time.
bool measure_device(const std::string &device, const std::string &image_block, const std::string &out);

} // namespace nandbench
