// Reader-writer lock and barrier on real threads.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "bench.hpp"
#include "lt/barrier.h"
#include "lt/rwlock.h"

namespace {

constexpr unsigned harts = 8;

TEST(RwLock, WritersExcludeAllReadersSeeWholeWrites)
{
	Bench bench;
	lt_rwlock lock;
	uint64_t pair[2] = {0, 0};

	bench.real(harts);
	lt_rwlock_init(&lock, test_class);
	Bench::in_parallel(harts, [&](unsigned hart) {
		for (unsigned i = 0; i < 2000; i++) {
			if (hart < 3) {
				lt_rwlock_write(&lock);
				pair[0]++;
				pair[1]++;
				lt_rwlock_write_end(&lock);
			} else {
				lt_rwlock_read(&lock);
				ASSERT_EQ(pair[0], pair[1]);
				lt_rwlock_read_end(&lock);
			}
		}
	});
	EXPECT_EQ(pair[0], 6000u);
}

// All readers stay inside until the last has come: they share.
TEST(RwLock, ReadersShare)
{
	Bench bench;
	lt_rwlock lock;
	lt_barrier inside;

	bench.real(harts);
	lt_rwlock_init(&lock, test_class);
	lt_barrier_init(&inside, harts);
	Bench::in_parallel(harts, [&](unsigned) {
		for (unsigned i = 0; i < 50; i++) {
			lt_rwlock_read(&lock);
			lt_barrier_wait(&inside);
			lt_rwlock_read_end(&lock);
		}
	});
}

// A writer that waits for a reader spins on the lock's class.
TEST(RwLock, WaitingIsSpinTime)
{
	Bench bench;
	lt_rwlock lock;
	lt_word ready{};
	hz_hart_times t{};

	bench.real(2);
	lt_rwlock_init(&lock, test_class);
	Bench::in_parallel(2, [&](unsigned hart) {
		if (hart == 0) {
			lt_rwlock_read(&lock);
			lt_store(&ready, 1);
			while (lt_load(&lock.next) != 2)
				lt_relax();
			lt_rwlock_read_end(&lock);
		} else {
			lt_spin_until_not(&ready, 0);
			lt_rwlock_write(&lock);
			lt_rwlock_write_end(&lock);
			lt_hart_times(1, &t);
		}
	});
	EXPECT_LE(t.spin_ns[test_class], t.elapsed_ns);
	EXPECT_EQ(t.work_ns + t.idle_ns + t.spin_ns[test_class], t.elapsed_ns);
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
