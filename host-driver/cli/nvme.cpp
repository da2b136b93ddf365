// The nvme command: lets nvme-cli talk to a device, so that its printers show Identify, log pages and zones.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <memory>

#include "cli/child.hpp"
#include "cli/command.hpp"
#include "cli/visit.hpp"
#include "session/machine/error.hpp"
#include "session/machine/locate.hpp"
#include "session/machine/process.hpp"

namespace hz::cli {

namespace {

constexpr const char *namespace_file = "/dev/hartzone0n1", *own_files = "/dev/hartzone0";

std::string nvme_program()
{
	for (const char *name : {"nvme", "/usr/sbin/nvme", "/sbin/nvme"})
		if (const auto found = find_program(name); !found.empty())
			return found.string();
	throw Error("nvme-cli is not installed: ./hartzone setup of the source tree installs it, as does apt-get install nvme-cli");
}

bool is_option(const std::string &word) { return word.starts_with("-"); }

// nvme-cli 2.13 attaches and detaches through the controller's file only; for other commands the
// namespace's file selects the namespace.
const char *file_for(const std::string &command) { return command == "attach-ns" || command == "detach-ns" ? own_files : namespace_file; }

// The device behind the command's own words, unless the user has named it.
std::vector<std::string> with_device(std::vector<std::string> words)
{
	const auto named = [](const std::string &word) { return word.starts_with(own_files); };
	if (std::none_of(words.begin(), words.end(), named))
		words.insert(std::find_if(words.begin(), words.end(), is_option), file_for(words.front()));
	return words;
}

// nvme-cli's own help for a command; it exits with an error code after most helps.
std::string help_of(const std::string &program, std::vector<std::string> words)
{
	words.insert(words.begin(), program);
	words.push_back("--help");
	return listen_to(words).text;
}

// Before anything is booted.
void check_words(const std::string &program, const std::vector<std::string> &words)
{
	if (words.empty() || is_option(words.front()))
		throw Error(words.empty() ? "say which of nvme-cli's commands, such as ./hartzone nvme smart-log"
					  : words.front() + " is no option of nvme here: those of nvme-cli stand behind its command");
	for (const char *registers : {"show-regs", "get-property", "set-property"})
		if (words.front() == registers)
			throw Error("nvme-cli reaches registers through a kernel driver or a fabric, and this device has neither: no " +
				    words.front() + " here; id-ctrl says what the controller can do");
	if (help_of(program, {words.begin(), std::find_if(words.begin(), words.end(), is_option)}).find("Invalid sub-command") !=
	    std::string::npos)
		throw Error("nvme-cli has no command '" + words.front() + "', or not with the next word: '" + program +
			    " help' lists them");
}

void run(const VisitFlags &flags, const std::vector<std::string> &words)
{
	const std::string program = nvme_program();
	check_words(program, words);
	Visit visit(flags);
	std::vector<std::string> all = with_device(words);
	all.insert(all.begin(), program);
	visit.run({.words = all, .settings = {"LD_PRELOAD=" + locate_nvme_device().string()}});
}

} // namespace

void add_nvme(CLI::App &app)
{
	auto flags = std::make_shared<VisitFlags>();
	CLI::App *command = app.add_subcommand("nvme", "Run a command of nvme-cli on a device");
	flags->add_to(*command);
	command->prefix_command();
	command->footer(
		"Behind these options: any command of nvme-cli with its own options. The device is put in where it belongs; by name it is\n"
		"/dev/hartzone0 (controller) and /dev/hartzone0n1 (namespace). --image keeps the flash from one call to the next, and serve the\n"
		"device.\n"
		"Examples:\n"
		"  ./hartzone nvme id-ctrl -H\n"
		"  ./hartzone nvme --device conzone-paper zns report-zones -d 4\n"
		"  ./hartzone nvme smart-log -o json\n"
		"  ./hartzone nvme get-log --log-id=0xc3 --log-len=512");
	command->callback([flags, command] { run(*flags, command->remaining()); });
}

} // namespace hz::cli
