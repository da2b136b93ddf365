// One harness, every lock kind: mutual exclusion, try, statistics identities, fairness report, discipline checks.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "bench.hpp"
#include "lt/barrier.h"

extern "C" {
#include "checks.h"
#include "kinds.h"
#include "lt/checks.h"
}

namespace {

constexpr unsigned most_harts = 8, rounds = 3000;
const char *const kind_names[] = {
#define LT_LOCK_KIND(constant, name, ...) #name,
#include "lt/lock_kinds.def"
};

class Locks : public testing::TestWithParam<lt_lock_kind> {
protected:
	Bench bench;
	lt_lock lock;

	void make(lt_stats_level level = LT_STATS_ALL, unsigned harts = most_harts)
	{
		bench.real(harts);
		bench.locks(GetParam(), level, harts);
		lt_locks_check(true);
		lt_lock_init(&lock, test_class, 7);
	}

	hz_lock_entry entry()
	{
		hz_lock_entry e{};
		EXPECT_EQ(lt_lock_report(&e, 0, 1), 1u);
		return e;
	}
};

TEST_P(Locks, NonAtomicCounterLosesNothing)
{
	uint64_t counter = 0, busy = 0;

	make();
	Bench::in_parallel(most_harts, [&](unsigned) {
		for (unsigned i = 0; i < rounds; i++) {
			lt_lock_node node;
			lt_lock_acquire(&lock, &node);
			ASSERT_EQ(busy++, 0u);
			counter = counter + 1;
			busy--;
			lt_lock_release(&lock, &node);
		}
	});
	EXPECT_EQ(counter, uint64_t{most_harts} * rounds);
}

struct Deposit {
	uint64_t *account, amount, before;
};

// Sections given as functions, mixed with acquisitions and tries; whoever runs one, its result comes back. Statistics are read meanwhile.
TEST_P(Locks, SectionsLoseNothing)
{
	uint64_t account = 0;
	lt_word expected{};

	make();
	Bench::in_parallel(most_harts, [&](unsigned hart) {
		for (unsigned i = 0; i < rounds; i++) {
			Deposit mine{&account, hart + 1, UINT64_MAX};
			lt_lock_node node;
			hz_lock_entry e{};
			if (hart == 0 && i % 8 == 0)
				lt_lock_report(&e, 0, 1);
			if (i % 5 == 0) {
				lt_lock_acquire(&lock, &node);
				account += mine.amount;
				lt_lock_release(&lock, &node);
			} else {
				lt_lock_run(
					&lock,
					[](const uint64_t *argument) {
						auto *it = reinterpret_cast<Deposit *>(argument[0]);
						it->before = *it->account;
						*it->account += it->amount;
					},
					reinterpret_cast<uintptr_t>(&mine), 0, 0, 0);
				ASSERT_NE(mine.before, UINT64_MAX);
			}
			lt_add(&expected, mine.amount);
		}
	});
	EXPECT_EQ(account, lt_load(&expected));
	EXPECT_EQ(entry().acquisitions, uint64_t{most_harts} * rounds);
	EXPECT_LE(entry().contended, entry().acquisitions);
	EXPECT_LE(entry().handovers, entry().acquisitions);
}

// Try and acquire mixed on two locks: exclusion holds, and CLH cells find their way between locks and harts.
TEST_P(Locks, TryMixesWithAcquire)
{
	uint64_t counter[2] = {0, 0}, taken[2] = {0, 0};
	lt_lock other;

	make();
	lt_lock_init(&other, test_class, 8);
	lt_word expected[2]{};
	Bench::in_parallel(most_harts, [&](unsigned hart) {
		for (unsigned i = 0; i < rounds; i++) {
			unsigned which = (i + hart) & 1;
			lt_lock *l = which ? &other : &lock;
			lt_lock_node node;
			if (i % 3 == 0)
				lt_lock_acquire(l, &node);
			else if (!lt_lock_try(l, &node))
				continue;
			counter[which]++;
			lt_lock_release(l, &node);
			lt_add(&expected[which], 1);
		}
	});
	taken[0] = lt_load(&expected[0]);
	taken[1] = lt_load(&expected[1]);
	EXPECT_EQ(counter[0], taken[0]);
	EXPECT_EQ(counter[1], taken[1]);
}

TEST_P(Locks, TryFailsExactlyWhileHeld)
{
	lt_lock_node mine, other;

	make();
	lt_host_set_hart(0);
	ASSERT_TRUE(lt_lock_try(&lock, &mine));
	lt_host_set_hart(1);
	EXPECT_FALSE(lt_lock_try(&lock, &other));
	EXPECT_FALSE(lt_lock_try(&lock, &other));
	lt_host_set_hart(0);
	lt_lock_release(&lock, &mine);
	lt_host_set_hart(1);
	EXPECT_TRUE(lt_lock_try(&lock, &other));
	lt_lock_release(&lock, &other);
	EXPECT_EQ(entry().acquisitions, 2u);
	EXPECT_EQ(entry().handovers, 1u);
}

// Harts of both clusters of a cohort lock too.
TEST_P(Locks, TriesThatFailLeaveNothingBehind)
{
	lt_lock_node node[most_harts];

	make();
	lt_locks_cluster(2);
	lt_lock_init(&lock, test_class, 9);
	for (unsigned holder = 0; holder < most_harts; holder++) {
		lt_host_set_hart(holder);
		lt_lock_acquire(&lock, &node[holder]);
		for (unsigned hart = 0; hart < 2 * most_harts; hart++) {
			lt_host_set_hart(hart % most_harts);
			if (hart % most_harts != holder) {
				ASSERT_FALSE(lt_lock_try(&lock, &node[hart % most_harts])) << holder << " " << hart;
			}
		}
		lt_host_set_hart(holder);
		lt_lock_release(&lock, &node[holder]);
		for (unsigned hart = 0; hart < most_harts; hart++) {
			lt_host_set_hart(hart);
			ASSERT_TRUE(lt_lock_try(&lock, &node[hart])) << holder << " " << hart;
			lt_lock_release(&lock, &node[hart]);
		}
	}
}

TEST_P(Locks, NestedLocksDoNotMixUpTheirNodes)
{
	uint64_t outer_count = 0, inner_count = 0;
	lt_lock inner;

	make();
	lt_lock_init(&inner, inner_class, 1);
	Bench::in_parallel(4, [&](unsigned) {
		for (unsigned i = 0; i < rounds / 4; i++) {
			lt_lock_node a, b;
			lt_lock_acquire(&lock, &a);
			lt_lock_acquire(&inner, &b);
			outer_count++;
			inner_count++;
			lt_lock_release(i % 2 ? &lock : &inner, i % 2 ? &a : &b);
			lt_lock_release(i % 2 ? &inner : &lock, i % 2 ? &b : &a);
		}
	});
	EXPECT_EQ(outer_count, uint64_t{rounds});
	EXPECT_EQ(inner_count, uint64_t{rounds});
}

TEST_P(Locks, StatisticsAddUp)
{
	uint64_t spins = 0, from, elapsed;
	std::vector<uint64_t> mine(most_harts);

	make();
	from = clock_now_ns();
	Bench::in_parallel(most_harts, [&](unsigned hart) {
		for (unsigned i = 0; i < rounds; i++) {
			lt_lock_node node;
			lt_lock_acquire(&lock, &node);
			lt_lock_release(&lock, &node);
		}
		hz_hart_times t;
		lt_hart_times(hart, &t);
		EXPECT_EQ(t.work_ns + t.idle_ns + std::accumulate(std::begin(t.spin_ns), std::end(t.spin_ns), uint64_t{0}), t.elapsed_ns);
		mine[hart] = t.spin_ns[test_class];
	});
	elapsed = clock_now_ns() - from;
	spins = std::accumulate(mine.begin(), mine.end(), uint64_t{0});
	hz_lock_entry e = entry();
	EXPECT_EQ(e.acquisitions, uint64_t{most_harts} * rounds);
	EXPECT_LE(e.contended, e.acquisitions);
	EXPECT_LT(e.handovers, e.acquisitions);
	EXPECT_EQ(e.wait_ns, spins) << "the lock's waiting is the harts' spinning";
	EXPECT_LE(e.hold_ns, elapsed) << "holds never overlap";
	EXPECT_LE(e.hold_max_ns, e.hold_ns);
	EXPECT_LE(e.wait_max_ns, e.wait_ns);
	EXPECT_LE(e.wait_p99_ns, e.wait_max_ns);
	EXPECT_LE(e.hold_p99_ns, e.hold_max_ns);
	EXPECT_EQ(e.index, 7u);
	EXPECT_EQ(e.kind, uint32_t{GetParam()});
	lt_lock_stats_reset();
	EXPECT_EQ(lt_lock_report(&e, 0, 1), 0u);
}

// A report while others work: no torn counter, nothing lost.
TEST_P(Locks, ReportRunsBesideTheWork)
{
	make();
	Bench::in_parallel(most_harts, [&](unsigned hart) {
		uint64_t seen = 0;
		for (unsigned i = 0; i < rounds / 2; i++) {
			lt_lock_node node;
			hz_lock_entry e{};
			if (hart == 0 && i % 16 == 0 && lt_lock_report(&e, 0, 1)) {
				ASSERT_GE(e.acquisitions, seen);
				seen = e.acquisitions;
				ASSERT_LE(e.contended, e.acquisitions);
			}
			lt_lock_acquire(&lock, &node);
			lt_lock_release(&lock, &node);
		}
	});
	EXPECT_EQ(entry().acquisitions, uint64_t{most_harts} * (rounds / 2));
}

TEST_P(Locks, LevelsCountWhatTheySay)
{
	lt_lock_node node;
	hz_lock_entry e{};

	make(LT_STATS_OFF);
	lt_lock_acquire(&lock, &node);
	lt_lock_release(&lock, &node);
	EXPECT_EQ(lt_lock_report(&e, 0, 1), 0u);
	make(LT_STATS_CONTENDED);
	lt_lock_acquire(&lock, &node);
	lt_lock_release(&lock, &node);
	e = entry();
	EXPECT_EQ(e.acquisitions, 1u);
	EXPECT_EQ(e.hold_ns, 0u);
	EXPECT_EQ(e.hold_p99_ns, 0u);
}

// A known waiting time: the holder keeps the lock until the waiter has been waiting for 2 ms.
TEST_P(Locks, WaitAndHoldAreMeasured)
{
	constexpr uint64_t hold_ns = 2000000;
	lt_word asked{};

	make();
	Bench::in_parallel(2, [&](unsigned hart) {
		lt_lock_node node;
		if (hart == 1)
			while (lt_load(&asked) == 0)
				lt_relax();
		if (hart == 1)
			lt_store(&asked, 2);
		lt_lock_acquire(&lock, &node);
		if (hart == 0) {
			uint64_t from = clock_now_ns();
			lt_store(&asked, 1);
			while (lt_load(&asked) != 2 || clock_now_ns() - from < hold_ns)
				lt_relax();
		}
		lt_lock_release(&lock, &node);
	});
	hz_lock_entry e = entry();
	EXPECT_EQ(e.acquisitions, 2u);
	EXPECT_EQ(e.handovers, 1u);
	EXPECT_GE(e.hold_max_ns, hold_ns);
	EXPECT_GE(e.hold_p99_ns, hold_ns);
	EXPECT_LE(e.contended, 1u);
	EXPECT_EQ(e.contended ? e.wait_max_ns : 0, e.wait_ns);
}

// Not an assertion: how evenly the kinds share on this machine (Jain's index, 1 = even).
TEST_P(Locks, FairnessReport)
{
	std::vector<uint64_t> got(most_harts);
	lt_word stop{};
	uint64_t counter = 0;
	lt_barrier start;

	make(LT_STATS_CONTENDED);
	lt_barrier_init(&start, most_harts);
	Bench::in_parallel(most_harts, [&](unsigned hart) {
		lt_barrier_wait(&start);
		while (lt_load(&stop) == 0) {
			lt_lock_node node;
			lt_lock_acquire(&lock, &node);
			got[hart]++;
			if (++counter == 10000)
				lt_store(&stop, 1);
			lt_lock_release(&lock, &node);
		}
	});
	double sum = 0, squares = 0;
	for (uint64_t n : got) {
		sum += double(n);
		squares += double(n) * double(n);
	}
	EXPECT_EQ(entry().acquisitions, counter);
	EXPECT_EQ(uint64_t(sum), counter);
	std::printf("%-6s Jain %.3f, least %lu, most %lu of %lu\n", kind_names[GetParam()], sum * sum / (most_harts * squares),
		    *std::min_element(got.begin(), got.end()), *std::max_element(got.begin(), got.end()), counter);
}

void end_an_event_with(lt_lock *lock)
{
	static lt_lock *held;
	static lt_lock_node node;
	lt_event ev{};
	lt_thread here{"t", 0};

	held = lock;
	lt_post(&here, &ev, [](lt_event *) { lt_lock_acquire(held, &node); });
	lt_host_turn(0);
}

TEST_P(Locks, AfterAResetTheFirstOwnerIsNoHandOver)
{
	lt_lock_node node;

	make();
	lt_host_set_hart(1);
	lt_lock_acquire(&lock, &node);
	lt_lock_release(&lock, &node);
	lt_lock_stats_reset();
	lt_host_set_hart(0);
	lt_lock_acquire(&lock, &node);
	lt_lock_release(&lock, &node);
	EXPECT_EQ(entry().acquisitions, 1u);
	EXPECT_EQ(entry().handovers, 0u);
}

TEST_P(Locks, ChecksCatchMisuse)
{
	lt_lock_node a, b;

	testing::FLAGS_gtest_death_test_style = "threadsafe";
	make();
	EXPECT_DEATH(
		{
			lt_lock_acquire(&lock, &a);
			lt_lock_acquire(&lock, &b);
		},
		"acquired twice");
	EXPECT_DEATH(
		{
			lt_lock_acquire(&lock, &a);
			lt_host_set_hart(1);
			lt_lock_release(&lock, &a);
		},
		"does not hold");
	EXPECT_DEATH(end_an_event_with(&lock), "event ended with a lock held");
}

INSTANTIATE_TEST_SUITE_P(Kinds, Locks, testing::ValuesIn(lock_kinds()),
			 [](const auto &param_info) { return kind_names[param_info.param]; });

TEST(LockChecks, LookAtEveryLockThatIsHeld)
{
	Bench bench;
	lt_lock locks[9];
	lt_lock_node nodes[9], again;

	bench.real(1);
	lt_lock_class classes[9];
	for (uint8_t i = 0; i < 9; i++)
		classes[i] = {"one of nine", LT_LOCK_TICKET, i, 0};
	lt_locks_init(&bench.mem, classes, 9, LT_STATS_OFF, 1);
	lt_locks_check(true);
	for (unsigned i = 0; i < 9; i++)
		lt_lock_init(&locks[i], i, 0);
	for (int i = 0; i < 8; i++)
		lt_lock_acquire(&locks[i], &nodes[i]);
	EXPECT_EQ(lt_check_held(0), 8u);
	for (auto &lock : {&locks[1], &locks[7]})
		EXPECT_DEATH(lt_lock_acquire(lock, &again), "acquired twice");
	EXPECT_DEATH(lt_lock_acquire(&locks[8], &nodes[8]), "more than 8 locks held");
	for (int i = 8; i-- > 0;)
		lt_lock_release(&locks[i], &nodes[i]);
}

TEST(LockNone, CountsButDoesNotExclude)
{
	Bench bench;
	lt_lock lock;
	lt_lock_node a, b;
	hz_lock_entry e{};

	bench.real(1);
	bench.locks(LT_LOCK_NONE, LT_STATS_ALL, 1);
	lt_lock_init(&lock, test_class, 0);
	lt_lock_acquire(&lock, &a);
	EXPECT_TRUE(lt_lock_try(&lock, &b));
	lt_lock_release(&lock, &b);
	lt_lock_release(&lock, &a);
	EXPECT_EQ(lt_lock_report(&e, 0, 1), 1u);
	EXPECT_EQ(e.acquisitions, 2u);
	EXPECT_EQ(e.contended, 0u);
}

// The window of MCS: a waiter has swapped itself into the queue but has not yet linked itself when the holder releases.
TEST(LockMcs, ReleaseWaitsForALateSuccessor)
{
	Bench bench;
	lt_lock lock;
	lt_lock_node holder, late;
	lt_word releasing{};

	bench.real(2);
	bench.locks(LT_LOCK_MCS, LT_STATS_OFF, 2);
	lt_lock_init(&lock, test_class, 0);
	ASSERT_TRUE(lt_mcs_ops.enter(&lock, &holder));
	ASSERT_FALSE(lt_mcs_ops.enter(&lock, &late));
	std::thread other([&] {
		lt_store(&releasing, 1);
		lt_mcs_ops.release(&lock, &holder);
		lt_store(&releasing, 2);
	});
	lt_spin_until_not(&releasing, 0);
	for (int i = 0; i < 200; i++) {
		lt_relax();
		EXPECT_EQ(lt_load(&releasing), 1u) << "released to nobody";
	}
	lt_mcs_ops.wait(&lock, &late);
	lt_mcs_ops.release(&lock, &late);
	other.join();
	EXPECT_EQ(lt_load(&lock.word), 0u);
}

// Two clusters of two harts, observed by the kind's own functions: a waiter has the lock when its
// wait returns.
class Cohort : public testing::Test {
protected:
	Bench bench;
	lt_lock lock;
	lt_lock_node node[4];

	void make(unsigned cluster)
	{
		bench.real(4);
		bench.locks(LT_LOCK_COHORT, LT_STATS_OFF, 4);
		lt_locks_cluster(cluster);
		lt_lock_init(&lock, test_class, 0);
	}
	bool enter(unsigned hart) { return lt_host_set_hart(hart), lt_cohort_ops.enter(&lock, &node[hart]); }
	void release(unsigned hart) { lt_host_set_hart(hart), lt_cohort_ops.release(&lock, &node[hart]); }
	// Its turn has come; if not, this test would never end.
	void wait(unsigned hart) { lt_host_set_hart(hart), lt_cohort_ops.wait(&lock, &node[hart]); }
};

TEST_F(Cohort, NeighboursComeFirst)
{
	make(2);
	ASSERT_TRUE(enter(0));
	ASSERT_FALSE(enter(2));
	ASSERT_FALSE(enter(1));
	release(0);
	wait(1);
	release(1);
	wait(2);
	release(2);
	EXPECT_TRUE(enter(3));
	release(3);
}

TEST_F(Cohort, AClusterOfOneIsATicketLock)
{
	make(1);
	ASSERT_TRUE(enter(0));
	ASSERT_FALSE(enter(2));
	ASSERT_FALSE(enter(1));
	release(0);
	wait(2);
	release(2);
	wait(1);
	release(1);
}

TEST_F(Cohort, NeighboursDoNotKeepItForEver)
{
	make(2);
	ASSERT_TRUE(enter(0));
	ASSERT_FALSE(enter(2));
	unsigned holder = 0, held = 1;
	for (;; held++) {
		ASSERT_FALSE(enter(1 - holder));
		release(holder);
		if (lt_load(&lock.serving))
			break; // the lock of all goes on
		wait(holder = 1 - holder);
	}
	EXPECT_EQ(held, 65u);
	wait(2);
	release(2);
	wait(1 - holder);
	release(1 - holder);
}

// Every pair of classes, on any hart: upwards is legal, a class inside itself or inside a later one fails at once.
TEST(LockOrder, OnlyHigherLevelsAreTakenUnderALock)
{
	Bench bench;
	lt_lock locks[3], twin[3];
	const char *const names[] = {"test", "middle", "inner"};

	testing::FLAGS_gtest_death_test_style = "threadsafe";
	bench.real(3);
	bench.locks(LT_LOCK_TICKET, LT_STATS_OFF, 3);
	lt_locks_check(true);
	for (unsigned i = 0; i < 3; i++)
		lt_lock_init(&locks[i], i, 0), lt_lock_init(&twin[i], i, 1);
	auto nest = [&](unsigned outer, unsigned inner) {
		lt_lock_node first, second;
		lt_lock_acquire(&locks[outer], &first);
		lt_lock_acquire(&twin[inner], &second);
		lt_lock_release(&twin[inner], &second);
		lt_lock_release(&locks[outer], &first);
	};
	for (unsigned hart = 0; hart < 3; hart++)
		for (unsigned outer = 0; outer < 3; outer++)
			for (unsigned inner = 0; inner < 3; inner++) {
				lt_host_set_hart(hart);
				if (inner > outer)
					nest(outer, inner);
				else
					EXPECT_DEATH(nest(outer, inner),
						     std::string("out of order: ") + names[inner] + " while holding " + names[outer]);
			}
	lt_host_set_hart(0);
}

TEST(LockReport, PagesThroughUsedLocksOnly)
{
	Bench bench;
	std::vector<lt_lock> locks(10);
	hz_lock_entry e[4];

	bench.real(1);
	bench.locks(LT_LOCK_TICKET, LT_STATS_CONTENDED, 1);
	for (uint32_t i = 0; i < 10; i++)
		lt_lock_init(&locks[i], test_class, i);
	for (uint32_t i = 0; i < 10; i += 2) {
		lt_lock_node node;
		lt_lock_acquire(&locks[i], &node);
		lt_lock_release(&locks[i], &node);
	}
	EXPECT_EQ(lt_lock_report(e, 3, 4), 5u);
	EXPECT_EQ(e[0].index, 6u);
	EXPECT_EQ(e[1].index, 8u);
}

TEST(LockInit, RefusesUnknownKindAndClass)
{
	Bench bench;

	bench.real(1);
	EXPECT_DEATH(bench.locks(LT_LOCK_KINDS, LT_STATS_OFF, 1), "unknown lock kind");
	lt_lock lock;
	bench.locks(LT_LOCK_TAS, LT_STATS_OFF, 1);
	EXPECT_DEATH(lt_lock_init(&lock, inner_class + 1, 0), "nobody registered");
}

} // namespace
