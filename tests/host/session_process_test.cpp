// Children and run directories: nothing outlives its owner, however the owner ends.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "session/machine/error.hpp"
#include "session/machine/boot_watch.hpp"
#include "session/machine/locate.hpp"
#include "session/machine/process.hpp"
#include "session/machine/qemu_command.hpp"
#include "session/machine/run_directory.hpp"
#include "waiting.hpp"

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using session_test::error_of, session_test::runs, session_test::within;

class RunBase : public ::testing::Test {
protected:
	fs::path base = fs::temp_directory_path() / ("hz-base-" + std::to_string(getpid()));
	RunBase()
	{
		fs::create_directory(base);
		setenv("HARTZONE_RUN_BASE", base.c_str(), 1);
	}
	~RunBase() override
	{
		unsetenv("HARTZONE_RUN_BASE");
		fs::remove_all(base);
	}
	bool empty() const { return fs::is_empty(base); }
};

TEST(Process, ReportsExitCodesAndSignals)
{
	auto three = hz::Process::start({"sh", "-c", "exit 3"}, "/dev/null");
	ASSERT_TRUE(three.wait(5000));
	EXPECT_EQ(three.exit_code(), 3);
	auto sleeper = hz::Process::start({"sleep", "1000"}, "/dev/null");
	EXPECT_TRUE(sleeper.running());
	EXPECT_FALSE(sleeper.wait(20));
	sleeper.signal(SIGTERM);
	ASSERT_TRUE(sleeper.wait(5000));
	EXPECT_EQ(sleeper.exit_code(), 128 + SIGTERM);
	EXPECT_THROW(hz::Process::start({"hz-no-such-program"}, "/dev/null"), hz::Error);
}

TEST_F(RunBase, AProgramThatCannotBeStartedIsReportedAtOnce)
{
	std::ofstream(base / "no-program") << "what is this";
	std::ofstream(base / "plain") << "#!/bin/sh\n";
	fs::permissions(base / "no-program", fs::perms::owner_all);
	fs::create_directory(base / "folder");
	const std::pair<std::string, const char *> cases[] = {{"no-program", "Exec format error"},
							      {"plain", "not executable"},
							      {"folder", "not executable"},
							      {"nothing", "not installed"}};
	for (const auto &[name, words] : cases)
		EXPECT_NE(error_of([&, program = base / name] { hz::Process::start({program}, "/dev/null"); }).find(words),
			  std::string::npos)
			<< name;
	EXPECT_NE(error_of([&] { hz::Process::start({"sh"}, "/dev/null", {.folder = base / "nothing"}); }).find("No such file"),
		  std::string::npos);
}

// A relative name is the caller's, also for a child that runs in another folder.
TEST_F(RunBase, ChildrenRunWhereTheyAreSentAndMayOpenFiles)
{
	const fs::path here = fs::current_path();
	fs::current_path(base);
	std::ofstream(base / "tool") << "#!/bin/sh\npwd\nulimit -n\n";
	fs::permissions(base / "tool", fs::perms::owner_all);
	fs::create_directory(base / "else where");
	rlimit before{}, low{};
	getrlimit(RLIMIT_NOFILE, &before);
	low = {40, before.rlim_max};
	setrlimit(RLIMIT_NOFILE, &low);
	hz::Process tool = hz::Process::start({"./tool"}, base / "log", {.folder = base / "else where"});
	setrlimit(RLIMIT_NOFILE, &before);
	EXPECT_TRUE(tool.wait(5000));
	fs::current_path(here);
	std::ifstream log(base / "log");
	std::string folder, files;
	std::getline(log, folder);
	log >> files;
	EXPECT_EQ(fs::path(folder), fs::canonical(base / "else where"));
	EXPECT_GE(std::stoul(files), std::min<rlim_t>(before.rlim_max, 65536));
}

TEST_F(RunBase, ChildrenGetTheCallersEnvironmentButForTheirSettings)
{
	const auto said = [&](const std::vector<std::string> &settings) {
		const fs::path log = base / ("log" + std::to_string(settings.size()));
		auto child = hz::Process::start({"sh", "-c", "echo $HZ_ONE $HZ_TWO"}, log, {.settings = settings});
		EXPECT_TRUE(child.wait(5000));
		std::string line;
		std::getline(std::ifstream(log) >> std::ws, line);
		return line;
	};
	setenv("HZ_ONE", "callers", 1);
	EXPECT_EQ(said({}), "callers");
	EXPECT_EQ(said({"HZ_TWO=more"}), "callers more");
	EXPECT_EQ(said({"HZ_ONE=own", "HZ_TWO=more"}), "own more");
	unsetenv("HZ_ONE");
}

TEST(QemuCommand, WhatTheUserTellsGlibcComesLast)
{
	const auto setting = [] { return hz::QemuCommand::settings().at(0); };
	unsetenv("GLIBC_TUNABLES");
	const std::string own = setting();
	EXPECT_TRUE(own.starts_with("GLIBC_TUNABLES=glibc.malloc.")) << own;
	setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=0", 1);
	EXPECT_EQ(setting(), own + ":glibc.malloc.hugetlb=0");
	unsetenv("GLIBC_TUNABLES");
}

TEST(Process, EndsWithItsOwner)
{
	int pid;
	{
		auto sleeper = hz::Process::start({"sleep", "1000"}, "/dev/null");
		pid = sleeper.pid();
	}
	EXPECT_FALSE(runs(pid));
}

TEST(Process, EndsWithItsKilledOwner)
{
	int ends[2], pid = 0;
	ASSERT_EQ(pipe(ends), 0);
	int owner = fork();
	if (owner == 0) {
		auto sleeper = hz::Process::start({"sleep", "1000"}, "/dev/null");
		int id = sleeper.pid();
		if (write(ends[1], &id, sizeof(id)) == sizeof(id))
			pause();
		_exit(1);
	}
	ASSERT_EQ(read(ends[0], &pid, sizeof(pid)), static_cast<ssize_t>(sizeof(pid)));
	EXPECT_TRUE(runs(pid));
	kill(owner, SIGKILL);
	waitpid(owner, nullptr, 0);
	EXPECT_TRUE(within(2s, [&] { return !runs(pid); }));
}

TEST_F(RunBase, DirectoryGoesWithItsOwner)
{
	fs::path path;
	{
		hz::RunDirectory directory;
		path = directory.path();
		std::ofstream(path / "file") << "x";
		EXPECT_EQ(hz::RunDirectory::remove_stale(), 0u);
		EXPECT_TRUE(fs::exists(path));
	}
	EXPECT_FALSE(fs::exists(path));
}

TEST_F(RunBase, JanitorCleansUpAfterKillNine)
{
	int child = fork();
	if (child == 0) {
		hz::RunDirectory directory;
		std::ofstream(directory.path() / "file") << "x";
		kill(getpid(), SIGKILL);
	}
	waitpid(child, nullptr, 0);
	EXPECT_TRUE(within(2s, [&] { return empty(); }));
}

TEST_F(RunBase, StaleDirectoriesAreRemovedAtTheNextStart)
{
	const std::string prefix = "hz-" + std::to_string(getuid()) + "-";
	const auto dead = base / (prefix + "deadxx"), old = base / (prefix + "oldxxx"), young = base / (prefix + "youngx");
	const auto stranger = base / "somebody-else", link = base / (prefix + "linkxx");
	for (const auto &directory : {dead, old, young, stranger})
		fs::create_directory(directory);
	std::ofstream(dead / "lock") << "";
	std::ofstream(stranger / "file") << "";
	fs::create_directory_symlink(stranger, link);
	for (const auto &directory : {old, stranger})
		fs::last_write_time(directory, fs::file_time_type::clock::now() - 1h);
	hz::RunDirectory directory;
	EXPECT_FALSE(fs::exists(dead));
	EXPECT_FALSE(fs::exists(old)) << "its maker died in between";
	EXPECT_TRUE(fs::exists(young)) << "is being made";
	EXPECT_TRUE(fs::exists(stranger / "file") && fs::is_symlink(link));
	EXPECT_EQ(hz::RunDirectory::remove_stale(), 0u);
	for (const auto &again : {dead, old}) {
		fs::create_directory(again);
		std::ofstream(again / "lock") << "";
	}
	EXPECT_EQ(hz::RunDirectory::remove_stale(), 2u);
}

TEST_F(RunBase, NamesCannotBeForeseenAndNobodyElseMayLookIn)
{
	std::set<std::string> names;
	for (int i = 0; i < 5; i++) {
		hz::RunDirectory directory;
		struct stat info {};
		ASSERT_EQ(stat(directory.path().c_str(), &info), 0);
		EXPECT_EQ(info.st_mode & 07777, 0700u);
		names.insert(directory.path().filename());
	}
	EXPECT_EQ(names.size(), 5u);
	for (const std::string &name : names)
		EXPECT_EQ(name.find(std::to_string(getpid())), std::string::npos) << name;
}

TEST_F(RunBase, AnyFolderMayBeTheBase)
{
	for (const std::string &name : {std::string("a,b"), std::string("c d=e"), std::string("f'g\"h"), std::string("\u00e4\u6f22"),
					std::string("$(i)`j`;k"), std::string("--l"), std::string(180, 'm')}) {
		fs::create_directory(base / name);
		setenv("HARTZONE_RUN_BASE", (base / name).c_str(), 1);
		const int child = fork();
		if (child == 0) {
			hz::RunDirectory directory;
			std::ofstream(directory.path() / "file") << "x";
			kill(getpid(), SIGKILL);
		}
		waitpid(child, nullptr, 0);
		EXPECT_TRUE(within(5s, [&] { return fs::is_empty(base / name); })) << name;
	}
	const fs::path here = fs::current_path();
	fs::current_path(base);
	setenv("HARTZONE_RUN_BASE", "a,b", 1);
	hz::RunDirectory relative;
	fs::current_path(here);
	EXPECT_TRUE(relative.path().is_absolute() && fs::exists(relative.path() / "lock")) << relative.path();
}

TEST_F(RunBase, AWrongBaseIsReportedWithItsRemedy)
{
	std::ofstream(base / "file") << "";
	setenv("HARTZONE_RUN_BASE", "", 1);
	EXPECT_EQ(error_of([] { hz::RunDirectory directory; }), "HARTZONE_RUN_BASE is empty: let it name a folder, or unset it");
	for (const char *name : {"file", "nothing"}) {
		setenv("HARTZONE_RUN_BASE", (base / name).c_str(), 1);
		EXPECT_EQ(error_of([] { hz::RunDirectory directory; }),
			  "HARTZONE_RUN_BASE is " + (base / name).string() + ", which is no folder: make it, or unset the variable");
	}
}

TEST_F(RunBase, ABaseThatMayNotBeWrittenIsReported)
{
	fs::permissions(base, fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
	int ends[2];
	ASSERT_EQ(pipe(ends), 0);
	const pid_t child = fork();
	if (child == 0) { // as a user subject to permissions
		const std::string words = setuid(getuid() ? getuid() : 65534) ? "" : error_of([] { hz::RunDirectory directory; });
		_exit(write(ends[1], words.data(), words.size()) < 0);
	}
	close(ends[1]);
	char words[500] = "";
	for (size_t at = 0; ssize_t n = read(ends[0], words + at, sizeof(words) - 1 - at); at += static_cast<size_t>(n))
		ASSERT_GT(n, 0);
	close(ends[0]);
	waitpid(child, nullptr, 0);
	EXPECT_EQ(std::string(words),
		  "cannot write to " + base.string() + ", where runs live (HARTZONE_RUN_BASE names another folder): Permission denied");
	fs::permissions(base, fs::perms::owner_all);
}

TEST_F(RunBase, ADaemonOfThePathIsTaken)
{
	const std::string before = std::getenv("PATH") ? std::getenv("PATH") : "";
	const char *named = std::getenv("HARTZONE_VSOCK_DAEMON");
	const std::string daemon = named ? named : "";
	std::ofstream(base / "vhost-device-vsock") << "#!/bin/sh\n";
	fs::permissions(base / "vhost-device-vsock", fs::perms::owner_all);
	setenv("PATH", base.c_str(), 1);
	unsetenv("HARTZONE_VSOCK_DAEMON");
	EXPECT_EQ(hz::locate_vsock_daemon(), base / "vhost-device-vsock");
	setenv("HARTZONE_VSOCK_DAEMON", "/bin/sh", 1);
	EXPECT_EQ(hz::locate_vsock_daemon(), "/bin/sh");
	unsetenv("HARTZONE_VSOCK_DAEMON");
	if (named)
		setenv("HARTZONE_VSOCK_DAEMON", daemon.c_str(), 1);
	setenv("PATH", before.c_str(), 1);
}

TEST_F(RunBase, LiesWhereThereIsRoomAndSaysSoWhereThereIsNone)
{
	EXPECT_EQ(hz::RunDirectory::base(UINT64_MAX), base) << "the environment decides alone";
	setenv("HARTZONE_RUN_BASE", "/proc", 1); // a file system without room
	const std::string words = error_of([] { hz::RunDirectory directory; });
	if (access("/proc", W_OK) == 0) {
		EXPECT_EQ(words, "/proc has no room for a run: make some, or name another folder in HARTZONE_RUN_BASE");
	}
	unsetenv("HARTZONE_RUN_BASE");
	uint64_t most = 0;
	for (const fs::path &folder : hz::RunDirectory::bases())
		if (!access(folder.c_str(), W_OK))
			most = std::max<uint64_t>(most, fs::space(folder).available);
	EXPECT_EQ(fs::space(hz::RunDirectory::base(UINT64_MAX)).available / (64 << 20), most / (64 << 20))
		<< "no room for all: the largest";
	EXPECT_EQ(hz::RunDirectory::base(1), access("/dev/shm", W_OK) || !fs::space("/dev/shm").available ? "/tmp" : "/dev/shm");
}

TEST(BootWatch, FindsThePluginsWords)
{
	EXPECT_EQ(hz::plugin_failure("vclock: option x=1 is unknown\nqemu: Could not load plugin\n"), "vclock: option x=1 is unknown");
	EXPECT_EQ(hz::plugin_failure("qemu: a\nvclock: b\nvclock: c\n"), "vclock: b");
	EXPECT_EQ(hz::plugin_failure("qemu: the vclock: plugin\n"), "");
	EXPECT_EQ(hz::plugin_failure(""), "");
	const std::string races = "vclock: RACE: a, then b\nqemu: c\nvclock: RACE: d\n";
	EXPECT_EQ(hz::plugin_failure(races), "") << "a race is no reason to end";
	EXPECT_EQ(hz::plugin_failure(races + "vclock: DEADLOCK\n"), "vclock: DEADLOCK");
	EXPECT_EQ(hz::races_before(races + "vclock: DEADLOCK\n"), "\nrace: a, then b\nrace: d");
	EXPECT_EQ(hz::last_line(races), "qemu: c");
	EXPECT_EQ(hz::races_before("qemu: vclock: RACE: x\n"), "");
}

// Every start removes stale directories: none may take one that another thread makes at this moment for stale. Two threads make
// directories; two more do nothing but look, as many starts would, to hit the moment in between.
TEST_F(RunBase, DirectoriesMadeAtOnceLeaveEachOtherAlone)
{
	constexpr unsigned makers = 2, rounds = 60;
	std::atomic<unsigned> lost{0}, making{makers};
	std::vector<std::jthread> threads;
	for (unsigned i = 0; i < makers; i++)
		threads.emplace_back([&] {
			for (unsigned round = 0; round < rounds; round++) {
				try {
					hz::RunDirectory directory;
					lost += !fs::exists(directory.path() / "lock");
				} catch (const hz::Error &) {
					lost++; // it went while it was made
				}
			}
			making--;
		});
	for (unsigned i = 0; i < 2; i++)
		threads.emplace_back([&] {
			while (making)
				hz::RunDirectory::remove_stale();
		});
	threads.clear();
	EXPECT_EQ(lost, 0u);
	EXPECT_TRUE(empty());
}

} // namespace
