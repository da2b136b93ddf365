// Measurements of a device's flash: patterns of operations, and their expected times.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flashbench.h"

namespace nandbench {

// The measured time of a pattern.
enum class Figure { whole, first, second, second_mean }; // until its last end; of a group's slowest, or their mean, from coming to end

struct Row {
	std::string name;
	hz_flashbench_pattern pattern{};
	Figure figure = Figure::whole;
	std::optional<uint64_t> formula_ns; // from the configuration alone
	bool exact = true;                  // else the formula is the least that it can be
	uint64_t bus_ns = 0;                // commands and data of all its operations
	uint64_t prepare_bus_ns = 0;        // of the erases before
};

// The flash of a device, its scheduler and its clock, with as few blocks and pages as the patterns
// need; without faults.
hz_device_config flash_of(const hz_device_config &device);
std::vector<Row> plan(const hz_device_config &flash);
uint64_t figure_ns(const Row &row, const hz_flashbench_pattern &measured);
// First come, first served, under any `schedule`.
bool is_fifo(const hz_device_config &cfg);

} // namespace nandbench
