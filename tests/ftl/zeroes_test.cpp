// Write Zeroes: as long as a namespace, it lets other writes go first, and it can free its range.
// SPDX-License-Identifier: BSD-3-Clause
#include "conventional_model.hpp"

using namespace ftl_rig;

namespace {

// A write of one sector a little after a long write of zeros: the share of the zeros' time that is over when it has ended.
double share_waited(Rig &rig, uint64_t zeroes_at, uint32_t zeroes, uint64_t lba, uint8_t flags = 0)
{
	Request all(FTL_WRITE_ZEROES, zeroes_at, zeroes, flags), one(FTL_WRITE, lba, 1, flags);
	fill_sector(one.pages[0], 7);
	const uint64_t begin_ns = clock_now_ns();
	rig.submit(all);
	lt_host_run_until(begin_ns + 100000);
	rig.submit(one);
	lt_host_run_until_idle();
	EXPECT_TRUE(all.done && one.done);
	EXPECT_EQ(all.status(), NVME_SUCCESS);
	EXPECT_EQ(one.status(), NVME_SUCCESS);
	Request back(FTL_READ, lba, 1), zero(FTL_READ, zeroes_at, 1);
	EXPECT_EQ(rig.run(back), NVME_SUCCESS);
	EXPECT_EQ(rig.run(zero), NVME_SUCCESS);
	EXPECT_TRUE(sector_is(back.pages[0], 7));
	EXPECT_TRUE(sector_is(zero.pages[0], 0));
	EXPECT_EQ(rig.check(), "");
	return double(one.answered_ns - begin_ns) / double(all.answered_ns - begin_ns);
}

// Zones of 1,152 sectors with one shared buffer.
hz_device_config long_zones()
{
	hz_device_config cfg = ftl_config();
	cfg.pages_per_block *= 12;
	cfg.write_buffers = 1;
	return cfg;
}

uint16_t zeroes(Rig &rig, uint64_t lba, uint32_t sectors, uint8_t flags)
{
	Request request(FTL_WRITE_ZEROES, lba, sectors, flags);
	return rig.run(request);
}

} // namespace

TEST(Zeroes, OfAZoneLeaveTheBufferToOthers)
{
	Rig rig(long_zones());
	ASSERT_TRUE(rig.boot()) << rig.error;
	const auto zone = static_cast<uint32_t>(rig.shape.zone_capacity_sectors);
	ASSERT_GT(zone, 4u * HZ_MAX_TRANSFER_SECTORS);
	EXPECT_LT(share_waited(rig, 0, zone, rig.lba_of(1)), 0.4);
	EXPECT_LT(share_waited(rig, rig.lba_of(2), zone, rig.lba_of(1, 1), FTL_FUA), 0.4);
}

TEST(Zeroes, OfANamespaceLetWritesGoFirst)
{
	for (bool mapped : {false, true}) {
		Rig rig(mapped ? mapped_conventional_config(true) : conventional_config(true));
		ASSERT_TRUE(rig.boot()) << rig.error;
		const auto all = static_cast<uint32_t>(rig.shape.namespace_sectors) - 1;
		ASSERT_GT(all, 3u * HZ_MAX_TRANSFER_SECTORS);
		EXPECT_LT(share_waited(rig, 0, all, all), 0.7);
		EXPECT_LT(share_waited(rig, 0, all, all, FTL_FUA), 0.7);
	}
}

TEST(Zeroes, FreeConventionalSectors)
{
	for (bool mapped : {false, true}) {
		Rig rig(mapped ? mapped_conventional_config(true) : conventional_config(true));
		ASSERT_TRUE(rig.boot()) << rig.error;
		ConventionalDriver driver(rig, 1);
		driver.fill();
		const uint64_t writes = rig.counters().host_write_sectors;
		ASSERT_EQ(zeroes(rig, 50, 200, FTL_FREES | FTL_FUA), NVME_SUCCESS);
		EXPECT_EQ(rig.counters().deallocated_sectors, 200u);
		EXPECT_EQ(rig.counters().host_write_sectors, writes) << "nothing was written";
		for (uint32_t i = 50; i < 250; i++)
			driver.sectors[i].write(UINT64_MAX, 0);
		ASSERT_TRUE(rig.boot()) << rig.error;
		driver.verify_all();
		ASSERT_EQ(rig.check(), "");
	}
}

TEST(Zeroes, OfAZoneAreWrittenEvenIfTheyMayBeFreed)
{
	Rig rig(ftl_config());
	ASSERT_TRUE(rig.boot()) << rig.error;
	ASSERT_EQ(zeroes(rig, 0, 10, FTL_FREES), NVME_SUCCESS);
	EXPECT_EQ(zeroes(rig, 0, 10, FTL_FREES), NVME_ZONE_INVALID_WRITE) << "the write pointer has moved on";
	ASSERT_EQ(rig.write(0, 10, 1, 5), NVME_SUCCESS);
	EXPECT_EQ(rig.compare(0, 0, 10, 0), "");
}

TEST(Zeroes, FreedOrNotTheirRangeIsChecked)
{
	Rig rig(conventional_config());
	ASSERT_TRUE(rig.boot()) << rig.error;
	for (uint8_t flags : {0, int(FTL_FREES)})
		EXPECT_EQ(zeroes(rig, rig.lba_of(4) - 1, 2, flags), NVME_ZONE_BOUNDARY) << "conventional and sequential";
}
