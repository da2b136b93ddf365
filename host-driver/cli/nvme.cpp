// The nvme command: boots a device and lets nvme-cli talk to it, so that its printers show Identify, log pages and zones.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.hpp"
#include "cli/machine_flags.hpp"
#include "session/controller.hpp"
#include "session/error.hpp"
#include "session/locate.hpp"
#include "session/process.hpp"

namespace hz::cli {

namespace {

constexpr const char *namespace_file = "/dev/hartzone0n1", *own_files = "/dev/hartzone0";

std::string nvme_program()
{
	for (const char *name : {"nvme", "/usr/sbin/nvme", "/sbin/nvme"})
		if (const auto found = find_program(name); !found.empty())
			return found.string();
	throw Error("nvme-cli is not installed: ./hartzone setup installs it");
}

bool is_option(const std::string &word) { return word.starts_with("-"); }

// The device behind the command's own words, unless the user has named it.
std::vector<std::string> with_device(std::vector<std::string> words)
{
	const auto named = [](const std::string &word) { return word.starts_with(own_files); };
	if (std::none_of(words.begin(), words.end(), named))
		words.insert(std::find_if(words.begin(), words.end(), is_option), namespace_file);
	return words;
}

// Its exit code, or 128 + signal. `output`: of a file that takes what it prints; -1: ours.
int call(const std::string &program, const std::vector<std::string> &words, const std::vector<std::string> &settings, int output)
{
	std::vector<char *> argv{const_cast<char *>(program.c_str())}, variables;
	for (const std::string &word : words)
		argv.push_back(const_cast<char *>(word.c_str()));
	argv.push_back(nullptr);
	for (const std::string &setting : settings)
		variables.push_back(const_cast<char *>(setting.c_str()));
	for (char **variable = environ; *variable; variable++)
		variables.push_back(*variable);
	variables.push_back(nullptr);
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	for (int fd : {STDOUT_FILENO, STDERR_FILENO})
		if (output >= 0)
			posix_spawn_file_actions_adddup2(&actions, output, fd);
	pid_t child = -1;
	const int error = posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), variables.data());
	posix_spawn_file_actions_destroy(&actions);
	if (error)
		throw Error(program + " cannot be started: " + std::strerror(error));
	int status = 0;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// What nvme-cli says of its command; its exit code of help is no success for most.
std::string help_of(const std::string &program, std::vector<std::string> words)
{
	const int file = memfd_create("help", MFD_CLOEXEC);
	if (file < 0)
		throw_errno("no memory for what nvme-cli says");
	words.push_back("--help");
	call(program, words, {}, file);
	std::string text(size_t(lseek(file, 0, SEEK_END)), ' ');
	const ssize_t got = pread(file, text.data(), text.size(), 0);
	close(file);
	return text.substr(0, size_t(std::max<ssize_t>(got, 0)));
}

// Before anything is booted.
void check_words(const std::string &program, const std::vector<std::string> &words)
{
	if (words.empty() || is_option(words.front()))
		throw Error(words.empty() ? "say which of nvme-cli's commands, such as ./hartzone nvme smart-log"
					  : words.front() + " is no option of nvme here: those of nvme-cli stand behind its command");
	if (help_of(program, {words.begin(), std::find_if(words.begin(), words.end(), is_option)}).find("Invalid sub-command") !=
	    std::string::npos)
		throw Error("nvme-cli has no command '" + words.front() + "', or not with the next word: '" + program +
			    " help' lists them");
}

void run(const MachineFlags &flags, const std::vector<std::string> &words)
{
	const std::string program = nvme_program();
	check_words(program, words);
	auto machine = Machine::launch(flags.options());
	Controller controller(*machine);
	controller.enable();
	controller.serve();
	std::fflush(stdout);
	const int code = call(program, with_device(words),
			      {"LD_PRELOAD=" + locate_nvme_device().string(), "HARTZONE_ATTACH=" + machine->run_directory().string()}, -1);
	controller.shutdown();
	controller.disconnect();
	machine->require_exit(std::chrono::milliseconds(60000));
	if (code)
		throw CLI::RuntimeError(code);
}

} // namespace

void add_nvme(CLI::App &app)
{
	auto flags = std::make_shared<MachineFlags>();
	CLI::App *command = app.add_subcommand("nvme", "Boot a device and run a command of nvme-cli on it");
	flags->add_to(*command);
	command->prefix_command();
	command->footer(
		"Behind these options: any command of nvme-cli with its own options. The device is put in where it belongs; by name it is\n"
		"/dev/hartzone0 (controller) and /dev/hartzone0n1 (namespace). --image keeps the flash from one call to the next.\n"
		"Examples:\n"
		"  ./hartzone nvme id-ctrl -H\n"
		"  ./hartzone nvme --device conzone-paper zns report-zones -d 4\n"
		"  ./hartzone nvme smart-log -o json\n"
		"  ./hartzone nvme get-log --log-id=0xc3 --log-len=512");
	command->callback([flags, command] { run(*flags, command->remaining()); });
}

} // namespace hz::cli
