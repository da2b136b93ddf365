// RunDirectory: a flock marks a living owner; a janitor removes the directory when the owner's pipe
// closes.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/machine/run_directory.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/machine/error.hpp"

namespace hz {

namespace {

namespace fs = std::filesystem;

std::string prefix() { return "hz-" + std::to_string(getuid()) + "-"; }
constexpr int janitor_ms = 2000;
constexpr int youth_s = 60;               // how long a directory may be in the making
constexpr const char *lock_name = "lock"; // appears when its maker holds it

// Minimum of every run: memory of the emulated machine and queues.
constexpr uint64_t least_bytes = 32 << 20;

uint64_t free_bytes(const fs::path &folder)
{
	std::error_code failed;
	const fs::space_info info = fs::space(folder, failed);
	return failed ? 0 : info.available;
}

bool is_ours(const fs::path &directory)
{
	struct stat info {};
	return directory.filename().string().starts_with(prefix()) && !lstat(directory.c_str(), &info) && S_ISDIR(info.st_mode) &&
	       info.st_uid == getuid();
}

// True if nothing holds the lock. A directory without a lock file is being created, unless it is
// old.
bool is_stale(const fs::path &directory)
{
	struct stat info {};
	if (lstat(directory.c_str(), &info))
		return false;
	int fd = open((directory / lock_name).c_str(), O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT && time(nullptr) - info.st_mtime >= youth_s;
	bool free = flock(fd, LOCK_EX | LOCK_NB) == 0;
	close(fd);
	return free;
}

} // namespace

std::vector<fs::path> RunDirectory::bases()
{
	const char *variable = std::getenv("HARTZONE_RUN_BASE");
	if (!variable)
		return {"/dev/shm", "/tmp"};
	std::error_code ignored;
	if (!*variable)
		throw Error("HARTZONE_RUN_BASE is empty: let it name a folder, or unset it");
	if (!fs::is_directory(variable, ignored))
		throw Error("HARTZONE_RUN_BASE is " + std::string(variable) + ", which is no folder: make it, or unset the variable");
	return {fs::absolute(variable)};
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
			if (!is_ours(entry.path()) || !is_stale(entry.path()))
				continue;
			fs::remove_all(entry.path(), ignored);
			removed++;
		}
	return removed;
}

std::vector<fs::path> RunDirectory::living()
{
	std::vector<fs::path> found;
	std::error_code ignored;
	for (const fs::path &folder : bases())
		for (const auto &entry : fs::directory_iterator(folder, ignored))
			if (is_ours(entry.path()) && fs::exists(entry.path() / lock_name, ignored) && !is_stale(entry.path()))
				found.push_back(entry.path());
	std::sort(found.begin(), found.end());
	return found;
}

RunDirectory::RunDirectory(uint64_t wanted)
{
	remove_stale();
	const fs::path folder = base(wanted);
	if (access(folder.c_str(), W_OK))
		throw_errno("cannot write to " + folder.string() + ", where runs live (HARTZONE_RUN_BASE names another folder)");
	if (free_bytes(folder) < least_bytes)
		throw Error(folder.string() + " has no room for a run: make some, or name another folder in HARTZONE_RUN_BASE");
	std::string name = (folder / (prefix() + "XXXXXX")).string();
	if (!mkdtemp(name.data()))
		throw_errno("cannot make a run directory in " + folder.string());
	path_ = name;
	try {
		lock();
		start_janitor();
	} catch (...) {
		std::error_code ignored;
		fs::remove_all(path_, ignored);
		throw;
	}
}

void RunDirectory::lock()
{
	const fs::path made = path_ / lock_name, young = made.string() + ".new";
	lock_ = Descriptor(open(young.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	if (!lock_ || flock(lock_.get(), LOCK_EX | LOCK_NB) || rename(young.c_str(), made.c_str()))
		throw_errno("cannot lock " + path_.string());
}

void RunDirectory::start_janitor()
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		throw_errno("cannot make a pipe");
	const Descriptor heard(ends[0]);
	janitor_pipe_ = Descriptor(ends[1]);
	janitor_ = Process::start({"/bin/sh", "-c", "while read -r line; do :; done; exec rm -rf -- \"$1\"", "janitor", path_.string()},
				  "/dev/null", {.dies_with_parent = false, .input = ends[0]});
}

RunDirectory::~RunDirectory()
{
	std::error_code failed;
	fs::remove_all(path_, failed);
	if (failed)
		janitor_pipe_ = Descriptor(); // it may have better luck, and needs no owner for that
	else
		janitor_.signal(SIGKILL);
	janitor_.wait(janitor_ms);
}

} // namespace hz
