// Zones on a part of the planes: their dies, the speed of one zone, and that an image keeps to it.
// SPDX-License-Identifier: BSD-3-Clause
#include <set>

#include "ftl_rig.hpp"

using namespace ftl_rig;

namespace {

// Four dies of a plane each; zones of 96 sectors on `planes` of them.
hz_device_config four_dies(uint32_t planes)
{
	hz_device_config cfg = ftl_config();
	cfg.channels = 4;
	cfg.planes_per_die = 1;
	cfg.write_buffers = 4;
	use_planes(cfg, planes);
	return cfg;
}

std::set<uint32_t> dies_of(Rig &rig, uint32_t zone)
{
	std::set<uint32_t> dies;
	for (uint32_t at = 0; at < rig.shape.zone_capacity_sectors; at++)
		dies.insert(flash_addr_of(&rig.map, rig_place_of(rig.ftl, zone, at)).die_index);
	return dies;
}

// Device time until that many whole zones, written side by side, are durable.
uint64_t write_zones_ns(uint32_t planes, uint32_t zones)
{
	Rig rig(four_dies(planes));
	EXPECT_TRUE(rig.boot()) << rig.error;
	std::deque<Request> writes;
	const uint64_t begin = clock_now_ns();
	for (uint32_t zone = 0; zone < zones; zone++)
		rig.submit(writes.emplace_back(FTL_WRITE, rig.lba_of(zone), 96, FTL_FUA));
	lt_host_run_until_idle();
	uint64_t end = begin;
	for (const Request &write : writes) {
		EXPECT_TRUE(write.done && write.status() == 0);
		end = std::max(end, write.done_ns);
	}
	return end - begin;
}

} // namespace

TEST(NarrowZones, OneAfterTheOtherUseDifferentDies)
{
	for (uint32_t planes : {1u, 2u}) {
		Rig rig(four_dies(planes));
		const uint32_t groups = 4 / planes;
		std::set<uint32_t> together;
		ASSERT_TRUE(rig.boot()) << rig.error;
		for (uint32_t zone = 0; zone < groups; zone++) {
			ASSERT_EQ(rig.write(zone, 0, 96, 1 + 1000 * zone), 0);
			const std::set<uint32_t> dies = dies_of(rig, zone);
			EXPECT_EQ(dies.size(), planes);
			together.insert(dies.begin(), dies.end());
		}
		EXPECT_EQ(together.size(), 4u) << "no two zones share a die";
		EXPECT_EQ(rig.compare(groups - 1, 0, 96, 1 + 1000 * (groups - 1)), "");
	}
}

// A zone has the programs of its planes one after the other: 16 units of 937.5 us on one, two, four dies. Zones on other dies do not care.
TEST(NarrowZones, HaveTheBandwidthOfTheirPlanes)
{
	constexpr uint64_t program_ns = 937500, units = 16;
	for (uint32_t planes : {1u, 2u, 4u}) {
		const uint64_t least = units / planes * program_ns, alone = write_zones_ns(planes, 1);
		EXPECT_GE(alone, least) << planes;
		EXPECT_LT(alone, least + least / 4) << planes;
		if (planes < 4) {
			EXPECT_LT(write_zones_ns(planes, 4 / planes), alone + alone / 4) << "side by side on " << planes;
		}
	}
	EXPECT_GT(write_zones_ns(4, 2), 2 * (units / 4) * program_ns) << "these share all dies";
}

TEST(NarrowZones, AreErasedOnTheirPlanesOnly)
{
	Rig rig(four_dies(2));
	ASSERT_TRUE(rig.boot()) << rig.error;
	ASSERT_EQ(rig.write(0, 0, 96, 1), 0);
	ASSERT_EQ(rig.run_op(FTL_ZONE_RESET, 0), 0);
	hz_log_flash log;
	tsu_report(rig.tsu, &log);
	EXPECT_EQ(log.erases[HZ_CAUSE_HOST], 2u);
	EXPECT_EQ(rig.check(), "");
}

TEST(NarrowZones, AnImageKeepsItsPlanes)
{
	Rig rig(four_dies(2));
	ASSERT_TRUE(rig.boot()) << rig.error;
	rig.cfg.superblock_planes = 4;
	rig.cfg.blocks_per_plane = rig.cfg.slc_blocks_per_plane + 5;
	EXPECT_FALSE(rig.start());
	EXPECT_NE(std::string(rig.error).find("superblock_planes 2, but the device config says 0"), std::string::npos) << rig.error;
	Rig all(four_dies(4));
	for (uint32_t planes : {0u, 4u, 0u}) {
		all.cfg.superblock_planes = planes;
		EXPECT_TRUE(all.start()) << "0 is all planes: " << all.error;
	}
}
