// Visit: the same steps for both kinds of device.
// SPDX-License-Identifier: BSD-3-Clause
#include "cli/visit.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "cli/one_core.hpp"
#include "cli/options.hpp"
#include "session/machine/error.hpp"
#include "session/machine/interrupt.hpp"

namespace hz::cli {

void add_attach(CLI::App &command, std::string &folder)
{
	add_text(command, "--attach", folder, "FOLDER",
		 "Use the device that ./hartzone serve keeps up, by its run folder, instead of one of our own. Default: $HARTZONE_ATTACH");
}

void VisitFlags::add_to(CLI::App &command, const std::string &clock)
{
	machine.add_to(command, clock);
	add_attach(command, attach);
}

std::string attach_folder(const std::string &attach, const std::string &given)
{
	const char *variable = std::getenv(attach_variable);
	if (!attach.empty() && !given.empty())
		throw Error("--attach names a device that is up already: leave out " + given + ", which is for a new one");
	const std::string wanted = !attach.empty() ? attach : given.empty() && variable ? variable : "";
	if (!wanted.empty() && !std::filesystem::is_directory(wanted))
		throw Error((attach.empty() ? attach_variable : "--attach") + (": there is no run folder " + wanted) +
			    ": ./hartzone serve --list names those of devices that are up");
	return wanted;
}

namespace {

std::unique_ptr<Machine> launch(const MachineOptions &options)
{
	stay_on_one_core(options);
	return Machine::launch(options);
}

std::unique_ptr<Machine> find_machine(const VisitFlags &flags)
{
	const std::string folder = flags.folder();
	return folder.empty() ? launch(flags.machine.options()) : Machine::attach(folder);
}

} // namespace

Visit::Visit(const VisitFlags &flags) : Visit(find_machine(flags)) {}
Visit::Visit(const MachineFlags &flags) : Visit(flags.options()) {}
Visit::Visit(const MachineOptions &options) : Visit(launch(options)) {}

Visit::Visit(std::unique_ptr<Machine> machine) : machine_(std::move(machine)), controller_(std::make_unique<Controller>(*machine_))
{
	if (!machine_->is_ours())
		return;
	controller_->enable();
	controller_->serve();
}

void Visit::end()
{
	if (!machine_->is_ours())
		return controller_->leave();
	controller_->shutdown();
	controller_->disconnect();
	machine_->require_exit(std::chrono::milliseconds(60000));
}

void Visit::run(Child child, const std::function<void()> &before_end)
{
	const GentleStop gentle;
	child.settings.push_back(std::string(attach_variable) + "=" + machine_->run_directory().string());
	std::fflush(stdout);
	const int code = call(child);
	if (before_end)
		before_end();
	end();
	if (stop_asked())
		throw Interrupted();
	if (code)
		throw CLI::RuntimeError(code);
}

} // namespace hz::cli
