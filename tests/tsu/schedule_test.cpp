// Scheduling: priorities, order within a block, no starvation, suspend, power cut by time, conservation of time, constant work.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

#include "flash_rig.hpp"
#include "tsu/tsu_mount.h"
#include "tsu/tsu_report.h"

using rig::Rig;
using rig::Txn;

// Submits all at once behind a running read, so that all wait; returns them in order of their start.
static std::vector<const Txn *> start_order(Rig &r, std::vector<Txn *> waiting)
{
	r.submit(r.read(0, 7, 0, 1));
	for (Txn *txn : waiting)
		r.submit(*txn);
	lt_host_run_until_idle();
	std::vector<const Txn *> order(waiting.begin(), waiting.end());
	std::sort(order.begin(), order.end(), [](auto *a, auto *b) { return a->txn.start_ns < b->txn.start_ns; });
	return order;
}

TEST(Schedule, GoesByCauseThenByAge)
{
	Rig r(rig::small_config());
	Txn &erase = r.erase(0, 3), &gc = r.program(0, 4, 0, 2, HZ_CAUSE_GC), &write = r.program(0, 5, 0, 2), &read = r.read(0, 6, 0, 1),
	    &read2 = r.read(0, 6, 1, 1), &map = r.read(0, 1, 0, 1, HZ_CAUSE_MAP);
	EXPECT_EQ(start_order(r, {&erase, &gc, &write, &read, &read2, &map}),
		  (std::vector<const Txn *>{&map, &read, &read2, &write, &gc, &erase}));
}

TEST(Schedule, WithoutAnAgeLimitIsFirstInFirstOut)
{
	hz_device_config cfg = rig::small_config();
	cfg.read_age_limit_ns = 0;
	Rig r(cfg);
	Txn &erase = r.erase(0, 3), &gc = r.program(0, 4, 0, 2, HZ_CAUSE_GC), &read = r.read(0, 6, 0, 1),
	    &map = r.read(0, 1, 0, 1, HZ_CAUSE_MAP);
	EXPECT_EQ(start_order(r, {&erase, &gc, &read, &map}), (std::vector<const Txn *>{&erase, &gc, &read, &map}));
}

TEST(Schedule, KeepsTheOrderOfABlockWhateverTheCauses)
{
	Rig r(rig::small_config());
	Txn &first = r.program(0, 4, 0, 2, HZ_CAUSE_GC), &second = r.program(0, 4, 2, 2, HZ_CAUSE_MAP), &stale = r.read(0, 4, 0, 1),
	    &erase = r.erase(0, 4), &third = r.program(0, 4, 0, 2), &fresh = r.read(0, 4, 0, 2, HZ_CAUSE_MAP);
	third.buffer.assign(third.buffer.size(), 0xcd);
	first.buffer.assign(first.buffer.size(), 0xab);
	auto order = start_order(r, {&first, &second, &stale, &erase, &third, &fresh});
	EXPECT_EQ(order, (std::vector<const Txn *>{&first, &second, &stale, &erase, &third, &fresh}));
	EXPECT_EQ(stale.buffer[0], 0xab);
	EXPECT_EQ(fresh.buffer[0], 0xcd);
	EXPECT_TRUE(r.refusals.empty());
}

// An erase takes the class of the writes before it; earlier reads of a lower class must still go first.
TEST(Schedule, AnEraseWaitsForEarlierReadsOfItsBlock)
{
	Rig r(rig::small_config());
	r.run(r.program(0, 4, 0, 2));
	Txn &program = r.program(0, 4, 2, 2), &read = r.read(0, 4, 0, 1, HZ_CAUSE_GC), &erase = r.erase(0, 4),
	    &other = r.program(0, 5, 0, 2);
	EXPECT_EQ(start_order(r, {&program, &read, &erase, &other}), (std::vector<const Txn *>{&program, &read, &erase, &other}));
}

// Reads without end on one die: a program must not wait longer than the age limit and earlier operations.
TEST(Schedule, NothingStarves)
{
	hz_device_config cfg = rig::small_config();
	cfg.read_age_limit_ns = 1000000;
	Rig r(cfg);
	r.run(r.program(0, 3, 0, 2));
	int left = 400;
	std::function<void(Txn &)> again = [&](Txn &) {
		if (left-- > 0) {
			Txn &next = r.read(0, 3, 0, 2, left % 3 ? HZ_CAUSE_HOST : HZ_CAUSE_MAP);
			next.then = again;
			r.submit(next);
		}
	};
	std::vector<Txn *> victims = {&r.program(0, 4, 0, 2), &r.read(0, 4, 0, 1, HZ_CAUSE_GC), &r.erase(0, 5)};
	for (int i = 0; i < 4; i++)
		again(*victims[0]);
	for (Txn *txn : victims)
		r.submit(*txn);
	lt_host_run_until_idle();
	const uint64_t read_ns = 200 + 56200 + 20000;
	for (Txn *txn : victims)
		EXPECT_GT(txn->txn.start_ns - txn->txn.submit_ns, 900000u) << "reads should go first for a while";
	EXPECT_LE(victims[0]->txn.start_ns - victims[0]->txn.submit_ns, 1000000 + read_ns);
	EXPECT_LE(victims[2]->txn.start_ns - victims[2]->txn.submit_ns, 1000000 + 3 * read_ns + 200 + 20000 + 381200);
}

class Suspend : public testing::TestWithParam<uint32_t> {};

TEST_P(Suspend, LetsAReadInterruptAProgram)
{
	hz_device_config cfg = rig::small_config();
	cfg.suspend_ns = GetParam();
	Rig r(cfg);
	r.run(r.program(0, 3, 0, 2));
	Txn &program = r.program(0, 4, 0, 2), &read = r.read(0, 3, 0, 2);
	r.submit(program);
	lt_host_run_until(clock_now_ns() + 100000);
	r.submit(read);
	lt_host_run_until_idle();
	const uint64_t read_ns = 200 + 56200 + 20000, program_ns = 200 + 20000 + 381200;
	if (cfg.suspend_ns) {
		EXPECT_EQ(read.took_ns(), cfg.suspend_ns + read_ns);
		EXPECT_EQ(program.took_ns(), program_ns + cfg.suspend_ns + read_ns);
	} else {
		EXPECT_EQ(read.txn.end_ns, program.txn.end_ns + read_ns);
		EXPECT_EQ(program.took_ns(), program_ns);
	}
}
INSTANTIATE_TEST_SUITE_P(Schedule, Suspend, testing::Values(0, 5000));

TEST(Schedule, ASuspendedEraseIsNotPutOffForever)
{
	hz_device_config cfg = rig::small_config();
	cfg.suspend_ns = 5000;
	cfg.read_age_limit_ns = 2000000;
	Rig r(cfg);
	r.run(r.program(0, 3, 0, 2));
	int left = 300;
	std::function<void(Txn &)> again = [&](Txn &) {
		if (left-- > 0) {
			Txn &next = r.read(0, 3, 0, 2);
			next.then = again;
			r.submit(next);
		}
	};
	Txn &erase = r.erase(0, 5);
	r.submit(erase);
	lt_host_run_until(clock_now_ns() + 100000);
	again(erase);
	lt_host_run_until_idle();
	EXPECT_GT(erase.took_ns(), 2000000u);
	EXPECT_LE(erase.took_ns(), 2000000u + 2 * (200 + 56200 + 20000 + 5000) + 1200000);
}

// Random transactions of all kinds on several dies, submitted at random times with random data; the media aborts on any broken rule, every
// read sees data according to its order, and time is conserved on every channel and die.
static void random_work(hz_device_config cfg, uint64_t seed)
{
	SCOPED_TRACE(testing::Message() << "seed " << seed);
	Rig r(cfg);
	std::mt19937_64 random(seed);
	const uint32_t planes = r.map.shape.planes, blocks = 4, unit = r.map.shape.unit_sectors;
	const uint32_t block_sectors = cfg.pages_per_block * r.map.shape.page_sectors;
	std::map<std::pair<uint32_t, uint32_t>, uint32_t> tail; // (plane, block) → next sector
	std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint8_t> value;
	std::vector<std::pair<Txn *, uint8_t>> reads;
	std::vector<Txn *> all;
	for (int step = 0; step < 3000; step++) {
		uint32_t plane = random() % planes, block = 2 + random() % blocks, cause = random() % HZ_CAUSES;
		uint32_t &at = tail[{plane, block}];
		Txn *txn;
		if (random() % 3 == 0 && at > 0) {
			uint32_t sector = random() % at;
			txn = &r.read(plane, block, sector, 1, static_cast<hz_cause>(cause));
			reads.emplace_back(txn, value[{plane, block, sector / unit}]);
		} else if (at + unit <= block_sectors) {
			txn = &r.program(plane, block, at, unit, static_cast<hz_cause>(cause));
			uint8_t fill = static_cast<uint8_t>(random());
			txn->buffer.assign(txn->buffer.size(), fill);
			value[{plane, block, at / unit}] = fill;
			at += unit;
			if (random() % 4 == 0)
				txn->txn.not_before_ns = clock_now_ns() + random() % 400000;
		} else {
			txn = &r.erase(plane, block);
			at = 0;
		}
		all.push_back(txn);
		r.submit(*txn);
		if (random() % 4 == 0)
			lt_host_run_until(clock_now_ns() + random() % 600000);
	}
	lt_host_run_until_idle();
	ASSERT_TRUE(r.refusals.empty()) << r.refusals[0];
	for (Txn *txn : all) {
		ASSERT_TRUE(txn->done);
		ASSERT_GE(txn->delivered_ns, txn->txn.end_ns);
		ASSERT_GE(txn->txn.start_ns, std::max(txn->txn.submit_ns, txn->txn.not_before_ns));
	}
	for (auto &[txn, fill] : reads) {
		ASSERT_EQ(txn->txn.status, NAND_OK);
		ASSERT_EQ(txn->buffer[4095], fill);
	}
	uint64_t busy = 0;
	hz_log_flash log;
	tsu_report(r.tsu, &log);
	for (uint32_t i = 0; i < cfg.channels; i++) {
		tsu_account account;
		tsu_channel_account(r.tsu, i, &account);
		EXPECT_EQ(account.busy_ns + account.idle_ns, account.elapsed_ns) << "channel " << i;
		EXPECT_EQ(account.busy_ns, log.channel_busy_ns[i]);
	}
	for (uint32_t i = 0; i < log.dies; i++) {
		tsu_account account;
		tsu_die_account(r.tsu, i, &account);
		EXPECT_EQ(account.busy_ns + account.idle_ns, account.elapsed_ns) << "die " << i;
		EXPECT_LE(account.busy_ns, account.elapsed_ns);
		busy += account.busy_ns;
	}
	EXPECT_EQ(busy, log.die_busy_ns_total);
	uint64_t counted = 0;
	for (int i = 0; i < 16; i++)
		counted += log.reads[i] + log.programs[i] + log.erases[i];
	EXPECT_EQ(counted, all.size());
}

TEST(Schedule, RandomWorkKeepsEveryPromise)
{
	hz_device_config cfg = rig::small_config();
	cfg.channels = 2;
	cfg.chips_per_channel = 2;
	cfg.planes_per_die = 2;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		cfg.suspend_ns = seed % 2 ? 4000 : 0;
		cfg.read_age_limit_ns = seed == 4 ? 0 : 700000;
		cfg.tsu_count = seed == 3 ? 2 : 1;
		cfg.tsu_hart[1] = 0;
		random_work(cfg, seed);
	}
}

// The same with every combination of schedule, cached operations, interleaving and passes.
class EveryOption : public testing::TestWithParam<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>> {};

TEST_P(EveryOption, KeepsEveryPromise)
{
	hz_device_config cfg = rig::small_config();
	auto [schedule, cached, interleave, passes] = GetParam();
	cfg.channels = 2;
	cfg.chips_per_channel = 2;
	cfg.planes_per_die = 2;
	cfg.page_bytes = 16384;
	cfg.cell = HZ_CELL_QLC;
	cfg.program_pages = 2;
	cfg.normal.program_ns[2] = 90000;
	cfg.schedule = schedule;
	cfg.cache_read = cached & 1;
	cfg.cache_program = cached >> 1;
	cfg.cache_busy_ns = 1000;
	cfg.interleave_sectors = interleave;
	cfg.program_passes = passes;
	cfg.ecc_bits = 30;
	cfg.rber_base = 800000000;
	cfg.read_retries = 8;
	cfg.retry_percent = 60;
	for (const uint32_t power_planes : {0u, 3u})
		for (uint64_t seed = 1; seed <= 3; seed++) {
			cfg.suspend_ns = seed % 2 ? 4000 : 0;
			cfg.read_age_limit_ns = 700000;
			cfg.power_planes = power_planes;
			random_work(cfg, seed);
		}
}
INSTANTIATE_TEST_SUITE_P(Schedule, EveryOption,
			 testing::Combine(testing::Range(0u, 3u), testing::Range(0u, 4u), testing::Values(0u, 1u, 3u),
					  testing::Values(1u, 3u)));

// Statistics may restart at any instant, also in the middle of transfers and programs.
TEST(Schedule, TimeIsConservedAfterAReset)
{
	hz_device_config cfg = rig::small_config();
	cfg.channels = 2;
	cfg.chips_per_channel = 2;
	Rig r(cfg);
	for (uint64_t reset_ns : {0u, 10000u, 130000u, 450000u, 2000000u}) {
		uint64_t begin = clock_now_ns();
		for (uint32_t die = 0; die < 4; die++)
			for (int i = 0; i < 3; i++)
				r.submit(i ? r.read(die, 4, 0, 2) : r.erase(die, 5));
		lt_host_run_until(begin + reset_ns);
		tsu_stats_reset(r.tsu);
		lt_host_run_until_idle();
		hz_log_flash log;
		tsu_report(r.tsu, &log);
		EXPECT_LE(log.elapsed_ns, clock_now_ns() - begin - reset_ns);
		for (uint32_t i = 0; i < 4; i++) {
			tsu_account die, channel;
			tsu_die_account(r.tsu, i, &die);
			tsu_channel_account(r.tsu, i % 2, &channel);
			EXPECT_EQ(die.busy_ns + die.idle_ns, die.elapsed_ns);
			EXPECT_LE(die.busy_ns, die.elapsed_ns);
			EXPECT_EQ(channel.busy_ns + channel.idle_ns, channel.elapsed_ns);
			EXPECT_LE(channel.busy_ns, channel.elapsed_ns);
		}
	}
}

// The same independent channels give the same device times and statuses with one, two and four TSU threads, with any options.
static std::vector<std::pair<uint64_t, int>> run_sharded(uint32_t threads, bool options)
{
	hz_device_config cfg = rig::small_config();
	cfg.channels = 4;
	cfg.chips_per_channel = 2;
	cfg.harts = 5;
	cfg.tsu_count = threads;
	for (uint8_t i = 0; i < 4; i++)
		cfg.tsu_hart[i] = threads > 1 ? i + 1 : 1;
	if (options) {
		cfg.schedule = HZ_SCHED_FAIR;
		cfg.cache_read = cfg.cache_program = cfg.interleave_sectors = 1;
		cfg.cache_busy_ns = 2000;
		cfg.suspend_ns = 5000;
		cfg.ecc_bits = 25;
		cfg.rber_base = 1000000000;
		cfg.read_retries = 3;
		cfg.retry_percent = 80;
		cfg.program_fail_ppb = 20000000;
	}
	Rig r(cfg);
	std::mt19937_64 random(7);
	std::vector<Txn *> all;
	std::vector<uint32_t> tail(8);
	for (int i = 0; i < 200; i++) {
		uint32_t plane = random() % 8;
		bool write = random() % 2 && tail[plane] < 32;
		r.submit(*all.emplace_back(write ? &r.program(plane, 3, tail[plane], 2) : &r.read(plane, 3, 0, 2)));
		all.back()->txn.stream = static_cast<uint8_t>(random());
		tail[plane] += write ? 2 : 0;
		lt_host_run_until(clock_now_ns() + random() % 100000);
	}
	lt_host_run_until_idle();
	std::vector<std::pair<uint64_t, int>> ends;
	for (Txn *txn : all)
		ends.emplace_back(txn->txn.end_ns, txn->txn.status);
	return ends;
}

TEST(Schedule, ShardingOverThreadsChangesNoTimeOfIndependentChannels)
{
	for (bool options : {false, true}) {
		auto one = run_sharded(1, options);
		EXPECT_EQ(one, run_sharded(2, options));
		EXPECT_EQ(one, run_sharded(4, options));
	}
}

// Power goes at every interesting instant of a program and an erase.
static void cut_at_time(uint64_t cut_ns, uint32_t threads)
{
	SCOPED_TRACE(testing::Message() << "cut at " << cut_ns << " with " << threads << " threads");
	static int lost;
	lost = 0;
	nand_policy policy{};
	policy.power_cut_ns = cut_ns;
	policy.power_lost = [](void *) { lost++; };
	policy.refused = [](void *, const char *rule) { FAIL() << rule; };
	hz_device_config cfg = rig::small_config();
	cfg.channels = 2;
	cfg.harts = 3;
	cfg.tsu_count = threads;
	cfg.tsu_hart[1] = 2;
	auto r = std::make_unique<Rig>(cfg, &policy);
	Txn &first = r->program(0, 4, 0, 2), &second = r->program(0, 4, 2, 2), &erase = r->erase(1, 4);
	for (Txn *txn : {&first, &second, &erase})
		r->submit(*txn);
	lt_host_run_until_idle();
	EXPECT_EQ(lost, 1);
	const uint64_t begin = 1000, first_end = begin + 200 + 20000 + 381200, second_cells = first_end + 200 + 20000,
		       erase_cells = begin + 200, erase_end = erase_cells + 1200000, second_end = second_cells + 1578500;
	EXPECT_EQ(first.done, cut_ns > first_end);
	EXPECT_EQ(second.done, cut_ns > second_end);
	EXPECT_EQ(erase.done, cut_ns > erase_end);
	auto image = r->image();
	r.reset();
	Rig again(cfg, nullptr, image);
	auto block = [&](uint32_t plane) { return again.media.nand.ops->block(&again.media.nand, again.addr(plane, 4, 0)); };
	uint32_t torn = cut_ns >= second_cells ? 4 : cut_ns > first_end ? 2 : cut_ns >= begin + 200 + 20000 ? 2 : 0;
	EXPECT_EQ(block(0)->write_sector, torn);
	EXPECT_EQ((block(1)->flags & HZ_BLOCK_ERASING) != 0, cut_ns >= erase_cells && cut_ns <= erase_end);
	EXPECT_EQ(block(1)->erase_count, cut_ns > erase_end ? 1u : 0u);
	const nand_status first_page = again.run(again.read(0, 4, 0, 2)).txn.status;
	EXPECT_EQ(first_page, cut_ns > first_end || torn == 0 ? NAND_OK : NAND_UNCORRECTABLE);
}

TEST(Schedule, PowerCutAtADeviceTimeTearsWhatTheCellsWereDoing)
{
	for (uint32_t threads : {1u, 2u})
		for (uint64_t cut :
		     {1100u, 1200u, 20000u, 21300u, 300000u, 402401u, 410000u, 430000u, 1201100u, 1201201u, 1500000u, 3000000u})
			cut_at_time(cut, threads);
}

TEST(Schedule, PowerGoesWhileNothingIsToDoToo)
{
	static int lost;
	for (uint32_t threads : {1u, 2u}) {
		lost = 0;
		nand_policy policy{};
		policy.power_cut_ns = 5000;
		policy.power_lost = [](void *) { lost++; };
		hz_device_config cfg = rig::small_config();
		cfg.channels = 2;
		cfg.harts = 3;
		cfg.tsu_count = threads;
		cfg.tsu_hart[1] = 2;
		Rig r(cfg, &policy);
		lt_host_run_until_idle();
		EXPECT_EQ(lost, 1);
		EXPECT_EQ(clock_now_ns(), 5000u);
	}
}

// A read waiting for a write of its block goes with it; when both have ended, the block's next write has its own class again.
TEST(Schedule, ABlocksWritesKeepNoClassOfEarlierOnes)
{
	Rig r(rig::small_config());
	Txn &before = r.program(0, 4, 0, 2), &follower = r.read(0, 4, 0, 1);
	start_order(r, {&before, &follower});
	Txn &gc = r.program(0, 4, 2, 2, HZ_CAUSE_GC), &write = r.program(0, 5, 0, 2);
	EXPECT_EQ(start_order(r, {&gc, &write}), (std::vector<const Txn *>{&write, &gc}));
}

// The bus of a channel is given to commands first, so that cells work while data cross.
TEST(Schedule, AShortCommandGetsTheBusBeforeData)
{
	hz_device_config cfg = rig::small_config();
	cfg.chips_per_channel = 3;
	Rig r(cfg);
	for (int round = 0; round < 2; round++) {
		const uint32_t sector = 2 * static_cast<uint32_t>(round);
		Txn &busy = r.program(0, 4, sector, 2), &data = r.program(1, 4, sector, 2), &command = r.read(2, 4, 0, 1);
		r.submit(busy);
		lt_host_run_until(clock_now_ns() + 1000);
		r.submit(data);
		r.submit(command);
		lt_host_run_until_idle();
		EXPECT_EQ(busy.txn.start_ns, busy.txn.submit_ns);
		EXPECT_LT(command.txn.start_ns, data.txn.start_ns);
	}
}

// Power fails during a read with a program, or an erase, suspended: the suspended operation stays half done.
TEST(Schedule, PowerCutTearsWhatIsSuspended)
{
	for (bool erase : {false, true}) {
		hz_device_config cfg = rig::small_config();
		cfg.suspend_ns = 5000;
		nand_policy policy{};
		policy.power_lost = [](void *) {};
		policy.power_cut_ns = 1000 + 500000 + 5000 + 30000;
		auto r = std::make_unique<Rig>(cfg, &policy);
		Txn &write = erase ? r->erase(0, 4) : r->program(0, 4, 0, 2), &read = r->read(0, 3, 0, 2);
		r->submit(r->program(0, 3, 0, 2)); // ends after 401400 ns
		lt_host_run_until(1000 + 410000);
		r->submit(write);
		lt_host_run_until(1000 + 500000);
		r->submit(read);
		lt_host_run_until_idle();
		EXPECT_FALSE(read.done || write.done);
		auto image = r->image();
		r.reset();
		Rig again(cfg, nullptr, image);
		const hz_nand_block *block = again.media.nand.ops->block(&again.media.nand, again.addr(0, 4, 0));
		EXPECT_EQ(block->write_sector, erase ? 0u : 2u);
		EXPECT_EQ((block->flags & HZ_BLOCK_ERASING) != 0, erase);
	}
}

TEST(Schedule, AFailedProgramRetiresItsBlockAndFailsWhatWasQueuedBehind)
{
	nand_policy policy{};
	policy.fail_op = 2;
	Rig r(rig::small_config(), &policy);
	std::vector<Txn *> txns = {&r.program(0, 4, 0, 2), &r.program(0, 4, 2, 2), &r.program(0, 4, 4, 2), &r.erase(0, 4)};
	for (Txn *txn : txns)
		r.submit(*txn);
	lt_host_run_until_idle();
	const nand_status want[] = {NAND_OK, NAND_PROGRAM_FAILED, NAND_PROGRAM_FAILED, NAND_ERASE_FAILED};
	for (int i = 0; i < 4; i++)
		EXPECT_EQ(txns[i]->txn.status, want[i]) << i;
	EXPECT_EQ(r.run(r.read(0, 4, 0, 2)).txn.status, NAND_OK);
	EXPECT_TRUE(tsu_block_now(r.tsu, r.ppa(0, 4, 0))->flags & HZ_BLOCK_BAD_GROWN);
	EXPECT_TRUE(r.refusals.empty());
	hz_log_flash log;
	tsu_report(r.tsu, &log);
	EXPECT_EQ(log.failed_programs, 2u);
	EXPECT_EQ(log.failed_erases, 1u);
	EXPECT_EQ(log.failed_reads, 0u);
}

// Work per transaction, counted in scheduling steps, must not grow with the device.
TEST(Schedule, WorkPerTransactionDoesNotDependOnTheNumberOfDies)
{
	std::vector<double> steps;
	for (uint32_t dies : {4u, 16u, 64u, 256u, 1024u}) {
		tsu_work work = rig::work_of_all_dies(dies);
		ASSERT_EQ(work.transactions, dies * 8);
		steps.push_back(static_cast<double>(work.steps) / static_cast<double>(work.transactions));
		RecordProperty("steps_" + std::to_string(dies), std::to_string(steps.back()));
		printf("%4u dies: %.2f steps per transaction\n", dies, steps.back());
	}
	for (double s : steps)
		EXPECT_LE(s, 14.0);
	EXPECT_LE(steps.back(), steps[1] * 1.25);
}
