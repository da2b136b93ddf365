// Child: spawned, then waited for in short turns, so that no signal is missed.
// SPDX-License-Identifier: BSD-3-Clause
#include "cli/child.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/descriptor.hpp"
#include "session/error.hpp"
#include "session/interrupt.hpp"

namespace hz::cli {

namespace {

constexpr int turn_ms = 100;

std::vector<char *> pointers(const std::vector<std::string> &words)
{
	std::vector<char *> all;
	for (const std::string &word : words)
		all.push_back(const_cast<char *>(word.c_str()));
	return all;
}

// A broken pipe ends it as it would without us, who ignore that signal.
pid_t spawn(const Child &child)
{
	std::vector<char *> argv = pointers(child.words), variables = pointers(child.settings);
	argv.push_back(nullptr);
	for (char **variable = environ; *variable; variable++)
		variables.push_back(*variable);
	variables.push_back(nullptr);
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	for (int fd : {STDOUT_FILENO, STDERR_FILENO})
		if (child.output >= 0)
			posix_spawn_file_actions_adddup2(&actions, child.output, fd);
	sigset_t usual;
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	posix_spawnattr_t attributes;
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &usual);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	pid_t pid = -1;
	const int error = posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), variables.data());
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	if (error)
		throw Error(child.words[0] + " cannot be started: " + std::strerror(error));
	return pid;
}

} // namespace

int call(const Child &child)
{
	const pid_t pid = spawn(child);
	const Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
	int status = 0;
	for (bool told = false; waitpid(pid, &status, WNOHANG) != pid;) {
		if (!told && (stop_asked() || interrupted())) {
			kill(pid, SIGTERM);
			told = true;
		}
		pollfd ended{process.get(), POLLIN, 0};
		poll(&ended, 1, turn_ms);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Printed listen_to(const std::vector<std::string> &words)
{
	const Descriptor file(memfd_create("printed", MFD_CLOEXEC));
	if (!file)
		throw_errno("no memory for what " + words[0] + " prints");
	Printed printed{call({.words = words, .settings = {}, .output = file.get()}), ""};
	printed.text.resize(static_cast<size_t>(lseek(file.get(), 0, SEEK_END)));
	const ssize_t got = pread(file.get(), printed.text.data(), printed.text.size(), 0);
	printed.text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
	return printed;
}

} // namespace hz::cli
