// Write buffers that share their memory, and its power-loss dump on capacitors.
// Environment: HARTZONE_TEST_SEED is the first seed, HARTZONE_TEST_ROUNDS how many follow one another, of the test with the least energy.
// SPDX-License-Identifier: BSD-3-Clause
#include "model.hpp"

extern "C" {
#include "tsu/tsu_dump.h"
}

using namespace ftl_rig;

namespace {

uint64_t programs(Rig &rig)
{
	hz_log_flash log;
	tsu_report(rig.tsu, &log);
	return log.programs[HZ_CAUSE_HOST] + log.programs[HZ_CAUSE_SLC];
}

hz_dump_report kept(Rig &rig)
{
	hz_dump_report report;
	tsu_dump_report(rig.tsu, &report);
	return report;
}

hz_device_config shared(uint32_t sectors)
{
	hz_device_config cfg = ftl_config();
	cfg.write_buffers = 3;
	share_memory(cfg, sectors);
	return cfg;
}

hz_device_config protected_config(uint32_t sectors, uint32_t guarded)
{
	hz_device_config cfg = ftl_config();
	cfg.write_buffers = 3;
	protect_memory(cfg, sectors, guarded);
	return cfg;
}

} // namespace

TEST(SharedMemory, WhatIsResetInTimeIsNeverProgrammed)
{
	Rig rig(shared(150));
	ASSERT_TRUE(rig.boot()) << rig.error;
	EXPECT_EQ(rig.write(0, 0, 90, 1000), 0);
	EXPECT_EQ(rig.compare(0, 0, 90, 1000), "");
	EXPECT_EQ(programs(rig), 0u);
	EXPECT_EQ(rig.run_op(FTL_ZONE_RESET, 0), 0);
	EXPECT_EQ(programs(rig), 0u);
	EXPECT_EQ(rig.counters().dropped_sectors, 90u);
	EXPECT_EQ(rig.compare(0, 0, 90, 0), "");
	EXPECT_EQ(rig.check(), "");
}
// 168 sectors; 117 are 70 per cent.
TEST(SharedMemory, AboveThePercentageAllThatIsCompleteIsWritten)
{
	Rig rig(shared(150));
	ASSERT_TRUE(rig.boot()) << rig.error;
	EXPECT_EQ(rig.write(0, 0, 80, 1000), 0);
	EXPECT_EQ(rig.write(1, 0, 37, 2000), 0);
	EXPECT_EQ(programs(rig), 0u);
	EXPECT_EQ(rig.write(1, 37, 1, 2037), 0);
	EXPECT_EQ(programs(rig), 80u / 6 + 38 / 6);
	EXPECT_EQ(rig.compare(0, 0, 80, 1000), "");
	EXPECT_EQ(rig.compare(1, 0, 38, 2000), "");
	EXPECT_EQ(rig.check(), "");
}
// Of 13 whole units only those in flight at the reset are programmed.
TEST(SharedMemory, AResetEndsWhatIsBeingWritten)
{
	Rig rig(shared(150));
	ASSERT_TRUE(rig.boot()) << rig.error;
	EXPECT_EQ(rig.write(0, 0, 80, 1000), 0);
	EXPECT_EQ(rig.write(1, 0, 37, 2000), 0);
	Request one_more(FTL_WRITE, rig.lba_of(1, 37), 1), reset(FTL_ZONE_RESET, rig.lba_of(0), 0);
	rig.submit(one_more, 1);
	lt_host_run_until(clock_now_ns() + rig.cfg.normal.program_ns[0] / 2);
	rig.submit(reset, 0);
	lt_host_run_until_idle();
	EXPECT_TRUE(reset.done && reset.status() == 0);
	EXPECT_LE(programs(rig), rig.shape.planes + 38 / 6);
	EXPECT_GE(rig.counters().dropped_sectors, 80u - rig.shape.planes * 6);
	EXPECT_EQ(rig.check(), "");
}
TEST(SharedMemory, AFlushBringsEverythingToFlash)
{
	Rig rig(shared(150));
	ASSERT_TRUE(rig.boot()) << rig.error;
	EXPECT_EQ(rig.write(0, 0, 80, 1000), 0);
	EXPECT_EQ(rig.run_op(FTL_FLUSH, 0), 0);
	ASSERT_TRUE(rig.boot()) << rig.error;
	EXPECT_EQ(rig.compare(0, 0, 80, 1000), "");
}
TEST(SharedMemory, WaitersAreServedWhenMemoryComesBack)
{
	Rig rig(shared(0));
	ASSERT_TRUE(rig.boot()) << rig.error;
	std::vector<std::unique_ptr<Request>> writes;
	for (uint32_t zone = 0; zone < 3; zone++) {
		writes.push_back(std::make_unique<Request>(FTL_WRITE, rig.lba_of(zone), 96));
		rig.submit(*writes.back(), zone % 2);
	}
	lt_host_run_until_idle();
	for (auto &write : writes)
		EXPECT_TRUE(write->done && write->status() == 0);
	EXPECT_GT(rig.counters().waits_space, 0u);
	EXPECT_EQ(rig.check(), "");
}

// Without a program, and faster than one.
TEST(Protected, ADurableWriteEndsInTheBufferAndStays)
{
	Rig rig(protected_config(60, 60));
	ASSERT_TRUE(rig.boot()) << rig.error;
	Request write(FTL_WRITE, rig.lba_of(0), 7, FTL_FUA);
	for (uint32_t i = 0; i < 7; i++)
		fill_sector(write.pages[i], 1000 + i);
	const uint64_t begin_ns = clock_now_ns();
	EXPECT_EQ(rig.run(write), 0);
	EXPECT_LT(write.done_ns - begin_ns, rig.cfg.slc.program_ns[0]);
	EXPECT_EQ(rig.run_op(FTL_FLUSH, 0), 0);
	EXPECT_EQ(programs(rig), 0u);
	rig_lose_power(rig.tsu);
	EXPECT_EQ(kept(rig).sectors, 7u);
	EXPECT_EQ(kept(rig).programs, 7u);
	EXPECT_GE(kept(rig).took_ns, rig.cfg.slc.program_ns[0]);
	ASSERT_TRUE(rig.boot()) << rig.error;
	EXPECT_EQ(rig.compare(0, 0, 7, 1000), "");
	EXPECT_EQ(rig.check(), "");
}
TEST(Protected, PlainWritesBeforeADurableOneOfTheirZoneAreKeptOthersNot)
{
	Rig rig(protected_config(60, 60));
	ASSERT_TRUE(rig.boot()) << rig.error;
	EXPECT_EQ(rig.write(0, 0, 10, 1000), 0);
	EXPECT_EQ(rig.write(0, 10, 1, 1010, FTL_FUA), 0);
	EXPECT_EQ(rig.write(0, 11, 5, 1011), 0);
	EXPECT_EQ(rig.write(1, 0, 5, 2000), 0);
	ASSERT_TRUE(rig.boot()) << rig.error;
	EXPECT_EQ(rig.compare(0, 0, 11, 1000), "");
	EXPECT_EQ(rig.compare(0, 11, 5, 0), "");
	EXPECT_EQ(rig.compare(1, 0, 5, 0), "");
}
// Dumped sectors are at their final place before the zone is written again, and the reserve is erased again.
TEST(Protected, TheNextStartBringsItToItsPlace)
{
	Rig rig(protected_config(60, 60));
	ASSERT_TRUE(rig.boot()) << rig.error;
	for (int round = 0; round < 6; round++) {
		EXPECT_EQ(rig.write(2, 0, 40, 1000, FTL_FUA), 0);
		EXPECT_EQ(programs(rig), 0u) << "round " << round;
		ASSERT_TRUE(rig.boot()) << rig.error;
		EXPECT_EQ(programs(rig), 36u / 6) << "whole units";
		EXPECT_EQ(rig.compare(2, 0, 40, 1000), "");
		EXPECT_EQ(rig.write(2, 40, 8, 1040), 0);
		EXPECT_EQ(rig.compare(2, 0, 48, 1000), "");
		EXPECT_EQ(rig.run_op(FTL_ZONE_RESET, 2), 0);
		EXPECT_EQ(rig.check(), "");
		ASSERT_TRUE(rig.boot()) << rig.error;
	}
}
// Of one zone on one die after another: dies side by side take a fraction of the time.
TEST(Protected, InPlaceAndBalancedKeepTheSame)
{
	uint64_t took_ns[HZ_PLP_FLUSHES];
	for (uint32_t flush = 0; flush < HZ_PLP_FLUSHES; flush++) {
		hz_device_config cfg = protected_config(60, 60);
		cfg.plp_flush = flush;
		Rig rig(cfg);
		ASSERT_TRUE(rig.boot()) << rig.error;
		EXPECT_EQ(rig.write(0, 0, 50, 1000, FTL_FUA), 0);
		rig_lose_power(rig.tsu);
		took_ns[flush] = kept(rig).took_ns;
		EXPECT_EQ(kept(rig).in_place, flush == HZ_PLP_IN_PLACE ? 8u : 0u);
		ASSERT_TRUE(rig.boot()) << rig.error;
		EXPECT_EQ(rig.compare(0, 0, 50, 1000), "");
	}
	EXPECT_GT(took_ns[HZ_PLP_IN_PLACE], took_ns[HZ_PLP_BALANCED]);
}

// The least energy allowed for a device, failing programs, and a cut at any operation: the energy always suffices, and nothing is lost.
static uint64_t keep_with_least_energy(uint64_t seed, bool spread)
{
	uint64_t kept_sectors = 0;
	hz_device_config cfg = protected_config(40, 40);
	cfg.spare_superblocks += 12; // as many as programs may fail
	cfg.slc_blocks_per_plane += 12;
	cfg.blocks_per_plane += 24;
	cfg.plp_flush = static_cast<uint32_t>(seed) % HZ_PLP_FLUSHES;
	cfg.plp_failures = 2;
	if (spread)
		spread_times(cfg);
	cfg.plp_energy_uj = 1;
	char text[256];
	const std::string refusal = hz_device_config_check(&cfg, text, sizeof text);
	const std::string marker = "at least ";
	EXPECT_NE(refusal.find(marker), std::string::npos) << refusal;
	cfg.plp_energy_uj = std::stoull(refusal.substr(refusal.find(marker) + marker.size()));
	Rig rig(cfg);
	Driver driver(rig, seed);
	std::mt19937_64 dice(seed);
	for (int boot = 0; boot < 12 && !testing::Test::HasFailure(); boot++) {
		nand_policy policy{};
		policy.power_cut_op = 1 + dice() % 120;
		policy.fail_op = policy.power_cut_op + dice() % 4;
		EXPECT_TRUE(rig.boot(policy)) << rig.error;
		driver.check_recovered();
		while (!testing::Test::HasFailure() && driver.run_batch(driver.random_batch()))
			;
		const hz_dump_report report = kept(rig);
		EXPECT_LE(report.energy_pj, cfg.plp_energy_uj * 1000000);
		EXPECT_EQ(report.empty, 0u);
		kept_sectors += report.sectors;
	}
	return kept_sectors;
}
TEST(Protected, TheLeastEnergyLastsForWhatWasPromised)
{
	uint64_t kept_sectors = 0;
	const uint64_t first = environment("HARTZONE_TEST_SEED", 0), rounds = environment("HARTZONE_TEST_ROUNDS", 8);
	for (uint64_t seed = first; seed < first + rounds && !HasFailure(); seed++) {
		SCOPED_TRACE(testing::Message() << "seed " << seed);
		kept_sectors += keep_with_least_energy(seed, seed / 2 % 2 == 1);
	}
	EXPECT_GT(kept_sectors, 12 * rounds);
}

// Capacitors with less energy than they should have: the dumped part is still the beginning of every zone.
TEST(Protected, EmptyCapacitorsLeaveABeginning)
{
	for (uint64_t empty = 1; empty < 60; empty += 3) {
		Rig rig(protected_config(60, 60));
		nand_policy policy{};
		policy.capacitors_empty_op = empty;
		ASSERT_TRUE(rig.boot(policy)) << rig.error;
		Driver driver(rig, empty);
		ASSERT_TRUE(driver.run_batch({{FTL_WRITE, 0, 30, FTL_FUA}, {FTL_WRITE, 1, 20, FTL_FUA}}));
		rig_lose_power(rig.tsu);
		for (ModelZone &zone : driver.zones)
			zone.durable = 0;
		EXPECT_EQ(kept(rig).empty, empty <= 50 ? 1u : 0u) << empty;
		ASSERT_TRUE(rig.boot()) << rig.error;
		driver.check_recovered();
		ASSERT_FALSE(HasFailure()) << empty;
	}
}
