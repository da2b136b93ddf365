// Device time that mount takes: that of its reads, none without any.
// SPDX-License-Identifier: BSD-3-Clause
#include "conventional_model.hpp"
#include "l2p_rig.hpp"
#include "mount_report.h"

using namespace ftl_rig;

namespace {

constexpr uint64_t boot_ns = 1000; // of every boot's clock

// Boots, and returns the time of the mount; its deferred work is done afterwards.
uint64_t mount_ns(Rig &rig)
{
	EXPECT_TRUE(rig.start()) << rig.error;
	uint64_t took = clock_now_ns() - boot_ns;
	lt_host_run_until_idle();
	return took;
}

// Fills `zones` zones with whole superpages and switches the device off: in order, or not.
uint64_t mount_ns_after(const hz_device_config &cfg, uint32_t zones, bool orderly)
{
	Rig rig(cfg);
	EXPECT_EQ(mount_ns(rig), 0u) << "an empty image needs no reads";
	for (uint32_t zone = 0; zone < zones; zone++)
		EXPECT_EQ(rig.write(zone, 0, static_cast<uint32_t>(rig.shape.zone_capacity_sectors), 1000 * (zone + 1)), 0);
	if (orderly) {
		EXPECT_EQ(rig.shut_down_cleanly(), 0);
	}
	uint64_t took = mount_ns(rig);
	EXPECT_EQ(rig.check(), "");
	EXPECT_EQ(zones ? rig.compare(0, 0, 8, 1000) : "", "");
	return took;
}

} // namespace

TEST(MountTime, ADeviceThatWasNeverWrittenTakesNone)
{
	Rig rig(ftl_config());
	for (int boot = 0; boot < 3; boot++)
		EXPECT_EQ(mount_ns(rig), 0u);
}

TEST(MountTime, GrowsWithWhatIsWrittenAndIsTheSameEachTime)
{
	uint64_t before = 0;
	for (uint32_t zones = 1; zones <= 5; zones++) {
		uint64_t took = mount_ns_after(ftl_config(), zones, false);
		EXPECT_GT(took, before) << zones;
		EXPECT_EQ(took, mount_ns_after(ftl_config(), zones, false));
		before = took;
	}
}

// After a shutdown the records have all addresses; after a cut the superblocks are scanned.
TEST(MountTime, IsLongerAfterAPowerCut)
{
	for (uint32_t zones : {3u, 5u})
		EXPECT_GT(mount_ns_after(ftl_config(), zones, false), mount_ns_after(ftl_config(), zones, true)) << zones;
}

// With any die as the last to answer the findings are the same.
TEST(MountTime, TheOrderInWhichDiesAnswerChangesNothing)
{
	std::vector<nvme_zone_descriptor> zones;
	for (uint32_t slow = 0; slow <= 2; slow++) {
		hz_device_config cfg = ftl_config();
		Rig rig(cfg);
		ASSERT_TRUE(rig.boot()) << rig.error;
		for (uint32_t zone = 0; zone < 4; zone++)
			ASSERT_EQ(rig.write(zone, 0, 17 + 19 * zone, 1000 * (zone + 1), FTL_FUA), 0);
		rig.cfg.slow_die = slow;
		rig.cfg.slow_percent = 1000;
		ASSERT_TRUE(rig.boot()) << rig.error;
		for (uint32_t zone = 0; zone < 4; zone++)
			EXPECT_EQ(rig.compare(zone, 0, 17 + 19 * zone, 1000 * (zone + 1)), "") << zone;
		if (zones.empty())
			zones = rig.report_zones();
		const auto found = rig.report_zones();
		EXPECT_EQ(std::memcmp(found.data(), zones.data(), zones.size() * sizeof(zones[0])), 0) << slow;
		EXPECT_EQ(rig.check(), "");
	}
}

// With the map in RAM a mount reads the OOB records of all sectors of conventional zones.
TEST(MountTime, GrowsWithConventionalData)
{
	uint64_t before = 0;
	for (uint32_t quarters = 1; quarters <= 4; quarters++) {
		Rig rig(conventional_config(true));
		EXPECT_EQ(mount_ns(rig), 0u);
		ConventionalDriver driver(rig, 1);
		for (uint32_t at = 0, end = driver.sector_count() * quarters / 4; at < end; at += 96)
			ASSERT_TRUE(driver.run_batch({{FTL_WRITE, at, std::min(96u, end - at)}}));
		EXPECT_EQ(rig.shut_down_cleanly(), 0);
		uint64_t took = mount_ns(rig);
		EXPECT_GT(took, before) << quarters;
		before = took;
		driver.check_recovered();
	}
}

// Mount has lists of staged addresses for a limited number of zones at a time. More zones take further walks over the pages with staged
// sectors, and are found as well: with the map in flash, too.
TEST(MountLists, ZonesWithoutOneAreLookedAtLater)
{
	for (bool in_flash : {false, true}) {
		hz_device_config cfg = in_flash ? map_config() : ftl_config();
		cfg.max_open = cfg.max_active = 0;
		cfg.slc_blocks_per_plane = 40;
		cfg.blocks_per_plane = 40 + 100 + 2;
		cfg.zones = 100;
		Rig rig(cfg);
		ASSERT_TRUE(rig.boot()) << rig.error;
		uint64_t pages[2];
		for (uint32_t zones : {20u, 100u}) {
			for (uint32_t zone = 0; zone < zones; zone++)
				ASSERT_EQ(rig.run_op(FTL_ZONE_RESET, zone), 0);
			for (uint32_t at = 0; at < 5; at++) // one sector of each in turn: no two neighbours lie together
				for (uint32_t zone = 0; zone < zones; zone++)
					ASSERT_EQ(rig.write(zone, at, 1, 100 * zone + at + 1, FTL_FUA), 0);
			ASSERT_TRUE(rig.boot()) << rig.error;
			pages[zones == 100] = ftl_mount_report(rig.ftl)->step[HZ_MOUNT_STAGED].pages;
			for (uint32_t zone = 0; zone < zones; zone++)
				ASSERT_EQ(rig.compare(zone, 0, 5, 100 * zone + 1), "") << zone;
			ASSERT_EQ(rig.check(), "");
		}
		EXPECT_GT(pages[1], pages[0]);
		for (uint32_t zone = 0; zone < 100; zone++) // the found data can be continued
			ASSERT_EQ(rig.write(zone, 5, 10, 100 * zone + 6, FTL_FUA), 0);
		for (uint32_t zone = 0; zone < 100; zone++)
			ASSERT_EQ(rig.compare(zone, 0, 15, 100 * zone + 1), "") << zone;
		EXPECT_EQ(rig.check(), "");
	}
}
