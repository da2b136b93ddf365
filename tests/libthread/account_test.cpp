// Where a hart's time goes: work + spin + idle = elapsed, exactly, however it is read.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <numeric>

#include "bench.hpp"

extern "C" {
#include "account.h"
}

namespace {

constexpr uint32_t role = 2, other_role = 4;

void expect_identity(const hz_hart_times &t)
{
	EXPECT_EQ(t.work_ns + t.idle_ns + std::accumulate(std::begin(t.spin_ns), std::end(t.spin_ns), uint64_t{0}), t.elapsed_ns);
	EXPECT_LE(t.idle_ns, t.elapsed_ns);
	EXPECT_LE(t.work_ns, t.elapsed_ns);
}

TEST(Account, IdleTimeIsExactInSimulatedTime)
{
	Bench bench;
	lt_timer timer{};
	hz_hart_times t;

	bench.simulated(2, 1000);
	lt_hart_set_roles(1, role);
	lt_timer_arm(&timer, 5000, [](lt_timer *) { clock_charge_ns(70); });
	EXPECT_EQ(lt_host_run_until_idle(), 5070u);
	lt_hart_times(0, &t);
	expect_identity(t);
	EXPECT_EQ(t.elapsed_ns, 4070u);
	EXPECT_EQ(t.work_ns, 70u);
	lt_hart_times(1, &t);
	expect_identity(t);
	EXPECT_EQ(t.idle_ns, 4070u);
	EXPECT_EQ(t.roles, role);
	EXPECT_EQ(t.hart, 1u);
}

TEST(Account, SpinningIsOfItsClassAndNoWork)
{
	Bench bench;
	hz_hart_times t;

	bench.simulated(1, 0);
	account_spin(0, 1, 300);
	account_spin(0, 4, 20);
	account_spin(0, 1, 100);
	lt_host_clock_set(1000);
	lt_hart_times(0, &t);
	expect_identity(t);
	EXPECT_EQ(t.spin_ns[1], 400u);
	EXPECT_EQ(t.spin_ns[4], 20u);
	EXPECT_EQ(t.elapsed_ns, 1000u);
	EXPECT_EQ(t.work_ns + t.idle_ns, 580u);
}

TEST(Account, CountsTheEventsOfEachHart)
{
	Bench bench;
	lt_event event[7]{};
	hz_hart_times t;

	bench.simulated(3, 0);
	for (unsigned i = 0; i < 7; i++) {
		lt_thread to{"counted", i < 5 ? 0u : 2u};
		lt_post(&to, &event[i], [](lt_event *) {});
	}
	lt_host_run_until_idle();
	for (unsigned hart = 0; hart < 3; hart++) {
		lt_hart_times(hart, &t);
		EXPECT_EQ(t.events, hart == 0 ? 5u : hart == 1 ? 0u : 2u);
	}
}

TEST(Account, ResetStartsANewAccountAndKeepsRoles)
{
	Bench bench;
	hz_hart_times t;

	bench.simulated(2, 0);
	lt_hart_set_roles(1, other_role);
	lt_host_clock_set(700);
	lt_host_run_until_idle();
	lt_hart_times_reset();
	lt_hart_times_reset(); // a second before the first has come counts once
	lt_host_run_until_idle();
	lt_host_clock_set(1000);
	for (unsigned i = 0; i < 2; i++) {
		lt_hart_times(i, &t);
		expect_identity(t);
		EXPECT_EQ(t.elapsed_ns, 300u) << "hart " << i;
	}
	EXPECT_EQ(t.roles, other_role);
	lt_hart_times_reset();
	lt_host_run_until_idle();
	lt_host_clock_set(1100);
	lt_hart_times(1, &t);
	EXPECT_EQ(t.elapsed_ns, 100u) << "as often as it is asked for";
}

// Hart 0 reads everybody's account while all bounce events.
TEST(Account, SnapshotsOfRunningHartsAddUp)
{
	Bench bench;
	static lt_event ev[4];
	static lt_thread thread[4];
	static unsigned reads;

	reads = 0;
	bench.real(4);
	for (unsigned i = 0; i < 4; i++)
		thread[i] = {"t", i};
	// The ring keeps turning after the stop, so it ends by a flag of its own.
	static lt_word over;
	lt_store(&over, 0);
	static lt_event_fn *ring = [](lt_event *e) {
		if (lt_load(&over))
			return;
		lt_hart_times_publish();
		for (unsigned i = 0; lt_hart_id() == 0 && i < 4; i++) {
			hz_hart_times t;
			lt_hart_times(i, &t);
			expect_identity(t);
			reads++;
		}
		if (lt_hart_id() == 0 && reads == 2000)
			lt_hart_times_reset();
		if (lt_hart_id() == 0 && reads >= 4000) {
			lt_store(&over, 1);
			lt_harts_stop();
			return;
		}
		lt_post(&thread[(lt_hart_id() + 1) % 4], e, ring);
	};
	for (unsigned i = 0; i < 4; i++)
		lt_post(&thread[i], &ev[i], ring);
	lt_host_start_harts();
	lt_host_join_harts();
	EXPECT_GE(reads, 4000u);
}

} // namespace
