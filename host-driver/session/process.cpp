// Process: fork, a few async-signal-safe calls, exec.
#include "session/process.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "session/error.hpp"

namespace hz {

using namespace std::chrono_literals;

namespace {

constexpr int end_ms = 5000; // of a killed process; what takes the kernel longer is left to it

struct ChildSetup {
	char *const *argv;
	int input, output;
	pid_t parent;
	bool dies_with_parent;
};

[[noreturn]] void become(const ChildSetup &setup)
{
	setsid();
	if (setup.dies_with_parent && (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != setup.parent))
		_exit(127);
	dup2(setup.input, 0);
	dup2(setup.output, 1);
	dup2(setup.output, 2);
	for (int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE})
		signal(number, SIG_DFL);
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, nullptr);
	execv(setup.argv[0], setup.argv);
	_exit(127);
}

int open_or_throw(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);
	if (fd < 0)
		throw_errno(std::string("cannot open ") + path);
	return fd;
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
		wait(end_ms);
	}
	if (pidfd_ >= 0)
		close(pidfd_);
}

Process Process::start(const std::vector<std::string> &argv, const std::filesystem::path &log, bool dies_with_parent, int input)
{
	auto program = find_program(argv.at(0));
	if (program.empty())
		throw Error("the program " + argv[0] + " is not installed (scripts/setup installs it)");
	std::string path = program.string();
	std::vector<char *> raw;
	for (const auto &word : argv)
		raw.push_back(const_cast<char *>(word.c_str()));
	raw[0] = path.data();
	raw.push_back(nullptr);
	int nothing = input < 0 ? open_or_throw("/dev/null", O_RDONLY) : -1;
	int out = open_or_throw(log.c_str(), O_WRONLY | O_CREAT | O_APPEND);
	ChildSetup setup{raw.data(), input < 0 ? nothing : input, out, getpid(), dies_with_parent};
	Process child;
	child.pid_ = fork();
	if (child.pid_ == 0)
		become(setup);
	int code = errno;
	if (nothing >= 0)
		close(nothing);
	close(out);
	errno = code;
	if (child.pid_ < 0)
		throw_errno("cannot start " + path);
	child.pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, child.pid_, 0));
	if (child.pidfd_ < 0) {
		code = errno;
		kill(child.pid_, SIGKILL);
		waitpid(std::exchange(child.pid_, -1), nullptr, 0);
		errno = code;
		throw_errno("cannot watch " + path);
	}
	return child;
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
	if (name.find('/') != std::string::npos)
		return access(name.c_str(), X_OK) ? "" : name;
	const char *variable = std::getenv("PATH");
	std::istringstream path(variable ? variable : "/usr/bin:/bin");
	for (std::string part; std::getline(path, part, ':');) {
		std::filesystem::path candidate = std::filesystem::path(part) / name;
		if (!access(candidate.c_str(), X_OK))
			return candidate;
	}
	return {};
}

} // namespace hz
