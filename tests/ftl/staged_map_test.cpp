// Staged sectors lie in the map: look-ups of them cost what all cost, a move by the SLC collector is a change of the map, and nothing is lost
// when table pages are, or when RAM has no room for changes.
// SPDX-License-Identifier: BSD-3-Clause
#include "l2p_rig.hpp"

using namespace ftl_rig;

namespace {

constexpr uint32_t few = 5; // sectors, less than a flush unit of 12

uint64_t tag_of(Rig &rig, uint32_t zone, uint32_t offset) { return rig.lba_of(zone, offset) + 1; }

// More zones than buffers have staged sectors, one sector of each in turn, so that no two neighbours are adjacent.
void stage_some(Rig &rig, uint32_t zones)
{
	for (uint32_t at = 0; at < few; at++)
		for (uint32_t z = 0; z < zones; z++)
			ASSERT_EQ(rig.write(z, at, 1, tag_of(rig, z, at), FTL_FUA), 0);
}

// The map's log has dropped it, and the cache has other entries: staged sectors are known to table pages only.
void make_cold(Rig &rig, uint32_t zones)
{
	rig_merge_map(rig.ftl);
	lt_host_run_until_idle();
	for (uint32_t at = 0; at < 96; at += 48)
		ASSERT_EQ(rig.write(zones, at, 48, tag_of(rig, zones, at)), 0);
	ASSERT_EQ(rig.run_op(FTL_FLUSH, 0), 0);
	for (uint32_t z = zones + 1; z < zones + 3; z++) // takes the buffers
		ASSERT_EQ(rig.write(z, 0, few, tag_of(rig, z, 0), FTL_FUA), 0);
	rig_merge_map(rig.ftl);
	lt_host_run_until_idle();
	ASSERT_EQ(rig.check(), "");
}

hz_device_config staged_config()
{
	hz_device_config cfg = map_config();
	cfg.max_open = cfg.max_active = 0;
	cfg.l2p_levels = HZ_MAP_PAGE;
	return cfg;
}

std::string check_staged(Rig &rig, uint32_t zone, uint32_t sectors = few) { return rig.compare(zone, 0, sectors, tag_of(rig, zone, 0)); }

// After any outcome of the reset: the device is whole, and a new one empties the zone.
void check_reset(Rig &rig)
{
	ASSERT_EQ(rig.check(), "");
	ASSERT_EQ(rig.run_op(FTL_ZONE_RESET, 0), 0);
	EXPECT_EQ(rig.compare(0, 0, few, 0), "");
	EXPECT_EQ(rig.check(), "");
}

} // namespace

TEST(StagedMap, ALookUpIsAnsweredByLogThenByTablePageThenByCache)
{
	Rig rig(staged_config());
	ASSERT_TRUE(rig.boot()) << rig.error;
	ASSERT_NO_FATAL_FAILURE(stage_some(rig, 4));
	hz_log_ftl before = rig.counters();
	EXPECT_EQ(before.l2p_updates, 4u * few);
	EXPECT_EQ(check_staged(rig, 0), "");
	hz_log_ftl c = rig.counters();
	EXPECT_EQ(c.l2p_log_hits - before.l2p_log_hits, few) << "each sector has a run of its own";
	EXPECT_EQ(c.l2p_fetches, before.l2p_fetches);

	ASSERT_NO_FATAL_FAILURE(make_cold(rig, 4));
	before = rig.counters();
	EXPECT_EQ(check_staged(rig, 0), "");
	c = rig.counters();
	EXPECT_EQ(c.l2p_log_hits, before.l2p_log_hits);
	EXPECT_EQ(c.l2p_fetches - before.l2p_fetches, 1u);
	EXPECT_EQ(c.l2p_misses[HZ_MAP_PAGE] - before.l2p_misses[HZ_MAP_PAGE], 1u);
	EXPECT_EQ(rig.check(), "");
	before = c;
	EXPECT_EQ(check_staged(rig, 0), "");
	c = rig.counters();
	EXPECT_EQ(c.l2p_hits[HZ_MAP_PAGE] - before.l2p_hits[HZ_MAP_PAGE], few);
	EXPECT_EQ(c.l2p_fetches, before.l2p_fetches);
}

// A read of placed sectors and of staged ones behind them fetches the table page for the former. A new copy of that page may be written at
// any moment meanwhile, with the log's changes of the latter: the older bytes have no address for them.
TEST(StagedMap, ATablePageThatWasReadBeforeSectorsWereStagedSaysNothingOfThem)
{
	for (uint64_t after_ns = 0; after_ns < 300000; after_ns += 4000) {
		Rig rig(staged_config());
		ASSERT_TRUE(rig.boot()) << rig.error;
		ASSERT_EQ(rig.write(0, 0, 12, tag_of(rig, 0, 0)), 0);
		ASSERT_NO_FATAL_FAILURE(make_cold(rig, 1));
		ASSERT_EQ(rig.write(0, 12, few, tag_of(rig, 0, 12), FTL_FUA), 0);
		for (uint32_t z = 4; z < 6; z++) // takes the buffers
			ASSERT_EQ(rig.write(z, 0, few, tag_of(rig, z, 0), FTL_FUA), 0);
		SCOPED_TRACE(testing::Message() << "after " << after_ns << " ns");
		rig_merge_map(rig.ftl);
		lt_host_run_until(clock_now_ns() + after_ns);
		Request read(FTL_READ, rig.lba_of(0, 8), 4 + few);
		ASSERT_EQ(rig.run(read), 0);
		for (uint32_t i = 0; i < 4 + few; i++)
			ASSERT_TRUE(sector_is(read.pages[i], tag_of(rig, 0, 8 + i))) << i;
	}
}

// A complete unit is read back from its addresses in the map: the zone has got another buffer since.
TEST(StagedMap, FoldingAsksTheMap)
{
	Rig rig(staged_config());
	ASSERT_TRUE(rig.boot()) << rig.error;
	ASSERT_NO_FATAL_FAILURE(stage_some(rig, 4));
	ASSERT_NO_FATAL_FAILURE(make_cold(rig, 4));
	hz_log_ftl before = rig.counters();
	ASSERT_EQ(rig.write(0, few, 12 - few, tag_of(rig, 0, few), FTL_FUA), 0);
	hz_log_ftl c = rig.counters();
	EXPECT_EQ(c.fold_sectors - before.fold_sectors, few);
	EXPECT_EQ(c.l2p_fetches - before.l2p_fetches, 1u);
	EXPECT_EQ(rig.check(), "") << "the copies in SLC are valid no more, and nothing is cached of them";
	EXPECT_EQ(check_staged(rig, 0, 12), "");
}

TEST(StagedMap, AResetAsksTheMapWhatBecomesInvalid)
{
	Rig rig(staged_config());
	ASSERT_TRUE(rig.boot()) << rig.error;
	ASSERT_NO_FATAL_FAILURE(stage_some(rig, 4));
	ASSERT_NO_FATAL_FAILURE(make_cold(rig, 4));
	hz_log_ftl before = rig.counters();
	ASSERT_EQ(rig.run_op(FTL_ZONE_RESET, 0), 0);
	EXPECT_EQ(rig.counters().l2p_fetches - before.l2p_fetches, 1u);
	EXPECT_EQ(rig.check(), "");
	EXPECT_EQ(rig.compare(0, 0, few, 0), "");
	ASSERT_EQ(rig.write(0, 0, few, 77, FTL_FUA), 0);
	EXPECT_EQ(rig.compare(0, 0, few, 77), "");
	EXPECT_EQ(rig.check(), "");
}

// No request is left waiting for the map when the controller is reset at any moment of a zone's reset: while its record is written, while
// the table page is read, while the superblock is erased.
TEST(StagedMap, AResetThatNobodyWaitsForAnyMoreEnds)
{
	for (uint64_t after_ns = 5000; after_ns < 300000; after_ns += 4000) {
		Rig rig(staged_config());
		ASSERT_TRUE(rig.boot()) << rig.error;
		ASSERT_NO_FATAL_FAILURE(stage_some(rig, 4));
		ASSERT_NO_FATAL_FAILURE(make_cold(rig, 4));
		SCOPED_TRACE(testing::Message() << "after " << after_ns << " ns");
		Request reset(FTL_ZONE_RESET, rig.lba_of(0), 0);
		rig.submit(reset);
		lt_host_run_until(clock_now_ns() + after_ns);
		ASSERT_FALSE(reset.done);
		rig.cancel([&] { return reset.done; });
		EXPECT_EQ(reset.status(), NVME_ABORT_REQUESTED);
		lt_host_run_until_idle();
		check_reset(rig);
		ASSERT_FALSE(HasFailure());
	}
}

// … while the collector has copied a sector of it to a part already swept by the reset.
TEST(StagedMap, AResetThatNobodyWaitsForMissesNoSectorThatIsMoved)
{
	uint32_t moved = 0;
	for (uint64_t after_ns = 5000; after_ns < 300000; after_ns += 4000) {
		Rig rig(staged_config());
		ASSERT_TRUE(rig.boot()) << rig.error;
		ASSERT_EQ(rig.write(7, 0, 1, 1, FTL_FUA), 0);
		const uint32_t to = rig_place_of(rig.ftl, 7, 0); // the first superblock, and not its later content
		for (uint32_t i = 0; i < 40; i++) {
			ASSERT_EQ(rig.run_op(FTL_ZONE_RESET, 7), 0);
			ASSERT_EQ(rig.write(7, 0, 1, 1, FTL_FUA), 0);
		}
		ASSERT_NO_FATAL_FAILURE(stage_some(rig, 4));
		ASSERT_NO_FATAL_FAILURE(make_cold(rig, 4));
		const uint32_t from = rig_place_of(rig.ftl, 0, 0);
		SCOPED_TRACE(testing::Message() << "after " << after_ns << " ns");
		Request reset(FTL_ZONE_RESET, rig.lba_of(0), 0);
		rig.submit(reset);
		lt_host_run_until(clock_now_ns() + after_ns);
		ASSERT_FALSE(reset.done);
		struct Move {
			Rig &rig;
			uint32_t from, to;
			bool done;
		} move{rig, from, to, false};
		reset.then = [&](Request &) {
			rig_watch(
				rig.ftl,
				[](void *arg) {
					Move &m = *static_cast<Move *>(arg);
					m.done = rig_sweep_has_passed(m.rig.ftl, 0, m.to) && !rig_sweep_has_passed(m.rig.ftl, 0, m.from);
					if (m.done)
						EXPECT_EQ(rig_condition(m.rig.ftl, 0), 3) << "a zone whose copies are dead is EMPTIED";
					if (m.done)
						rig_collector_moved(m.rig.ftl, 0, 0, m.from, m.to);
					return !m.done;
				},
				&move, 10000);
		};
		rig.cancel([&] { return reset.done; });
		moved += move.done;
		lt_host_run_until_idle();
		check_reset(rig);
		ASSERT_FALSE(HasFailure());
	}
	EXPECT_GT(moved, 0u);
}

// Until the collector has moved all staged sectors: the moves are changes of the map, and read by it.
TEST(StagedMap, TheCollectorsMovesAreChangesOfTheMap)
{
	hz_device_config cfg = staged_config();
	cfg.slc_gc = HZ_GC_FIFO;
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot()) << rig.error;
	ASSERT_NO_FATAL_FAILURE(stage_some(rig, 3));
	ASSERT_NO_FATAL_FAILURE(make_cold(rig, 3));
	const uint32_t at = rig_place_of(rig.ftl, 0, 0);
	hz_log_ftl before = rig.counters();
	uint32_t done = 0, kept = 0;
	for (; done < 2000 && rig_place_of(rig.ftl, 0, 0) == at; done++) { // garbage, until its superblock is collected …
		if (done % 11 == 0) {
			ASSERT_EQ(rig.run_op(FTL_ZONE_RESET, 6), 0);
		}
		ASSERT_EQ(rig.write(6, done % 11, 1, 1, FTL_FUA), 0);
		if (done % 20 == 19 && kept < 12) { // … before others, so that these are not garbage only
			ASSERT_EQ(rig.write(4 + kept % 2, few + kept / 2, 1, 1, FTL_FUA), 0);
			kept++;
		}
	}
	ASSERT_NE(rig_place_of(rig.ftl, 0, 0), at) << "the collector never came";
	hz_log_ftl c = rig.counters();
	EXPECT_GT(c.l2p_updates - before.l2p_updates, done + kept);
	EXPECT_EQ(rig.check(), "");
	for (uint32_t z = 0; z < 3; z++)
		EXPECT_EQ(check_staged(rig, z), "");
	ASSERT_TRUE(rig.boot()) << rig.error;
	EXPECT_EQ(rig.check(), "");
	for (uint32_t z = 0; z < 3; z++)
		EXPECT_EQ(check_staged(rig, z), "");
}

// A table page is gone: its staged sectors are found in the SLC log.
TEST(StagedMap, ATablePageThatCannotBeReadIsRebuilt)
{
	for (int use = 0; use < 4; use++) {
		SCOPED_TRACE(testing::Message() << "use " << use);
		Rig rig(staged_config());
		ASSERT_TRUE(rig.boot()) << rig.error;
		ASSERT_NO_FATAL_FAILURE(stage_some(rig, 4));
		ASSERT_NO_FATAL_FAILURE(make_cold(rig, 4));
		ASSERT_EQ(spoil_table_page(rig, 0), 1u);
		if (use == 0) {
			EXPECT_EQ(check_staged(rig, 0), "");
		} else if (use == 1) {
			ASSERT_EQ(rig.write(0, few, 12 - few, tag_of(rig, 0, few), FTL_FUA), 0);
			EXPECT_EQ(check_staged(rig, 0, 12), "");
		} else if (use == 2) { // found by the pass that wants to change it
			ASSERT_EQ(rig.write(0, few, 1, tag_of(rig, 0, few), FTL_FUA), 0);
			rig_merge_map(rig.ftl);
			lt_host_run_until_idle();
			EXPECT_EQ(check_staged(rig, 0, few + 1), "");
		} else {
			ASSERT_EQ(rig.run_op(FTL_ZONE_RESET, 0), 0);
			EXPECT_EQ(rig.compare(0, 0, few, 0), "");
		}
		EXPECT_GE(rig.counters().l2p_rebuilt, 1u);
		EXPECT_EQ(rig.check(), "");
		ASSERT_TRUE(rig.boot()) << rig.error;
		EXPECT_EQ(rig.check(), "");
	}
}

// A program in the superblock fails: the zone moves, and its staged sectors stay in place.
TEST(StagedMap, AZoneThatMovesKeepsWhatIsStaged)
{
	Rig rig(staged_config());
	ASSERT_TRUE(rig.boot()) << rig.error;
	ASSERT_EQ(rig.write(0, 0, 24 + few, tag_of(rig, 0, 0), FTL_FUA), 0);
	ASSERT_NO_FATAL_FAILURE(make_cold(rig, 4));
	const uint32_t at = rig_place_of(rig.ftl, 0, 0);
	rig.cfg.program_fail_ppb = 1000000000;
	Request rest(FTL_WRITE, rig.lba_of(0, 24 + few), 24 - few);
	for (uint32_t i = 0; i < 24 - few; i++)
		fill_sector(rest.pages[i], tag_of(rig, 0, 24 + few + i));
	rig.submit(rest);
	lt_host_run_until(clock_now_ns() + 1300000);
	rig.cfg.program_fail_ppb = 0;
	lt_host_run_until_idle();
	EXPECT_EQ(rest.status(), 0);
	EXPECT_NE(rig_place_of(rig.ftl, 0, 0), at) << "it has not moved";
	EXPECT_EQ(rig.check(), "");
	EXPECT_EQ(check_staged(rig, 0, 48), "");
}

namespace {

void live_through_cuts(const hz_device_config &cfg, uint64_t seed, bool without_runs)
{
	Rig rig(cfg);
	Driver driver(rig, seed);
	std::mt19937_64 dice(seed);
	uint64_t staged = 0;
	for (int boot = 0; boot < 10; boot++) {
		nand_policy policy{};
		policy.power_cut_op = 1 + dice() % 300;
		SCOPED_TRACE(testing::Message() << "boot " << boot << " cut " << policy.power_cut_op);
		ASSERT_TRUE(rig.boot(policy)) << rig.error;
		if (without_runs)
			rig_waste_runs(rig.ftl);
		driver.check_recovered();
		ASSERT_FALSE(testing::Test::HasFailure());
		while (driver.run_batch(driver.random_batch())) {
			ASSERT_EQ(rig.check(), "");
			ASSERT_FALSE(testing::Test::HasFailure());
		}
		staged += rig.counters().slc_sectors;
		ASSERT_FALSE(testing::Test::HasFailure());
	}
	EXPECT_GT(staged, 100u);
}

} // namespace

// A sector without a run in RAM makes its table page a lost one: against the model, with power cuts, with no runs at all from the start.
class StagedMapWithoutRuns : public testing::TestWithParam<int> {};

TEST_P(StagedMapWithoutRuns, LosesNothing)
{
	hz_device_config cfg = GetParam() % 2 ? wide_map_config() : map_config();
	choose(cfg, GetParam() % 3, GetParam() % 2, GetParam() / 2 % 2);
	live_through_cuts(cfg, static_cast<uint64_t>(GetParam()) + 40, true);
}
INSTANTIATE_TEST_SUITE_P(Shapes, StagedMapWithoutRuns, testing::Range(0, 8));

// Buffers with sectors in registers of dies, or with shared memory, with the map in flash.
TEST(StagedMap, BuffersMayBeLentOrShareTheirMemory)
{
	for (uint64_t kind = 0; kind < 4; kind++) {
		SCOPED_TRACE(testing::Message() << "kind " << kind);
		hz_device_config cfg = map_config();
		if (kind < 2)
			lend_buffers(cfg, kind == 1);
		else if (kind == 2)
			share_memory(cfg, 20);
		else
			protect_memory(cfg, 30, 30);
		for (uint64_t seed = 1; seed <= 2; seed++)
			ASSERT_NO_FATAL_FAILURE(live_through_cuts(cfg, 100 * kind + seed, false));
		ASSERT_FALSE(HasFailure());
	}
}
