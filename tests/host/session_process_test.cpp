// Children and run directories: nothing outlives its owner, however the owner ends.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "session/error.hpp"
#include "session/boot_watch.hpp"
#include "session/process.hpp"
#include "session/run_directory.hpp"

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

bool within(std::chrono::milliseconds limit, const std::function<bool()> &condition)
{
	auto until = std::chrono::steady_clock::now() + limit;
	while (std::chrono::steady_clock::now() < until) {
		if (condition())
			return true;
		std::this_thread::sleep_for(10ms);
	}
	return condition();
}

// False for a zombie too: an orphan in a container may have no init that reaps it.
bool runs(int pid)
{
	std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
	std::string id, name, state;
	stat >> id >> name >> state;
	return stat && state != "Z" && state != "X";
}

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
		EXPECT_LT(path.string().size() + 20, 108u);
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
	auto dead = base / ("hz-" + std::to_string(getuid()) + "-1-0");
	fs::create_directory(dead);
	std::ofstream(dead / "lock") << "";
	auto stranger = base / "somebody-else";
	fs::create_directory(stranger);
	hz::RunDirectory directory;
	EXPECT_FALSE(fs::exists(dead));
	EXPECT_TRUE(fs::exists(stranger));
}

TEST_F(RunBase, LiesWhereThereIsRoomAndSaysSoWhereThereIsNone)
{
	EXPECT_EQ(hz::RunDirectory::base(UINT64_MAX), base) << "the environment decides alone";
	setenv("HARTZONE_RUN_BASE", "/proc", 1); // a file system without room
	std::string words;
	try {
		hz::RunDirectory directory;
	} catch (const hz::Error &e) {
		words = e.what();
	}
	if (access("/proc", W_OK) == 0) {
		EXPECT_EQ(words, "/proc has no room for a run: make some, or name another folder in HARTZONE_RUN_BASE");
	}
	unsetenv("HARTZONE_RUN_BASE");
	uint64_t most = 0;
	for (const fs::path &folder : hz::RunDirectory::bases())
		if (!access(folder.c_str(), W_OK))
			most = std::max<uint64_t>(most, fs::space(folder).available);
	EXPECT_EQ(fs::space(hz::RunDirectory::base(UINT64_MAX)).available / (64 << 20), most / (64 << 20)) << "no room for all: the largest";
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
