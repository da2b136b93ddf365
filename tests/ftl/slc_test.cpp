// The SLC region at its smallest legal size, its collector, and the policies that bind buffers.
// SPDX-License-Identifier: BSD-3-Clause
#include "damage.hpp"
#include "config_check.h"
#include "model.hpp"
#include "tsu/tsu_report.h"

using namespace ftl_rig;

// With the smallest legal SLC region.
static hz_device_config smallest_config(hz_device_config cfg, uint32_t superblocks)
{
	for (cfg.slc_blocks_per_plane = 1; cfg.slc_blocks_per_plane < 30; cfg.slc_blocks_per_plane++) {
		cfg.blocks_per_plane = cfg.slc_blocks_per_plane + superblocks;
		char text[256];
		const char *broken = hz_device_config_check(&cfg, text, sizeof text);
		if (!broken)
			return cfg;
		EXPECT_NE(std::string(broken).find("slc_blocks_per_plane"), std::string::npos);
	}
	ADD_FAILURE() << "no size is large enough";
	return cfg;
}

static hz_device_config smallest_config(uint32_t flush_planes, uint32_t slc_sectors, uint32_t policy, uint32_t superblocks = 10,
					bool rain = false)
{
	hz_device_config cfg = ftl_config();
	if (rain)
		use_rain(cfg);
	cfg.flush_unit_planes = flush_planes;
	cfg.slc_program_sectors = slc_sectors;
	cfg.slc_gc = policy;
	cfg.max_open = cfg.max_active = 0;
	return smallest_config(cfg, superblocks);
}

static const char *const policies[] = {"Greedy", "CostBenefit", "Fifo"};

class SmallestSlc : public testing::TestWithParam<std::tuple<uint32_t, uint32_t, uint32_t, bool>> {
protected:
	static hz_device_config config()
	{
		const auto [planes, sectors, policy, rain] = GetParam();
		return smallest_config(planes, sectors, policy, 10, rain);
	}
};

// All zones keep as much staged as they can, and every write is forced: the collector must always find room.
TEST_P(SmallestSlc, NeverBlocksForEver)
{
	hz_device_config cfg = config();
	Rig r(cfg);
	ASSERT_TRUE(r.boot());
	Driver driver(r, 5);
	uint32_t unit = cfg.flush_unit_planes * 6;
	uint64_t moved = 0, collections = 0;
	for (int round = 0; round < 400; round++) {
		std::vector<Op> ops;
		for (uint32_t z = 0; z < r.shape.zones; z++) {
			ModelZone &zone = driver.zones[z];
			uint32_t at = static_cast<uint32_t>(zone.tags.size());
			uint32_t short_of_unit = unit - 1 - at % unit;
			if (zone.full || at + unit > driver.capacity())
				ops.push_back({FTL_ZONE_RESET, z, 0, 0});
			else if (short_of_unit == 0 && driver.roll(3) == 0)
				ops.push_back({FTL_WRITE, z, 1, FTL_FUA});
			else // stays one sector short of a unit; a burst, so that the collector cannot keep up
				ops.insert(ops.end(), std::min(short_of_unit, 1 + driver.roll(unit)), {FTL_WRITE, z, 1, FTL_FUA});
		}
		ASSERT_TRUE(driver.run_batch(ops));
		ASSERT_EQ(r.check(), "") << "round " << round;
		ASSERT_FALSE(HasFailure()) << "round " << round;
		if (round % 60 == 59) {
			hz_log_flash flash;
			tsu_report(r.tsu, &flash);
			moved += r.counters().slc_gc_sectors;
			ASSERT_LE(r.counters().slc_gc_sectors, flash.program_sectors[HZ_CAUSE_GC]);
			collections += r.counters().slc_gc_runs;
			ASSERT_TRUE(r.boot()) << r.error;
			driver.check_recovered();
		}
	}
	driver.verify_all();
	EXPECT_GT(collections, 10u);
	EXPECT_GT(moved, 50u);
}

// The same with power cuts in the middle of collections.
TEST_P(SmallestSlc, SurvivesCutsWhileCollecting)
{
	hz_device_config cfg = config();
	std::mt19937_64 dice(9);
	Rig r(cfg);
	Driver driver(r, 5);
	for (int boot = 0; boot < 70; boot++) {
		nand_policy policy{};
		policy.power_cut_op = 1 + dice() % 60;
		policy.cut_before = dice() % 2;
		SCOPED_TRACE(testing::Message() << "boot " << boot << " cut " << policy.power_cut_op);
		ASSERT_TRUE(r.boot(policy)) << r.error;
		driver.check_recovered();
		ASSERT_FALSE(HasFailure());
		for (bool alive = true; alive;) {
			std::vector<Op> ops;
			for (uint32_t z = 0; z < r.shape.zones; z++)
				if (driver.zones[z].full || driver.zones[z].tags.size() + 4 > driver.capacity())
					ops.push_back({FTL_ZONE_RESET, z, 0, 0});
				else
					ops.push_back({FTL_WRITE, z, 1 + driver.roll(3), FTL_FUA});
			alive = driver.run_batch(ops);
			ASSERT_FALSE(HasFailure());
		}
	}
}
static std::string name_of(const testing::TestParamInfo<SmallestSlc::ParamType> &test)
{
	const auto [planes, sectors, policy, rain] = test.param;
	return std::string(policies[policy]) + "_Planes" + std::to_string(planes) + "_Unit" + std::to_string(sectors);
}
INSTANTIATE_TEST_SUITE_P(Shapes, SmallestSlc,
			 testing::Combine(testing::Values(1u, 2u), testing::Values(1u, 2u), testing::Range(0u, HZ_GC_FIFO + 1u),
					  testing::Values(false)),
			 name_of);
INSTANTIATE_TEST_SUITE_P(Rain, SmallestSlc,
			 testing::Combine(testing::Values(1u), testing::Values(1u, 2u), testing::Range(0u, HZ_GC_FIFO + 1u),
					  testing::Values(true)),
			 name_of);

// Every zone completes one staged unit after another, with a sector that is slow to come over the link, and stages zeros of the next: SLC
// fills up with copies that go only when their units reach their place. Nothing else happens any more then, so that must wake the waiters
// for room. (Fair schedule: SLC programs do not queue behind the programs that wait for the link.)
TEST(SlcCollector, UnitsThatReachTheirPlaceWakeWhoWaits)
{
	hz_device_config cfg = smallest_config(1, 1, HZ_GC_GREEDY, 18);
	cfg.schedule = HZ_SCHED_FAIR;
	cfg.pcie_bytes_per_s = 400000;
	cfg.buffer_binding = HZ_BIND_PER_ZONE;
	cfg.max_open = cfg.max_active = cfg.write_buffers = 16;
	Rig r(cfg);
	ASSERT_TRUE(r.boot()) << r.error;
	struct Steps {
		lt_timer timer;
		Rig *rig;
		std::deque<Request> writes;
		uint32_t end;
	} steps{{}, &r, {}, 5};
	lt_timer_arm(&steps.timer, 0, [](lt_timer *timer) {
		auto *s = reinterpret_cast<Steps *>(timer);
		for (uint32_t z = 1; z < 16; z++) {
			if (z == 8)
				continue; // shares the lane of SLC programs
			if (s->end > 5)
				s->rig->submit(s->writes.emplace_back(FTL_WRITE, s->rig->lba_of(z, s->end - 6), 1));
			s->rig->submit(s->writes.emplace_back(FTL_WRITE_ZEROES, s->rig->lba_of(z, s->end - 5), 5, FTL_FUA));
		}
		s->end += 6;
		if (s->end < 24)
			lt_timer_arm(timer, clock_now_ns() + 8000000, timer->run);
	});
	lt_host_run_until_idle();
	for (Request &write : steps.writes)
		EXPECT_TRUE(write.done && write.status() == 0);
	EXPECT_GT(r.counters().slc_gc_runs, 0u);
	EXPECT_EQ(r.check(), "");
}

// Unwritable zones keep their staged sectors, though they do not count as active any longer: also when all have become READ ONLY one after
// another, there is room for the next. No superblock is spare, so one failed program is the end of a zone.
TEST(SlcCollector, ReadOnlyZonesLeaveRoomForTheOthers)
{
	hz_device_config cfg = ftl_config();
	cfg.spare_superblocks = 0;
	cfg.max_open = cfg.max_active = 1;
	cfg = smallest_config(cfg, 40);
	Rig r(cfg);
	ASSERT_TRUE(r.boot()) << r.error;
	ASSERT_EQ(r.shape.zones, 40u);
	for (uint32_t z = 0; z < 40; z++)
		ASSERT_EQ(r.write(z, 0, 96, 1), 0);
	for (uint32_t z = 0; z < 39; z++) {
		SCOPED_TRACE(testing::Message() << "zone " << z);
		ASSERT_EQ(r.run_op(FTL_ZONE_RESET, z), 0);
		ASSERT_EQ(r.write(z, 0, 5, 1000 * z + 1, FTL_FUA), 0);
		r.cfg.fail_program_at = static_cast<uint32_t>(lt_load(&r.media.kind_operations[0])) + 1;
		r.write(z, 5, 1, 0);
		ASSERT_EQ(r.zone_state(z), NVME_ZS_READ_ONLY);
		ASSERT_EQ(r.compare(z, 0, 5, 1000 * z + 1), "");
		ASSERT_EQ(r.check(), "");
		ASSERT_FALSE(HasFailure());
	}
	ASSERT_EQ(r.run_op(FTL_ZONE_RESET, 39), 0);
	for (uint32_t i = 0; i < 96; i++)
		ASSERT_EQ(r.write(39, i, 1, i, FTL_FUA), 0);
}

// Four cold zones keep 5 sectors each staged, a hot one comes and goes: sectors moved by the collector, and its runs.
static hz_log_ftl hot_and_cold(uint32_t policy, uint32_t gc_low)
{
	hz_device_config cfg = ftl_config();
	cfg.slc_gc = policy;
	cfg.slc_gc_low = gc_low;
	cfg.slc_blocks_per_plane = 9;
	cfg.blocks_per_plane = 19;
	Rig r(cfg);
	EXPECT_TRUE(r.boot());
	for (uint32_t cold = 2; cold < 6; cold++)
		for (uint32_t i = 0; i < 5; i++)
			EXPECT_EQ(r.write(cold, i, 1, i, FTL_FUA), 0);
	for (uint32_t round = 0; round < 20; round++)
		for (uint32_t i = 0; i < 97; i++)
			EXPECT_EQ(i < 96 ? r.write(1, i, 1, i, FTL_FUA) : r.run_op(FTL_ZONE_RESET, 1), 0);
	EXPECT_EQ(r.check(), "");
	hz_log_flash flash{};
	tsu_report(r.tsu, &flash);
	EXPECT_EQ(flash.read_sectors[HZ_CAUSE_GC], r.counters().slc_gc_sectors) << "each is read once";
	return r.counters();
}

TEST(SlcCollector, GreedyLeavesFullSuperblocksAlone)
{
	hz_log_ftl log[3];
	for (uint32_t policy = 0; policy <= HZ_GC_FIFO; policy++)
		log[policy] = hot_and_cold(policy, 6);
	EXPECT_LT(log[HZ_GC_GREEDY].slc_gc_sectors, log[HZ_GC_COST_BENEFIT].slc_gc_sectors);
	EXPECT_LT(log[HZ_GC_GREEDY].slc_gc_sectors, log[HZ_GC_FIFO].slc_gc_sectors);
}

// Unreadable staged sectors move as lost ones: their superblock becomes free, and reads of them fail.
TEST(SlcCollector, SectorsThatCannotBeReadMoveAsLost)
{
	constexpr uint32_t all = 5;
	for (uint32_t lost : {0u, 3u, all}) { // one of them, or all
		SCOPED_TRACE(lost);
		hz_device_config cfg = ftl_config();
		cfg.slc_gc = HZ_GC_FIFO;
		cfg.slc_gc_low = 6;
		cfg.slc_blocks_per_plane = 9;
		cfg.blocks_per_plane = 19;
		Rig r(cfg);
		ASSERT_TRUE(r.boot());
		const auto is_lost = [&](uint32_t i) { return lost == all || i == lost; };
		ASSERT_EQ(r.write(2, 0, all, 1, FTL_FUA), 0);
		ASSERT_TRUE(r.boot()) << r.error; // out of the buffer
		std::vector<uint64_t> record(all);
		for (uint32_t i = 0; i < all; i++) {
			record[i] = r.record_at(2, i);
			ASSERT_NE(record[i], UINT64_MAX);
			if (is_lost(i))
				rig::flip_data(r.media, record[i]);
		}
		for (uint32_t round = 0; round < 5; round++)
			for (uint32_t i = 0; i < 97; i++)
				ASSERT_EQ(i < 96 ? r.write(1, i, 1, i, FTL_FUA) : r.run_op(FTL_ZONE_RESET, 1), 0);
		for (bool again : {false, true}) {
			for (uint32_t i = 0; i < all; i++) {
				Request read(FTL_READ, r.lba_of(2, i), 1);
				EXPECT_EQ(r.run(read), is_lost(i) ? NVME_UNRECOVERED_READ : 0) << i;
				EXPECT_TRUE(is_lost(i) || sector_is(read.pages[0], 1 + i)) << i;
				EXPECT_NE(r.record_at(2, i), record[i]) << "moved";
			}
			EXPECT_EQ(r.check(), "");
			if (!again) {
				ASSERT_TRUE(r.boot()) << r.error;
			}
		}
	}
}

// Of a staged sector nothing is known any more: it cannot move, and so its superblock stays.
TEST(SlcCollector, ASectorWithoutARecordStays)
{
	for (uint32_t lost : {0u, 3u}) {
		hz_device_config cfg = ftl_config();
		cfg.slc_gc = HZ_GC_FIFO;
		cfg.slc_gc_low = 6;
		cfg.slc_blocks_per_plane = 9;
		cfg.blocks_per_plane = 19;
		Rig r(cfg);
		ASSERT_TRUE(r.boot());
		ASSERT_EQ(r.write(2, 0, 5, 1, FTL_FUA), 0);
		ASSERT_TRUE(r.boot()) << r.error;
		const uint64_t record = r.record_at(2, lost);
		rig::lose_record(r.media, record);
		for (uint32_t round = 0; round < 5; round++)
			for (uint32_t i = 0; i < 97; i++)
				ASSERT_EQ(i < 96 ? r.write(1, i, 1, i, FTL_FUA) : r.run_op(FTL_ZONE_RESET, 1), 0);
		EXPECT_EQ(r.record_at(2, lost), record);
		for (uint32_t i = 0; i < 5; i++) {
			Request read(FTL_READ, r.lba_of(2, i), 1);
			EXPECT_EQ(r.run(read), i == lost ? NVME_UNRECOVERED_READ : 0) << i;
		}
		EXPECT_EQ(r.check(), "");
	}
}

TEST(SlcCollector, AHigherThresholdCollectsSooner)
{
	EXPECT_EQ(hot_and_cold(HZ_GC_FIFO, 0).slc_gc_sectors, hot_and_cold(HZ_GC_FIFO, 2).slc_gc_sectors);
	EXPECT_GT(hot_and_cold(HZ_GC_FIFO, 5).slc_gc_sectors, hot_and_cold(HZ_GC_FIFO, 2).slc_gc_sectors);
}

TEST(Binding, ModuloSharesByParityAndFlushesOnConflict)
{
	Rig r(ftl_config()); // two buffers
	ASSERT_TRUE(r.boot());
	EXPECT_EQ(r.write(0, 0, 4, 1), 0);
	EXPECT_EQ(r.write(1, 0, 4, 1), 0);
	EXPECT_EQ(r.counters().buffer_flushes_conflict, 0u);
	EXPECT_EQ(r.write(2, 0, 4, 1), 0);
	EXPECT_EQ(r.counters().buffer_flushes_conflict, 1u);
	EXPECT_EQ(r.counters().slc_sectors, 4u);
	EXPECT_EQ(r.counters().waits_buffer, 1u);
}

// Three writes: one zone's, another's that wants its buffer, and the first zone's next while that is being written out. Which waiting one
// is answered first? True: the first zone's.
static bool owner_goes_on(uint32_t handover)
{
	hz_device_config cfg = ftl_config();
	cfg.write_buffers = 1;
	cfg.buffer_handover = handover;
	Rig r(cfg);
	EXPECT_TRUE(r.boot()) << r.error;
	EXPECT_EQ(r.write(0, 0, 4, 1), 0);
	Request other(FTL_WRITE, r.lba_of(1), 4), next(FTL_WRITE, r.lba_of(0, 4), 4);
	for (uint32_t i = 0; i < 4; i++) {
		fill_sector(other.pages[i], 100 + i);
		fill_sector(next.pages[i], 5 + i);
	}
	r.submit(other);
	lt_host_run_until(clock_now_ns() + 20000);
	EXPECT_FALSE(other.done);
	EXPECT_EQ(r.counters().buffer_flushes_conflict, 1u);
	r.submit(next);
	lt_host_run_until_idle();
	EXPECT_TRUE(other.done && next.done) << "who waits gets the buffer when its owner pauses";
	EXPECT_EQ(r.compare(0, 0, 8, 1), "");
	EXPECT_EQ(r.compare(1, 0, 4, 100), "");
	EXPECT_EQ(r.check(), "");
	return next.answered_ns < other.answered_ns;
}

TEST(Binding, AKeptBufferGoesOnTakingItsOwnersData)
{
	EXPECT_TRUE(owner_goes_on(HZ_HANDOVER_KEPT));
	EXPECT_FALSE(owner_goes_on(HZ_HANDOVER_FAIR));
}

TEST(Binding, FirstFreeEvictsTheFullest)
{
	hz_device_config cfg = ftl_config();
	cfg.buffer_binding = HZ_BIND_FIRST_FREE;
	Rig r(cfg);
	ASSERT_TRUE(r.boot());
	EXPECT_EQ(r.write(0, 0, 2, 1), 0);
	EXPECT_EQ(r.write(2, 0, 5, 1), 0); // the other buffer, though its parity is the same
	EXPECT_EQ(r.counters().buffer_flushes_conflict, 0u);
	EXPECT_EQ(r.write(4, 0, 1, 1), 0);
	EXPECT_EQ(r.counters().slc_sectors, 5u);
	EXPECT_EQ(r.compare(2, 0, 5, 1), "");
}

TEST(Binding, PerZoneNeverStagesWithoutAFlush)
{
	hz_device_config cfg = ftl_config();
	cfg.buffer_binding = HZ_BIND_PER_ZONE;
	cfg.write_buffers = 5;
	Rig r(cfg);
	ASSERT_TRUE(r.boot());
	for (uint32_t round = 0; round < 10; round++)
		for (uint32_t z = 0; z < 5; z++)
			EXPECT_EQ(r.write(z, round * 9, 9, 1000 * (z + 1) + round * 9), 0);
	EXPECT_EQ(r.counters().slc_sectors, 0u);
	for (uint32_t z = 0; z < 5; z++)
		EXPECT_EQ(r.compare(z, 0, 90, 1000 * (z + 1)), "");
}
