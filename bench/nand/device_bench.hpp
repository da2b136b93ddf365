// The flash of one device: what its data sheet says, what the rig measures, and what the machine does.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace nandbench {

// For the machine: writes the parameter block of flashbench.elf to a file, and prints as JSON what QEMU needs for it.
void write_plan(const std::string &device, const std::string &block);
// Measures on the rig, reads the block that flashbench.elf left (none if empty), prints the table, and writes JSON to `out` unless that is
// empty. False if one of them took another time than it must.
bool measure_device(const std::string &device, const std::string &image_block, const std::string &out);

} // namespace nandbench
