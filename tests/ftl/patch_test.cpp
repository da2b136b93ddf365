// Patched zones: the end of every zone lies in an SLC superblock of its own (aligned zone sizes on media with other superblocks).
// SPDX-License-Identifier: BSD-3-Clause
#include "config_check.h"
#include "geometry.h"
#include "conventional_model.hpp"
#include "model.hpp"
#include "slc_log_size.h"
#include "tsu/tsu_report.h"

using namespace ftl_rig;

// Superblock 96 sectors, patch 32: the zone has 128, all of them usable. Ten SLC superblocks for patches, the rest is the log.
static hz_device_config patched_zones_config(uint32_t capacity = 128, uint32_t slc_sectors = 1)
{
	hz_device_config cfg = ftl_config();
	cfg.zone_capacity_sectors = capacity;
	cfg.zone_size_sectors = 128;
	cfg.slc_program_sectors = slc_sectors;
	cfg.slc_blocks_per_plane = 17;
	cfg.blocks_per_plane = 17 + 10;
	return cfg;
}

struct Patch : testing::Test {
	Patch() : r(patched_zones_config()) { EXPECT_TRUE(r.boot()) << r.error; }
	~Patch() { EXPECT_EQ(r.check(), ""); }
	uint64_t programs(hz_cause cause)
	{
		hz_log_flash flash;
		tsu_report(r.tsu, &flash);
		return flash.program_sectors[cause];
	}
	Rig r;
};

TEST_F(Patch, AWholeZoneIsWrittenOnceAndReadBack)
{
	EXPECT_EQ(r.shape.zone_capacity_sectors, r.shape.zone_size_sectors);
	EXPECT_EQ(r.write(0, 0, 128, 1), 0);
	EXPECT_EQ(r.zone_state(0), NVME_ZS_FULL);
	EXPECT_EQ(programs(HZ_CAUSE_HOST), 128u) << "each sector goes to its place at once";
	EXPECT_EQ(r.counters().slc_sectors, 0u);
	EXPECT_EQ(r.compare(0, 0, 128, 1), "");
	EXPECT_EQ(r.compare(0, 90, 12, 91), "") << "across the seam";
	ASSERT_TRUE(r.boot());
	EXPECT_EQ(r.zone_state(0), NVME_ZS_FULL);
	EXPECT_EQ(r.compare(0, 0, 128, 1), "");
}

TEST_F(Patch, SmallForcedWritesInThePatchGoStraightToTheirPlace)
{
	EXPECT_EQ(r.write(0, 0, 96, 1), 0);
	for (uint32_t i = 96; i < 105; i++)
		EXPECT_EQ(r.write(0, i, 1, 1 + i, FTL_FUA), 0);
	EXPECT_EQ(r.counters().slc_sectors, 0u);
	ASSERT_TRUE(r.boot());
	EXPECT_EQ(r.report_zones()[0].write_pointer, r.lba_of(0, 105));
	EXPECT_EQ(r.zone_state(0), NVME_ZS_CLOSED);
	EXPECT_EQ(r.write(0, 105, 23, 106), 0);
	EXPECT_EQ(r.compare(0, 0, 128, 1), "");
}

TEST_F(Patch, ResetErasesBothAndFinishMayEndAnywhere)
{
	EXPECT_EQ(r.write(0, 0, 128, 1), 0);
	EXPECT_EQ(r.run_op(FTL_ZONE_RESET, 0), 0);
	EXPECT_EQ(r.compare(0, 0, 128, 0), "");
	hz_log_flash flash;
	tsu_report(r.tsu, &flash);
	EXPECT_EQ(flash.erases[HZ_CAUSE_HOST], 2u * r.shape.planes);
	uint32_t zone = 1;
	for (uint32_t end : {90u, 96u, 97u, 127u}) {
		EXPECT_EQ(r.write(zone, 0, end, 5), 0);
		EXPECT_EQ(r.run_op(FTL_ZONE_FINISH, zone++), 0);
	}
	for (int boot = 0; boot < 2; boot++) {
		zone = 1;
		for (uint32_t end : {90u, 96u, 97u, 127u}) {
			EXPECT_EQ(r.zone_state(zone), NVME_ZS_FULL);
			EXPECT_EQ(r.compare(zone, 0, end, 5), "");
			EXPECT_EQ(r.compare(zone++, end, 128 - end, 0), "");
		}
		EXPECT_EQ(r.check(), "");
		ASSERT_TRUE(r.boot());
	}
}

// Every zone full at once, again and again: the reserve has one patch per zone in any state of the log.
TEST_F(Patch, AllZonesMayBeFull)
{
	for (uint32_t round = 0; round < 5; round++) {
		for (uint32_t z = 0; z < r.shape.zones; z++) {
			EXPECT_EQ(r.write(z, 0, 50, 1000 * (z + 1) + round, FTL_FUA), 0);
			EXPECT_EQ(r.write(z, 50, 78, 1000 * (z + 1) + round + 50), 0);
		}
		for (uint32_t z = 0; z < r.shape.zones; z++) {
			EXPECT_EQ(r.compare(z, 0, 128, 1000 * (z + 1) + round), "");
			EXPECT_EQ(r.run_op(FTL_ZONE_RESET, z), 0);
		}
	}
}

// SMART's "percentage used" is the more worn pool's: here only SLC blocks wear.
TEST(PatchHealth, PatchesWear)
{
	hz_device_config cfg = patched_zones_config();
	cfg.slc.endurance = 50;
	Rig r(cfg);
	ASSERT_TRUE(r.boot());
	for (int i = 0; i < 40; i++) {
		ASSERT_EQ(r.write(0, 0, 128, 1, FTL_FUA), 0);
		ASSERT_EQ(r.run_op(FTL_ZONE_RESET, 0), 0);
	}
	ftl_health health;
	ftl_report_health(r.ftl, &health);
	EXPECT_EQ(health.used_percent, 40 * 100 / (r.shape.patch_superblocks * 50)) << "each reset erases one patch";
	EXPECT_EQ(health.spare_percent, 100);
	const uint32_t used = health.used_percent;
	ASSERT_TRUE(r.boot()) << r.error;
	ftl_report_health(r.ftl, &health);
	EXPECT_EQ(health.used_percent, used) << "wear is known after a start";
	r.cfg.slc.endurance = 0;
	ftl_report_health(r.ftl, &health);
	EXPECT_EQ(health.used_percent, 0) << "blocks that endure any number of erases are never used up";
}

TEST(Health, NormalSuperblocksWear)
{
	hz_device_config cfg = ftl_config();
	cfg.normal.endurance = 50;
	Rig r(cfg);
	ASSERT_TRUE(r.boot());
	for (int i = 0; i < 104; i++) {
		ASSERT_EQ(r.write(0, 0, 96, 1), 0);
		ASSERT_EQ(r.run_op(FTL_ZONE_RESET, 0), 0);
	}
	ftl_health health;
	ftl_report_health(r.ftl, &health);
	EXPECT_EQ(health.used_percent, 104 * 100 / (r.shape.normal_superblocks * 50));
	const uint32_t used = health.used_percent;
	ASSERT_TRUE(r.boot()) << r.error;
	ftl_report_health(r.ftl, &health);
	EXPECT_EQ(health.used_percent, used) << "wear is known after a start";
}

// Spare are the superblocks beyond the zones' need; conventional zones are on backing zones, and need none of their own.
TEST(Health, SpareIsWhatNoZoneNeeds)
{
	for (bool conventional : {false, true}) {
		hz_device_config cfg = conventional ? conventional_config() : ftl_config();
		cfg.spare_superblocks = 4;
		cfg.blocks_per_plane += 2;
		Rig r(cfg);
		ASSERT_TRUE(r.boot()) << r.error;
		ftl_health health;
		ftl_report_health(r.ftl, &health);
		EXPECT_EQ(health.spare_percent, 100);
		const uint32_t zone = conventional ? 4 : 0;
		r.cfg.fail_program_at = static_cast<uint32_t>(lt_load(&r.media.kind_operations[0])) + 1;
		ASSERT_EQ(r.write(zone, 0, 96, 1), 0);
		EXPECT_EQ(r.compare(zone, 0, 96, 1), "");
		ftl_report_health(r.ftl, &health);
		EXPECT_EQ(health.spare_percent, 75) << "one of four";
	}
}

TEST(PatchConfig, TooFewSlcBlocksAreRefusedByName)
{
	hz_device_config cfg = patched_zones_config();
	char text[256] = "";
	hz_shape shape;
	hz_shape_of(&cfg, &shape);
	EXPECT_EQ(shape.patch_superblocks, shape.zones + cfg.spare_superblocks);
	EXPECT_EQ(hz_device_config_check(&cfg, text, sizeof text), nullptr);
	cfg.slc_blocks_per_plane = shape.patch_superblocks + hz_slc_log_least(&cfg, &shape) - 1;
	cfg.blocks_per_plane = cfg.slc_blocks_per_plane + 10;
	ASSERT_NE(hz_device_config_check(&cfg, text, sizeof text), nullptr);
	EXPECT_NE(std::string(text).find("slc_blocks_per_plane"), std::string::npos) << text;
}

// Any one operation of a body across the seam fails: zones and patches move, nothing acknowledged is lost.
TEST(PatchFaults, AnyOneOperationMayFail)
{
	uint64_t operations = 1000;
	for (uint64_t fail = 1; fail <= operations; fail++) {
		SCOPED_TRACE(testing::Message() << "operation " << fail << " fails");
		Rig r(patched_zones_config(128, 1 + fail % 2));
		nand_policy policy{};
		policy.fail_op = fail;
		ASSERT_TRUE(r.boot(policy));
		Driver driver(r, 1);
		driver.run_batch({{FTL_WRITE, 0, 100, 0}, {FTL_WRITE, 1, 96, FTL_FUA}});
		driver.run_batch({{FTL_WRITE, 0, 3, FTL_FUA}, {FTL_WRITE, 1, 5, FTL_FUA}});
		driver.run_batch({{FTL_WRITE, 0, 25, 0}, {FTL_WRITE, 1, 9, FTL_FUA}, {FTL_READ, 1, 60, 0}});
		driver.run_batch({{FTL_ZONE_RESET, 0, 0, 0}, {FTL_ZONE_FINISH, 1, 0, 0}});
		driver.run_batch({{FTL_WRITE, 0, 110, FTL_FUA}});
		ASSERT_EQ(r.check(), "");
		driver.verify_all();
		ASSERT_FALSE(HasFailure());
		operations = nand_media_operations(&r.media);
		ASSERT_TRUE(r.boot()) << r.error;
		driver.check_recovered();
		ASSERT_FALSE(HasFailure());
	}
	EXPECT_GT(operations, 60u);
}

class PatchProperty : public testing::TestWithParam<int> {};

TEST_P(PatchProperty, AgreesWithTheModelAndSurvivesCuts)
{
	std::mt19937_64 dice(GetParam());
	hz_device_config cfg = patched_zones_config(GetParam() % 2 ? 109 : 128, GetParam() % 4 < 2 ? 1 : 2);
	cfg.buffer_binding = GetParam() % 3;
	cfg.write_buffers = cfg.buffer_binding == HZ_BIND_PER_ZONE ? cfg.max_active : 2;
	cfg.program_fail_ppb = GetParam() / 4 % 2 ? 1000000 : 0;
	cfg.slc_gc = GetParam() / 2 % 3;
	cfg.buffer_idle_ns = GetParam() % 5 == 0 ? 300000 : 0;
	if (GetParam() >= 8) { // the map in flash: chunks on both sides of the seam
		cfg.l2p_cache_bytes = 16 * HZ_MAP_ENTRY_BYTES;
		cfg.l2p_levels = HZ_MAP_ZONE;
		cfg.l2p_chunk_sectors = 16;
		cfg.l2p_log_entries = 256;
		cfg.l2p_strategy = GetParam() % 3;
	}
	cfg.spare_superblocks = 8;
	cfg.blocks_per_plane = 40;
	cfg.slc_blocks_per_plane = 24;
	Rig rig(cfg);
	Driver driver(rig, GetParam());
	for (int boot = 0; boot < 16; boot++) {
		nand_policy policy{};
		policy.power_cut_op = boot % 5 ? 1 + dice() % 400 : 0;
		policy.cut_before = dice() % 2;
		SCOPED_TRACE(testing::Message() << "boot " << boot << " cut " << policy.power_cut_op);
		ASSERT_TRUE(rig.boot(policy)) << rig.error;
		driver.check_recovered();
		ASSERT_FALSE(HasFailure());
		for (int batch = 0; batch < 60 && driver.run_batch(driver.random_batch()); batch++) {
			ASSERT_EQ(rig.check(), "") << "batch " << batch;
			ASSERT_FALSE(HasFailure());
		}
		ASSERT_FALSE(HasFailure());
	}
}
INSTANTIATE_TEST_SUITE_P(Seeds, PatchProperty, testing::Range(0, 14));
