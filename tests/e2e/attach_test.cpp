// One device, several processes, on the real firmware image through the public library: at once, in turn, and killed at work. This
// program is also the other process: with --guest it does what follows.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "hartzone.h"

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

const std::string program = fs::read_symlink("/proc/self/exe");
constexpr uint32_t blocks = 16;

std::vector<unsigned char> pattern(uint64_t block, uint32_t count, uint64_t salt)
{
	std::vector<unsigned char> bytes(size_t(count) * HARTZONE_BLOCK_BYTES);
	for (size_t i = 0; i < bytes.size() / 8; i++) {
		const uint64_t word = (block + i / 512) << 40 ^ salt << 20 ^ i;
		std::memcpy(&bytes[i * 8], &word, 8);
	}
	return bytes;
}

struct Failure : std::runtime_error {
	explicit Failure(const std::string &what) : std::runtime_error(what + ": " + hartzone_error_text(HARTZONE_ERROR)) {}
};

void good(int code, const char *what)
{
	if (code == HARTZONE_ERROR)
		throw Failure(what);
	if (code)
		throw std::runtime_error(std::string(what) + ": " + hartzone_error_text(code));
}

// A process's device and its queue.
class Seat {
public:
	Seat(hartzone_device *device, unsigned id) : device_(device), queue_(device ? hartzone_queue_open(device, id, blocks) : nullptr)
	{
		if (!queue_)
			throw Failure(device_ ? "queue" : "device");
		good(hartzone_get_info(device_, &info_), "info");
	}
	unsigned id() const { return hartzone_queue_id(queue_); }
	uint64_t latency_ns() const { return hartzone_latency_ns(queue_); }
	uint64_t start(uint64_t zone) const { return zone * info_.zone_blocks; }
	uint64_t capacity() const { return info_.zone_capacity / blocks * blocks; }

	void reset(uint64_t zone) { good(hartzone_zone_reset(queue_, start(zone)), "reset"); }
	void write(uint64_t block, uint64_t salt)
	{
		good(hartzone_write(queue_, block, blocks, pattern(block, blocks, salt).data()), "write");
	}
	void check(uint64_t block, uint64_t salt)
	{
		std::vector<unsigned char> in(size_t(blocks) * HARTZONE_BLOCK_BYTES);
		good(hartzone_read(queue_, block, blocks, in.data()), "read");
		if (in != pattern(block, blocks, salt))
			throw std::runtime_error("block " + std::to_string(block) + " holds something else");
	}
	// Fills a zone of its own repeatedly, and reads the data back, at once and later.
	void work(uint64_t zone, unsigned rounds)
	{
		for (unsigned round = 0; round < rounds; round++) {
			reset(zone);
			for (uint64_t at = 0; at < std::min<uint64_t>(capacity(), 40 * blocks); at += blocks) {
				write(start(zone) + at, round);
				check(start(zone) + at / 2 / blocks * blocks, round);
			}
		}
	}
	void leave()
	{
		good(hartzone_queue_close(queue_), "queue close");
		good(hartzone_close(device_), "close");
	}

private:
	hartzone_device *device_;
	hartzone_queue *queue_;
	hartzone_info info_{};
};

int play(const std::string &role, const char *directory, uint64_t zone)
{
	try {
		Seat seat(hartzone_attach(directory), HARTZONE_ANY_QUEUE);
		std::puts("ready");
		std::fflush(stdout);
		seat.work(zone, role == "work" ? 4 : 1000000);
		seat.leave();
		return 0;
	} catch (const std::exception &e) {
		std::fprintf(stderr, "zone %lu: %s\n", static_cast<unsigned long>(zone), e.what());
		return 1;
	}
}

class Guest {
public:
	Guest(const char *role, const std::string &directory, uint64_t zone)
	{
		int ends[2];
		if (pipe(ends))
			abort();
		pid_ = fork();
		if (pid_ == 0) {
			dup2(ends[1], 1);
			close(ends[0]);
			execl(program.c_str(), program.c_str(), "--guest", role, directory.c_str(), std::to_string(zone).c_str(), nullptr);
			_exit(127);
		}
		close(ends[1]);
		char c; // "ready", or the end
		ready_ = read(ends[0], &c, 1) == 1;
		close(ends[0]);
	}
	bool ready() const { return ready_; }
	int pid() const { return pid_; }
	void kill() const { ::kill(pid_, SIGKILL); }
	int wait() const
	{
		int status = 0;
		waitpid(pid_, &status, 0);
		return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	}

private:
	int pid_;
	bool ready_;
};

// Fields of /proc/PID/stat, from its state on.
std::vector<std::string> fields_of(const std::string &pid, std::string *name = nullptr)
{
	std::string text;
	std::getline(std::ifstream("/proc/" + pid + "/stat"), text);
	const size_t open = text.find('('), close = text.rfind(')');
	if (close == text.npos)
		return {};
	if (name)
		*name = text.substr(open + 1, close - open - 1);
	std::istringstream rest(text.substr(close + 1));
	return {std::istream_iterator<std::string>(rest), {}};
}

std::string child_named(const std::string &wanted)
{
	for (const auto &entry : fs::directory_iterator("/proc")) {
		std::string name, pid = entry.path().filename();
		const auto fields = fields_of(pid, &name);
		if (fields.size() > 2 && fields[1] == std::to_string(getpid()) && name.starts_with(wanted))
			return pid;
	}
	return "";
}

// CPU time that the process has used, in hundredths of a second.
long cpu_of(const std::string &pid)
{
	const auto fields = fields_of(pid);
	return fields.size() < 13 ? 0 : std::stol(fields[11]) + std::stol(fields[12]);
}

class Attach : public testing::TestWithParam<bool> {
protected:
	Attach()
	{
		hartzone_options options{};
		options.workers = 3;
		options.real_clock = !GetParam();
		device = hartzone_launch(&options);
		EXPECT_TRUE(device) << hartzone_error_text(HARTZONE_ERROR);
		directory = device ? hartzone_run_directory(device) : "";
	}
	~Attach() override { hartzone_close(device); }

	hartzone_device *device;
	std::string directory;
};
INSTANTIATE_TEST_SUITE_P(Clocks, Attach, testing::Bool(), [](const auto &i) { return i.param ? "virtual" : "real"; });

TEST_P(Attach, ThreeProcessesAtOnceAndTheOwnerToo)
{
	Guest a("work", directory, 1), b("work", directory, 2), c("work", directory, 3);
	Seat own(device, 9);
	own.work(0, 4);
	EXPECT_TRUE(a.ready() && b.ready() && c.ready());
	EXPECT_EQ(a.wait(), 0);
	EXPECT_EQ(b.wait(), 0);
	EXPECT_EQ(c.wait(), 0);
	own.check(own.start(0), 3);
	for (uint64_t zone : {1, 2, 3})
		own.check(own.start(zone), 3);
	EXPECT_LT(own.latency_ns(), 100000000u) << "the time that others took is no latency";
}

// Each time at work, with a command under way more often than not. Its queue, which is the lowest free one, comes back every time.
TEST_P(Attach, AKilledProcessTakesNothingFromTheOthers)
{
	Seat own(device, 1);
	own.reset(0);
	Guest steady("busy", directory, 2);
	for (unsigned round = 0; round < 8; round++) {
		Guest victim("busy", directory, 1);
		ASSERT_TRUE(victim.ready());
		own.write(own.start(0) + round * blocks, round);
		std::this_thread::sleep_for(std::chrono::milliseconds(round * 7));
		victim.kill();
		EXPECT_EQ(victim.wait(), 128 + SIGKILL);
		hartzone_queue *again = hartzone_queue_open(device, 3, blocks);
		ASSERT_TRUE(again) << hartzone_error_text(HARTZONE_ERROR);
		EXPECT_EQ(hartzone_queue_close(again), 0);
		for (unsigned i = 0; i <= round; i++)
			own.check(own.start(0) + i * blocks, i);
	}
	EXPECT_EQ(waitpid(steady.pid(), nullptr, WNOHANG), 0) << "the other one works on";
	steady.kill();
	steady.wait();
}

TEST_P(Attach, OneAfterTheOtherAndDataStay)
{
	for (uint64_t zone = 1; zone <= 5; zone++) {
		Guest guest("work", directory, zone);
		EXPECT_EQ(guest.wait(), 0);
	}
	Seat own(device, HARTZONE_ANY_QUEUE);
	EXPECT_EQ(own.id(), 1u);
	for (uint64_t zone = 1; zone <= 5; zone++)
		own.check(own.start(zone), 3);
}

// A refused queue used to clear the doorbells and the time of the one that is open.
TEST_P(Attach, ARefusedQueueLeavesTheOpenOneAlone)
{
	Seat own(device, 1);
	own.reset(0);
	for (uint64_t i = 0; i < 20; i++) {
		own.write(own.start(0) + i * blocks, i);
		EXPECT_EQ(hartzone_queue_open(device, 1, blocks), nullptr);
		EXPECT_EQ(hartzone_queue_open(device, 2, 1000), nullptr);
		EXPECT_EQ(hartzone_queue_open(device, 99, blocks), nullptr);
	}
	for (uint64_t i = 0; i < 20; i++)
		own.check(own.start(0) + i * blocks, i);
}

// The shared region of 256 MiB has room for 249 of these at once.
TEST_P(Attach, AsManyQueuesWithLargeBuffersAsOneLikes)
{
	std::vector<unsigned char> data(size_t(128) * HARTZONE_BLOCK_BYTES, 7);
	for (unsigned i = 0; i < 300; i++) {
		hartzone_queue *queue = hartzone_queue_open(device, HARTZONE_ANY_QUEUE, 128);
		ASSERT_TRUE(queue) << i << ": " << hartzone_error_text(HARTZONE_ERROR);
		if (i % 100 == 0) {
			ASSERT_EQ(hartzone_zone_reset(queue, 0), 0);
			ASSERT_EQ(hartzone_write(queue, 0, 128, data.data()), 0);
		}
		ASSERT_EQ(hartzone_queue_close(queue), 0) << i;
	}
}

TEST_P(Attach, QueuesOutliveTheirDevice)
{
	hartzone_device *guest = hartzone_attach(directory.c_str());
	ASSERT_TRUE(guest) << hartzone_error_text(HARTZONE_ERROR);
	hartzone_queue *one = hartzone_queue_open(guest, 5, blocks), *two = hartzone_queue_open(guest, 6, blocks);
	EXPECT_EQ(hartzone_queue_close(two), 0);
	EXPECT_EQ(hartzone_close(guest), 0);
	EXPECT_EQ(hartzone_flush(one), HARTZONE_ERROR);
	EXPECT_STREQ(hartzone_error_text(HARTZONE_ERROR), "the device of queue 5 has been closed");
	unsigned char data[HARTZONE_BLOCK_BYTES];
	EXPECT_EQ(hartzone_read(one, 0, 1, data), HARTZONE_ERROR);
	EXPECT_EQ(hartzone_queue_close(one), 0);
	hartzone_queue *again = hartzone_queue_open(device, 5, blocks);
	EXPECT_TRUE(again) << "it went back at the closing";
	EXPECT_EQ(hartzone_flush(again), 0);
	EXPECT_EQ(hartzone_queue_close(again), 0);
}

// Neither the vsock daemon nor this process, with its service, uses CPU while idle.
TEST_P(Attach, NobodySpinsAfterwards)
{
	for (int i = 0; i < 3; i++) {
		Guest guest("work", directory, 1);
		EXPECT_EQ(guest.wait(), 0);
		EXPECT_EQ(hartzone_attach("/dev/shm"), nullptr);
	}
	const std::string daemon = child_named("vhost-device"), self = std::to_string(getpid());
	ASSERT_TRUE(!daemon.empty() || !access("/dev/vhost-vsock", R_OK | W_OK)) << "where is the vsock daemon?";
	const long before = cpu_of(daemon) + cpu_of(self);
	std::this_thread::sleep_for(1500ms);
	EXPECT_LE(cpu_of(daemon) + cpu_of(self) - before, 15);
}

} // namespace

int main(int argc, char **argv)
{
	if (argc == 5 && std::string(argv[1]) == "--guest")
		return play(argv[2], argv[3], std::stoull(argv[4]));
	testing::InitGoogleTest(&argc, argv);
	return RUN_ALL_TESTS();
}
