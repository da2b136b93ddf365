// Ends of phases: two queues close and the next admin command follows at once, again and again, while QEMU is stopped at random
// moments. The device's answers, which carry its time, must not tell how the two raced.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include "config/device_yaml.hpp"
#include "session/controller.hpp"

namespace {

using namespace std::chrono_literals;

constexpr unsigned phases = 150;

// Stops QEMU for up to 2 ms and lets it go for up to 2 ms, until it is destroyed.
class Stutter {
public:
	explicit Stutter(int pid)
		: thread_([pid](std::stop_token stop) {
			  std::minstd_rand random(std::random_device{}());
			  auto nap = [&random] { std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000)); };
			  while (!stop.stop_requested()) {
				  ::kill(pid, SIGSTOP);
				  nap();
				  ::kill(pid, SIGCONT);
				  nap();
			  }
		  })
	{
	}

private:
	std::jthread thread_;
};

// A queue's share of a phase: a few reads, one after the other.
void read_some(hz::QueuePair &queue, uint64_t start_ns, unsigned reads)
{
	for (unsigned i = 0; i < reads; i++) {
		const uint16_t cid = queue.acquire().value();
		queue.submit(cid, hz::QueuePair::read(i, 1), start_ns);
		queue.promise_nothing_more();
		start_ns = queue.wait().front().completed_ns + queue.turnaround_ns();
		queue.release(cid);
	}
	queue.close();
}

// The device's time after each phase.
std::vector<uint64_t> times_after_phases(bool stutter)
{
	hz::MachineOptions options;
	options.config = hz::conf::load_device(std::string(HZ_TREE) + "/tests/e2e/crash.yaml");
	auto machine = hz::Machine::launch(options);
	hz::Controller controller(*machine);
	controller.enable();
	auto a = controller.create_queue(1, {.depth = 8}), b = controller.create_queue(2, {.depth = 8, .turnaround_ns = 20000});
	std::optional<Stutter> stutters;
	if (stutter)
		stutters.emplace(machine->qemu_pid());
	std::vector<uint64_t> times{controller.log_harts().now_ns};
	for (unsigned i = 0; i < phases; i++) {
		const uint64_t start_ns = times.back() + 100000;
		a->open(start_ns);
		b->open(start_ns);
		{
			std::jthread other([&] { read_some(*b, start_ns, 1 + i % 2); });
			read_some(*a, start_ns, 1 + i % 3);
		}
		times.push_back(controller.log_harts().now_ns);
	}
	return times;
}

TEST(PhaseEnd, TimeDoesNotTellHowCloselyTheNextCommandFollowed)
{
	const std::vector<uint64_t> quiet = times_after_phases(false);
	for (int round = 0; round < 4; round++) {
		const std::vector<uint64_t> disturbed = times_after_phases(true);
		const auto differ = std::mismatch(quiet.begin(), quiet.end(), disturbed.begin());
		ASSERT_TRUE(differ.first == quiet.end()) << "after phase " << differ.first - quiet.begin() << " of round " << round << ": "
							 << *differ.second << " instead of " << *differ.first;
	}
}

} // namespace
