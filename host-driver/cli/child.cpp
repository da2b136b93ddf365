// Child: forked, then waited for in short turns, so that no signal is missed.
// SPDX-License-Identifier: BSD-3-Clause
#include "cli/child.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
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

// In the new process. It ends with the thread that waits for it, even if that is killed; a broken pipe ends it as it would without us, who
// ignore that signal.
[[noreturn]] void become(const Child &child, char *const *argv, char *const *variables, pid_t parent, int trouble)
{
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) || getppid() != parent)
		_exit(127);
	for (int fd : {STDOUT_FILENO, STDERR_FILENO})
		if (child.output >= 0)
			dup2(child.output, fd);
	signal(SIGPIPE, SIG_DFL);
	execvpe(argv[0], argv, variables);
	const int code = errno;
	_exit(write(trouble, &code, sizeof(code)) < 0 ? 126 : 127);
}

// Its end is told by the pipe, which a program that was started has closed.
pid_t spawn(const Child &child)
{
	std::vector<char *> argv = pointers(child.words), variables = pointers(child.settings);
	argv.push_back(nullptr);
	for (char **variable = environ; *variable; variable++)
		variables.push_back(*variable);
	variables.push_back(nullptr);
	int ends[2], code = 0;
	if (pipe2(ends, O_CLOEXEC))
		throw_errno("cannot make a pipe");
	const Descriptor heard(ends[0]);
	Descriptor told(ends[1]);
	const pid_t parent = getpid(), pid = fork();
	if (pid == 0)
		become(child, argv.data(), variables.data(), parent, told.get());
	if (pid < 0)
		throw_errno(child.words[0] + " cannot be started");
	told = Descriptor();
	if (read(heard.get(), &code, sizeof(code)) != sizeof(code))
		return pid;
	waitpid(pid, nullptr, 0);
	throw Error(child.words[0] + " cannot be started: " + std::strerror(code));
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
