// Timers against a sorted model, at random; order of equal deadlines; capacity.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "bench.hpp"

namespace {

struct Alarm {
	lt_timer timer; // first
	unsigned id;
};

std::vector<std::pair<uint64_t, unsigned>> fired; // (time, id)

void on_alarm(lt_timer *timer) { fired.emplace_back(clock_now_ns(), reinterpret_cast<Alarm *>(timer)->id); }

class TimersProperty : public testing::TestWithParam<uint64_t> {};

TEST_P(TimersProperty, FireLikeASortedList)
{
	constexpr unsigned timers = 60;
	Bench bench;
	std::mt19937_64 random(GetParam());
	std::vector<Alarm> alarm(timers);
	std::map<std::pair<uint64_t, uint64_t>, unsigned> model; // (deadline, arming number) -> id
	std::vector<std::map<std::pair<uint64_t, uint64_t>, unsigned>::iterator> armed(timers, model.end());
	uint64_t now = 1000, arming = 0;

	SCOPED_TRACE(testing::Message() << "seed " << GetParam());
	bench.simulated(1, now, timers);
	fired.clear();
	for (unsigned i = 0; i < timers; i++)
		alarm[i].id = i;
	for (unsigned step = 0; step < 5000; step++) {
		unsigned id = unsigned(random() % timers);
		unsigned what = unsigned(random() % 8);
		if (what < 5) {
			uint64_t deadline = now - 20 + random() % 120; // some are already due
			lt_timer_arm(&alarm[id].timer, deadline, on_alarm);
			if (armed[id] != model.end())
				model.erase(armed[id]);
			armed[id] = model.emplace(std::pair(deadline, arming++), id).first;
		} else if (what < 6) {
			lt_timer_cancel(&alarm[id].timer);
			if (armed[id] != model.end())
				model.erase(armed[id]);
			armed[id] = model.end();
		} else {
			std::vector<std::pair<uint64_t, unsigned>> expected;
			uint64_t until = now + random() % 80;
			while (!model.empty() && model.begin()->first.first <= until) {
				unsigned first = model.begin()->second;
				expected.emplace_back(std::max(now, model.begin()->first.first), first);
				model.erase(model.begin());
				armed[first] = model.end();
			}
			fired.clear();
			uint64_t end = lt_host_run_until(until);
			ASSERT_EQ(fired, expected) << "step " << step;
			now = std::max(now, end);
			ASSERT_LE(end, until);
		}
	}
}

INSTANTIATE_TEST_SUITE_P(Seeds, TimersProperty, testing::Range<uint64_t>(1, 9));

TEST(Timers, RearmedInItsOwnRunFiresInALaterTurn)
{
	Bench bench;
	static unsigned runs;
	static lt_timer timer;
	static lt_timer_fn *again;

	runs = 0;
	timer = {};
	again = [](lt_timer *t) {
		EXPECT_EQ(t->slot, 0u);
		if (++runs < 5)
			lt_timer_arm(t, clock_now_ns(), again);
	};
	bench.simulated(1, 100);
	lt_timer_arm(&timer, 50, again);
	EXPECT_TRUE(lt_host_turn(0));
	EXPECT_EQ(runs, 1u);
	EXPECT_EQ(lt_host_run_until_idle(), 100u);
	EXPECT_EQ(runs, 5u);
}

TEST(Timers, CapacityIsChecked)
{
	Bench bench;
	lt_timer timer[3]{};

	bench.simulated(1, 0, 2);
	lt_timer_arm(&timer[0], 1, on_alarm);
	lt_timer_arm(&timer[1], 1, on_alarm);
	EXPECT_DEATH(lt_timer_arm(&timer[2], 1, on_alarm), "more timers armed");
	lt_timer_cancel(&timer[0]);
	lt_timer_cancel(&timer[0]);
	lt_timer_arm(&timer[2], 1, on_alarm);
}

// Real threads: a timer ends the sleep, at or after its deadline.
TEST(Timers, EndASleepOnRealThreads)
{
	Bench bench;
	static lt_timer timer;
	static lt_event start;
	static uint64_t due, at;
	lt_thread there{"t", 1};

	timer = {};
	bench.real(2);
	lt_host_start_harts();
	lt_post(&there, &start, [](lt_event *) {
		due = clock_now_ns() + 300000;
		lt_timer_arm(&timer, due, [](lt_timer *) {
			at = clock_now_ns();
			lt_harts_stop();
		});
	});
	lt_host_join_harts();
	EXPECT_GE(at, due);
}

} // namespace
