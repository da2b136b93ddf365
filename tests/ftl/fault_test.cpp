// Programs, erases and reads that fail: the host loses no acknowledged data.
// SPDX-License-Identifier: BSD-3-Clause
#include "model.hpp"

using namespace ftl_rig;

// Changes of the map by a zone's move: an entry for each of its sectors, or one.
class MapFaults : public testing::TestWithParam<int> {
protected:
	hz_device_config cfg = ftl_config();
	void SetUp() override { cfg.l2p_kind = static_cast<uint32_t>(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Kinds, MapFaults, testing::Range(0, int(HZ_L2P_KINDS)));

// Every single operation of a body fails once.
TEST_P(MapFaults, AnyOneOperationMayFail)
{
	uint64_t operations = 1000;
	for (uint64_t fail = 1; fail <= operations; fail++) {
		SCOPED_TRACE(testing::Message() << "operation " << fail << " fails");
		Rig r(cfg);
		nand_policy policy{};
		policy.fail_op = fail;
		ASSERT_TRUE(r.boot(policy));
		Driver driver(r, 1);
		driver.run_batch({{FTL_WRITE, 0, 50, 0}, {FTL_WRITE, 1, 4, FTL_FUA}, {FTL_WRITE, 2, 5, 0}});
		driver.run_batch({{FTL_FLUSH, 0, 0, 0}});
		driver.run_batch({{FTL_WRITE, 0, 46, 0}, {FTL_WRITE, 1, 30, 0}, {FTL_WRITE, 2, 7, FTL_FUA}});
		driver.run_batch({{FTL_ZONE_RESET, 1, 0, 0}, {FTL_ZONE_FINISH, 2, 0, 0}, {FTL_READ, 0, 40, 0}});
		driver.run_batch({{FTL_WRITE, 1, 20, FTL_FUA}, {FTL_ZONE_RESET, 0, 0, 0}});
		ASSERT_EQ(r.check(), "");
		driver.verify_all();
		ASSERT_FALSE(HasFailure());
		operations = nand_media_operations(&r.media);
		ASSERT_TRUE(r.boot()) << r.error;
		driver.check_recovered();
		ASSERT_FALSE(HasFailure());
	}
	EXPECT_GT(operations, 40u);
}

// One operation fails and a later one is cut: the move of a zone is cut at each of its steps.
TEST_P(MapFaults, PowerMayGoWhileAZoneMoves)
{
	for (uint64_t fail : {6u, 9u, 14u, 20u})
		for (uint64_t cut = fail + 1; cut < fail + 40; cut++) {
			SCOPED_TRACE(testing::Message() << "operation " << fail << " fails, cut at " << cut);
			Rig r(cfg);
			nand_policy policy{};
			policy.fail_op = fail;
			policy.power_cut_op = cut;
			ASSERT_TRUE(r.boot(policy));
			Driver driver(r, 1);
			bool alive = driver.run_batch({{FTL_WRITE, 0, 40, FTL_FUA}, {FTL_WRITE, 1, 20, FTL_FUA}}) &&
				     driver.run_batch({{FTL_WRITE, 0, 30, FTL_FUA}}) && driver.run_batch({{FTL_WRITE, 0, 20, FTL_FUA}});
			(void)alive;
			ASSERT_FALSE(HasFailure());
			ASSERT_TRUE(r.boot()) << r.error;
			driver.check_recovered();
			ASSERT_FALSE(HasFailure());
			driver.run_batch({{FTL_WRITE, 0, 3, FTL_FUA}, {FTL_WRITE, 1, 3, FTL_FUA}});
			ASSERT_TRUE(r.boot()) << r.error;
			driver.check_recovered();
			ASSERT_FALSE(HasFailure());
		}
}

TEST(Faults, AWornDeviceEndsReadOnlyAndKeepsItsData)
{
	hz_device_config cfg = ftl_config();
	cfg.normal.endurance = 1;
	Rig r(cfg);
	ASSERT_TRUE(r.boot());
	EXPECT_EQ(r.write(0, 0, 30, 1, FTL_FUA), 0);
	uint16_t status = 0;
	for (int i = 0; i < 40 && !status; i++) {
		status = r.write(1, 0, 24, 1, FTL_FUA);
		r.run_op(FTL_ZONE_RESET, 1);
	}
	EXPECT_EQ(status, NVME_WRITE_FAULT);
	EXPECT_EQ(r.zone_state(1), NVME_ZS_READ_ONLY);
	EXPECT_EQ(r.compare(0, 0, 30, 1), "");
	ASSERT_TRUE(r.boot());
	EXPECT_EQ(r.zone_state(1), NVME_ZS_READ_ONLY);
	EXPECT_EQ(r.compare(0, 0, 30, 1), "");
	EXPECT_EQ(r.check(), "");
}

// A zone that can neither be continued nor moved loses volatile accepted data. No request waited for it, so the next Flush fails, once.
TEST(Faults, AFlushTellsOfWhatAZoneLostBefore)
{
	Rig r(ftl_config());
	ASSERT_TRUE(r.boot());
	ASSERT_EQ(r.write(0, 0, 24, 1, FTL_FUA), 0);
	r.cfg.read_fail_ppb = r.cfg.program_fail_ppb = 1000000000;
	ASSERT_EQ(r.write(0, 24, 6, 25), 0);
	r.cfg.read_fail_ppb = r.cfg.program_fail_ppb = 0;
	ASSERT_EQ(r.zone_state(0), NVME_ZS_READ_ONLY);
	EXPECT_EQ(r.compare(0, 0, 24, 1), "");
	Request read(FTL_READ, r.lba_of(0, 24), 6), first(FTL_FLUSH, 0, 0), second(FTL_FLUSH, 0, 0);
	EXPECT_EQ(r.run(read), NVME_UNRECOVERED_READ);
	Request verify(FTL_VERIFY, r.lba_of(0, 20), 6), compare(FTL_COMPARE, r.lba_of(0, 20), 6);
	EXPECT_EQ(r.run(verify), NVME_UNRECOVERED_READ);
	EXPECT_EQ(r.run(compare), NVME_UNRECOVERED_READ) << "tells more than that the others differ";
	EXPECT_EQ(r.run(first), NVME_WRITE_FAULT);
	EXPECT_EQ(r.run(second), 0);
	ASSERT_TRUE(r.boot());
	EXPECT_EQ(r.run(second), 0);
	EXPECT_EQ(r.compare(0, 0, 24, 1), "");
}

// A write that must be durable, and a reset behind it; the write finds that its zone can be neither continued nor moved.
TEST(Faults, AResetOfAZoneThatFailsBeforeItFails)
{
	Rig r(ftl_config());
	ASSERT_TRUE(r.boot());
	ASSERT_EQ(r.write(0, 0, 24, 1, FTL_FUA), 0);
	r.cfg.read_fail_ppb = r.cfg.program_fail_ppb = 1000000000;
	Request write(FTL_WRITE, r.lba_of(0, 24), 6, FTL_FUA), reset(FTL_ZONE_RESET, r.lba_of(0), 0);
	r.submit(write);
	r.submit(reset);
	rig_watch(
		r.ftl,
		[](void *arg) {
			Rig &rig = *static_cast<Rig *>(arg);
			if (rig_condition(rig.ftl, 0) == 1)
				rig.cfg.program_fail_ppb = 0; // BROKEN: the zone table can be written
			return rig_condition(rig.ftl, 0) != 2;
		},
		&r, 1000000);
	lt_host_run_until_idle();
	r.cfg.read_fail_ppb = 0;
	EXPECT_EQ(write.status(), NVME_WRITE_FAULT);
	EXPECT_EQ(reset.status(), NVME_WRITE_FAULT);
	for (int boots = 0; boots < 2; boots++) {
		EXPECT_EQ(r.zone_state(0), NVME_ZS_READ_ONLY);
		EXPECT_EQ(r.compare(0, 0, 24, 1), "");
		EXPECT_EQ(r.check(), "");
		ASSERT_TRUE(r.boot());
	}
}

struct Watch {
	ftl_watch watch{};
	lt_thread thread{"watch", 0};
	unsigned calls = 0;
	explicit Watch(ftl *ftl)
	{
		watch.thread = &thread;
		watch.changed = [](ftl_watch *w) { reinterpret_cast<Watch *>(w)->calls++; };
		ftl_set_watch(ftl, &watch);
	}
};
static_assert(offsetof(Watch, watch) == 0);

TEST(Faults, AZoneThatTurnsReadOnlyIsReported)
{
	using Starts = std::vector<uint64_t>;
	hz_device_config cfg = ftl_config();
	cfg.normal.endurance = 1;
	Rig r(cfg);
	ASSERT_TRUE(r.boot());
	Watch watch(r.ftl);
	struct ftl_health health;
	ftl_report_health(r.ftl, &health);
	EXPECT_EQ(health.spare_percent, 100);
	EXPECT_EQ(health.used_percent, 0);
	ASSERT_EQ(r.write(2, 0, 24, 1, FTL_FUA), 0);
	ASSERT_EQ(r.run_op(FTL_ZONE_FINISH, 2), 0);
	EXPECT_EQ(r.changed_zones(), Starts()) << "what the host asks for is no change to tell of";
	for (int i = 0; i < 40 && r.zone_state(1) != NVME_ZS_READ_ONLY; i++) {
		r.write(1, 0, 24, 1, FTL_FUA);
		r.run_op(FTL_ZONE_RESET, 1);
	}
	r.write(0, 0, 24, 1, FTL_FUA);
	for (uint32_t zone : {0u, 1u})
		ASSERT_EQ(r.zone_state(zone), NVME_ZS_READ_ONLY);
	ftl_report_health(r.ftl, &health);
	EXPECT_EQ(health.spare_percent, 0);
	EXPECT_GT(health.used_percent, 50) << "all but the superblock of zone 2";
	const unsigned calls = watch.calls;
	EXPECT_GT(calls, r.cfg.spare_superblocks) << "of each retired superblock, and of the zones";
	EXPECT_EQ(r.changed_zones(), (Starts{r.lba_of(0), r.lba_of(1)}));
	EXPECT_EQ(r.changed_zones(true), (Starts{r.lba_of(0), r.lba_of(1)}));
	EXPECT_EQ(r.changed_zones(), Starts());
	ASSERT_EQ(r.run_op(FTL_ZONE_OFFLINE, 1), 0);
	EXPECT_EQ(r.changed_zones(), Starts()) << "by the host";
	EXPECT_EQ(watch.calls, calls);
}

TEST(Faults, AnUnreadablePageIsReported)
{
	hz_device_config cfg = ftl_config();
	Rig r(cfg);
	ASSERT_TRUE(r.boot());
	EXPECT_EQ(r.write(0, 0, 96, 1), 0);
	r.cfg.read_fail_ppb = 1000000000;
	Request read(FTL_READ, r.lba_of(0), 10);
	EXPECT_EQ(r.run(read), NVME_UNRECOVERED_READ);
	r.cfg.read_fail_ppb = 0;
	EXPECT_EQ(r.compare(0, 0, 96, 1), "");
}

// Every option of the flash at once, with raw bit errors that need retries and failures by dice: nothing acknowledged is lost.
TEST(Faults, EveryFlashOptionAgreesWithTheModel)
{
	for (uint32_t schedule = 0; schedule < HZ_SCHEDULES; schedule++) {
		SCOPED_TRACE(testing::Message() << "schedule " << schedule);
		hz_device_config cfg = ftl_config();
		cfg.schedule = schedule;
		cfg.cache_read = cfg.cache_program = 1;
		cfg.cache_busy_ns = 3000;
		cfg.interleave_sectors = 2;
		cfg.program_passes = 2;
		cfg.normal.program_ns[1] = 400000;
		cfg.suspend_ns = 5000;
		cfg.ecc_bits = 40;
		cfg.rber_base = 1000000000;
		cfg.rber_per_erase = 10000000;
		cfg.rber_per_read = 1000;
		cfg.read_retries = 10;
		cfg.retry_percent = 60;
		cfg.program_fail_ppb = cfg.erase_fail_ppb = 2000000;
		cfg.slc_blocks_per_plane = 20;
		cfg.spare_superblocks = 30;
		cfg.blocks_per_plane = 20 + 38;
		Rig r(cfg);
		ASSERT_TRUE(r.boot());
		Driver driver(r, 77 + schedule);
		for (int i = 0; i < 150; i++) {
			ASSERT_TRUE(driver.run_batch(driver.random_batch()));
			ASSERT_EQ(r.check(), "") << "batch " << i;
			ASSERT_FALSE(HasFailure()) << "batch " << i;
		}
		driver.verify_all();
		ASSERT_TRUE(r.boot());
		driver.check_recovered();
		ASSERT_FALSE(HasFailure());
	}
}

// More bit errors than ECC corrects after all retries: the read says so; the data come back when the cells read well again.
TEST(Faults, TooManyBitErrorsAreAnUnrecoveredRead)
{
	hz_device_config cfg = ftl_config();
	Rig r(cfg);
	ASSERT_TRUE(r.boot());
	EXPECT_EQ(r.write(0, 0, 96, 1), 0);
	r.cfg.ecc_bits = 10;
	r.cfg.rber_base = 2000000000;
	r.cfg.read_retries = 2;
	r.cfg.retry_percent = 90;
	Request read(FTL_READ, r.lba_of(0), 10);
	EXPECT_EQ(r.run(read), NVME_UNRECOVERED_READ);
	Request compare(FTL_COMPARE, r.lba_of(0), 1), verify(FTL_VERIFY, r.lba_of(0), 1);
	fill_sector(compare.pages[0], 1);
	EXPECT_EQ(r.run(compare), NVME_UNRECOVERED_READ);
	EXPECT_TRUE(sector_is(compare.pages[0], 1)) << "the host's data are as they were";
	EXPECT_EQ(r.run(verify), NVME_UNRECOVERED_READ);
	r.cfg.retry_percent = 20;
	r.cfg.read_retries = 4;
	EXPECT_EQ(r.compare(0, 0, 96, 1), "");
}

// The chosen operation fails by config: the FTL moves all it can, the host loses nothing.
TEST(Faults, AChosenProgramOrEraseMayFailByConfig)
{
	for (uint32_t number = 1; number <= 48; number++) {
		SCOPED_TRACE(testing::Message() << "number " << number);
		hz_device_config cfg = ftl_config();
		if (number > 24)
			use_planes(cfg, 2);
		cfg.fail_program_at = (number - 1) % 24 + 1;
		cfg.fail_erase_at = cfg.fail_program_at / 4 + 1;
		Rig r(cfg);
		ASSERT_TRUE(r.boot());
		Driver driver(r, number);
		for (int i = 0; i < 20; i++)
			ASSERT_TRUE(driver.run_batch(driver.random_batch()));
		ASSERT_EQ(r.check(), "");
		driver.verify_all();
		ASSERT_FALSE(HasFailure());
	}
}

// Failures by dice all the time, on a device with many spare blocks.
TEST(Faults, RandomFailuresAgreeWithTheModel)
{
	for (uint64_t seed = 1; seed < 9; seed++) {
		SCOPED_TRACE(testing::Message() << "seed " << seed);
		hz_device_config cfg = ftl_config();
		cfg.seed = static_cast<uint32_t>(seed);
		cfg.program_fail_ppb = cfg.erase_fail_ppb = 2000000;
		cfg.slc_blocks_per_plane = 20;
		cfg.spare_superblocks = 30;
		cfg.blocks_per_plane = 20 + 38;
		if (seed % 2 == 0)
			use_planes(cfg, seed % 4 ? 2 : 1);
		if (seed % 3 == 0)
			use_slots(cfg, 20, HZ_SLOTS_LOCKED, HZ_BUFFER_FLUSH_UNIT), cfg.l2p_kind = HZ_L2P_KIND_ZONE;
		Rig r(cfg);
		ASSERT_TRUE(r.boot());
		Driver driver(r, seed);
		for (int i = 0; i < 200; i++) {
			ASSERT_TRUE(driver.run_batch(driver.random_batch()));
			ASSERT_EQ(r.check(), "") << "batch " << i;
			ASSERT_FALSE(HasFailure()) << "batch " << i;
		}
		driver.verify_all();
		ASSERT_TRUE(r.boot());
		driver.check_recovered();
		ASSERT_FALSE(HasFailure());
	}
}
