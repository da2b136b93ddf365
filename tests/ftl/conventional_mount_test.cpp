// Mount of conventional zones with the map in flash: its reads are bounded, and its findings are those of a full scan.
// (Rig::Check compares every durable sector of every backing zone with the map.)
// SPDX-License-Identifier: BSD-3-Clause
#include "l2p_rig.hpp"
#include "inside.h"
#include "conventional_model.hpp"

using namespace ftl_rig;

namespace {

ConventionalOp w(uint32_t lba, uint32_t sectors, uint8_t flags = 0) { return {FTL_WRITE, lba, sectors, flags}; }

// A block namespace of four zones on nine; the log is small compared with it, so that most closed zones are older than any checkpoint.
hz_device_config wide_config(uint32_t pages_per_block)
{
	hz_device_config cfg = mapped_conventional_config(true);
	cfg.zones = 4;
	cfg.pages_per_block = pages_per_block;
	cfg.blocks_per_plane = cfg.slc_blocks_per_plane + 4 + 5 + 2;
	cfg.zone_size_sectors = 0;
	return cfg;
}

uint64_t count_reads(const Rig &rig, uint32_t first, uint32_t end)
{
	uint64_t reads = 0;
	for (uint32_t plane = 0; plane < rig.shape.planes; plane++)
		for (uint32_t b = first; b < end; b++)
			reads += rig.media.blocks[plane * rig.cfg.blocks_per_plane + b].read_count;
	return reads;
}

// Reads of normal blocks since their last erase: data and OOB of backing zones.
uint64_t count_reads(const Rig &rig) { return count_reads(rig, rig.cfg.slc_blocks_per_plane, rig.cfg.blocks_per_plane); }

// Of SLC blocks: table pages, and staged sectors.
uint64_t count_slc_reads(const Rig &rig) { return count_reads(rig, 0, rig.cfg.slc_blocks_per_plane); }

// Boots, and returns its reads of normal blocks.
uint64_t mount_reads(Rig &rig, nand_policy policy = {})
{
	uint64_t before = count_reads(rig);
	EXPECT_TRUE(rig.boot(policy)) << rig.error;
	return count_reads(rig) - before;
}

// Heads and tails of superblocks, and one look at the end of each backing zone.
uint64_t fixed_reads(const Rig &rig) { return rig.shape.normal_superblocks * (2 + 2 * rig.shape.superblock_planes); }

uint64_t full_scan_reads(const Rig &rig) { return rig.shape.namespace_sectors / rig.shape.unit_sectors; }

uint32_t spoil(Rig &device, uint8_t kind, std::mt19937_64 &dice)
{
	uint32_t spoilt = 0;
	for (uint64_t i = 0; i < rig::count_records(device.media); i++)
		if (device.media.oob[i].kind == kind && dice() % 3 == 0) {
			rig::flip_data(device.media, i, static_cast<uint32_t>(dice() % 32768));
			spoilt++;
		}
	return spoilt;
}

void overwrite(ConventionalDriver &driver, int batches)
{
	for (int i = 0; i < batches; i++)
		ASSERT_TRUE(driver.run_batch(driver.random_batch()));
}

void overwrite_and_rest(Rig &rig, ConventionalDriver &driver)
{
	ASSERT_TRUE(rig.boot()) << rig.error;
	driver.fill(96);
	overwrite(driver, 30);
	ASSERT_EQ(rig.shut_down_cleanly(), 0);
}

} // namespace

// Zones four times as large take no more reads to mount: neither filled once, nor after overwriting all over the place.
TEST(BoundedMount, ReadsDoNotGrowWithClosedData)
{
	for (uint32_t pages : {96u, 384u}) {
		Rig rig(wide_config(pages));
		ASSERT_TRUE(rig.boot()) << rig.error;
		ConventionalDriver driver(rig, 1);
		uint64_t most = fixed_reads(rig) + 4 * rig.cfg.l2p_log_entries / rig.shape.unit_sectors;
		driver.fill(96);
		for (int round = 0; round < 3; round++) {
			uint64_t reads = mount_reads(rig);
			EXPECT_LE(reads, most) << pages << " pages, round " << round;
			EXPECT_LT(most, fixed_reads(rig) + full_scan_reads(rig) / 2);
			driver.check_recovered();
			ASSERT_FALSE(HasFailure());
			overwrite(driver, 60);
		}
	}
}

// With two maps in one device mount believes both: zones are complete by their log, and table pages have the conventional sectors.
TEST(BoundedMount, BothMapsOfADeviceAreBelieved)
{
	hz_device_config cfg = wide_config(384);
	cfg.namespace_kind = HZ_NS_ZONED;
	cfg.conventional_zones = 2;
	cfg.l2p_kind = HZ_L2P_KIND_ZONE;
	cfg.l2p_zone_log = 1;
	fit_slc(cfg);
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot()) << rig.error;
	const auto capacity = static_cast<uint32_t>(rig.shape.zone_capacity_sectors);
	ConventionalDriver driver(rig, 1);
	driver.fill(96);
	for (uint32_t zone : {2, 3})
		for (uint32_t at = 0; at < capacity; at += 96)
			ASSERT_EQ(rig.write(zone, at, 96, 1 + at), 0);
	overwrite(driver, 60);
	const uint64_t most = fixed_reads(rig) + 4 * rig.cfg.l2p_log_entries / rig.shape.unit_sectors;
	EXPECT_LE(mount_reads(rig), most);
	EXPECT_LT(most, fixed_reads(rig) + capacity / rig.shape.unit_sectors) << "those of one zone";
	driver.check_recovered();
	for (uint32_t zone : {2, 3})
		for (uint32_t at = 0; at < capacity; at += 96)
			ASSERT_EQ(rig.compare(zone, at, 96, 1 + at), "");
	const uint64_t known = mount_reads(rig);
	rig.cfg.l2p_kind = HZ_L2P_KIND_SECTOR; // the ends of the two zones are read, too
	EXPECT_GE(mount_reads(rig), known + 2 * rig.shape.superblock_planes);
}

// The check at the end of a run reads a table page once for all its LBAs: a device with millions of them would not end.
TEST(BoundedCheck, ReadsTablePagesOnce)
{
	Rig rig(wide_config(384));
	ASSERT_TRUE(rig.boot()) << rig.error;
	ConventionalDriver driver(rig, 1);
	driver.fill(96);
	const uint64_t before = count_slc_reads(rig);
	EXPECT_EQ(ftl_check(rig.ftl), nullptr);
	const uint64_t reads = count_slc_reads(rig) - before;
	EXPECT_GT(reads, 0u);
	EXPECT_LT(reads, rig.shape.namespace_sectors / 8);
}

// A few sectors overwritten for ever never fill the log, but they move its end on.
TEST(BoundedMount, HotSectorsMoveTheCheckpointOn)
{
	Rig rig(wide_config(96));
	ASSERT_TRUE(rig.boot()) << rig.error;
	ConventionalDriver driver(rig, 2);
	driver.fill(96);
	for (int i = 0; i < 120; i++)
		ASSERT_TRUE(driver.run_batch({w(40, 30)}));
	EXPECT_LE(mount_reads(rig), fixed_reads(rig) + 6 * rig.cfg.l2p_log_entries / rig.shape.unit_sectors);
	driver.check_recovered();
}

// A full device, random overwrites, cuts and mounts in a chain: each mount is bounded and finds the truth.
class BoundedMountCuts : public testing::TestWithParam<int> {};

TEST_P(BoundedMountCuts, EveryMountIsBoundedAndRight)
{
	uint64_t seed = GetParam();
	std::mt19937_64 dice(seed);
	hz_device_config cfg = wide_config(96);
	cfg.conventional_gc = static_cast<uint32_t>(dice() % HZ_GC_POLICIES);
	cfg.conventional_buffers = 1 + dice() % 3;
	cfg.flush_unit_planes = dice() % 2 ? 2 : 1;
	cfg.slc_program_sectors = dice() % 2 ? 2 : 1;
	cfg.l2p_log_policy = dice() % 2 ? HZ_L2P_LOG_BLOCKING : HZ_L2P_LOG_BACKGROUND;
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot()) << rig.error;
	ConventionalDriver driver(rig, seed);
	driver.fill(96);
	overwrite(driver, 20);
	for (int boot = 0; boot < 10; boot++) {
		nand_policy policy{};
		policy.power_cut_op = 1 + dice() % 400;
		policy.cut_before = dice() % 2;
		SCOPED_TRACE(testing::Message() << "boot " << boot << " cut " << policy.power_cut_op);
		EXPECT_LE(mount_reads(rig, policy), fixed_reads(rig) + 6 * cfg.l2p_log_entries / rig.shape.unit_sectors);
		driver.check_recovered();
		ASSERT_FALSE(HasFailure());
		while (driver.run_batch(driver.random_batch()))
			ASSERT_FALSE(HasFailure());
		ASSERT_FALSE(HasFailure());
	}
}
INSTANTIATE_TEST_SUITE_P(Seeds, BoundedMountCuts, testing::Range(1, 6));

// Unreadable copies and checkpoints, with any older ones left: a slow mount, but a right one. An older checkpoint alone is no reason for
// that.
TEST(BoundedMount, LostTablePagesAndCheckpointsAreNotMissed)
{
	uint64_t fast = 0;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		SCOPED_TRACE(testing::Message() << "seed " << seed);
		std::mt19937_64 dice(seed);
		Rig rig(wide_config(96));
		ASSERT_TRUE(rig.boot()) << rig.error;
		ConventionalDriver driver(rig, seed);
		driver.fill(96);
		overwrite(driver, 30);
		driver.run_batch({{FTL_FLUSH, 0, 0}});
		for (int round = 0; round < 2; round++) {
			bool pages = seed % 2;
			ASSERT_GT(spoil(rig, pages ? HZ_OOB_MAP : HZ_OOB_CHECKPOINT, dice) + round, 0u);
			fast += mount_reads(rig) < fixed_reads(rig) + full_scan_reads(rig) / 2 && !pages;
			driver.check_recovered();
			ASSERT_FALSE(HasFailure());
			overwrite(driver, 8);
			driver.run_batch({{FTL_FLUSH, 0, 0}});
		}
	}
	EXPECT_GT(fast, 2u);
}

// The newest copy of each page in turn, with an older one that could be taken for it.
TEST(BoundedMount, AnOldCopyIsNotTakenForTheNewest)
{
	for (uint32_t page = 0; page < 4; page++) {
		Rig rig(wide_config(96));
		ConventionalDriver driver(rig, page);
		ASSERT_NO_FATAL_FAILURE(overwrite_and_rest(rig, driver));
		ASSERT_EQ(spoil_table_page(rig, page), 1u);
		ASSERT_TRUE(rig.boot()) << rig.error;
		driver.check_recovered();
		ASSERT_FALSE(HasFailure());
	}
}

// All copies of a page are gone: a checkpoint knows that there was one.
TEST(BoundedMount, APageWithoutAnyCopyIsMissed)
{
	for (uint32_t page = 0; page < 4; page++) {
		Rig rig(wide_config(96));
		ConventionalDriver driver(rig, page);
		ASSERT_NO_FATAL_FAILURE(overwrite_and_rest(rig, driver));
		uint32_t lost = 0;
		for (uint64_t i = 0; i < rig::count_records(rig.media); i++)
			if (rig.media.oob[i].kind == HZ_OOB_MAP && rig.media.oob[i].lpa == page) {
				rig::lose_record(rig.media, i);
				lost++;
			}
		ASSERT_GT(lost, 0u);
		ASSERT_TRUE(rig.boot()) << rig.error;
		driver.check_recovered();
		ASSERT_FALSE(HasFailure());
	}
}

// A boot with the map in RAM leaves the copies on flash to the collector; the next one with the map in flash finds the rest.
TEST(BoundedMount, ABootWithTheMapInRamIsNoHarm)
{
	hz_device_config cfg = wide_config(96);
	cfg.l2p_log_entries = 1024; // differing values must fit
	for (uint64_t seed = 1; seed <= 4; seed++) {
		Rig rig(cfg);
		ASSERT_TRUE(rig.boot()) << rig.error;
		ConventionalDriver driver(rig, seed);
		driver.fill(96);
		for (int boot = 0; boot < 6; boot++) {
			overwrite(driver, 2 + static_cast<int>(driver.roll(8)));
			rig.cfg.l2p_cache_bytes = boot % 2 ? cfg.l2p_cache_bytes : 0;
			ASSERT_TRUE(rig.boot()) << rig.error;
			driver.check_recovered();
			ASSERT_FALSE(HasFailure());
		}
	}
}

// Without a checkpoint the LBA of a sector with a lost record is unknown: it is counted.
TEST(ConventionalMount, WhatIsNotKnownIsCounted)
{
	Rig r(conventional_config());
	ASSERT_TRUE(r.boot()) << r.error;
	ConventionalDriver driver(r, 1);
	driver.fill(96);
	ASSERT_EQ(r.shut_down_cleanly(), 0);
	const uint32_t backing = r.shape.zones;
	uint32_t lost = 0;
	for (uint32_t at : {30, 31, 50}) {
		const uint64_t record = r.record_at(backing, at);
		ASSERT_NE(record, UINT64_MAX);
		rig::lose_record(r.media, record);
		lost++;
	}
	ASSERT_TRUE(r.boot()) << r.error;
	EXPECT_EQ(r.found_damage().unknown_sectors, lost);
	EXPECT_EQ(r.found_damage().lost_sectors, 0u);
	EXPECT_EQ(r.check(), "");
}

// An unwritable zone loses its buffer's data, and the map still has their places: mount must not trust it.
TEST(BoundedMount, PlacesThatWereLostAreNotBelieved)
{
	uint32_t refused = 0;
	for (uint64_t seed = 1; seed <= 3; seed++) {
		SCOPED_TRACE(testing::Message() << "seed " << seed);
		Rig rig(wide_config(96));
		ASSERT_TRUE(rig.boot());
		ConventionalDriver driver(rig, seed);
		driver.fill(96);
		overwrite(driver, 20);
		driver.run_batch({{FTL_FLUSH, 0, 0}});
		rig.cfg.seed = seed;
		rig.cfg.program_fail_ppb = 20000000;
		ASSERT_TRUE(rig.boot());
		driver.writes_may_fail = true;
		for (uint32_t lba = 0; lba < 3000 && !driver.refused; lba += 61)
			driver.run_batch({w(lba, 40)});
		rig.cfg.program_fail_ppb = 0;
		rig_merge_map(rig.ftl);
		lt_host_run_until_idle();
		refused += driver.refused;
		for (int boot = 0; boot < 2; boot++) {
			ASSERT_TRUE(rig.boot()) << rig.error;
			driver.check_recovered();
			ASSERT_FALSE(HasFailure());
		}
	}
	EXPECT_GT(refused, 0u);
}
