// Zones move to another superblock because many reads came from theirs, because their data are old, or because their superblock is young;
// with any events meanwhile, written data are there.
// SPDX-License-Identifier: BSD-3-Clause
#include "conventional_model.hpp"
#include "model.hpp"

using namespace ftl_rig;

struct Layout {
	const char *name;
	void (*change)(hz_device_config &);
};

static void put_map_in_flash(hz_device_config &cfg)
{
	cfg.slc_blocks_per_plane++;
	cfg.blocks_per_plane++;
	cfg.l2p_cache_bytes = 16 * HZ_MAP_ENTRY_BYTES;
	cfg.l2p_levels = HZ_MAP_ZONE;
	cfg.l2p_chunk_sectors = 16;
	cfg.l2p_log_entries = 256;
}
static void patch(hz_device_config &cfg)
{
	cfg.zone_capacity_sectors = 110;
	cfg.zone_size_sectors = 128;
	cfg.slc_blocks_per_plane += 11;
	cfg.blocks_per_plane += 11;
}

static const Layout layouts[] = {
	{"MapInRam", [](hz_device_config &) {}},
	{"MapInFlash", put_map_in_flash},
	{"MapOfZones", [](hz_device_config &cfg) { cfg.l2p_kind = HZ_L2P_KIND_ZONE; }},
	{"Patched", [](hz_device_config &cfg) { put_map_in_flash(cfg), patch(cfg); }},
	{"TwoPlanes", [](hz_device_config &cfg) { use_planes(cfg, 2); }},
};

class Refresh : public testing::TestWithParam<Layout> {
protected:
	static hz_device_config refreshing()
	{
		hz_device_config cfg = ftl_config();
		GetParam().change(cfg);
		cfg.refresh_reads = 12;
		return cfg;
	}
	static uint32_t capacity(const Rig &r) { return static_cast<uint32_t>(r.shape.zone_capacity_sectors); }
	static void fill(Rig &r, uint32_t zone, uint64_t tag) { ASSERT_EQ(r.write(zone, 0, capacity(r), tag), 0); }
	static void read_often(Rig &r, uint32_t zone, uint32_t offset, uint64_t tag, uint32_t times = 12)
	{
		for (uint32_t i = 0; i < times; i++)
			ASSERT_EQ(r.compare(zone, offset, 1, tag + offset), "") << "read " << i;
	}
};
INSTANTIATE_TEST_SUITE_P(Layouts, Refresh, testing::ValuesIn(layouts), [](const auto &test) { return test.param.name; });

TEST_P(Refresh, ManyReadsMoveAFullZone)
{
	Rig r(refreshing());
	ASSERT_TRUE(r.boot()) << r.error;
	fill(r, 1, 100);
	const uint64_t before = r.record_at(1, 5);
	read_often(r, 1, 5, 100, 11);
	lt_host_run_until_idle();
	EXPECT_EQ(r.counters().refreshed_reads, 0u);
	EXPECT_EQ(r.record_at(1, 5), before);
	read_often(r, 1, 5, 100, 1);
	lt_host_run_until_idle();
	EXPECT_EQ(r.counters().refreshed_reads, 1u);
	EXPECT_NE(r.record_at(1, 5), before) << "another superblock";
	EXPECT_EQ(r.counters().refreshed_sectors, std::min(r.shape.superblock_sectors, capacity(r)));
	EXPECT_EQ(r.check(), "");
	read_often(r, 1, 7, 100, 11);
	EXPECT_EQ(r.counters().refreshed_reads, 1u) << "its reads count from the move on";
	read_often(r, 1, 7, 100, 1);
	EXPECT_EQ(r.counters().refreshed_reads, 2u);
	EXPECT_EQ(r.compare(1, 0, capacity(r), 100), "");
	EXPECT_EQ(r.check(), "");
	ASSERT_TRUE(r.boot()) << r.error;
	EXPECT_EQ(r.compare(1, 0, capacity(r), 100), "");
	EXPECT_EQ(r.run_op(FTL_ZONE_RESET, 1), 0);
	EXPECT_EQ(r.check(), "");
}

TEST_P(Refresh, APatchMovesByItself)
{
	Rig r(refreshing());
	if (!r.shape.patch_sectors)
		GTEST_SKIP() << "no patches";
	ASSERT_TRUE(r.boot()) << r.error;
	fill(r, 1, 100);
	const uint64_t body = r.record_at(1, 5), patch = r.record_at(1, 100);
	read_often(r, 1, 100, 100);
	lt_host_run_until_idle();
	EXPECT_EQ(r.record_at(1, 5), body);
	EXPECT_NE(r.record_at(1, 100), patch);
	EXPECT_EQ(r.counters().refreshed_sectors, r.shape.patch_sectors);
	EXPECT_EQ(r.compare(1, 0, capacity(r), 100), "");
	ASSERT_TRUE(r.boot()) << r.error;
	EXPECT_EQ(r.compare(1, 0, capacity(r), 100), "");
	EXPECT_EQ(r.check(), "");
}

TEST_P(Refresh, OffItMovesNothing)
{
	hz_device_config cfg = refreshing();
	cfg.refresh_reads = 0;
	Rig r(cfg);
	ASSERT_TRUE(r.boot()) << r.error;
	fill(r, 1, 100);
	read_often(r, 1, 5, 100, 100);
	lt_host_run_until_idle();
	EXPECT_EQ(r.counters().refreshed_reads, 0u);
}

// Reads of a moving zone, at all places, concurrent with its steps.
TEST_P(Refresh, ReadsGoOnWhileAZoneMoves)
{
	Rig r(refreshing());
	ASSERT_TRUE(r.boot()) << r.error;
	fill(r, 1, 100);
	fill(r, 2, 1000);
	std::deque<Request> reads;
	for (uint32_t i = 0; i < 600; i++) {
		r.submit(reads.emplace_back(FTL_READ, r.lba_of(1 + i % 2, i * 7 % capacity(r)), 1), i % r.cfg.worker_count);
		lt_host_run_until(clock_now_ns() + 30000);
	}
	lt_host_run_until_idle();
	for (uint32_t i = 0; i < reads.size(); i++) {
		ASSERT_TRUE(reads[i].done) << i;
		ASSERT_EQ(reads[i].status(), 0) << i;
		ASSERT_TRUE(sector_is(reads[i].pages[0], (i % 2 ? 1000 : 100) + i * 7 % capacity(r))) << i;
	}
	EXPECT_GT(r.counters().refreshed_reads, 1u);
	EXPECT_EQ(r.compare(1, 0, capacity(r), 100), "");
	EXPECT_EQ(r.check(), "");
}

TEST_P(Refresh, AResetEndsTheMove)
{
	Rig r(refreshing());
	ASSERT_TRUE(r.boot()) << r.error;
	fill(r, 1, 100);
	read_often(r, 1, 0, 100, 11);
	Request last(FTL_READ, r.lba_of(1), 1), reset(FTL_ZONE_RESET, r.lba_of(1), 0);
	r.submit(last);
	lt_host_run_until(clock_now_ns() + 1500000); // a row or two have come to the new superblock
	ASSERT_TRUE(last.done);
	EXPECT_GT(r.counters().refreshed_sectors, 0u);
	r.submit(reset);
	lt_host_run_until_idle();
	ASSERT_EQ(reset.status(), 0);
	EXPECT_EQ(r.counters().refreshed_reads, 0u);
	EXPECT_LT(r.counters().refreshed_sectors, 96u) << "it did not go on to the end";
	EXPECT_EQ(r.check(), "");
	fill(r, 1, 500);
	EXPECT_EQ(r.compare(1, 0, capacity(r), 500), "");
	EXPECT_EQ(r.check(), "");
}

// The copy fails: the zone stays in place and unchanged, and its readable sectors stay readable.
TEST_P(Refresh, AZoneWithALostSectorStays)
{
	Rig r(refreshing());
	ASSERT_TRUE(r.boot()) << r.error;
	fill(r, 1, 100);
	const uint64_t before = r.record_at(1, 5);
	rig::flip_data(r.media, r.record_at(1, 50));
	read_often(r, 1, 5, 100);
	lt_host_run_until_idle();
	EXPECT_EQ(r.counters().refresh_failures, 1u);
	EXPECT_EQ(r.counters().refreshed_reads, 0u);
	EXPECT_EQ(r.record_at(1, 5), before);
	EXPECT_EQ(r.zone_state(1), NVME_ZS_FULL);
	EXPECT_EQ(r.compare(1, 0, 48, 100), "");
	EXPECT_EQ(r.check(), "");
	EXPECT_EQ(r.run_op(FTL_ZONE_RESET, 1), 0);
	fill(r, 1, 500);
	read_often(r, 1, 5, 500);
	lt_host_run_until_idle();
	EXPECT_EQ(r.counters().refreshed_reads, 1u);
	EXPECT_EQ(r.check(), "");
}

// After that time on the shelf all full zones move, one after the other; the next start finds nothing to do.
TEST_P(Refresh, OldDataMoveAfterAStart)
{
	hz_device_config cfg = refreshing();
	cfg.refresh_reads = 0;
	cfg.refresh_hours = 500;
	Rig r(cfg);
	ASSERT_TRUE(r.boot()) << r.error;
	const uint32_t zones = r.shape.zones;
	for (uint32_t z = 0; z < zones; z++)
		fill(r, z, 1000 * (z + 1));
	ASSERT_EQ(r.shut_down_cleanly(), 0);
	r.cfg.shelf_hours = 499;
	ASSERT_TRUE(r.boot()) << r.error;
	lt_host_run_until_idle();
	EXPECT_EQ(r.counters().refreshed_age, 0u);
	ASSERT_EQ(r.shut_down_cleanly(), 0);
	r.cfg.shelf_hours = 501;
	ASSERT_TRUE(r.boot()) << r.error;
	lt_host_run_until_idle();
	EXPECT_EQ(r.counters().refreshed_age, zones);
	for (uint32_t z = 0; z < zones; z++)
		EXPECT_EQ(r.compare(z, 0, capacity(r), 1000 * (z + 1)), "");
	EXPECT_EQ(r.check(), "");
	ASSERT_EQ(r.shut_down_cleanly(), 0);
	r.cfg.shelf_hours = 1;
	ASSERT_TRUE(r.boot()) << r.error;
	lt_host_run_until_idle();
	EXPECT_LE(r.counters().refreshed_age, r.shape.patch_sectors ? zones : 0) << "a patch is as old as it was";
	for (uint32_t z = 0; z < zones; z++)
		EXPECT_EQ(r.compare(z, 0, capacity(r), 1000 * (z + 1)), "");
}

// An orderly shutdown in the midst of many moves ends the one under way and begins no other.
TEST_P(Refresh, AShutdownWaitsForOneMoveOnly)
{
	hz_device_config cfg = refreshing();
	cfg.refresh_hours = 10;
	Rig r(cfg);
	ASSERT_TRUE(r.boot()) << r.error;
	for (uint32_t z = 0; z < r.shape.zones; z++)
		fill(r, z, 1000 * (z + 1));
	r.cfg.shelf_hours = 20;
	ASSERT_TRUE(r.start()) << r.error;
	lt_host_run_until(clock_now_ns() + 1000000);
	ASSERT_EQ(r.shut_down_cleanly(), 0);
	EXPECT_TRUE(r.is_clean());
	lt_host_run_until_idle();
	EXPECT_TRUE(r.is_clean());
	EXPECT_EQ(r.counters().refreshed_age, 1u);
	r.cfg.shelf_hours = 0;
	r.cfg.refresh_hours = 0;
	ASSERT_TRUE(r.boot()) << r.error;
	for (uint32_t z = 0; z < r.shape.zones; z++)
		EXPECT_EQ(r.compare(z, 0, capacity(r), 1000 * (z + 1)), "");
	EXPECT_EQ(r.check(), "");
}

// One zone is written again and again, the others never: with the policy their superblocks come round.
TEST_P(Refresh, YoungSuperblocksComeRound)
{
	uint64_t most[2] = {0, 0};
	for (uint32_t wear : {0u, 4u}) {
		hz_device_config cfg = refreshing();
		cfg.refresh_reads = 0;
		cfg.refresh_wear = wear;
		Rig r(cfg);
		ASSERT_TRUE(r.boot()) << r.error;
		for (uint32_t z = 1; z < r.shape.zones; z++)
			fill(r, z, 1000 * (z + 1));
		for (uint32_t i = 0; i < 150; i++) {
			fill(r, 0, 7);
			ASSERT_EQ(r.run_op(FTL_ZONE_RESET, 0), 0);
			lt_host_run_until_idle();
		}
		for (uint32_t z = 1; z < r.shape.zones; z++)
			EXPECT_EQ(r.compare(z, 0, capacity(r), 1000 * (z + 1)), "");
		EXPECT_EQ(r.check(), "");
		EXPECT_EQ(r.counters().refreshed_wear > 0, wear > 0);
		const uint64_t blocks = uint64_t(r.shape.planes) * cfg.blocks_per_plane;
		for (uint64_t b = 0; b < blocks; b++)
			if (b % cfg.blocks_per_plane >= cfg.slc_blocks_per_plane)
				most[wear > 0] = std::max<uint64_t>(most[wear > 0], r.media.blocks[b].erase_count);
	}
	EXPECT_LT(most[1] * 3, most[0] * 2) << "the most worn block has less than two thirds of the erases";
}

// Power goes at each operation, in it or before it, while zones move because they are read.
TEST_P(Refresh, PowerMayGoWhileZonesMove)
{
	bool more = true;
	for (uint64_t cut = 1; more; cut += 3 + cut % 4) {
		SCOPED_TRACE(testing::Message() << "cut at " << cut);
		Rig r(refreshing());
		ASSERT_TRUE(r.boot()) << r.error;
		Driver driver(r, 1);
		driver.run_batch({{FTL_WRITE, 0, capacity(r), 0}, {FTL_WRITE, 1, capacity(r), 0}, {FTL_WRITE, 2, 30, 0}});
		driver.run_batch({{FTL_FLUSH, 0, 0, 0}});
		nand_policy policy{};
		policy.power_cut_op = cut;
		policy.cut_before = cut % 2;
		ASSERT_TRUE(r.boot(policy)) << r.error;
		more = false;
		for (uint32_t i = 0; i < 14 && !lt_load(&r.media.off); i++)
			driver.run_batch({{FTL_READ, 0, capacity(r), 0}, {FTL_READ, 1, 9, 0}, {FTL_WRITE, 2, 3, FTL_FUA}});
		more = lt_load(&r.media.off);
		ASSERT_TRUE(more || r.counters().refreshed_reads > 1);
		ASSERT_TRUE(r.boot()) << r.error;
		driver.check_recovered();
		ASSERT_FALSE(HasFailure());
		driver.run_batch({{FTL_READ, 0, capacity(r), 0}, {FTL_ZONE_RESET, 1, 0, 0}, {FTL_WRITE, 2, 9, 0}});
		driver.verify_all();
		ASSERT_EQ(r.check(), "");
		ASSERT_FALSE(HasFailure());
	}
}

// Random commands, each full zone soon due.
TEST_P(Refresh, AgreesWithTheModel)
{
	hz_device_config cfg = refreshing();
	cfg.refresh_reads = 5;
	cfg.refresh_wear = 1;
	Rig r(cfg);
	ASSERT_TRUE(r.boot()) << r.error;
	Driver driver(r, 3);
	uint64_t moved = 0;
	for (int i = 0; i < 200; i++) {
		ASSERT_TRUE(driver.run_batch(driver.random_batch()));
		ASSERT_FALSE(HasFailure()) << "batch " << i;
		ASSERT_EQ(r.check(), "") << "after batch " << i;
		if (i % 50 == 49) {
			driver.verify_all();
			moved += r.counters().refreshed_reads + r.counters().refreshed_wear;
			ASSERT_TRUE(r.boot()) << r.error;
			driver.check_recovered();
			ASSERT_FALSE(HasFailure()) << "boot after batch " << i;
		}
	}
	EXPECT_GT(moved, 3u);
}

// Backing zones move as others do, in either region, together with their collector.
TEST(RefreshConventional, AgreesWithTheModel)
{
	for (int layout = 0; layout < 4; layout++) {
		SCOPED_TRACE(layout);
		hz_device_config cfg = layout % 2 ? mapped_conventional_config() : conventional_config(true);
		cfg.spare_superblocks++;
		lay_out(cfg, layout & 1, layout & 2);
		cfg.refresh_reads = 6;
		cfg.refresh_wear = 1;
		Rig r(cfg);
		ASSERT_TRUE(r.boot()) << r.error;
		ConventionalDriver driver(r, static_cast<uint64_t>(layout));
		driver.fill();
		uint64_t moved = 0;
		for (int i = 0; i < 120; i++) {
			ASSERT_TRUE(driver.run_batch(driver.random_batch()));
			ASSERT_FALSE(HasFailure()) << "batch " << i;
			ASSERT_EQ(r.check(), "") << "after batch " << i;
			if (i % 30 == 29) {
				driver.verify_all();
				moved += r.counters().refreshed_reads + r.counters().refreshed_wear;
				ASSERT_TRUE(r.boot()) << r.error;
				driver.check_recovered();
				ASSERT_FALSE(HasFailure()) << "boot after batch " << i;
			}
		}
		EXPECT_GT(moved, 3u);
	}
}
