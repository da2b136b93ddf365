// Device time of single operations and of composites, against formulas derived here from the configuration alone.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "flash_rig.hpp"
#include "tsu/tsu_report.h"

using rig::Rig;
using rig::Txn;

static uint64_t program_time_ns(const hz_device_config &cfg, uint32_t page) { return cfg.normal.program_ns[page % cfg.cell]; }

TEST(Timing, SingleOperationsTakeExactlyTheirConfiguredTime)
{
	Rig r(rig::small_config());
	for (uint32_t page = 0; page < 4; page++) {
		Txn &program = r.run(r.program(0, 3, page * 2, 2));
		ASSERT_EQ(program.txn.status, NAND_OK);
		EXPECT_EQ(program.took_ns(), 200 + r.transfer_ns(2) + program_time_ns(r.cfg, page));
		EXPECT_GE(program.delivered_ns, program.txn.end_ns);
	}
	for (uint32_t page = 0; page < 4; page++) {
		Txn &whole = r.run(r.read(0, 3, page * 2, 2)), &half = r.run(r.read(0, 3, page * 2 + 1, 1));
		EXPECT_EQ(whole.took_ns(), 200 + r.cfg.normal.read_ns[page % 2] + 20000);
		EXPECT_EQ(half.took_ns(), 200 + r.cfg.normal.read_ns[page % 2] + 10000);
	}
	EXPECT_EQ(r.run(r.erase(0, 3)).took_ns(), 200u + 1200000);
	EXPECT_EQ(r.run(r.program(0, 0, 0, 1)).took_ns(), 200u + 10000 + 75000);
	EXPECT_EQ(r.run(r.read(0, 0, 0, 1)).took_ns(), 200u + 20000 + 10000);
	EXPECT_EQ(r.run(r.erase(0, 0)).took_ns(), 200u + 1000000);
}

TEST(Timing, OneShotProgramsTakeTheirWholeUnitAtOnceAndReadsDependOnThePageType)
{
	hz_device_config cfg = rig::small_config();
	cfg.cell = HZ_CELL_TLC;
	cfg.program_pages = 3;
	cfg.pages_per_block = 12;
	cfg.normal = {{32000, 33000, 34000, 0}, {937500, 1, 2, 3}, 3500000, 0};
	Rig r(cfg);
	EXPECT_EQ(r.run(r.program(0, 2, 0, 6)).took_ns(), 200 + r.transfer_ns(6) + 937500);
	for (uint32_t page = 0; page < 3; page++)
		EXPECT_EQ(r.run(r.read(0, 2, page * 2, 2)).took_ns(), 200 + r.transfer_ns(2) + 32000 + 1000 * page);
}

TEST(Timing, ReadsOfOneDieFollowEachOther)
{
	Rig r(rig::small_config());
	std::vector<Txn *> reads;
	r.run(r.program(0, 3, 0, 2));
	for (int i = 0; i < 7; i++)
		r.submit(*reads.emplace_back(&r.read(0, 3, 0, 2)));
	lt_host_run_until_idle();
	for (size_t i = 0; i < reads.size(); i++)
		EXPECT_EQ(reads[i]->took_ns(), (i + 1) * (200 + 56200 + 20000));
}

TEST(Energy, OperationsCountByKindOfCells)
{
	Rig r(rig::small_config());
	for (uint32_t page = 0; page < 3; page++)
		r.run(r.program(0, 3, page * 2, 2));
	r.run(r.read(0, 3, 0, 2)), r.run(r.read(0, 3, 3, 1)), r.run(r.erase(0, 3));
	r.run(r.program(0, 0, 0, 1)), r.run(r.read(0, 0, 0, 1)), r.run(r.erase(0, 0)), r.run(r.erase(0, 1));
	const hz_log_energy energy = r.energy();
	EXPECT_EQ(energy.reads[HZ_CELLS_NORMAL], 2u);
	EXPECT_EQ(energy.read_ns[HZ_CELLS_NORMAL], uint64_t{r.cfg.normal.read_ns[0]} + r.cfg.normal.read_ns[1]);
	EXPECT_EQ(energy.programs[HZ_CELLS_NORMAL], 3u);
	EXPECT_EQ(energy.program_ns[HZ_CELLS_NORMAL], 2 * program_time_ns(r.cfg, 0) + program_time_ns(r.cfg, 1));
	EXPECT_EQ(energy.erases[HZ_CELLS_NORMAL], 1u);
	EXPECT_EQ(energy.erase_ns[HZ_CELLS_NORMAL], 1200000u);
	EXPECT_EQ(energy.reads[HZ_CELLS_SLC], 1u);
	EXPECT_EQ(energy.read_ns[HZ_CELLS_SLC], 20000u);
	EXPECT_EQ(energy.programs[HZ_CELLS_SLC], 1u);
	EXPECT_EQ(energy.program_ns[HZ_CELLS_SLC], 75000u);
	EXPECT_EQ(energy.erases[HZ_CELLS_SLC], 2u);
	EXPECT_EQ(energy.erase_ns[HZ_CELLS_SLC], 2000000u);
	EXPECT_EQ(energy.channel_sectors, 3u * 2 + 2 + 1 + 1 + 1);
	tsu_stats_reset(r.tsu);
	lt_host_run_until_idle();
	const hz_log_energy again = r.energy();
	EXPECT_EQ(again.version, 1u);
	EXPECT_EQ(again.erases[HZ_CELLS_SLC] + again.channel_sectors, 0u);
}

TEST(Energy, EachPlaneCountsAndEachRetry)
{
	hz_device_config cfg = rig::small_config();
	cfg.planes_per_die = 2;
	cfg.read_retry_ppb = 1000000000;
	cfg.read_retries = 3;
	Rig r(cfg);
	r.submit_list({&r.program(0, 3, 0, 2), &r.program(1, 3, 0, 2)});
	lt_host_run_until_idle();
	r.submit_list({&r.read(0, 3, 0, 2), &r.read(1, 3, 0, 2)});
	lt_host_run_until_idle();
	const hz_log_energy energy = r.energy();
	EXPECT_EQ(energy.programs[HZ_CELLS_NORMAL], 2u);
	EXPECT_EQ(energy.program_ns[HZ_CELLS_NORMAL], 2 * program_time_ns(cfg, 0));
	EXPECT_EQ(energy.reads[HZ_CELLS_NORMAL], 2u * 4);
	EXPECT_EQ(energy.read_ns[HZ_CELLS_NORMAL], 2 * 4 * cfg.normal.read_ns[0]);
	EXPECT_EQ(energy.channel_sectors, 8u) << "data cross once";
	hz_log_flash log;
	tsu_report(r.tsu, &log);
	EXPECT_EQ(log.read_retries, 2u * 3);
	tsu_stats_reset(r.tsu);
	lt_host_run_until_idle();
	tsu_report(r.tsu, &log);
	EXPECT_EQ(log.read_retries, 0u);
}

/* In parts, with the channel free for other dies in between; and a pass after the other. */
TEST(Energy, PassesAreOneProgramWhoseDataCrossEachTime)
{
	hz_device_config cfg = rig::small_config();
	cfg.cell = HZ_CELL_TLC;
	cfg.program_pages = 3;
	cfg.pages_per_block = 12;
	cfg.normal = {{32000, 33000, 34000, 0}, {700000, 300000, 0, 0}, 3500000, 0};
	cfg.program_passes = 2;
	cfg.interleave_sectors = 1;
	Rig r(cfg);
	r.submit(r.program(0, 2, 0, 6)), r.submit(r.program(0, 0, 0, 1));
	lt_host_run_until_idle();
	const hz_log_energy energy = r.energy();
	EXPECT_EQ(energy.programs[HZ_CELLS_NORMAL], 1u);
	EXPECT_EQ(energy.programs[HZ_CELLS_SLC], 1u);
	EXPECT_EQ(energy.program_ns[HZ_CELLS_SLC], 75000u);
	EXPECT_EQ(energy.program_ns[HZ_CELLS_NORMAL], 1000000u);
	EXPECT_EQ(energy.channel_sectors, 2u * 6 + 1);
}

// n reads a die over d dies of one channel: commands and transfers share the bus, arrays overlap.
// With k = array time, x = transfer, c = command: the bus is the bottleneck once d * (c + x) >= c + k + x.
class DiesPerChannel : public testing::TestWithParam<uint32_t> {};

TEST_P(DiesPerChannel, ReadThroughputMatchesTheFormula)
{
	hz_device_config cfg = rig::small_config();
	const uint32_t dies = GetParam(), rounds = 50;
	cfg.chips_per_channel = dies;
	Rig r(cfg);
	const uint64_t c = 200, k = 56200, x = r.transfer_ns(2);
	for (uint32_t i = 0; i < rounds; i++)
		for (uint32_t die = 0; die < dies; die++)
			r.submit(r.read(die, 3, 0, 2));
	uint64_t begin = clock_now_ns(), elapsed = lt_host_run_until_idle() - begin;
	if (dies * (c + x) < c + k + x) {
		// Dies are the bottleneck: the last one began by (dies - 1) commands and transfers after the first, and each round it
		// may find every other die's command on the bus.
		EXPECT_GE(elapsed, rounds * (c + k + x));
		EXPECT_LE(elapsed, rounds * (c + k + x + (dies - 1) * c) + (dies - 1) * x);
	} else {
		// The bus never rests, but for the first array time: it hides the other dies' first commands.
		EXPECT_EQ(elapsed, rounds * dies * (c + x) + k - (dies - 1) * c);
	}
	hz_log_flash log;
	tsu_report(r.tsu, &log);
	EXPECT_EQ(log.channel_busy_ns[0], rounds * dies * (c + x));
}

TEST_P(DiesPerChannel, ProgramsOverlapAcrossDies)
{
	hz_device_config cfg = rig::small_config();
	const uint32_t dies = GetParam();
	cfg.chips_per_channel = dies;
	Rig r(cfg);
	std::vector<Txn *> list;
	for (uint32_t die = 0; die < dies; die++)
		list.push_back(&r.program(die, 3, 0, 2));
	r.submit_list(list);
	lt_host_run_until_idle();
	for (uint32_t die = 0; die < dies; die++)
		EXPECT_EQ(list[die]->took_ns(), (die + 1) * (200 + r.transfer_ns(2)) + 381200);
}
INSTANTIATE_TEST_SUITE_P(Timing, DiesPerChannel, testing::Values(1, 2, 4, 8));

class Planes : public testing::TestWithParam<uint32_t> {};

TEST_P(Planes, SameOffsetsRunTogether)
{
	hz_device_config cfg = rig::small_config();
	const uint32_t planes = cfg.planes_per_die = GetParam();
	Rig r(cfg);
	const uint64_t x = r.transfer_ns(2);
	std::vector<Txn *> programs, reads, erases;
	for (uint32_t plane = 0; plane < planes; plane++) {
		programs.push_back(&r.program(plane, 3, 0, 2));
		reads.push_back(&r.read(plane, 3, 0, 2));
		erases.push_back(&r.erase(plane, 3));
	}
	for (auto *list : {&programs, &reads, &erases}) {
		r.submit_list(*list);
		lt_host_run_until_idle();
	}
	for (uint32_t plane = 0; plane < planes; plane++) {
		EXPECT_EQ(programs[plane]->took_ns(), planes * (200 + x) + 381200);
		EXPECT_EQ(reads[plane]->took_ns(), planes * 200 + 56200 + (plane + 1) * x);
		EXPECT_EQ(erases[plane]->took_ns(), planes * 200 + 1200000);
	}
	hz_log_flash log;
	tsu_report(r.tsu, &log);
	EXPECT_EQ(log.multi_plane_ops, planes > 1 ? 3 : 0);
}
INSTANTIATE_TEST_SUITE_P(Timing, Planes, testing::Values(1, 2, 4));

// Two planes with pages in different orders: each page's two reads run together, though others of their plane are ahead of one.
TEST(Timing, ReadsJoinFromBehindOthersOfTheirPlane)
{
	hz_device_config cfg = rig::small_config();
	cfg.planes_per_die = 2;
	Rig r(cfg);
	for (uint32_t sector = 0; sector < 4; sector += 2)
		r.run(r.program(0, 3, sector, 2)), r.run(r.program(1, 3, sector, 2));
	Txn &first = r.read(0, 3, 0, 2), &other = r.read(1, 3, 2, 2), &joins = r.read(1, 3, 0, 2), &last = r.read(0, 3, 2, 2);
	Txn &third = r.read(0, 3, 0, 2), &late = r.read(1, 3, 0, 2);
	r.submit_list({&first, &other, &last, &joins}); // the last one of its plane
	r.submit(third), r.submit(late);                // behind the removed ones
	lt_host_run_until_idle();
	EXPECT_EQ(third.txn.start_ns, late.txn.start_ns);
	EXPECT_GT(late.txn.start_ns, other.txn.start_ns);
	EXPECT_EQ(first.txn.start_ns, joins.txn.start_ns);
	EXPECT_EQ(other.txn.start_ns, last.txn.start_ns);
	EXPECT_LT(first.txn.start_ns, other.txn.start_ns);
}

// … but only if the first one came little before those passed: as many as a program unit has, on all planes.
TEST(Timing, ReadsDoNotPassThoseThatCameLater)
{
	for (uint32_t more : {0u, 1u}) {
		hz_device_config cfg = rig::small_config();
		cfg.planes_per_die = 2;
		Rig r(cfg);
		for (uint32_t sector = 0; sector < 4; sector += 2)
			r.run(r.program(0, 3, sector, 2)), r.run(r.program(1, 3, sector, 2));
		const uint32_t reach = 2 * cfg.program_pages;
		std::vector<Txn *> list{&r.read(0, 3, 0, 2)};
		for (uint32_t i = 1; i < reach - 1 + more; i++)
			list.push_back(&r.read(0, 3, 2, 2));
		list.push_back(&r.read(1, 3, 2, 2)); // number reach - 1 + more of the list: the first one is 0
		list.push_back(&r.read(1, 3, 0, 2));
		r.submit_list(list);
		lt_host_run_until_idle();
		EXPECT_EQ(list.front()->txn.start_ns == list.back()->txn.start_ns, !more);
	}
}

// First come, first served: earlier writes go before later reads.
TEST(Timing, ReadsDoNotPassWrites)
{
	hz_device_config cfg = rig::small_config();
	cfg.planes_per_die = 2;
	cfg.read_age_limit_ns = 0;
	Rig r(cfg);
	r.run(r.program(0, 3, 0, 2)), r.run(r.program(1, 3, 0, 2));
	Txn &first = r.read(0, 3, 0, 2), &write = r.program(1, 3, 2, 2), &joins = r.read(1, 3, 0, 2);
	r.submit_list({&first, &write, &joins});
	lt_host_run_until_idle();
	EXPECT_LT(first.txn.start_ns, write.txn.start_ns);
	EXPECT_LT(write.txn.start_ns, joins.txn.start_ns);
}

TEST(Timing, OtherPagesOfOtherPlanesDoNotJoin)
{
	hz_device_config cfg = rig::small_config();
	cfg.planes_per_die = 2;
	Rig r(cfg);
	for (uint32_t sector = 0; sector < 4; sector += 2)
		r.run(r.program(0, 3, sector, 2)), r.run(r.program(1, 3, sector, 2));
	Txn &first = r.read(0, 3, 0, 2), &second = r.read(1, 3, 2, 2);
	r.submit_list({&first, &second});
	lt_host_run_until_idle();
	EXPECT_EQ(first.took_ns(), 200u + 56200 + 20000);
	EXPECT_EQ(second.took_ns(), first.took_ns() + 200 + 71500 + 20000);
}

TEST(Timing, DataThatComeLaterDelayTheProgramAndNothingElse)
{
	hz_device_config cfg = rig::small_config();
	cfg.chips_per_channel = 2;
	Rig r(cfg);
	Txn &late = r.program(0, 3, 0, 2), &early = r.program(1, 3, 0, 2);
	late.txn.not_before_ns = clock_now_ns() + 50000;
	r.submit(late);
	r.submit(early);
	lt_host_run_until_idle();
	EXPECT_EQ(early.took_ns(), 200u + 20000 + 381200);
	EXPECT_EQ(late.took_ns(), 50000u + 200 + 20000 + 381200);
}

TEST(Timing, FirmwareThatComesRoundLateChangesNoDeviceTime)
{
	hz_device_config cfg = rig::small_config();
	Rig r(cfg);
	Txn &program = r.program(0, 3, 0, 2), &second = r.program(0, 3, 2, 2);
	r.submit(program);
	r.submit(second);
	struct Busy {
		lt_event event;
	} busy{};
	lt_thread tsu_hart{"busy", 1};
	lt_post(&tsu_hart, &busy.event, [](lt_event *) { clock_charge_ns(5000000); });
	lt_host_run_until_idle();
	EXPECT_EQ(program.took_ns(), 200u + 20000 + 381200);
	EXPECT_EQ(second.took_ns(), program.took_ns() + 200 + 20000 + 1578500);
	EXPECT_GE(program.delivered_ns, 5000000u);
}

// The hart is late, and its view of another channel is ahead of all of this: the die requests the bus for a read, is notified that the data
// of the program in front have arrived, and only then gets the bus, as of a time before their arrival.
TEST(Timing, DataThatComeWhileADieWaitsForTheBusAreNotForgottenByALateHart)
{
	hz_device_config cfg = rig::small_config();
	cfg.channels = 2;
	cfg.chips_per_channel = 2;
	cfg.harts = 3;
	cfg.schedule = HZ_SCHED_FIFO;
	Rig r(cfg);
	const uint32_t other_channel = 2, die = 0, neighbour = 1;
	Txn &elsewhere = r.erase(other_channel, 3);
	struct Late {
		lt_event event;
		Rig *r;
		std::vector<Txn *> txns;
	} late{{}, &r, {&r.program(neighbour, 3, 0, 2), &r.program(die, 3, 0, 2), &r.read(die, 4, 0, 1)}};
	const uint64_t start_ns = clock_now_ns();
	late.txns[1]->txn.not_before_ns = start_ns + 50000;
	lt_event busy{};
	lt_thread tsu_hart{"tsu", 1}, third_hart{"third", 2};
	r.submit(elsewhere);
	lt_post(&tsu_hart, &busy, [](lt_event *) { clock_charge_ns(5000000); });
	lt_post(&third_hart, &late.event, [](lt_event *event) {
		Late &all = *reinterpret_cast<Late *>(event);
		for (Txn *txn : all.txns)
			all.r->submit(*txn);
	});
	lt_host_run_until_idle();
	EXPECT_EQ(late.txns[0]->took_ns(), 200u + 20000 + 381200);
	EXPECT_EQ(late.txns[1]->took_ns(), 50000u + 200 + 20000 + 381200);
	EXPECT_GT(late.txns[2]->txn.end_ns, late.txns[1]->txn.end_ns);
}

TEST(Timing, ASlowDieTakesItsShareMoreAndRetriesRepeatTheRead)
{
	hz_device_config cfg = rig::small_config();
	cfg.chips_per_channel = 2;
	cfg.slow_die = 2;
	cfg.slow_percent = 250;
	Rig r(cfg);
	EXPECT_EQ(r.run(r.erase(0, 3)).took_ns(), 200u + 1200000);
	EXPECT_EQ(r.run(r.erase(1, 3)).took_ns(), 200u + 3000000);
	cfg = rig::small_config();
	cfg.read_retry_ppb = 1000000000;
	cfg.read_retries = 3;
	Rig s(cfg);
	EXPECT_EQ(s.run(s.read(0, 3, 0, 2)).took_ns(), 200u + 4 * 56200 + 20000);
}

// Planes of several dies cross one bus in turn. A die with its last data just transferred requests its next command at that instant, and
// commands go before data: another die's waiting data do not make it sit through their transfer, so that the dies go on side by side.
TEST(Timing, ADieThatIsDoneAsksBeforeOthersData)
{
	hz_device_config cfg = rig::small_config();
	cfg.channels = 1;
	cfg.chips_per_channel = cfg.dies_per_chip = 1;
	cfg.planes_per_die = 2;
	constexpr uint32_t rounds = 12;
	uint64_t took[3] = {};
	for (uint32_t dies = 1; dies <= 2; dies++) {
		cfg.dies_per_chip = dies;
		rig::Rig r(cfg);
		for (uint32_t plane = 0; plane < 2 * dies; plane++)
			r.run(r.program(plane, 3, 0, 2));
		const uint64_t from_ns = clock_now_ns();
		std::vector<rig::Txn *> reads;
		for (uint32_t round = 0; round < rounds; round++)
			for (uint32_t plane = 0; plane < 2 * dies; plane++)
				reads.push_back(&r.read(plane, 3, 0, 2));
		r.submit_list(reads);
		lt_host_run_until_idle();
		took[dies] = clock_now_ns() - from_ns;
	}
	const uint64_t sensing = 56200, crossing = 20000; // of a page: two sectors
	EXPECT_EQ(took[1], rounds * (2 * command_ns + sensing + 2 * crossing));
	EXPECT_LT(took[2], took[1] + 2 * crossing + rounds * 4 * command_ns) << "the bus has time for both";
}
