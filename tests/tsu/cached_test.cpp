// Cached reads and programs, programs in passes, interleaved transfers: against formulas derived here from the configuration.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>

#include "flash_rig.hpp"
#include "tsu/tsu_report.h"

using rig::command_ns;
using rig::Rig;
using rig::Txn;

namespace {

constexpr uint64_t busy_ns = 3000;

hz_device_config cached_config()
{
	hz_device_config cfg = rig::small_config();
	cfg.cache_read = cfg.cache_program = 1;
	cfg.cache_busy_ns = busy_ns;
	return cfg;
}

void expect_conserved(Rig &r)
{
	hz_log_flash log;
	tsu_report(r.tsu, &log);
	for (uint32_t i = 0; i < log.dies; i++) {
		tsu_account a;
		tsu_die_account(r.tsu, i, &a);
		EXPECT_EQ(a.busy_ns + a.idle_ns, a.elapsed_ns) << "die " << i;
	}
	for (uint32_t i = 0; i < r.cfg.channels; i++) {
		tsu_account a;
		tsu_channel_account(r.tsu, i, &a);
		EXPECT_EQ(a.busy_ns + a.idle_ns, a.elapsed_ns) << "channel " << i;
	}
}

} // namespace

// A single operation is never cached: nothing follows it.
TEST(Cached, SingleOperationsTakeWhatTheyTakeWithoutCache)
{
	Rig r(cached_config());
	for (uint32_t page = 0; page < 4; page++)
		EXPECT_EQ(r.run(r.program(0, 3, page * 2, 2)).took_ns(), command_ns + 20000 + r.cfg.normal.program_ns[page % 2]);
	for (uint32_t page = 0; page < 4; page++)
		EXPECT_EQ(r.run(r.read(0, 3, page * 2, 2)).took_ns(), command_ns + 20000 + r.cfg.normal.read_ns[page % 2]);
	EXPECT_EQ(r.run(r.erase(0, 3)).took_ns(), command_ns + 1200000);
	EXPECT_EQ(r.run(r.program(0, 0, 0, 1)).took_ns(), command_ns + 10000 + 75000);
}

// n reads over p planes: the first one senses, then each costs a shift, its commands, and the longer of sensing and transfer.
struct ReadCase {
	uint32_t planes;
	uint64_t bytes_per_s;
};
class CachedReads : public testing::TestWithParam<ReadCase> {};

TEST_P(CachedReads, MatchTheFormula)
{
	hz_device_config cfg = cached_config();
	cfg.planes_per_die = GetParam().planes;
	cfg.channel_bytes_per_s = GetParam().bytes_per_s;
	for (uint32_t cached : {0u, 1u}) {
		cfg.cache_read = cached;
		Rig r(cfg);
		const uint64_t n = 20, p = cfg.planes_per_die, c = p * command_ns, a = 56200, x = p * r.transfer_ns(2);
		std::vector<Txn *> reads;
		for (uint64_t i = 0; i < n; i++)
			for (uint32_t plane = 0; plane < p; plane++)
				reads.push_back(&r.read(plane, 3, 0, 2));
		r.submit_list(reads);
		lt_host_run_until_idle();
		const uint64_t last = reads.back()->took_ns();
		EXPECT_EQ(last, cached ? c + a + (n - 1) * (busy_ns + c + std::max(a, x)) + x : n * (c + a + x));
		for (Txn *read : reads)
			EXPECT_TRUE(read->done && read->txn.status == NAND_OK);
		expect_conserved(r);
		tsu_account die;
		tsu_die_account(r.tsu, 0, &die);
		EXPECT_EQ(die.busy_ns, last);
	}
}
INSTANTIATE_TEST_SUITE_P(Cached, CachedReads,
			 testing::Values(ReadCase{1, 409600000}, ReadCase{1, 81920000}, ReadCase{2, 409600000}, ReadCase{4, 163840000}));

// Programs in a row: the next one's data cross the bus from the moment the cells begin with the last one.
class CachedPrograms : public testing::TestWithParam<ReadCase> {};

TEST_P(CachedPrograms, MatchTheFormula)
{
	hz_device_config cfg = cached_config();
	cfg.planes_per_die = GetParam().planes;
	cfg.channel_bytes_per_s = GetParam().bytes_per_s;
	Rig r(cfg);
	const uint32_t n = 12, planes = cfg.planes_per_die;
	const uint64_t in = planes * (command_ns + r.transfer_ns(2));
	std::vector<Txn *> programs;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t plane = 0; plane < planes; plane++)
			programs.push_back(&r.program(plane, 3, i * 2, 2));
	r.submit_list(programs);
	lt_host_run_until_idle();
	uint64_t begin = in;
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t end = begin + cfg.normal.program_ns[i % 2];
		for (uint32_t plane = 0; plane < planes; plane++)
			ASSERT_EQ(programs[i * planes + plane]->took_ns(), end) << "program " << i;
		begin = std::max(end, begin + in) + busy_ns;
	}
	expect_conserved(r);
	EXPECT_TRUE(r.refusals.empty());
}
INSTANTIATE_TEST_SUITE_P(Cached, CachedPrograms,
			 testing::Values(ReadCase{1, 409600000}, ReadCase{2, 409600000}, ReadCase{2, 16384000}, ReadCase{4, 163840000}));

// A program with its successor loaded is not suspended; the successor is, as soon as its cells begin.
TEST(Cached, AReadWaitsForTheProgramWhoseSuccessorIsLoaded)
{
	hz_device_config cfg = cached_config();
	cfg.suspend_ns = 5000;
	Rig r(cfg);
	Txn &first = r.program(0, 4, 0, 2), &second = r.program(0, 4, 2, 2), &read = r.read(0, 5, 0, 2);
	r.submit_list({&first, &second});
	const uint64_t submitted = clock_now_ns();
	lt_host_run_until(submitted + 100000);
	r.submit(read);
	lt_host_run_until_idle();
	const uint64_t first_end = command_ns + 20000 + 381200, second_cells = first_end + busy_ns, read_ns = command_ns + 56200 + 20000;
	EXPECT_EQ(first.took_ns(), first_end);
	EXPECT_EQ(read.txn.end_ns - first.txn.submit_ns, second_cells + 5000 + read_ns);
	EXPECT_EQ(second.took_ns(), second_cells + 5000 + read_ns + 1578500);
	expect_conserved(r);
}

// Reads during a suspension are cached as well.
TEST(Cached, SuspendedProgramsWaitForARowOfCachedReads)
{
	hz_device_config cfg = cached_config();
	cfg.suspend_ns = 5000;
	Rig r(cfg);
	Txn &program = r.program(0, 4, 0, 2);
	r.submit(program);
	lt_host_run_until(clock_now_ns() + 100000);
	std::vector<Txn *> reads;
	for (int i = 0; i < 5; i++)
		reads.push_back(&r.read(0, 5, 0, 2));
	r.submit_list(reads);
	lt_host_run_until_idle();
	const uint64_t row = command_ns + 56200 + 4 * (busy_ns + command_ns + 56200) + 20000;
	EXPECT_EQ(reads.back()->took_ns(), 5000 + row);
	EXPECT_EQ(program.took_ns(), command_ns + 20000 + 381200 + 5000 + row);
	expect_conserved(r);
}

class Passes : public testing::TestWithParam<uint32_t> {};

// Each pass sends the data again; SLC blocks have one pass.
TEST_P(Passes, TakeTheSumOfTheirPasses)
{
	hz_device_config cfg = cached_config();
	cfg.cell = HZ_CELL_QLC;
	cfg.program_pages = 4;
	cfg.program_passes = GetParam();
	cfg.normal = {{85000, 86000, 87000, 88000}, {1500000, 2500000, 900000, 700000}, 3500000, 0};
	Rig r(cfg);
	const uint64_t in = command_ns + r.transfer_ns(8);
	uint64_t wanted = 0;
	for (uint32_t pass = 0; pass < std::max(1u, GetParam()); pass++)
		wanted += in + cfg.normal.program_ns[pass];
	const Txn &alone = r.run(r.program(0, 3, 0, 8));
	EXPECT_EQ(alone.took_ns(), wanted);
	EXPECT_EQ(alone.txn.start_ns, alone.txn.submit_ns) << "with the first pass";
	EXPECT_EQ(r.run(r.program(0, 0, 0, 1)).took_ns(), command_ns + 10000 + 75000);
	Txn &first = r.program(0, 3, 8, 8), &second = r.program(0, 3, 16, 8);
	r.submit_list({&first, &second});
	lt_host_run_until_idle();
	EXPECT_EQ(first.took_ns(), wanted);
	EXPECT_EQ(second.took_ns(), wanted + busy_ns + wanted - in) << "its first pass's data came during the last pass of the other";
	EXPECT_EQ(r.run(r.read(0, 3, 8, 2)).txn.status, NAND_OK);
	expect_conserved(r);
}
INSTANTIATE_TEST_SUITE_P(Cached, Passes, testing::Values(0, 1, 2, 3, 4));

// Power goes between the passes of a program, while the data of the next one cross the bus in one piece or in parts: the unit is torn.
TEST(Cached, PowerCutBetweenPassesTearsTheUnit)
{
	for (uint32_t interleave : {0u, 2u}) {
		hz_device_config cfg = rig::small_config();
		cfg.cell = HZ_CELL_QLC;
		cfg.program_pages = 4;
		cfg.program_passes = 2;
		cfg.interleave_sectors = interleave;
		cfg.normal = {{85000}, {1500000, 2500000}, 3500000, 0};
		nand_policy policy{};
		policy.power_cut_ns = 1000 + command_ns + 80000 + 1500000 + 40000;
		policy.power_lost = [](void *) {};
		auto r = std::make_unique<Rig>(cfg, &policy);
		Txn &program = r->program(0, 3, 0, 8);
		r->run(program);
		EXPECT_FALSE(program.done);
		auto image = r->image();
		r.reset();
		Rig again(cfg, nullptr, image);
		EXPECT_EQ(again.media.nand.ops->block(&again.media.nand, again.addr(0, 3, 0))->write_sector, 8u);
		EXPECT_EQ(again.run(again.read(0, 3, 6, 2)).txn.status, NAND_UNCORRECTABLE);
	}
}

// 64 KiB cross the bus when a 4 KiB read of another die is ready: it waits for one part, and the long one pays a new command.
class Interleave : public testing::TestWithParam<uint32_t> {};

TEST_P(Interleave, AShortReadWaitsForOnePart)
{
	hz_device_config cfg = rig::small_config();
	cfg.chips_per_channel = 2;
	cfg.page_bytes = 65536;
	cfg.interleave_sectors = GetParam();
	Rig r(cfg);
	Txn &large = r.read(0, 3, 0, 16), &small = r.read(1, 3, 0, 1);
	r.submit_list({&large, &small});
	lt_host_run_until_idle();
	const uint64_t out = command_ns + 56200, part = 10000ull * (GetParam() ? GetParam() : 16);
	EXPECT_EQ(small.took_ns(), out + part + 10000);
	EXPECT_EQ(large.took_ns(), GetParam() && GetParam() < 16 ? out + 160000 + 10000 + command_ns : out + 160000);
	expect_conserved(r);
	EXPECT_EQ(r.run(r.read(0, 3, 0, 16)).took_ns(), out + 160000) << "alone it takes its time";
}

// Two long transfers share the bus in turn; every turn after the first costs a command.
TEST_P(Interleave, TwoLongOnesTakeTurns)
{
	hz_device_config cfg = rig::small_config();
	cfg.chips_per_channel = 2;
	cfg.page_bytes = 65536;
	cfg.interleave_sectors = GetParam();
	Rig r(cfg);
	Txn &a = r.program(0, 3, 0, 16), &b = r.program(1, 3, 0, 16);
	r.submit_list({&a, &b});
	lt_host_run_until_idle();
	const uint64_t part = GetParam() ? GetParam() : 16, turns = 16 / part, cells = 381200;
	// a's turns begin at 0, 2, 4 …; each turn is a command and a part.
	EXPECT_EQ(a.took_ns(), (2 * turns - 1) * (command_ns + part * 10000) + cells);
	EXPECT_EQ(b.took_ns(), 2 * turns * (command_ns + part * 10000) + cells);
	expect_conserved(r);
}
INSTANTIATE_TEST_SUITE_P(Cached, Interleave, testing::Values(0, 1, 2, 4, 8, 16));
