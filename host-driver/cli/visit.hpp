// Visit: a command's device: one of its own that it boots, or one that is up already (`serve`), for as long as the command works on it.
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

// The variable that names the run folder of a device that is up, for commands which get no --attach and no option of a device.
inline constexpr const char *attach_variable = "HARTZONE_ATTACH";

void add_attach(CLI::App &command, std::string &folder);
// The run folder to attach to: `attach`, or the variable's unless `given`, an option of a new device, is there; or nothing. Throws Error
// when options contradict each other, or there is no such folder.
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
	// An own device is shut down, so that everything is durable; another's gets back what it gave.
	void end();
	// Runs a program on the device, and ends the visit in order, also when a signal has ended the program: Interrupted then. Throws
	// its exit code unless that is 0. before_end: what else is to be done then.
	void run(Child child, const std::function<void()> &before_end = {});

private:
	explicit Visit(std::unique_ptr<Machine> machine);

	std::unique_ptr<Machine> machine_;
	std::unique_ptr<Controller> controller_;
};

} // namespace hz::cli
