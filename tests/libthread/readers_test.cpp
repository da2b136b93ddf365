// Readers of a lock, on real threads: side by side under rw, one at a time under every other kind; and the barrier.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "bench.hpp"
#include "lt/barrier.h"
#include "lt/checks.h"

extern "C" {
#include "stats.h"
}

namespace {

constexpr unsigned harts = 8;

class Readers : public testing::TestWithParam<lt_lock_kind> {
protected:
	Bench bench;
	lt_lock lock;

	void SetUp() override
	{
		bench.real(harts);
		bench.locks(GetParam(), LT_STATS_ALL, harts);
		lt_locks_check(true);
		lt_lock_init(&lock, test_class, 0);
	}
	hz_lock_entry entry()
	{
		hz_lock_entry e{};
		EXPECT_EQ(lt_lock_report(&e, 0, 1), 1u);
		return e;
	}
};
INSTANTIATE_TEST_SUITE_P(Kinds, Readers, testing::ValuesIn(lock_kinds()));

TEST_P(Readers, SeeWholeWrites)
{
	uint64_t pair[2] = {0, 0}, spun = 0;
	std::vector<uint64_t> mine(harts);

	Bench::in_parallel(harts, [&](unsigned hart) {
		for (unsigned i = 0; i < 2000; i++) {
			lt_lock_node node;
			if (hart < 3) {
				lt_lock_acquire(&lock, &node);
				pair[0]++;
				pair[1]++;
				lt_lock_release(&lock, &node);
			} else {
				lt_lock_read(&lock, &node);
				ASSERT_EQ(pair[0], pair[1]);
				lt_lock_read_end(&lock, &node);
			}
		}
		hz_hart_times t;
		lt_hart_times(hart, &t);
		mine[hart] = t.spin_ns[test_class];
	});
	for (uint64_t ns : mine)
		spun += ns;
	EXPECT_EQ(pair[0], 6000u);
	const hz_lock_entry e = entry();
	EXPECT_EQ(e.acquisitions, uint64_t{harts} * 2000);
	EXPECT_LE(e.contended, e.acquisitions);
	EXPECT_LT(e.handovers, GetParam() == LT_LOCK_RW ? 6000u : 16000u);
	EXPECT_EQ(e.wait_ns, spun);
	EXPECT_LE(e.wait_p99_ns, e.wait_max_ns);
	EXPECT_LE(e.hold_p99_ns, e.hold_max_ns);
}

// A writer waits for readers, and readers for a writer; whoever tries gets it from neither.
TEST_P(Readers, AndWritersExcludeEachOther)
{
	lt_lock_node node, tried;

	for (const bool reads : {true, false}) {
		lt_host_set_hart(0);
		reads ? lt_lock_read(&lock, &node) : lt_lock_acquire(&lock, &node);
		lt_host_set_hart(1);
		EXPECT_FALSE(lt_lock_try(&lock, &tried));
		lt_host_set_hart(0);
		reads ? lt_lock_read_end(&lock, &node) : lt_lock_release(&lock, &node);
		lt_host_set_hart(1);
		ASSERT_TRUE(lt_lock_try(&lock, &tried));
		lt_lock_release(&lock, &tried);
	}
}

// While a first reader stays inside until the second has come, or for a while.
TEST_P(Readers, ShareExactlyUnderRw)
{
	lt_word inside{}, met{};

	Bench::in_parallel(2, [&](unsigned) {
		lt_lock_node node;
		lt_lock_read(&lock, &node);
		lt_add(&inside, 1);
		const uint64_t until = clock_now_ns() + (GetParam() == LT_LOCK_RW ? 10000000000 : 20000000);
		while (lt_load(&inside) != 2 && lt_load(&met) == 0 && clock_now_ns() < until)
			lt_relax();
		if (lt_load(&inside) == 2)
			lt_add(&met, 1);
		lt_add(&inside, ~uint64_t{0});
		lt_lock_read_end(&lock, &node);
	});
	EXPECT_EQ(lt_load(&met) > 0, GetParam() == LT_LOCK_RW);
}

TEST_P(Readers, AreCheckedAsWritersAre)
{
	testing::FLAGS_gtest_death_test_style = "threadsafe";
	lt_lock_node a, b;
	EXPECT_DEATH(
		{
			lt_lock_read(&lock, &a);
			lt_lock_read(&lock, &b);
		},
		"acquired twice");
}

// All readers stay inside until the last has come, again and again.
TEST(RwLock, AllReadersShare)
{
	Bench bench;
	lt_lock lock;
	lt_barrier inside;

	bench.real(harts);
	bench.locks(LT_LOCK_RW, LT_STATS_ALL, harts);
	lt_lock_init(&lock, test_class, 0);
	lt_barrier_init(&inside, harts);
	Bench::in_parallel(harts, [&](unsigned) {
		for (unsigned i = 0; i < 50; i++) {
			lt_lock_node node;
			lt_lock_read(&lock, &node);
			lt_barrier_wait(&inside);
			lt_lock_read_end(&lock, &node);
		}
	});
	hz_lock_entry e{};
	EXPECT_EQ(lt_lock_report(&e, 0, 1), 1u);
	EXPECT_EQ(e.acquisitions, harts * 50u);
	EXPECT_EQ(e.handovers, 0u) << "a reader hands over to nobody";
}

// Served in the order they came: readers behind a waiting writer do not overtake it.
TEST(RwLock, AWaitingWriterKeepsReadersOut)
{
	Bench bench;
	lt_lock lock;
	lt_word order{};
	uint64_t writer = 0, reader = 0;

	bench.real(3);
	bench.locks(LT_LOCK_RW, LT_STATS_ALL, 3);
	lt_lock_init(&lock, test_class, 0);
	Bench::in_parallel(3, [&](unsigned hart) {
		lt_lock_node node;
		while (lt_load(&lock.word) != hart) // a ticket after the other
			lt_relax();
		hart == 1 ? lt_lock_acquire(&lock, &node) : lt_lock_read(&lock, &node);
		while (hart == 0 && lt_load(&lock.word) != 3)
			lt_relax();
		if (hart)
			(hart == 1 ? writer : reader) = lt_add(&order, 1);
		hart == 1 ? lt_lock_release(&lock, &node) : lt_lock_read_end(&lock, &node);
	});
	EXPECT_EQ(writer, 0u);
	EXPECT_EQ(reader, 1u);
}

// Half of the harts write, the others look, and lock after a look in vain; one reads and resets the statistics meanwhile.
TEST(SeqLock, ALookIsWholeOrInVain)
{
	constexpr unsigned looks = 4000;
	Bench bench;
	lt_lock lock;
	uint32_t pair[2] = {0, 0};

	bench.real(harts);
	bench.locks(LT_LOCK_SEQ, LT_STATS_ALL, harts);
	lt_locks_check(true);
	lt_lock_init(&lock, test_class, 0);
	Bench::in_parallel(harts, [&](unsigned hart) {
		for (unsigned i = 0; i < looks; i++) {
			lt_lock_node node;
			if (hart == 0) { // it does nothing else, or it would be in step with the others
				hz_lock_entry e{};
				lt_lock_report(&e, 0, 1);
				lt_lock_stats_reset();
			} else if (hart % 2) {
				lt_lock_acquire(&lock, &node);
				lt_put(&pair[0], pair[0] + 1);
				lt_put(&pair[1], pair[1] + 1);
				lt_lock_release(&lock, &node);
			} else {
				bool whole = lt_lock_look(&lock, &node);
				const uint32_t first = lt_glance(&pair[0]), second = lt_glance(&pair[1]);
				if (whole && lt_lock_looked(&lock, &node)) {
					ASSERT_EQ(first, second);
					continue;
				}
				lt_lock_read(&lock, &node);
				ASSERT_EQ(pair[0], pair[1]);
				lt_lock_read_end(&lock, &node);
			}
		}
	});
	EXPECT_EQ(pair[0], harts / 2 * looks);
}

// Looks count as shared acquisitions, and wait for nobody.
TEST(SeqLock, LooksAreCounted)
{
	Bench bench;
	lt_lock lock;
	lt_lock_node held, node;
	hz_lock_entry e{};

	bench.real(2);
	bench.locks(LT_LOCK_SEQ, LT_STATS_ALL, 2);
	lt_locks_check(true);
	lt_lock_init(&lock, test_class, 0);
	ASSERT_TRUE(lt_lock_look(&lock, &node));
	lt_host_set_hart(1);
	lt_lock_acquire(&lock, &held);
	lt_host_set_hart(0);
	EXPECT_FALSE(lt_lock_looked(&lock, &node)) << "a writer is inside";
	EXPECT_FALSE(lt_lock_look(&lock, &node)) << "… still";
	lt_host_set_hart(1);
	lt_lock_release(&lock, &held);
	lt_host_set_hart(0);
	ASSERT_TRUE(lt_lock_look(&lock, &node));
	EXPECT_TRUE(lt_lock_looked(&lock, &node));
	ASSERT_EQ(lt_lock_report(&e, 0, 1), 1u);
	EXPECT_EQ(e.acquisitions, 3u) << "two looks that began, and a writer";
	EXPECT_EQ(e.contended, 0u);
	EXPECT_EQ(e.handovers, 0u);
	EXPECT_GT(e.hold_ns, 0u);
	lt_lock_stats_reset();
	EXPECT_EQ(lt_lock_report(&e, 0, 1), 0u);
}

// A look of 100 ns, the only one, is all that the statistics show.
TEST(SeqLock, ALookHasItsTimeInTheStatistics)
{
	Bench bench;
	lt_lock lock;
	lt_lock_node node;
	hz_lock_entry e{};

	bench.simulated(1);
	bench.locks(LT_LOCK_SEQ, LT_STATS_ALL, 1);
	lt_lock_init(&lock, test_class, 0);
	ASSERT_TRUE(lt_lock_look(&lock, &node));
	lt_host_clock_set(clock_now_ns() + 100);
	ASSERT_TRUE(lt_lock_looked(&lock, &node));
	ASSERT_EQ(lt_lock_report(&e, 0, 1), 1u);
	EXPECT_EQ(e.acquisitions, 1u);
	EXPECT_EQ(e.hold_ns, 100u);
	EXPECT_EQ(e.hold_max_ns, 100u);
	EXPECT_EQ(e.hold_p99_ns, 100u);
}

uint64_t values_in(const lt_histogram &h)
{
	uint64_t sum = 0;
	for (const lt_word &count : h.count)
		sum += lt_load(&count);
	return sum;
}

// Harts that look, or whose section another hart has run, count beside the lock's holder: each hold, and each wait, is in its histogram.
TEST(SideBySide, HistogramsLoseNothing)
{
	for (const lt_lock_kind kind : {LT_LOCK_SEQ, LT_LOCK_COMBINE}) {
		SCOPED_TRACE(testing::Message() << "kind " << kind);
		Bench bench;
		lt_lock lock;
		if (kind == LT_LOCK_SEQ)
			bench.simulated(2); // nobody waits; time stands still, so all values are one
		else
			bench.real(2);
		bench.locks(kind, LT_STATS_ALL, 2);
		lt_lock_init(&lock, test_class, 0);
		EXPECT_TRUE(lock.stats->side_by_side);
		Bench::in_parallel(2, [&](unsigned hart) {
			for (unsigned i = 0; i < (kind == LT_LOCK_SEQ ? 1000000u : 10000u); i++) {
				lt_lock_node node;
				if (kind == LT_LOCK_SEQ && hart) {
					if (lt_lock_look(&lock, &node))
						lt_lock_looked(&lock, &node);
				} else {
					lt_lock_run(
						&lock, [](const uint64_t *) {}, 0, 0, 0, 0);
				}
			}
		});
		hz_lock_entry e{};
		ASSERT_EQ(lt_lock_report(&e, 0, 1), 1u);
		EXPECT_EQ(values_in(*lock.stats->hold), e.acquisitions);
		EXPECT_EQ(values_in(*lock.stats->wait), e.contended);
	}
}

TEST(SeqLock, IsTheOnlyOneToLookAt)
{
	for (const lt_lock_kind kind : lock_kinds())
		for (const bool shared : {false, true}) {
			Bench bench;
			lt_lock lock;
			bench.real(1);
			bench.locks(kind, LT_STATS_ALL, 1);
			if (shared)
				lt_locks_share_one(inner_class);
			lt_lock_init(&lock, test_class, 0);
			EXPECT_EQ(lt_lock_has_looks(&lock), kind == LT_LOCK_SEQ && !shared);
		}
}

TEST(Barrier, NobodyPassesBeforeAllHaveCome)
{
	lt_barrier barrier;
	std::vector<unsigned> round(harts);
	lt_word last{};

	lt_barrier_init(&barrier, harts);
	Bench::in_parallel(harts, [&](unsigned hart) {
		for (unsigned r = 1; r <= 300; r++) {
			round[hart] = r;
			if (lt_barrier_wait(&barrier))
				lt_add(&last, 1);
			for (unsigned other : round)
				ASSERT_EQ(other, r);
			lt_barrier_wait(&barrier);
		}
	});
	EXPECT_EQ(lt_load(&last), 300u) << "exactly one comes last";
}

} // namespace
