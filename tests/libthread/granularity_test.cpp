// How many locks there are: shards of a class, and one lock that stands for all classes, which a hart may hold in several parts.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "bench.hpp"
#include "lt/checks.h"

namespace {

constexpr unsigned threads_here = 8, turns = 2000;

struct Held {
	lt_lock *lock;
	lt_lock_node node{};
	explicit Held(lt_lock &of) : lock(&of) { lt_lock_acquire(lock, &node); }
	void release() { lt_lock_release(lock, &node); }
};

bool another_hart_gets(lt_lock &lock)
{
	lt_lock_node node;
	const unsigned here = lt_hart_id();
	lt_host_set_hart(here + 1);
	const bool got = lt_lock_try(&lock, &node);
	if (got)
		lt_lock_release(&lock, &node);
	lt_host_set_hart(here);
	return got;
}

std::vector<hz_lock_entry> report()
{
	std::vector<hz_lock_entry> entries(64);
	entries.resize(lt_lock_report(entries.data(), 0, 64));
	return entries;
}

class Shards : public testing::TestWithParam<lt_lock_kind> {
protected:
	static constexpr unsigned locks_of_a_class = 10;
	Bench bench;
	lt_lock lock[2][locks_of_a_class];

	void make(uint32_t shards)
	{
		bench.real(threads_here);
		bench.locks(GetParam(), LT_STATS_ALL, threads_here, shards);
		lt_locks_check(true);
		for (unsigned c = 0; c < 2; c++)
			for (uint32_t i = 0; i < locks_of_a_class; i++)
				lt_lock_init(&lock[c][i], c, i);
	}
};
INSTANTIATE_TEST_SUITE_P(Kinds, Shards, testing::ValuesIn(lock_kinds()));

TEST_P(Shards, LocksOfOneShardAreOne)
{
	for (const uint32_t shards : {1u, 3u, 4096u}) {
		make(shards);
		for (unsigned c = 0; c < 2; c++)
			for (uint32_t held = 0; held < locks_of_a_class; held++) {
				Held one(lock[c][held]);
				for (uint32_t asked = 0; asked < locks_of_a_class; asked++) {
					EXPECT_EQ(another_hart_gets(lock[c][asked]),
						  lt_lock_shard(asked, shards) != lt_lock_shard(held, shards));
					EXPECT_TRUE(another_hart_gets(lock[1 - c][asked]));
				}
				one.release();
			}
		const auto entries = report();
		std::set<uint32_t> used;
		for (uint32_t i = 0; i < locks_of_a_class; i++)
			used.insert(lt_lock_shard(i, shards));
		EXPECT_EQ(entries.size(), 2 * used.size()) << "an entry for each lock that there is";
		for (const hz_lock_entry &e : entries)
			EXPECT_LT(e.index, shards);
	}
}

// Zones that come one after another, or are dealt out at equal distances.
TEST(LockShard, IsSpreadAtEveryDistance)
{
	for (const uint32_t shards : {1u, 2u, 3u, 8u, 64u})
		for (uint32_t distance = 1; distance <= 64; distance++) {
			std::vector<unsigned> found(shards);
			for (uint32_t i = 0; i < 16 * shards; i++) {
				const uint32_t shard = lt_lock_shard(i * distance, shards);
				ASSERT_LT(shard, shards);
				found[shard]++;
			}
			EXPECT_LE(*std::max_element(found.begin(), found.end()), 40u) << shards << " shards, distance " << distance;
			EXPECT_GT(*std::min_element(found.begin(), found.end()), 0u) << shards << " shards, distance " << distance;
		}
	EXPECT_LT(lt_lock_shard(UINT32_MAX, 4096), 4096u);
}

TEST_P(Shards, ExcludeWhoeverAsksByWhicheverName)
{
	uint64_t counter[3] = {0, 0, 0}, busy[3] = {0, 0, 0};

	make(3);
	Bench::in_parallel(threads_here, [&](unsigned hart) {
		for (unsigned i = 0; i < turns; i++) {
			const unsigned index = (hart + i * 7) % locks_of_a_class, shard = lt_lock_shard(index, 3);
			Held held(lock[0][index]);
			ASSERT_EQ(busy[shard]++, 0u);
			counter[shard]++;
			busy[shard]--;
			held.release();
		}
	});
	EXPECT_EQ(counter[0] + counter[1] + counter[2], uint64_t{threads_here} * turns);
	uint64_t acquired = 0;
	for (const hz_lock_entry &e : report())
		acquired += e.acquisitions;
	EXPECT_EQ(acquired, uint64_t{threads_here} * turns);
}

// Classes outer and inner, and the one lock that stands for both.
class OneLock : public testing::TestWithParam<lt_lock_kind> {
protected:
	enum { outer_class, within_class, the_one };
	Bench bench;
	lt_lock outer[4], inner[4];

	void make(lt_stats_level level = LT_STATS_ALL)
	{
		const auto kind = static_cast<uint8_t>(GetParam());
		const lt_lock_class classes[] = {{"outer", kind, 1, 0}, {"within", kind, 2, 0}, {"one", kind, 0, 0}};
		lt_locks_init(&bench.mem, classes, std::size(classes), level, threads_here);
		lt_locks_share_one(the_one);
		lt_locks_check(true);
		for (uint32_t i = 0; i < 4; i++)
			lt_lock_init(&outer[i], outer_class, i), lt_lock_init(&inner[i], within_class, i);
	}
	void on_threads()
	{
		bench.real(threads_here);
		make();
	}
	hz_lock_entry entry_of(uint32_t lock_class)
	{
		for (const hz_lock_entry &e : report())
			if (e.lock_class == lock_class)
				return e;
		return {};
	}
};
INSTANTIATE_TEST_SUITE_P(Kinds, OneLock, testing::ValuesIn(lock_kinds()));

TEST_P(OneLock, IsHeldFromTheFirstPartToTheLastWhicheverGoesFirst)
{
	for (const bool outer_first : {true, false}) {
		on_threads();
		Held a(outer[0]), b(inner[3]);
		EXPECT_FALSE(another_hart_gets(outer[1]));
		EXPECT_FALSE(another_hart_gets(inner[1]));
		outer_first ? a.release() : b.release();
		EXPECT_FALSE(another_hart_gets(outer[0])) << "a part is still held";
		EXPECT_FALSE(another_hart_gets(inner[0]));
		outer_first ? b.release() : a.release();
		EXPECT_TRUE(another_hart_gets(outer[0]));
		EXPECT_TRUE(another_hart_gets(inner[0]));
	}
}

TEST_P(OneLock, TryingAPartOfWhatOneHoldsSucceeds)
{
	lt_lock_node node;

	on_threads();
	Held a(outer[2]);
	ASSERT_TRUE(lt_lock_try(&inner[2], &node));
	a.release();
	EXPECT_FALSE(another_hart_gets(outer[2]));
	lt_lock_release(&inner[2], &node);
	EXPECT_TRUE(another_hart_gets(outer[2]));
	ASSERT_TRUE(lt_lock_try(&outer[1], &node));
	EXPECT_FALSE(another_hart_gets(inner[1]));
	lt_lock_release(&outer[1], &node);
	EXPECT_EQ(report().size(), 3u);
}

// The parts count requests, the one lock counts acquisitions.
TEST_P(OneLock, PartsCountWhatIsAskedForAndTheOneWhatIsTaken)
{
	on_threads();
	for (int i = 0; i < 5; i++) {
		Held a(outer[i % 4]), b(inner[0]);
		b.release();
		Held c(inner[1]);
		c.release();
		a.release();
	}
	EXPECT_EQ(entry_of(outer_class).acquisitions, 5u);
	EXPECT_EQ(entry_of(within_class).acquisitions, 10u);
	EXPECT_EQ(entry_of(the_one).acquisitions, 5u);
	EXPECT_GE(entry_of(the_one).hold_ns, entry_of(outer_class).hold_ns);
	EXPECT_GE(entry_of(outer_class).hold_ns, entry_of(within_class).hold_ns);
	EXPECT_EQ(entry_of(outer_class).kind, uint32_t{GetParam()});
	lt_lock_stats_reset();
	EXPECT_EQ(report().size(), 0u);
}

TEST_P(OneLock, ExcludesHartsAndCountsTheirWaitingOnce)
{
	uint64_t counter = 0, busy = 0;
	lt_word spun{};

	on_threads();
	Bench::in_parallel(threads_here, [&](unsigned hart) {
		for (unsigned i = 0; i < turns; i++) {
			lt_lock_node node;
			Held a(i % 3 ? outer[hart % 4] : inner[hart % 4]);
			const bool two = i % 3 && lt_lock_try(&inner[i % 4], &node);
			ASSERT_EQ(busy++, 0u);
			counter++;
			busy--;
			if (i % 2)
				a.release();
			if (two)
				lt_lock_release(&inner[i % 4], &node);
			if (i % 2 == 0)
				a.release();
			if (hart == 0 && i % 64 == 0)
				report();
		}
		hz_hart_times t;
		lt_hart_times(hart, &t);
		EXPECT_EQ(t.spin_ns[outer_class] + t.spin_ns[within_class], 0u);
		lt_add(&spun, t.spin_ns[the_one]);
	});
	EXPECT_EQ(counter, uint64_t{threads_here} * turns);
	EXPECT_EQ(entry_of(the_one).acquisitions, counter);
	EXPECT_EQ(entry_of(the_one).wait_ns, lt_load(&spun));
	EXPECT_EQ(entry_of(outer_class).contended + entry_of(within_class).contended, 0u);
}

// The lock order is that of the protected data, for any number of locks.
TEST_P(OneLock, TheOrderOfClassesStands)
{
	testing::FLAGS_gtest_death_test_style = "threadsafe";
	on_threads();
	EXPECT_DEATH(
		{
			Held a(inner[0]);
			Held b(outer[0]);
		},
		"out of order: outer while holding within");
	EXPECT_DEATH(
		{
			Held a(outer[0]);
			Held b(outer[0]);
		},
		"acquired twice");
}

TEST(OneLockForAll, ALaterStartKnowsNothingOfIt)
{
	Bench bench;
	lt_lock first, second;
	bench.real(2);
	const lt_lock_class classes[] = {{"a", LT_LOCK_MCS, 1, 0}, {"b", LT_LOCK_MCS, 0, 0}};
	lt_locks_init(&bench.mem, classes, 2, LT_STATS_OFF, 2);
	lt_locks_share_one(1);
	lt_lock_init(&first, 0, 0);
	Held abandoned(first); // as by a power cut
	lt_locks_init(&bench.mem, classes, 2, LT_STATS_OFF, 2);
	lt_locks_share_one(1);
	lt_lock_init(&first, 0, 0);
	Held held(first);
	EXPECT_FALSE(another_hart_gets(first));
	held.release();
	lt_locks_init(&bench.mem, classes, 2, LT_STATS_OFF, 2);
	lt_lock_init(&first, 0, 0);
	lt_lock_init(&second, 0, 1);
	Held alone(first);
	EXPECT_TRUE(another_hart_gets(second));
	alone.release();
}

TEST(LockInit, RefusesTooManyShards)
{
	Bench bench;
	bench.real(1);
	EXPECT_DEATH(bench.locks(LT_LOCK_TAS, LT_STATS_OFF, 1, LT_MAX_LOCK_SHARDS + 1), "too many shards");
}

} // namespace
