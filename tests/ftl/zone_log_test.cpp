// The zone mapping log: its savings at a mount after a power cut, and that its pages are trusted only while they are true.
// SPDX-License-Identifier: BSD-3-Clause
#include "model.hpp"

using namespace ftl_rig;

namespace {

hz_device_config zone_map(uint32_t changes)
{
	hz_device_config cfg = ftl_config();
	cfg.l2p_kind = HZ_L2P_KIND_ZONE;
	cfg.l2p_zone_log = changes;
	return cfg;
}

void fill(Rig &rig, uint32_t zone, uint64_t tag)
{
	EXPECT_EQ(rig.write(zone, 0, static_cast<uint32_t>(rig.shape.zone_capacity_sectors), tag), 0);
}

// Device time of a mount after a power cut, with all zones full.
uint64_t mount_ns(const hz_device_config &cfg)
{
	Rig rig(cfg);
	EXPECT_TRUE(rig.boot()) << rig.error;
	for (uint32_t zone = 0; zone < rig.shape.zones; zone++)
		fill(rig, zone, 1000 * (zone + 1));
	EXPECT_TRUE(rig.start()) << rig.error;
	const uint64_t took = clock_now_ns();
	lt_host_run_until_idle();
	EXPECT_EQ(rig.check(), "");
	for (uint32_t zone = 0; zone < rig.shape.zones; zone++)
		EXPECT_EQ(rig.compare(zone, 0, static_cast<uint32_t>(rig.shape.zone_capacity_sectors), 1000 * (zone + 1)), "") << zone;
	return took;
}

} // namespace

TEST(ZoneLog, ZonesThatItKnowsAreNotReadAtMount)
{
	hz_device_config sectors = ftl_config();
	const uint64_t all_read = mount_ns(sectors);
	EXPECT_LT(mount_ns(zone_map(16)), all_read * 2 / 3);
	EXPECT_GT(mount_ns(zone_map(170)), all_read * 9 / 10) << "nothing was written of the log: 16 changes are in RAM";
}

// A zone was complete, as in its log page. Then it was reset, got the same superblock again, and little of it was written: the log has
// nothing of that yet.
TEST(ZoneLog, WhatWasErasedSinceIsNotBelieved)
{
	hz_device_config cfg = zone_map(1);
	cfg.spare_superblocks = 0;
	cfg.blocks_per_plane -= 2; // as many superblocks as zones
	cfg.l2p_zone_log = 2 * (cfg.blocks_per_plane - cfg.slc_blocks_per_plane);
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot()) << rig.error;
	for (uint32_t zone = 0; zone < rig.shape.zones; zone++)
		fill(rig, zone, 1000);
	ASSERT_EQ(rig.counters().l2p_flushes, 1u) << "a zone's begin and its end, of each";
	ASSERT_EQ(rig.run_op(FTL_ZONE_RESET, 0), 0);
	ASSERT_EQ(rig.write(0, 0, rig.shape.unit_sectors, 7, FTL_FUA), 0);
	ASSERT_EQ(rig.counters().l2p_flushes, 1u);
	ASSERT_TRUE(rig.boot()) << rig.error;
	EXPECT_EQ(rig.check(), "");
	EXPECT_EQ(rig.compare(0, 0, rig.shape.unit_sectors, 7), "");
	EXPECT_EQ(rig.write(0, rig.shape.unit_sectors, 1, 8), 0) << "the zone goes on where it was";
	EXPECT_EQ(rig.compare(1, 0, 8, 1000), "");
}

// Zones are filled, reset and filled again, and the device boots now and then: the log goes round, and tables replace it.
TEST(ZoneLog, CheckpointsReplaceLogPages)
{
	Rig rig(zone_map(1));
	ASSERT_TRUE(rig.boot()) << rig.error;
	for (uint32_t round = 0; round < 12; round++) {
		const uint32_t zone = round % rig.shape.zones;
		if (round >= rig.shape.zones) {
			ASSERT_EQ(rig.run_op(FTL_ZONE_RESET, zone), 0);
		}
		fill(rig, zone, 100 + round);
		ASSERT_EQ(rig.check(), "");
		if (round % 5 == 4) {
			ASSERT_GT(rig.counters().l2p_table_pages_written, 0u) << "eight log pages are used up";
			ASSERT_TRUE(rig.boot()) << rig.error;
			ASSERT_EQ(rig.check(), "");
		}
		ASSERT_EQ(rig.compare(zone, 0, static_cast<uint32_t>(rig.shape.zone_capacity_sectors), 100 + round), "");
	}
}
