// MachineFlags: the options that every command which boots a machine understands.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "session/machine.hpp"

namespace hz::cli {

struct MachineFlags {
	std::string device, image, clock = "virtual", firmware, plugin_options, console;
	unsigned workers = 0;
	uint64_t seed = 0;

	void add_to(CLI::App &command);
	// Reads the device file and applies the flags to it.
	MachineOptions options() const;
};

// A file by name: as given, below the source tree, or NAME.yaml in `folder` of the source tree ("configs/devices").
std::string find_config(const std::string &name, const std::string &folder);

} // namespace hz::cli
