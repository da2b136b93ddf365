// Dead peers and Ctrl-C at any moment of a run of the program: noticed soon, one sentence, nothing is left.
#include <gtest/gtest.h>

#include <cctype>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr auto limit = 4s; // the product promises 2 s; the rest is for a loaded host

struct Proc {
	int pid, parent;
	std::string name;
};

std::vector<Proc> processes()
{
	std::vector<Proc> all;
	for (const auto &entry : fs::directory_iterator("/proc")) {
		if (!std::isdigit(static_cast<unsigned char>(entry.path().filename().string()[0])))
			continue;
		std::ifstream in(entry.path() / "stat");
		std::string text((std::istreambuf_iterator<char>(in)), {});
		const size_t open = text.find('('), close = text.rfind(')');
		if (open == std::string::npos || close == std::string::npos)
			continue;
		std::istringstream rest(text.substr(close + 2));
		Proc p{std::atoi(text.c_str()), 0, text.substr(open + 1, close - open - 1)};
		std::string state;
		rest >> state >> p.parent;
		if (state != "Z" && state != "X")
			all.push_back(p);
	}
	return all;
}

// A run of the program in the background with a run base of its own.
class Driver {
public:
	explicit Driver(const std::string &clock, const std::string &device_name = "default", const std::string &load_name = "overwrite")
	{
		fs::create_directory(base_);
		pid_ = fork();
		if (pid_ == 0) {
			setenv("HARTZONE_RUN_BASE", base_.c_str(), 1);
			freopen("/dev/null", "w", stdout);
			freopen((base_.string() + ".err").c_str(), "w", stderr);
			const std::string device = std::string(HZ_TREE) + "/configs/devices/" + device_name + ".yaml";
			const std::string load = std::string(HZ_TREE) + "/configs/workloads/" + load_name + ".yaml";
			execl(HZ_PROGRAM, "hartzone", "run", "--device", device.c_str(), "--workload", load.c_str(), "--clock", clock.c_str(),
			      nullptr);
			_exit(127);
		}
	}
	~Driver()
	{
		if (pid_ > 0) {
			kill(pid_, SIGKILL);
			waitpid(pid_, nullptr, 0);
		}
		std::this_thread::sleep_for(50ms);
		fs::remove_all(base_);
		fs::remove(base_.string() + ".err");
	}

	int pid() const { return pid_; }
	int child(const std::string &name) const
	{
		for (const Proc &p : processes())
			if (p.parent == pid_ && p.name.starts_with(name))
				return p.pid;
		return -1;
	}
	int wait_child(const std::string &name) const
	{
		for (auto until = Clock::now() + 20s; Clock::now() < until; std::this_thread::sleep_for(2ms))
			if (int pid = child(name); pid > 0)
				return pid;
		return -1;
	}
	// Exit code (128 + signal), -1 when it does not end in time.
	int wait()
	{
		for (auto until = Clock::now() + limit; Clock::now() < until; std::this_thread::sleep_for(5ms)) {
			int status = 0;
			if (waitpid(pid_, &status, WNOHANG) != pid_)
				continue;
			pid_ = -1;
			return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
		}
		return -1;
	}
	bool nothing_left(const std::vector<int> &children) const
	{
		for (auto until = Clock::now() + limit; Clock::now() < until; std::this_thread::sleep_for(10ms)) {
			bool left = !fs::is_empty(base_);
			for (const Proc &p : processes())
				for (int child : children)
					left |= p.pid == child;
			if (!left)
				return true;
		}
		return false;
	}
	std::vector<std::string> words() const
	{
		std::vector<std::string> lines;
		std::ifstream in(base_.string() + ".err");
		for (std::string line; std::getline(in, line);)
			lines.push_back(line);
		return lines;
	}

private:
	static inline unsigned count = 0;
	fs::path base_ = fs::path("/dev/shm") / ("hz-e2e-" + std::to_string(getpid()) + "-" + std::to_string(count++));
	int pid_ = -1;
};

class DeadPeer : public ::testing::TestWithParam<std::string> {
protected:
	static constexpr std::chrono::milliseconds moments[] = {0ms, 60ms, 150ms, 300ms, 600ms, 1500ms};

	// Kills what `victim` names at several moments of the boot, the preparation and the replay.
	void kill_at_moments(const std::string &victim, int number, int code, const std::string &word)
	{
		for (auto moment : moments) {
			SCOPED_TRACE(std::to_string(moment.count()) + " ms after the start of QEMU");
			Driver driver(GetParam());
			const int qemu = driver.wait_child("qemu-system"), daemon = driver.child("vhost-device");
			ASSERT_GT(qemu, 0);
			std::this_thread::sleep_for(moment);
			const int target = victim == "qemu" ? qemu : victim == "daemon" ? daemon : driver.pid();
			if (target < 0)
				GTEST_SKIP() << "the kernel's vsock is used";
			const auto start = Clock::now();
			kill(target, number);
			EXPECT_EQ(driver.wait(), code);
			EXPECT_LT(Clock::now() - start, limit);
			EXPECT_TRUE(driver.nothing_left({qemu, daemon}));
			if (word.empty())
				continue;
			ASSERT_EQ(driver.words().size(), 1u) << "one sentence";
			EXPECT_NE(driver.words()[0].find(word), std::string::npos) << driver.words()[0];
		}
	}
};

INSTANTIATE_TEST_SUITE_P(Clock, DeadPeer, ::testing::Values("virtual", "real"), [](const auto &i) { return i.param; });

TEST_P(DeadPeer, Qemu) { kill_at_moments("qemu", SIGKILL, 1, "QEMU was killed by signal 9"); }
TEST_P(DeadPeer, VsockDaemon) { kill_at_moments("daemon", SIGKILL, 1, "vsock"); }
TEST_P(DeadPeer, Program) { kill_at_moments("program", SIGKILL, 128 + SIGKILL, ""); }
// A run that ends by itself soon: some of these hit the shutdown.
TEST_P(DeadPeer, CtrlCNearTheEnd)
{
	for (auto moment = 60ms; moment < 420ms; moment += 24ms) {
		SCOPED_TRACE(std::to_string(moment.count()) + " ms after the start of QEMU");
		Driver driver(GetParam(), "small", "small");
		const int qemu = driver.wait_child("qemu-system"), daemon = driver.child("vhost-device");
		std::this_thread::sleep_for(moment);
		kill(driver.pid(), SIGINT);
		const int code = driver.wait();
		EXPECT_TRUE(code == 130 || code == 0) << code;
		EXPECT_TRUE(driver.nothing_left({qemu, daemon}));
	}
}
TEST_P(DeadPeer, CtrlC) { kill_at_moments("program", SIGINT, 130, "interrupted"); }

} // namespace
