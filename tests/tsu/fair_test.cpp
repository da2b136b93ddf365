// Schedules: shares of fair streams, and the longest wait under each schedule.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "flash_rig.hpp"

using rig::Rig;
using rig::Txn;

namespace {

constexpr uint64_t one_read_ns = 200 + 56200 + 20000, one_program_ns = 200 + 20000 + 381200, one_erase_ns = 200 + 1200000;

// Keeps `depth` transactions of one kind waiting until `until_ns`.
struct Load {
	Rig &r;
	uint64_t until_ns;
	std::function<Txn &()> make;
	uint64_t done = 0, used_ns = 0;

	void start(int depth)
	{
		while (depth--)
			next();
	}
	void next()
	{
		Txn &txn = make();
		txn.then = [this](Txn &ended) {
			if (ended.txn.end_ns <= until_ns)
				done++, used_ns += ended.txn.end_ns - ended.txn.start_ns;
			if (clock_now_ns() < until_ns)
				next();
		};
		r.submit(txn);
	}
};

hz_device_config scheduled_config(hz_schedule schedule, uint32_t age_limit_ns = 0)
{
	hz_device_config cfg = rig::small_config();
	cfg.schedule = schedule;
	cfg.read_age_limit_ns = age_limit_ns;
	return cfg;
}

Load load_of_reads(Rig &r, uint64_t until_ns, uint8_t stream)
{
	return Load{r, until_ns, [&r, stream]() -> Txn & {
			    Txn &txn = r.read(0, 3, 0, 2);
			    txn.txn.stream = stream;
			    return txn;
		    }};
}

} // namespace

// Streams of depth 1, 4 and 32 get the same share of a die; under FIFO the deep one takes nearly all.
TEST(Fair, StreamsGetEqualSharesWhateverTheirDepth)
{
	for (hz_schedule schedule : {HZ_SCHED_FIFO, HZ_SCHED_FAIR}) {
		Rig r(scheduled_config(schedule));
		const uint64_t until = 300 * one_read_ns;
		std::deque<Load> loads;
		for (int depth : {2, 4, 32})
			loads.push_back(load_of_reads(r, until, static_cast<uint8_t>(loads.size()))), loads.back().start(depth);
		lt_host_run_until_idle();
		if (schedule == HZ_SCHED_FIFO) {
			EXPECT_GT(loads[2].done, 7 * loads[1].done);
		} else {
			EXPECT_NEAR(static_cast<double>(loads[0].done), 100, 2);
			EXPECT_NEAR(static_cast<double>(loads[1].done), 100, 2);
			EXPECT_NEAR(static_cast<double>(loads[2].done), 100, 2);
		}
	}
}

// Shares are of the die's time, not of operations: programs take 5 times as long as reads.
TEST(Fair, SharesAreOfTime)
{
	Rig r(scheduled_config(HZ_SCHED_FAIR));
	const uint64_t until = 400 * one_program_ns;
	Load reads = load_of_reads(r, until, 0);
	uint32_t block = 3, sector = 0;
	Load writes{r, until, [&]() -> Txn & {
			    Txn &txn = r.program(0, block, sector, 2);
			    if ((sector += 2) == 32)
				    block = block == 7 ? 2 : block + 1, sector = 0;
			    return txn;
		    }};
	for (uint32_t b = 2; b < 8; b++)
		r.run(r.erase(0, b));
	reads.make = [&r]() -> Txn & { return r.read(0, 0, 0, 2); };
	reads.until_ns = writes.until_ns = clock_now_ns() + 20 * one_program_ns;
	reads.start(8);
	writes.start(2);
	lt_host_run_until_idle();
	const double share = static_cast<double>(reads.used_ns) / static_cast<double>(reads.used_ns + writes.used_ns);
	EXPECT_NEAR(share, 0.5, 0.1);
}

// A stream that comes back gets no more than its share for the time it was away.
TEST(Fair, ALatecomerHasNoClaimToThePast)
{
	Rig r(scheduled_config(HZ_SCHED_FAIR));
	const uint64_t until = 200 * one_read_ns;
	Load early = load_of_reads(r, until, 0), late = load_of_reads(r, until, 1);
	early.start(8);
	lt_host_run_until(clock_now_ns() + 100 * one_read_ns);
	const uint64_t before = early.done;
	late.start(8);
	lt_host_run_until_idle();
	EXPECT_NEAR(static_cast<double>(late.done), 50, 2);
	EXPECT_NEAR(static_cast<double>(early.done - before), 50, 2);
}

// The longest wait of any kind of transaction against reads of seven queues without end.
struct Bound {
	hz_schedule schedule;
	uint32_t age_limit_ns;
	uint64_t most_ns;
};
class NoStarvation : public testing::TestWithParam<Bound> {};

TEST_P(NoStarvation, EveryWaitIsBounded)
{
	Rig r(scheduled_config(GetParam().schedule, GetParam().age_limit_ns));
	const uint64_t until = 600 * one_read_ns;
	std::deque<Load> loads;
	for (uint8_t stream = 0; stream < 7; stream++)
		loads.push_back(load_of_reads(r, until, stream)), loads.back().start(2);
	std::vector<Txn *> victims = {&r.program(0, 4, 0, 2), &r.read(0, 4, 0, 1, HZ_CAUSE_GC), &r.program(0, 5, 0, 2, HZ_CAUSE_GC),
				      &r.erase(0, 6)};
	for (Txn *txn : victims)
		r.submit(*txn);
	lt_host_run_until_idle();
	for (Txn *txn : victims) {
		EXPECT_LE(txn->txn.start_ns - txn->txn.submit_ns, GetParam().most_ns);
		EXPECT_LT(txn->txn.start_ns, until) << "while the reads still came";
	}
}
// Priority: the limit, earlier operations, and the other victims. FIFO: earlier ones. Fair: before the second one of a lane, each of seven
// read lanes may use what its first one used and an operation more at either end; besides the other lanes' victims.
INSTANTIATE_TEST_SUITE_P(Fair, NoStarvation,
			 testing::Values(Bound{HZ_SCHED_PRIORITY, 2000000, 2000000 + 2 * one_read_ns + 3 * one_program_ns},
					 Bound{HZ_SCHED_FIFO, 0, 16 * one_read_ns + 3 * one_program_ns},
					 Bound{HZ_SCHED_FAIR, 0,
					       7 * (one_program_ns + 2 * one_read_ns) + 2 * one_program_ns + one_erase_ns},
					 Bound{HZ_SCHED_FAIR, 2000000, 2000000 + 2 * one_read_ns + 3 * one_program_ns}));

// The order within a block holds under every schedule, for any streams.
TEST(Fair, KeepsTheOrderOfABlock)
{
	for (hz_schedule schedule : {HZ_SCHED_PRIORITY, HZ_SCHED_FIFO, HZ_SCHED_FAIR}) {
		Rig r(scheduled_config(schedule, 5000000));
		std::vector<Txn *> txns = {&r.program(0, 4, 0, 2, HZ_CAUSE_GC), &r.program(0, 4, 2, 2, HZ_CAUSE_MAP),
					   &r.program(0, 4, 4, 2)};
		for (size_t i = 0; i < txns.size(); i++)
			txns[i]->txn.stream = static_cast<uint8_t>(i);
		r.submit(r.read(0, 7, 0, 1));
		for (Txn *txn : txns)
			r.submit(*txn);
		lt_host_run_until_idle();
		EXPECT_LT(txns[0]->txn.start_ns, txns[1]->txn.start_ns);
		EXPECT_LT(txns[1]->txn.start_ns, txns[2]->txn.start_ns);
		EXPECT_TRUE(r.refusals.empty());
	}
}
