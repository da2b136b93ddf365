// MachineFlags: the options common to every command that boots a machine.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "session/machine/machine.hpp"

namespace hz::cli {

struct MachineFlags {
	std::string device = "default", image, clock = "virtual", firmware, plugin_options, console;
	uint64_t workers = 0, seed = 0;

	// `usual`: the clock when the user names none.
	void add_to(CLI::App &command, const std::string &usual = "virtual");
	// Reads the device file and applies the flags to it. Throws a sentence for an invalid
	// combination, before anything is started.
	MachineOptions options() const;
	// The first of these options present on the command line, except `but`; empty if none.
	std::string given(const std::string &but = "") const;
	bool gives(const std::string &option) const;

private:
	std::vector<const CLI::Option *> all_;
};

// The image that --firmware names: a file, or a folder with an FTL of its own, whose image has the
// folder's name and lies beside ours (docs/guide/own-ftl.md). Empty if the option was not given.
std::string firmware_image(const std::string &given);

// The file named by an option: as given, below the data tree (session/machine/locate.hpp), or
// NAME.yaml in `folder` of that tree ("configs/devices").
std::string find_config(const char *option, const std::string &name, const std::string &folder);

} // namespace hz::cli
