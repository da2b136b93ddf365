// Visit: a command's device, booted for it or already running (`serve`), for the duration of the
// command.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <string>

#include "cli/child.hpp"
#include "cli/machine_flags.hpp"
#include "session/controller.hpp"

namespace hz::cli {

// The variable with the run folder of a running device, for commands without --attach and without
// options of a new device.
inline constexpr const char *attach_variable = "HARTZONE_ATTACH";

void add_attach(CLI::App &command, std::string &folder);
// The run folder to attach to: `attach`; else the variable's, unless `given`, an option of a new
// device, is present; else empty. Throws Error if options contradict each other or the folder does
// not exist.
std::string attach_folder(const std::string &attach, const std::string &given);

struct VisitFlags {
	MachineFlags machine;
	std::string attach;

	void add_to(CLI::App &command, const std::string &clock = "virtual");
	// As attach_folder(); to be asked before anything is started.
	std::string folder() const { return attach_folder(attach, machine.given()); }
};

class Visit {
public:
	// Boots a device and lets other processes in, or attaches.
	explicit Visit(const VisitFlags &flags);
	explicit Visit(const MachineOptions &options);
	explicit Visit(const MachineFlags &flags);

	Machine &machine() { return *machine_; }
	Controller &controller() { return *controller_; }
	// Shuts down our own device, so that everything is durable; detaches from another's.
	void end();
	// Runs a program on the device and ends the visit in order, even if a signal ended the
	// program: then throws Interrupted. Throws its exit code unless 0. before_end: runs before
	// the visit ends.
	void run(Child child, const std::function<void()> &before_end = {});

private:
	explicit Visit(std::unique_ptr<Machine> machine);

	std::unique_ptr<Machine> machine_;
	std::unique_ptr<Controller> controller_;
};

} // namespace hz::cli
