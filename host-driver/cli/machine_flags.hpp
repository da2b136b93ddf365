// MachineFlags: the options that every command which boots a machine understands.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "session/machine.hpp"

namespace hz::cli {

struct MachineFlags {
	std::string device = "default", image, clock = "virtual", firmware, plugin_options, console;
	uint64_t workers = 0, seed = 0;

	void add_to(CLI::App &command);
	// Reads the device file and applies the flags to it. Throws a sentence for what cannot be had, before anything is started.
	MachineOptions options() const;
};

// --firmware names a file, or is not given.
void require_firmware(const std::string &file);

// The file that an option names: as given, below the data tree (session/locate.hpp), or NAME.yaml in `folder` of that tree ("configs/devices").
std::string find_config(const char *option, const std::string &name, const std::string &folder);

} // namespace hz::cli
