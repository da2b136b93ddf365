// Prepared devices in a folder: made once, used by many, gone when others need the room, never half there.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "keep/prepared_entry.hpp"
#include "session/machine/error.hpp"
#include "session/machine/interrupt.hpp"
#include "session/machine/sparse_copy.hpp"

namespace {

using namespace hz;
namespace fs = std::filesystem;

constexpr uint64_t plenty = 1 << 30;
const nlohmann::json host = {{"some", "words"}};

std::string key_of(char digit) { return std::string(64, digit); }

void nobody_waits() { ADD_FAILURE() << "nobody else has it"; }

// A new folder for each test, with an image in which there is little.
class PreparedEntries : public testing::Test {
protected:
	PreparedEntries()
	{
		std::string name = testing::TempDir() + "prepared-XXXXXX";
		folder_ = mkdtemp(name.data());
		const int fd = open(image().c_str(), O_RDWR | O_CREAT, 0600);
		EXPECT_EQ(ftruncate(fd, 8 << 20), 0);
		EXPECT_EQ(pwrite(fd, "begin", 5, 0), 5);
		EXPECT_EQ(pwrite(fd, "middle", 6, 5 << 20), 6);
		close(fd);
	}
	~PreparedEntries() override
	{
		set_interrupted(false);
		fs::remove_all(folder_);
	}

	fs::path image() const { return folder_ / "image"; }
	fs::path all() const { return folder_ / "all"; }
	PreparedEntry entry(char digit, const std::function<void()> &waiting = nobody_waits) const
	{
		return PreparedEntry(all(), key_of(digit), waiting);
	}
	void make(char digit, uint64_t most_bytes = plenty) const
	{
		auto made = entry(digit);
		EXPECT_FALSE(made.found());
		made.keep(image(), host, most_bytes);
		EXPECT_TRUE(made.found());
	}
	bool is_there(char digit) const { return fs::exists(all() / key_of(digit) / "host"); }
	bool is_left(char digit) const { return fs::exists(all() / key_of(digit)); }

	fs::path folder_;
};

std::string content(const fs::path &file)
{
	std::string bytes(fs::file_size(file), 0);
	std::ifstream(file, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
	return bytes;
}

uint64_t room_of(const fs::path &file)
{
	struct stat info {};
	EXPECT_EQ(stat(file.c_str(), &info), 0);
	return static_cast<uint64_t>(info.st_blocks) * 512;
}

TEST_F(PreparedEntries, WhatWasKeptIsFound)
{
	make('a');
	const auto found = entry('a');
	ASSERT_TRUE(found.found());
	EXPECT_EQ(found.host(), host);
	EXPECT_EQ(content(found.image()), content(image()));
	EXPECT_LT(room_of(found.image()), 1u << 20) << "holes stay holes";
	EXPECT_FALSE(entry('b').found());
}

TEST_F(PreparedEntries, WhatWasNotKeptLeavesNothing)
{
	{
		const auto begun = entry('a');
		EXPECT_FALSE(begun.found());
		EXPECT_TRUE(is_left('a'));
	}
	EXPECT_FALSE(is_left('a'));
}

TEST_F(PreparedEntries, SeveralUseOneAtATime)
{
	make('a');
	const auto first = entry('a'), second = entry('a');
	EXPECT_TRUE(first.found());
	EXPECT_TRUE(second.found());
}

// One makes it, the other waits and then finds it, also where the first one has failed.
TEST_F(PreparedEntries, OneWaitsForTheOther)
{
	for (const bool succeeds : {true, false}) {
		std::atomic<int> waiting{0};
		auto maker = std::make_unique<PreparedEntry>(all(), key_of(succeeds ? 'a' : 'b'), nobody_waits);
		bool found = !succeeds;
		std::thread other([&] { found = entry(succeeds ? 'a' : 'b', [&] { waiting++; }).found(); });
		while (!waiting)
			std::this_thread::yield();
		if (succeeds)
			maker->keep(image(), host, plenty);
		maker.reset();
		other.join();
		EXPECT_EQ(found, succeeds);
		EXPECT_EQ(waiting, 1);
	}
}

TEST_F(PreparedEntries, AnInterruptEndsTheWait)
{
	const auto maker = entry('a');
	EXPECT_THROW(entry('a', [] { set_interrupted(true); }), Interrupted);
}

TEST_F(PreparedEntries, OneWhoDiesWhileMakingItLeavesNoLockAndNothingToUse)
{
	const pid_t child = fork();
	if (child == 0) {
		auto *begun = new PreparedEntry(all(), key_of('a'), [] {});
		copy_sparsely(image(), all() / key_of('a') / "flash.new");
		copy_sparsely(image(), begun->image());
		raise(SIGKILL);
	}
	int status = 0;
	ASSERT_EQ(waitpid(child, &status, 0), child);
	EXPECT_TRUE(is_left('a'));
	make('a');
	EXPECT_EQ(entry('a').host(), host);
	EXPECT_FALSE(fs::exists(all() / key_of('a') / "flash.new"));
}

TEST_F(PreparedEntries, TheOldestMakesRoom)
{
	make('a');
	const uint64_t each = room_of(all() / key_of('a') / "flash") + room_of(all() / key_of('a') / "host");
	make('b');
	make('c', 3 * each);
	EXPECT_TRUE(is_there('a') && is_there('b') && is_there('c'));
	EXPECT_TRUE(entry('a').found()); // used, so that b is the oldest
	make('d', 3 * each);
	EXPECT_TRUE(is_there('a') && is_there('c') && is_there('d'));
	EXPECT_FALSE(is_left('b'));
	make('e', 0);
	EXPECT_FALSE(is_left('a') || is_left('c') || is_left('d'));
	EXPECT_TRUE(is_there('e')) << "it is in use";
}

TEST_F(PreparedEntries, WhatIsInUseStaysAndWhatIsHalfGoesFirst)
{
	make('a');
	fs::create_directories(all() / key_of('b'));
	copy_sparsely(image(), all() / key_of('b') / "flash.new");
	fs::create_directories(all() / "somebody's");
	std::ofstream(all() / "notes") << "of somebody";
	const auto used = entry('a');
	make('c');
	EXPECT_FALSE(is_left('b')) << "nobody can use it";
	make('d', 0);
	EXPECT_TRUE(is_there('a'));
	EXPECT_FALSE(is_left('c'));
	EXPECT_TRUE(fs::exists(all() / "somebody's") && fs::exists(all() / "notes"));
}

TEST_F(PreparedEntries, ADamagedOneSaysWhichFile)
{
	make('a');
	std::ofstream(all() / key_of('a') / "host") << "no such record";
	const auto found = entry('a');
	try {
		found.host();
		FAIL();
	} catch (const Error &e) {
		EXPECT_EQ(e.what(), found.host_file().string() + " is damaged: remove it, and the device is prepared again");
	}
}

TEST_F(PreparedEntries, AFolderThatCannotBeMadeIsSaid)
{
	EXPECT_THROW(PreparedEntry("/proc/hartzone", key_of('a'), nobody_waits), Error);
	EXPECT_THROW(PreparedEntry(image(), key_of('a'), nobody_waits), Error);
}

// In a process of its own: files may have no more than this.
int keep_with_limit(const fs::path &folder, const fs::path &image, rlim_t bytes)
{
	std::signal(SIGXFSZ, SIG_IGN);
	const rlimit limit{bytes, bytes};
	PreparedEntry begun(folder, key_of('a'), [] {});
	if (setrlimit(RLIMIT_FSIZE, &limit) || begun.found())
		return 3;
	try {
		begun.keep(image, host, plenty);
	} catch (const Error &) {
		return begun.found() ? 2 : 1;
	}
	return 0;
}

TEST_F(PreparedEntries, WithoutRoomThereIsNone)
{
	const pid_t child = fork();
	if (child == 0)
		_exit(keep_with_limit(all(), image(), 1 << 20));
	int status = 0;
	ASSERT_EQ(waitpid(child, &status, 0), child);
	EXPECT_EQ(WEXITSTATUS(status), 1);
	make('a');
}

TEST_F(PreparedEntries, ACopyOfNothingAndOfWhatIsNotThere)
{
	std::ofstream(folder_ / "empty").flush();
	copy_sparsely(folder_ / "empty", folder_ / "copy");
	EXPECT_EQ(fs::file_size(folder_ / "copy"), 0u);
	EXPECT_THROW(copy_sparsely(folder_ / "none", folder_ / "copy"), Error);
	EXPECT_THROW(copy_sparsely(image(), "/proc/none"), Error);
	set_interrupted(true);
	EXPECT_THROW(copy_sparsely(image(), folder_ / "copy"), Interrupted);
}

} // namespace
