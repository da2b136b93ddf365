// The serve command: a device that stays up for other processes until it is stopped or its command
// ends.
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <thread>
#include <unistd.h>

#include "cli/called.hpp"
#include "cli/child.hpp"
#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/power_cut.hpp"
#include "cli/serve_target.hpp"
#include "cli/visit.hpp"
#include "session/machine/error.hpp"
#include "session/machine/interrupt.hpp"
#include "session/machine/lease_messages.hpp"
#include "session/machine/process.hpp"
#include "session/machine/run_directory.hpp"

namespace hz::cli {

namespace {

constexpr auto look_again = std::chrono::milliseconds(100);
constexpr int power_cut_code = 4; // main.cpp lists the exit codes

struct ServeFlags {
	MachineFlags machine;
	PowerCutFlag power_cut;
};

void print_devices(const MachineFlags &flags, const std::vector<std::string> &words)
{
	if (!flags.given().empty() || !words.empty())
		throw Error("--list boots nothing: leave out " + (words.empty() ? flags.given() : words.front()));
	for (const auto &folder : RunDirectory::living())
		if (std::filesystem::exists(folder / lease::socket_name))
			std::printf("%s\n", folder.c_str());
}

void print_use(const std::string &folder)
{
	const char *at = folder.c_str();
	std::printf("the device is up; its run folder is\n%s\n\n", at);
	for (const auto &[command, words] :
	     {std::pair("info", "--zones"), {"nvme", "smart-log"}, {"fio", "--name=a --rw=write --bs=16k --size=1m"}})
		std::printf("  %s\n", as_called(std::string("./hartzone ") + command + " --attach " + at + " " + words).c_str());
	std::printf("  hartzone_attach(\"%s\") of libhartzone\n\n", at);
	std::printf("Ctrl-C, or kill %d, shuts it down; everything written is durable then.\n", getpid());
	std::fflush(stdout);
}

// Throws Error when the device dies.
void stay_up(const Machine &machine)
{
	while (!stop_asked()) {
		machine.check_waiting();
		std::this_thread::sleep_for(look_again);
	}
}

// Before anything is booted.
void require_program(const std::vector<std::string> &command)
{
	if (!command.empty() && find_program(command.front()).empty())
		throw Error("there is no program " + command.front() + " to run on the device");
}

// With a target the clock is the virtual one unless the user chooses.
MachineOptions machine_options(const MachineFlags &flags, TargetFlags &target)
{
	MachineFlags chosen = flags;
	if (target.address && !flags.gives("--clock"))
		chosen.clock = "virtual";
	MachineOptions options = chosen.options();
	require_apart({"--record", target.record}, {{"--device", find_config("--device", chosen.device, "configs/devices")},
						    {"--image", chosen.image},
						    {"--firmware", chosen.firmware},
						    {"--console", chosen.console}});
	target.take_environment();
	target.check(options.virtual_clock);
	target.apply(options);
	return options;
}

void say(const std::string &text)
{
	std::fputs(text.c_str(), stdout);
	std::fflush(stdout);
}

// Hosts on a network have the device for as long as it is up, or the command runs.
void serve_hosts(Visit &visit, const TargetFlags &flags, const std::vector<std::string> &command)
{
	ServeTarget target(visit.controller(), flags);
	const auto end = [&] { say(target.end()); };
	if (!command.empty()) {
		target.start();
		return visit.run({.words = command, .settings = target.settings(), .forsaken = [&] { return target.has_failed(); }}, end);
	}
	const GentleStop gentle;
	print_use(visit.machine().run_directory().string());
	say(target.text());
	target.run(stop_asked);
	end();
	visit.end();
}

void serve(const MachineOptions &machine, const TargetFlags &target, const std::vector<std::string> &command)
{
	Visit visit(machine);
	if (target.address)
		return serve_hosts(visit, target, command);
	if (!command.empty())
		return visit.run({.words = command, .settings = {}});
	const GentleStop gentle;
	print_use(visit.machine().run_directory().string());
	stay_up(visit.machine());
	visit.end();
}

// The outcome that the user asked for, with a code of its own: whoever calls serve in rounds sees that the device did not end in order.
[[noreturn]] void end_dark(const MachineOptions &machine, const PowerCut &cut)
{
	say_power_cut(machine);
	say_kept(cut.kept());
	if (!machine.nand_image.empty())
		say("the next start on " + machine.nand_image.string() + " recovers what is on flash\n");
	throw CLI::RuntimeError(power_cut_code);
}

void run(const ServeFlags &flags, TargetFlags &target, const std::vector<std::string> &command)
{
	require_program(command);
	MachineOptions machine = machine_options(flags.machine, target);
	flags.power_cut.apply(machine);
	try {
		serve(machine, target, command);
	} catch (const PowerCut &cut) {
		end_dark(machine, cut);
	}
	if (!flags.power_cut.text.empty())
		say("the device was shut down before the power cut at " + power_cut_place(machine) + "\n");
}

} // namespace

void add_serve(CLI::App &app)
{
	auto flags = std::make_shared<ServeFlags>();
	auto target = std::make_shared<TargetFlags>();
	auto list = std::make_shared<bool>(false);
	auto words = std::make_shared<std::vector<std::string>>();
	CLI::App *command = app.add_subcommand("serve", "Keep a device up for other commands and programs");
	flags->machine.add_to(*command, "real");
	flags->power_cut.add_to(*command,
				"Hosts lose their connections, a command behind -- is ended (with --nvme-tcp), the exit code is 4; "
				"with --image the next start recovers.");
	target->add_to(*command);
	add_flag(*command, "--list", *list, "Print the run folders of this user's devices that are up, one a line, and boot none");
	command->add_option("COMMAND", *words, "After --: a command to run on the device, which ends with it")->type_name("");
	command->footer(
		"The device is up until Ctrl-C or SIGTERM, which shut it down in order. Other processes of this user, up to 64 at once, use it by\n"
		"its run folder, which is printed: run, info, nvme, fio, rocksdb and programs of libhartzone or its Python package. One that dies takes nothing\n"
		"from the others; those that are still there at the shutdown get errors. Behind --: a command to run on the device, which ends\n"
		"with it; it finds the run folder in $HARTZONE_ATTACH, as does every ./hartzone command inside.\n"
		"Examples:\n"
		"  ./hartzone serve --device conzone-f2fs-patched --nvme-tcp\n"
		"  ./hartzone serve --device conzone-f2fs-patched --nvme-tcp --image f2fs.img --power-cut-at 3000\n"
		"  ./hartzone serve --device small -- sh -c './hartzone nvme zns finish-zone -s 128; ./hartzone info --zones'\n"
		"  ./hartzone serve --list");
	command->callback([flags, target, list, words] { *list ? print_devices(flags->machine, *words) : run(*flags, *target, *words); });
}

} // namespace hz::cli
