// PowerCutFlag: the option that cuts the device's power at an operation or a time, and the message
// about it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "session/machine/error.hpp"
#include "session/machine/machine.hpp"

namespace hz::cli {

struct PowerCutFlag {
	std::string text; // as given; empty: no cut

	// `after`: effect of the next start on the image, a sentence.
	void add_to(CLI::App &command, const std::string &after);
	void apply(MachineOptions &options) const;
};

// Prints that the power was cut.
void say_power_cut(const MachineOptions &options);
// "flash operation 300", "5000000 ns of device time".
std::string power_cut_place(const MachineOptions &options);
// Prints what the capacitors kept; nothing for a device without.
void say_kept(const hz_dump_report &kept);

} // namespace hz::cli
