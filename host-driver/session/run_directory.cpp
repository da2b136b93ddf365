// RunDirectory: a flock says that the owner lives; a janitor removes the directory when the owner's pipe closes.
#include "session/run_directory.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/error.hpp"

namespace hz {

namespace {

namespace fs = std::filesystem;

std::string prefix() { return "hz-" + std::to_string(getuid()) + "-"; }
constexpr int janitor_ms = 2000;
constexpr const char *unfinished = ".new"; // the name's end until the lock is held

// What every run needs: memory of the emulated machine and queues.
constexpr uint64_t least_bytes = 32 << 20;

uint64_t free_bytes(const fs::path &folder)
{
	std::error_code failed;
	const fs::space_info info = fs::space(folder, failed);
	return failed ? 0 : info.available;
}

// Nobody holds the lock. A directory that is being made is not looked at, unless it is old.
bool is_stale(const fs::path &directory)
{
	struct stat info{};
	if (directory.extension() == unfinished && !stat(directory.c_str(), &info) && time(nullptr) - info.st_mtime < 60)
		return false;
	int fd = open((directory / "lock").c_str(), O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT;
	bool free = flock(fd, LOCK_EX | LOCK_NB) == 0;
	close(fd);
	return free;
}

} // namespace

std::vector<fs::path> RunDirectory::bases()
{
	if (const char *variable = std::getenv("HARTZONE_RUN_BASE"))
		return {variable};
	return {"/dev/shm", "/tmp"};
}

fs::path RunDirectory::base(uint64_t wanted)
{
	const std::vector<fs::path> all = bases();
	auto room = [](const fs::path &folder) { return access(folder.c_str(), W_OK) ? 0 : free_bytes(folder); };
	for (const fs::path &folder : all)
		if (room(folder) >= wanted && room(folder))
			return folder;
	return *std::max_element(all.begin(), all.end(), [&](const auto &a, const auto &b) { return room(a) < room(b); });
}

unsigned RunDirectory::remove_stale()
{
	unsigned removed = 0;
	std::error_code ignored;
	for (const fs::path &folder : bases())
		for (const auto &entry : fs::directory_iterator(folder, ignored)) {
			if (!entry.path().filename().string().starts_with(prefix()) || !is_stale(entry.path()))
				continue;
			fs::remove_all(entry.path(), ignored);
			removed++;
		}
	return removed;
}

RunDirectory::RunDirectory(uint64_t wanted)
{
	static std::atomic<unsigned> count{0};
	remove_stale();
	const fs::path folder = base(wanted);
	if (!access(folder.c_str(), W_OK) && free_bytes(folder) < least_bytes)
		throw Error(folder.string() + " has no room for a run: make some, or name another folder in HARTZONE_RUN_BASE");
	path_ = folder / (prefix() + std::to_string(getpid()) + "-" + std::to_string(count++));
	const fs::path young = path_.string() + unfinished;
	if (mkdir(young.c_str(), 0700))
		throw_errno("cannot create the run directory " + young.string());
	lock_ = open((young / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (lock_ < 0 || flock(lock_, LOCK_EX | LOCK_NB) || rename(young.c_str(), path_.c_str()))
		throw_errno("cannot lock " + young.string());
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		throw_errno("cannot make a pipe");
	janitor_pipe_ = ends[1];
	janitor_ = Process::start({"/bin/sh", "-c", "while read -r line; do :; done; exec rm -rf -- \"$1\"", "janitor", path_.string()},
				  "/dev/null", false, ends[0]);
	close(ends[0]);
}

RunDirectory::~RunDirectory()
{
	std::error_code failed;
	fs::remove_all(path_, failed);
	if (failed)
		close(janitor_pipe_); // it may have better luck, and needs no owner for that
	else
		janitor_.signal(SIGKILL);
	janitor_.wait(janitor_ms);
	if (!failed)
		close(janitor_pipe_);
	close(lock_);
}

} // namespace hz
