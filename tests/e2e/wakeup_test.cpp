// Single commands while threads of QEMU are stopped at random, one to three at a time, as a host that is short of CPUs may do: whoever sleeps is
// woken. HARTZONE_TEST_SEED and HARTZONE_TEST_ROUNDS choose other stops and more commands. What it found: docs/internals/time.md.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "config/device_yaml.hpp"
#include "session/controller.hpp"
#include "session/machine/error.hpp"
#include "session/machine/machine.hpp"
#include "session/machine/stall_watch.hpp"
#include "setting.hpp"

namespace e2e {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

// Of a thread that traces: stops other threads, and lets them go on.
class Stops {
public:
	Stops(int process, uint64_t seed) : process_(process), random_(seed) {}
	~Stops()
	{
		for (const int thread : seized_)
			if (stop(thread))
				ptrace(PTRACE_DETACH, thread, nullptr, nullptr);
	}

	// False where this user may not trace.
	bool once()
	{
		const std::vector<int> all = threads();
		std::set<int> stopped;
		for (size_t i = 0, n = 1 + random_() % 3; i < n && !all.empty(); i++)
			if (const int thread = all[random_() % all.size()]; !stopped.contains(thread) && seize(thread) && stop(thread))
				stopped.insert(thread);
		std::this_thread::sleep_for(std::chrono::microseconds(random_() % (random_() % 10 ? 500 : 20000)));
		for (const int thread : stopped)
			ptrace(PTRACE_CONT, thread, nullptr, nullptr);
		count += stopped.size();
		std::this_thread::sleep_for(std::chrono::microseconds(random_() % 300));
		return !seized_.empty();
	}
	uint64_t count = 0;

private:
	std::vector<int> threads() const
	{
		std::vector<int> found;
		std::error_code gone;
		for (fs::directory_iterator at("/proc/" + std::to_string(process_) + "/task", gone), end; !gone && at != end;
		     at.increment(gone))
			found.push_back(std::stoi(at->path().filename()));
		return found;
	}

	bool seize(int thread)
	{
		if (!seized_.contains(thread) && ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) == 0)
			seized_.insert(thread);
		return seized_.contains(thread);
	}

	// A signal that comes first is passed on.
	static bool stop(int thread)
	{
		int status;
		if (ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr))
			return false;
		while (waitpid(thread, &status, __WALL) == thread && WIFSTOPPED(status)) {
			if (status >> 16 == PTRACE_EVENT_STOP)
				return true;
			ptrace(PTRACE_CONT, thread, nullptr, reinterpret_cast<void *>(intptr_t{WSTOPSIG(status)}));
		}
		return false;
	}

	int process_;
	std::mt19937_64 random_;
	std::set<int> seized_;
};

class WakeUp : public testing::TestWithParam<bool> {
protected:
	// Until `over`. A command that has taken two seconds is left alone; if QEMU then has had five more, asleep or computing, nothing wakes it.
	void perturb(uint64_t seed)
	{
		Stops stops(machine_->qemu_pid(), seed);
		for (hz::TimeGiven given; !over_;) {
			if (Clock::now().time_since_epoch() - begun_.load() < 2s) {
				given = {};
				if (!stops.once())
					break;
				continue;
			}
			given.look(Clock::now(), hz::load_of(machine_->qemu_pid()));
			if (given.passed() > 5s)
				machine_->give_up("a wake-up was lost");
			std::this_thread::sleep_for(100ms);
		}
		stopped_ = stops.count;
	}

	std::unique_ptr<hz::Machine> machine_;
	std::atomic<bool> over_{false};
	std::atomic<Clock::duration> begun_{Clock::now().time_since_epoch()};
	uint64_t stopped_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Clock, WakeUp, testing::Bool(), [](const auto &i) { return i.param ? "Virtual" : "Real"; });

TEST_P(WakeUp, NoneIsLostWhateverTheHostsScheduleIs)
{
	hz::MachineOptions options;
	options.config = hz::conf::load_device(HZ_TREE "/configs/devices/small-legacy.yaml");
	options.virtual_clock = GetParam();
	machine_ = hz::Machine::launch(options);
	hz::Controller controller(*machine_);
	controller.enable();
	const auto queue = controller.create_queue(1, {});
	const uint64_t seed = setting("HARTZONE_TEST_SEED", 1), commands = setting("HARTZONE_TEST_ROUNDS", GetParam() ? 2000 : 6000);
	SCOPED_TRACE("seed " + std::to_string(seed));
	std::thread perturber([&] { perturb(seed); });
	std::string words;
	try {
		for (uint64_t i = 0; i < commands; i++) {
			begun_ = Clock::now().time_since_epoch();
			const nvme_sqe sqe = i % 64 == 63 ? hz::QueuePair::flush()
					     : i % 4 == 3 ? hz::QueuePair::write(i * 7 % 500, 1)
							  : hz::QueuePair::read(i * 3 % 500, 1);
			EXPECT_EQ(queue->run(sqe).status, 0);
		}
	} catch (const hz::Error &error) {
		words = error.what();
	}
	over_ = true;
	perturber.join();
	EXPECT_EQ(words, "");
	if (!stopped_)
		GTEST_SKIP() << "this user may not trace other processes";
	EXPECT_GT(stopped_, commands / 20);
}

} // namespace
} // namespace e2e
