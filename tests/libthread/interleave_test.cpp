// The interleaver: reproducible orders, races and deadlocks that it must find, locks that it must not break.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <unistd.h>

#include <fstream>
#include <set>
#include <string>

#include "bench.hpp"
#include "lt/checks.h"

#if defined(HZ_SANITIZED_ADDRESSES)
// Every stack has a second one, in clang 14 as in later ones, which choose so by themselves.
extern "C" const char *__asan_default_options() { return "detect_stack_use_after_return=1"; }
#endif

namespace {

// Harts that each run `body` once, interleaved; it may record positions in `order`.
struct Race {
	static constexpr unsigned harts = 4;
	Bench bench;
	lt_event events[harts]{};
	static inline std::function<void()> body;
	static inline std::string order;

	Race(uint64_t seed, unsigned one_in)
	{
		bench.simulated(harts);
		bench.locks(LT_LOCK_MCS, LT_STATS_OFF, harts);
		lt_locks_check(true);
		lt_host_interleave(seed, one_in);
	}
	void run(std::function<void()> what)
	{
		body = std::move(what);
		order.clear();
		for (unsigned i = 0; i < harts; i++) {
			lt_thread there{"t", i};
			lt_post(&there, &events[i], [](lt_event *) { body(); });
		}
		lt_host_run_until_idle();
	}
};

std::string order_of(uint64_t seed)
{
	Race race(seed, 3);
	lt_word word{};
	race.run([&word] {
		for (int i = 0; i < 8; i++) {
			lt_add(&word, 1);
			Race::order += static_cast<char>('0' + lt_hart_id());
		}
	});
	return Race::order;
}

TEST(Interleave, TheSeedAloneMakesTheOrder)
{
	std::set<std::string> orders;
	for (uint64_t seed = 0; seed < 20; seed++) {
		EXPECT_EQ(order_of(seed), order_of(seed));
		orders.insert(order_of(seed));
	}
	EXPECT_GT(orders.size(), 15u);
}

// A load and a store instead of one addition: another hart's addition between the two is lost.
TEST(Interleave, FindsALostUpdate)
{
	unsigned found = 0;
	for (uint64_t seed = 0; seed < 200; seed++) {
		Race race(seed, 3);
		lt_word word{};
		race.run([&word] { lt_store(&word, lt_load(&word) + 1); });
		found += word.value != Race::harts;
	}
	EXPECT_GT(found, 40u);
}

TEST(Interleave, EveryKindOfLockExcludes)
{
	for (int kind = LT_LOCK_TAS; kind < LT_LOCK_KINDS; kind++)
		for (uint64_t seed = 0; seed < 20; seed++) {
			SCOPED_TRACE(testing::Message() << "kind " << kind << " seed " << seed);
			Race race(seed, 3);
			race.bench.locks(static_cast<lt_lock_kind>(kind), LT_STATS_ALL, Race::harts);
			lt_lock lock;
			lt_word word{};
			lt_lock_init(&lock, test_class, 0);
			race.run([&] {
				for (int i = 0; i < 10; i++) {
					lt_lock_node node;
					lt_lock_acquire(&lock, &node);
					lt_store(&word, lt_load(&word) + 1);
					lt_lock_release(&lock, &node);
				}
			});
			ASSERT_EQ(word.value, 10u * Race::harts);
		}
}

// Two parts of one global lock; the first one goes first.
TEST(Interleave, OneLockForAllExcludes)
{
	for (const lt_lock_kind kind : lock_kinds())
		for (uint64_t seed = 0; seed < 20; seed++) {
			SCOPED_TRACE(testing::Message() << "kind " << kind << " seed " << seed);
			Race race(seed, 3);
			const auto number = static_cast<uint8_t>(kind);
			const lt_lock_class classes[] = {{"outer", number, 1, 0}, {"inner", number, 2, 0}, {"one", number, 0, 0}};
			lt_locks_init(&race.bench.mem, classes, std::size(classes), LT_STATS_ALL, Race::harts);
			lt_locks_share_one(2);
			lt_lock outer[Race::harts], inner;
			lt_word word{};
			for (uint32_t i = 0; i < Race::harts; i++)
				lt_lock_init(&outer[i], 0, i);
			lt_lock_init(&inner, 1, 0);
			race.run([&] {
				for (int i = 0; i < 10; i++) {
					lt_lock_node first, second;
					lt_lock_acquire(&outer[lt_hart_id()], &first);
					lt_lock_acquire(&inner, &second);
					lt_lock_release(&outer[lt_hart_id()], &first);
					lt_store(&word, lt_load(&word) + 1);
					lt_lock_release(&inner, &second);
				}
			});
			ASSERT_EQ(word.value, 10u * Race::harts);
		}
}

// A reader that a leaving writer lets in may be gone before the writer is.
TEST(Interleave, TheReaderWriterLockLetsEveryoneIn)
{
	for (uint64_t seed = 0; seed < 200; seed++) {
		SCOPED_TRACE(testing::Message() << "seed " << seed);
		Race race(seed, 3);
		race.bench.locks(LT_LOCK_RW, LT_STATS_ALL, Race::harts);
		lt_lock lock;
		lt_word word{};
		unsigned reads = 0;
		lt_lock_init(&lock, test_class, 0);
		race.run([&] {
			for (int i = 0; i < 10; i++) {
				lt_lock_node node;
				if (lt_hart_id() < 2) {
					lt_lock_acquire(&lock, &node);
					lt_store(&word, lt_load(&word) + 1);
					lt_lock_release(&lock, &node);
				} else {
					lt_lock_read(&lock, &node);
					const uint64_t seen = lt_load(&word);
					reads += seen == lt_load(&word);
					lt_lock_read_end(&lock, &node);
				}
			}
		});
		ASSERT_EQ(word.value, 20u);
		ASSERT_EQ(reads, 20u);
	}
}

// Sections behind a holder are run by it, those that ask for the lock itself are handed it; each is run once.
TEST(Interleave, TheCombiningLockRunsTheSectionsOfOthers)
{
	unsigned by_others = 0;
	for (uint64_t seed = 0; seed < 200; seed++) {
		SCOPED_TRACE(testing::Message() << "seed " << seed);
		Race race(seed, 3);
		race.bench.locks(LT_LOCK_COMBINE, LT_STATS_ALL, Race::harts);
		lt_lock lock;
		struct Section {
			lt_word *sum;
			unsigned ran_by;
		};
		lt_word sum{};
		lt_lock_init(&lock, test_class, 0);
		ASSERT_TRUE(lt_lock_combines(&lock));
		race.run([&] {
			for (int i = 0; i < 10; i++) {
				Section mine{&sum, UINT32_MAX};
				lt_lock_node node;
				if (lt_hart_id() == 0 && i % 2) {
					lt_lock_acquire(&lock, &node);
					lt_store(&sum, lt_load(&sum) + 1);
					lt_lock_release(&lock, &node);
					continue;
				}
				lt_lock_run(
					&lock,
					[](const uint64_t *argument) {
						auto *it = reinterpret_cast<Section *>(argument[0]);
						lt_store(it->sum, lt_load(it->sum) + 1);
						it->ran_by = lt_hart_id();
					},
					reinterpret_cast<uintptr_t>(&mine), 0, 0, 0);
				ASSERT_LT(mine.ran_by, unsigned{Race::harts});
				by_others += mine.ran_by != lt_hart_id();
			}
		});
		ASSERT_EQ(sum.value, 10u * Race::harts);
		hz_lock_entry e{};
		ASSERT_EQ(lt_lock_report(&e, 0, 1), 1u);
		ASSERT_EQ(e.acquisitions, 10u * Race::harts);
		ASSERT_LE(e.contended, e.acquisitions);
	}
	EXPECT_GT(by_others, 1000u);
}

// Two words that a writer changes one after the other: who looks at them in between notices, and some do.
TEST(Interleave, TheSequenceLockTellsATornLook)
{
	unsigned whole = 0, in_vain = 0;
	for (uint64_t seed = 0; seed < 200; seed++) {
		SCOPED_TRACE(testing::Message() << "seed " << seed);
		Race race(seed, 3);
		race.bench.locks(LT_LOCK_SEQ, LT_STATS_ALL, Race::harts);
		lt_lock lock;
		uint32_t pair[2] = {0, 0};
		lt_lock_init(&lock, test_class, 0);
		race.run([&] {
			for (int i = 0; i < 10; i++) {
				lt_lock_node node;
				if (lt_hart_id() < 2) {
					lt_lock_acquire(&lock, &node);
					lt_put(&pair[0], pair[0] + 1);
					lt_put(&pair[1], pair[1] + 1);
					lt_lock_release(&lock, &node);
				} else if (lt_lock_look(&lock, &node)) {
					const uint32_t first = lt_glance(&pair[0]), second = lt_glance(&pair[1]);
					if (lt_lock_looked(&lock, &node)) {
						ASSERT_EQ(first, second);
						whole++;
					} else {
						in_vain++;
					}
				}
			}
		});
		ASSERT_EQ(pair[0], 20u);
	}
	EXPECT_GT(whole, 100u);
	EXPECT_GT(in_vain, 100u);
}

// Time passes while a hart stands still, and only then can this be seen.
TEST(Interleave, TimePassesBetweenTwoAccesses)
{
	unsigned seen = 0;
	for (uint64_t seed = 0; seed < 400; seed++) {
		Race race(seed, 3);
		static lt_timer timer;
		static lt_word word, other;
		static bool late;
		timer = {};
		word = other = {};
		late = false;
		race.run([] {
			if (lt_hart_id() == 0)
				lt_timer_arm(&timer, 1000, [](lt_timer *) { lt_store(&word, 1); });
			if (lt_hart_id() == 1) {
				uint64_t before = lt_load(&word);
				lt_load(&other);
				late = late || (!before && lt_load(&word));
			}
		});
		seen += late;
	}
	EXPECT_GT(seen, 20u);
}

int64_t mapped_bytes()
{
	int64_t pages = 0;
	std::ifstream("/proc/self/statm") >> pages;
	return pages * sysconf(_SC_PAGESIZE);
}

// Or the process grows by tens of MiB with each seed, until it cannot fork.
TEST(Interleave, ANewRaceTakesTheStacksOfTheLastOne)
{
	order_of(1);
	const int64_t before = mapped_bytes();
	for (uint64_t seed = 0; seed < 20; seed++)
		order_of(seed);
	EXPECT_LT(mapped_bytes() - before, 20 << 20);
}

TEST(Interleave, ADeadlockFailsTheRun)
{
	static lt_lock first, second;
	auto crosswise = [] {
		for (uint64_t seed = 0; seed < 50; seed++) {
			Race race(seed, 3);
			lt_locks_check(false); // it would not come so far
			lt_lock_init(&first, test_class, 0);
			lt_lock_init(&second, test_class, 1);
			race.run([] {
				lt_lock_node a, b;
				lt_lock *outer = lt_hart_id() % 2 ? &first : &second, *inner = lt_hart_id() % 2 ? &second : &first;
				lt_lock_acquire(outer, &a);
				lt_lock_acquire(inner, &b);
				lt_lock_release(inner, &b);
				lt_lock_release(outer, &a);
			});
		}
	};
	EXPECT_DEATH(crosswise(), "deadlock");
}

TEST(Interleave, NeedsTheTestClock)
{
	Bench bench;
	bench.real(1);
	EXPECT_DEATH(lt_host_interleave(1, 2), "test clock");
}

} // namespace
