// Dead peers and Ctrl-C at any moment of a run of the program: noticed soon, one sentence, nothing is left.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "session/machine/process_load.hpp"

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

// Time limit for the end of processes. The product guarantees two seconds; time waiting for a CPU
// or at work does not count, since a loaded host may stretch it at will. Nor does a moment in which
// this test itself did not run.
class Patience {
public:
	explicit Patience(std::vector<int> pids) : pids_(std::move(pids)) {}

	// Call every few milliseconds; false when it is over.
	bool lasts()
	{
		const auto now = Clock::now();
		bool busy = false;
		for (int pid : pids_) {
			const hz::ProcessLoad load = hz::load_of(pid);
			busy |= load.wants_cpu || load.killed;
		}
		if (!busy)
			idle_ += std::min<Clock::duration>(now - last_, 50ms);
		last_ = now;
		return idle_ < 2s && now - start_ < 40s;
	}

private:
	std::vector<int> pids_;
	Clock::time_point start_ = Clock::now(), last_ = start_;
	Clock::duration idle_{0};
};

// For a failure's message: each thread's state and where it sleeps.
std::string where_are(const std::vector<int> &pids)
{
	std::string text;
	for (int pid : pids) {
		std::error_code gone;
		for (fs::directory_iterator at("/proc/" + std::to_string(pid) + "/task", gone), end; !gone && at != end; at.increment(gone))
			for (const char *file : {"stat", "wchan", "syscall"}) {
				std::string line;
				std::getline(std::ifstream(at->path() / file), line);
				text += line.substr(0, 60) + (*file == 's' && file[1] == 'y' ? "\n" : " ");
			}
	}
	return text;
}

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
		std::string text; // read by getline, which does not throw when the process ends between open and read
		std::getline(std::ifstream(entry.path() / "stat"), text);
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
	explicit Driver(const std::string &clock, const std::string &load_name = "tests/e2e/peers")
	{
		fs::create_directory(base_);
		std::fflush(nullptr); // or the child says it again
		pid_ = fork();
		if (pid_ == 0) {
			setenv("HARTZONE_RUN_BASE", base_.c_str(), 1);
			freopen("/dev/null", "w", stdout);
			freopen((base_.string() + ".err").c_str(), "w", stderr);
			const std::string device = std::string(HZ_TREE) + "/configs/devices/small.yaml";
			const std::string load = std::string(HZ_TREE) + "/" + load_name + ".yaml";
			execl(HZ_PROGRAM, "hartzone", "run", "--device", device.c_str(), "--workload", load.c_str(), "--clock",
			      clock.c_str(), nullptr);
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
	// The program and its children.
	std::vector<int> everybody() const
	{
		std::vector<int> all{pid_};
		for (const Proc &p : processes())
			if (p.parent == pid_)
				all.push_back(p.pid);
		return all;
	}
	// -1 when the program ends without having started it.
	int wait_child(const std::string &name) const
	{
		for (auto until = Clock::now() + 60s; Clock::now() < until && hz::load_of(pid_).alive; std::this_thread::sleep_for(2ms))
			if (int pid = child(name); pid > 0)
				return pid;
		return -1;
	}
	// Exit code (128 + signal), -1 when it does not end in time.
	int wait(const std::vector<int> &all)
	{
		for (Patience patience(all); patience.lasts(); std::this_thread::sleep_for(5ms)) {
			int status = 0;
			if (waitpid(pid_, &status, WNOHANG) != pid_)
				continue;
			pid_ = -1;
			return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
		}
		return -1;
	}
	bool nothing_left(const std::vector<int> &all) const
	{
		for (Patience patience(all); patience.lasts(); std::this_thread::sleep_for(10ms)) {
			bool left = !fs::is_empty(base_);
			for (const Proc &p : processes())
				left |= std::count(all.begin(), all.end(), p.pid) != 0;
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
	// The replay begins 200 ms after the program on a host that has nothing else to do.
	static constexpr std::chrono::milliseconds moments[] = {0ms, 60ms, 150ms, 300ms, 600ms, 1000ms};

	// Kills `victim` at several moments of the boot, the preparation and the replay.
	void kill_at_moments(const std::string &victim, int number, int code, const std::string &word)
	{
		for (auto moment : moments) {
			SCOPED_TRACE(std::to_string(moment.count()) + " ms after the start of QEMU");
			Driver driver(GetParam());
			const int qemu = driver.wait_child("qemu-system"), daemon = driver.child("vhost-device");
			ASSERT_GT(qemu, 0) << (driver.words().empty() ? where_are(driver.everybody()) : driver.words()[0]);
			std::this_thread::sleep_for(moment);
			const std::vector<int> all = driver.everybody();
			const int target = victim == "qemu" ? qemu : victim == "daemon" ? daemon : driver.pid();
			if (target < 0)
				GTEST_SKIP() << "the kernel's vsock is used";
			kill(target, number);
			EXPECT_EQ(driver.wait(all), code) << where_are(all);
			EXPECT_TRUE(driver.nothing_left(all)) << where_are(all);
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
		Driver driver(GetParam(), "configs/workloads/small");
		ASSERT_GT(driver.wait_child("qemu-system"), 0);
		std::this_thread::sleep_for(moment);
		const std::vector<int> all = driver.everybody();
		kill(driver.pid(), SIGINT);
		const int code = driver.wait(all);
		EXPECT_TRUE(code == 130 || code == 0) << code << '\n' << where_are(all);
		EXPECT_TRUE(driver.nothing_left(all)) << where_are(all);
	}
}
TEST_P(DeadPeer, CtrlC) { kill_at_moments("program", SIGINT, 130, "interrupted"); }

} // namespace
