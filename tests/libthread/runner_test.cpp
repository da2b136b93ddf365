// The single-threaded runner: simulated time, hooks, charges, determinism.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "bench.hpp"

namespace {

TEST(Runner, TimeJumpsToTheEarliestDeadlineOfAnyHart)
{
	Bench bench;
	static std::vector<uint64_t> at;
	static lt_timer timer[2];
	lt_event ev[2]{};
	lt_thread thread[2] = {{"a", 0}, {"b", 1}};

	at.clear();
	timer[0] = timer[1] = {};
	bench.simulated(2, 10);
	for (unsigned i = 0; i < 2; i++)
		lt_post(&thread[i], &ev[i], [](lt_event *) {
			lt_timer_arm(&timer[lt_hart_id()], 1000000 - 500 * lt_hart_id(), [](lt_timer *) { at.push_back(clock_now_ns()); });
		});
	EXPECT_EQ(lt_host_run_until(20), 20u);
	EXPECT_TRUE(at.empty());
	EXPECT_EQ(lt_host_run_until_idle(), 1000000u);
	EXPECT_EQ(at, (std::vector<uint64_t>{999500, 1000000}));
}

// A charged hart is busy until its clock is reached; the other's work is not delayed by it.
TEST(Runner, ChargeKeepsOneHartBusy)
{
	Bench bench;
	static std::vector<std::pair<unsigned, uint64_t>> at;
	static lt_event ev[2], second[2];
	lt_thread thread[2] = {{"a", 0}, {"b", 1}};

	at.clear();
	bench.simulated(2, 0);
	for (unsigned i = 0; i < 2; i++)
		lt_post(&thread[i], &ev[i], [](lt_event *) {
			lt_thread here{"here", lt_hart_id()};
			clock_charge_ns(lt_hart_id() ? 30 : 100);
			lt_post(&here, &second[lt_hart_id()], [](lt_event *) { at.emplace_back(lt_hart_id(), clock_now_ns()); });
		});
	EXPECT_EQ(lt_host_run_until_idle(), 100u);
	EXPECT_EQ(at, (std::vector<std::pair<unsigned, uint64_t>>{{1, 30}, {0, 100}}));
	hz_hart_times t;
	lt_hart_times(1, &t);
	EXPECT_EQ(t.elapsed_ns, 100u);
	EXPECT_EQ(t.work_ns, 30u);
	EXPECT_EQ(t.idle_ns, 70u);
}

struct Poller {
	uint64_t next_ns;
	unsigned polls, done;
};

bool poll(void *ctx, bool idle, uint64_t deadline_ns)
{
	auto *p = static_cast<Poller *>(ctx);

	p->polls++;
	if (clock_now_ns() >= p->next_ns && p->done < 3) {
		p->done++;
		p->next_ns += 250;
		return true;
	}
	if (idle)
		lt_hart_wait(p->done < 3 ? std::min(p->next_ns, deadline_ns) : deadline_ns);
	return false;
}

TEST(Runner, HookWaitsForItsOwnTimes)
{
	Bench bench;
	Poller poller{100, 0, 0};

	bench.simulated(1, 0);
	lt_hart_set_hook(0, poll, &poller);
	EXPECT_EQ(lt_host_run_until_idle(), 600u);
	EXPECT_EQ(poller.done, 3u);
	EXPECT_LT(poller.polls, 12u) << "no busy polling";
}

TEST(Runner, MailReachesAHartWithAHook)
{
	Bench bench;
	Poller poller{LT_FOREVER, 0, 0};
	static bool came;
	lt_event ev{};
	lt_thread there{"t", 1};

	came = false;
	bench.simulated(2, 0);
	lt_hart_set_hook(1, poll, &poller);
	lt_host_run_until_idle();
	lt_post(&there, &ev, [](lt_event *) { came = true; });
	EXPECT_FALSE(came);
	lt_host_run_until_idle();
	EXPECT_TRUE(came);
}

TEST(Runner, StoppedHartsDoNothingMore)
{
	Bench bench;
	lt_timer timer{};

	bench.simulated(2, 0);
	lt_timer_arm(&timer, 500, [](lt_timer *) { FAIL() << "timer after stop"; });
	lt_harts_stop();
	EXPECT_EQ(lt_host_run_until_idle(), 0u);
}

TEST(Runner, MisuseFails)
{
	Bench bench;
	lt_lock lock;
	lt_lock_node a, b;

	bench.simulated(1, 100);
	EXPECT_DEATH(lt_host_clock_set(99), "backwards");
	EXPECT_DEATH(lt_host_start_harts(), "steady clock");
	bench.locks(LT_LOCK_TICKET, LT_STATS_OFF, 1);
	lt_lock_init(&lock, test_class, 0);
	EXPECT_DEATH(
		{
			lt_lock_acquire(&lock, &a);
			lt_lock_acquire(&lock, &b);
		},
		"single-threaded runner");
	lt_hart_set_hook(
		0,
		[](void *, bool idle, uint64_t) {
			if (idle)
				lt_hart_wait(50);
			return false;
		},
		nullptr);
	EXPECT_DEATH(lt_host_run_until_idle(), "does nothing");
}

} // namespace
