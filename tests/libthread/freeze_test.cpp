// Nothing waits for another hart inside clock_freeze: every verb that might is refused there, whether or not it would have to.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <string>

#include "bench.hpp"
#include "lt/barrier.h"

namespace {

class Freeze : public testing::TestWithParam<lt_lock_kind> {
protected:
	struct Verb {
		const char *name;
		std::function<void()> run;
	};

	void SetUp() override
	{
		bench.real(2);
		bench.locks(GetParam(), LT_STATS_ALL, 2);
		lt_lock_init(&lock, test_class, 0);
		lt_barrier_init(&barrier, 1);
	}

	// Each restores the initial state, and meets no contention.
	std::vector<Verb> verbs()
	{
		return {
			{"lt_lock_acquire",
			 [this] {
				 lt_lock_acquire(&lock, &node);
				 lt_lock_release(&lock, &node);
			 }},
			{GetParam() == LT_LOCK_RW || GetParam() == LT_LOCK_SEQ ? "lt_lock_read" : "lt_lock_acquire",
			 [this] {
				 lt_lock_read(&lock, &node);
				 lt_lock_read_end(&lock, &node);
			 }},
			{"lt_barrier_wait", [this] { lt_barrier_wait(&barrier); }},
			{"lt_spin_while", [this] { lt_spin_while(&word, 1); }},
			{"lt_wait_while", [this] { lt_wait_while(&word, 1, 0); }},
			{"lt_relax", [] { lt_relax(); }},
			{"reading lock statistics", [] { lt_lock_report(nullptr, 0, 0); }},
			{"reading lock statistics", [] { lt_lock_stats_reset(); }},
		};
	}

	Bench bench;
	lt_lock lock{};
	lt_lock_node node{};
	lt_barrier barrier{};
	lt_word word{};
};

TEST_P(Freeze, RefusesWhatMayWait)
{
	for (const Verb &verb : verbs())
		EXPECT_DEATH(
			{
				clock_freeze();
				verb.run();
			},
			verb.name + std::string(" with the clock frozen: it may have to wait"));
	EXPECT_DEATH(
		{
			clock_freeze();
			clock_freeze();
			clock_thaw();
			lt_relax();
		},
		"with the clock frozen");
	EXPECT_DEATH(
		{
			lt_lock_acquire(&lock, &node);
			clock_freeze();
			lt_lock_release(&lock, &node);
		},
		"lt_lock_release with the clock");
	EXPECT_DEATH(
		{
			lt_lock_read(&lock, &node);
			clock_freeze();
			lt_lock_read_end(&lock, &node);
		},
		"with the clock frozen");
}

TEST_P(Freeze, RefusesNothingOutside)
{
	for (const Verb &verb : verbs()) {
		clock_freeze();
		clock_thaw();
		verb.run();
	}
}

TEST_P(Freeze, AllowsWhatNeverWaits)
{
	clock_freeze();
	EXPECT_TRUE(lt_lock_try(&lock, &node));
	EXPECT_TRUE(lt_cas(&word, 0, 5));
	EXPECT_EQ(lt_wait_take(&word, 0), 5u);
	EXPECT_EQ(lt_wait_take(&word, 0), 0u) << "idle until now";
	clock_thaw();
	lt_lock_release(&lock, &node);
}

// The statistics of a held lock are read and cleared when its holder has let it go.
TEST_P(Freeze, StatisticsWaitForTheHolder)
{
	lt_word held{}, asked{};
	bool released = false; // under the lock

	Bench::in_parallel(2, [&](unsigned hart) {
		if (hart == 0) {
			lt_lock_acquire(&lock, &node);
			lt_store(&held, 1);
			lt_spin_until_not(&asked, 0);
			released = true;
			lt_lock_release(&lock, &node);
			return;
		}
		hz_lock_entry entry;
		lt_spin_until_not(&held, 0);
		lt_store(&asked, 1);
		EXPECT_EQ(lt_lock_report(&entry, 0, 1), 1u);
		lt_lock_stats_reset();
		EXPECT_TRUE(released);
		EXPECT_EQ(lt_lock_report(&entry, 0, 1), 0u);
	});
}

INSTANTIATE_TEST_SUITE_P(Kinds, Freeze, testing::ValuesIn(lock_kinds()));

TEST(FreezeBracket, MustBeClosed)
{
	Bench bench;
	lt_event ev{};
	const lt_thread here{"t", 0};

	bench.simulated(1);
	EXPECT_DEATH(clock_thaw(), "clock_thaw without clock_freeze");
	EXPECT_DEATH(
		{
			lt_post(&here, &ev, [](lt_event *) { clock_freeze(); });
			lt_host_turn(0);
		},
		"ended with the clock frozen");
}

} // namespace
