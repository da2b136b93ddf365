// Process: fork, a few async-signal-safe calls, exec.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/machine/process.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sstream>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "session/machine/descriptor.hpp"
#include "session/machine/error.hpp"

namespace hz {

using namespace std::chrono_literals;

struct ChildSetup {
	char *const *argv, *const *variables;
	const char *folder; // where it runs; empty: where the caller does
	int input, output;  // -1: the caller's
	int kept;           // inherited besides these; -1: none
	bool own_session;
	int last_signal; // that it gets when the calling thread ends; 0: none
};

namespace {

constexpr int reap_ms = 5000; // of a killed process, and of an exec; beyond it the kernel finishes alone

constexpr rlim_t most_files = 65536;

void raise_file_limit()
{
	rlimit files{};
	if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur >= most_files)
		return;
	files.rlim_cur = std::min(files.rlim_max, most_files);
	setrlimit(RLIMIT_NOFILE, &files);
}

// In the foreground signals that the caller ignores stay ignored, but for broken pipes.
void reset_signals(bool all)
{
	sigset_t none;
	sigemptyset(&none);
	signal(SIGPIPE, SIG_DFL);
	for (int number : {SIGINT, SIGTERM, SIGHUP})
		if (all)
			signal(number, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, nullptr);
}

// trouble: gets errno when the program cannot be started.
[[noreturn]] void become(const ChildSetup &setup, pid_t parent, int trouble)
{
	if (setup.own_session)
		setsid();
	if (setup.last_signal && (prctl(PR_SET_PDEATHSIG, setup.last_signal) || getppid() != parent))
		_exit(127);
	if (setup.input >= 0)
		dup2(setup.input, 0);
	for (int number : {1, 2})
		if (setup.output >= 0)
			dup2(setup.output, number);
	if (setup.kept >= 0)
		fcntl(setup.kept, F_SETFD, 0);
	reset_signals(setup.own_session);
	raise_file_limit();
	if (!*setup.folder || !chdir(setup.folder))
		execve(setup.argv[0], setup.argv, setup.variables);
	const int code = errno;
	if (write(trouble, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(127);
}

// The child's result: errno, or 0 once the program has started. A process forked by another thread
// at this moment may keep the pipe open, hence the limit.
int trouble_of(int pipe_end)
{
	int code = 0;
	pollfd item{pipe_end, POLLIN, 0};
	return poll(&item, 1, reap_ms) > 0 && read(pipe_end, &code, sizeof(code)) == sizeof(code) ? code : 0;
}

int open_or_throw(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);
	if (fd < 0)
		throw_errno(std::string("cannot open ") + path);
	return fd;
}

std::vector<char *> pointers(const std::vector<std::string> &words)
{
	std::vector<char *> all;
	for (const std::string &word : words)
		all.push_back(const_cast<char *>(word.c_str()));
	return all;
}

// The settings, and the rest of the environment: with duplicates some programs take the first
// variable, others the last.
std::vector<char *> variables_with(const std::vector<std::string> &settings)
{
	std::vector<char *> all = pointers(settings);
	for (char **variable = environ; *variable; variable++) {
		const std::string_view name = std::string_view(*variable).substr(0, std::string_view(*variable).find('=') + 1);
		if (std::ranges::none_of(settings, [&](const std::string &one) { return one.starts_with(name); }))
			all.push_back(*variable);
	}
	all.push_back(nullptr);
	return all;
}

std::vector<std::string> with_path(std::vector<std::string> argv)
{
	const std::string path = find_program(argv.at(0)).string();
	if (path.empty())
		throw Error("the program " + argv[0] +
			    " cannot be started: it is not installed (scripts/setup installs what is needed) or not executable");
	argv[0] = path;
	return argv;
}

} // namespace

Process::Process(Process &&other) noexcept
	: pid_(std::exchange(other.pid_, -1)), pidfd_(std::exchange(other.pidfd_, -1)), code_(other.code_)
{
}

Process &Process::operator=(Process &&other) noexcept
{
	std::swap(pid_, other.pid_);
	std::swap(pidfd_, other.pidfd_);
	std::swap(code_, other.code_);
	return *this;
}

Process::~Process()
{
	if (running()) {
		signal(SIGKILL);
		wait(reap_ms);
	}
	if (pidfd_ >= 0)
		close(pidfd_);
}

Process Process::start(const std::vector<std::string> &argv, const std::filesystem::path &log) { return start(argv, log, Options()); }

Process Process::start(const std::vector<std::string> &argv, const std::filesystem::path &log, const Options &options)
{
	const std::vector<std::string> words = with_path(argv);
	std::vector<char *> raw = pointers(words), variables = variables_with(options.settings);
	raw.push_back(nullptr);
	const Descriptor nothing(options.input < 0 ? open_or_throw("/dev/null", O_RDONLY) : -1);
	const Descriptor out(open_or_throw(log.c_str(), O_WRONLY | O_CREAT | O_APPEND));
	return run({.argv = raw.data(),
		    .variables = variables.data(),
		    .folder = options.folder.c_str(),
		    .input = options.input < 0 ? nothing.get() : options.input,
		    .output = out.get(),
		    .kept = options.kept,
		    .own_session = true,
		    .last_signal = options.dies_with_parent ? SIGKILL : 0});
}

Process Process::start_in_foreground(const std::vector<std::string> &argv, const std::vector<std::string> &settings, int output)
{
	const std::vector<std::string> words = with_path(argv);
	std::vector<char *> raw = pointers(words), variables = variables_with(settings);
	raw.push_back(nullptr);
	return run({.argv = raw.data(),
		    .variables = variables.data(),
		    .folder = "",
		    .input = -1,
		    .output = output,
		    .kept = -1,
		    .own_session = false,
		    .last_signal = SIGTERM});
}

Process Process::run(const ChildSetup &setup)
{
	const std::string path = setup.argv[0];
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		throw_errno("cannot make a pipe");
	const Descriptor read_end(ends[0]);
	Descriptor write_end(ends[1]);
	Process child;
	const pid_t parent = getpid();
	child.pid_ = fork();
	if (child.pid_ == 0)
		become(setup, parent, write_end.get());
	if (child.pid_ < 0)
		throw_errno("cannot start " + path);
	write_end = Descriptor();
	child.pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, child.pid_, 0));
	if (child.pidfd_ >= 0 && !(errno = trouble_of(read_end.get())))
		return child;
	const int code = errno;
	kill(child.pid_, SIGKILL);
	waitpid(std::exchange(child.pid_, -1), nullptr, 0);
	errno = code;
	throw_errno("cannot start " + path);
}

bool Process::running()
{
	if (pid_ <= 0)
		return false;
	int status = 0;
	pid_t got = waitpid(pid_, &status, WNOHANG);
	if (got == 0 || (got < 0 && errno == EINTR))
		return true;
	code_ = got < 0 ? 255 : WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	pid_ = -1;
	return false;
}

void Process::signal(int number) const
{
	if (pidfd_ >= 0)
		syscall(SYS_pidfd_send_signal, pidfd_, number, nullptr, 0);
}

bool Process::wait(int milliseconds)
{
	if (pid_ <= 0)
		return true;
	await(milliseconds);
	return !running();
}

void Process::await(int milliseconds) const
{
	const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
	pollfd item{pidfd_, POLLIN, 0};
	while (pidfd_ >= 0 && poll(&item, 1, milliseconds) < 0 && errno == EINTR)
		milliseconds = static_cast<int>(std::max<int64_t>(0, (until - std::chrono::steady_clock::now()) / 1ms));
}

std::filesystem::path find_program(const std::string &name)
{
	namespace fs = std::filesystem;
	std::error_code ignored;
	auto good = [&](const fs::path &file) { return !access(file.c_str(), X_OK) && fs::is_regular_file(file, ignored); };
	if (name.find('/') != std::string::npos)
		return good(name) ? fs::absolute(name) : fs::path();
	const char *variable = std::getenv("PATH");
	std::istringstream path(variable ? variable : "/usr/bin:/bin");
	for (std::string part; std::getline(path, part, ':');)
		if (good(fs::path(part) / name))
			return fs::absolute(fs::path(part) / name);
	return {};
}

} // namespace hz
