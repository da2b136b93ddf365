// Promises of the map in flash, one by one: counts of reads, joined fetches, aggregation, stalls, boots, lost pages, power cuts.
// SPDX-License-Identifier: BSD-3-Clause
#include "l2p_rig.hpp"
#include "tsu/tsu_report.h"

using namespace ftl_rig;

namespace {

hz_log_flash flash_counters(Rig &rig)
{
	hz_log_flash log{};
	tsu_report(rig.tsu, &log);
	return log;
}

// Fills zones [first, end), tag of a sector = its LBA + 1, and merges everything into table pages.
void fill_and_settle(Rig &rig, uint32_t first, uint32_t end, uint32_t sectors)
{
	for (uint32_t z = first; z < end; z++)
		for (uint32_t at = 0; at < sectors; at += 48)
			ASSERT_EQ(rig.write(z, at, std::min(48u, sectors - at), rig.lba_of(z, at) + 1), 0);
	ASSERT_EQ(rig.shut_down_cleanly(), 0);
	ASSERT_EQ(rig.check(), "");
}

std::string check_read(Rig &rig, uint32_t zone, uint32_t offset, uint32_t sectors = 1)
{
	return rig.compare(zone, offset, sectors, rig.lba_of(zone, offset) + 1);
}

} // namespace

class L2p : public testing::TestWithParam<std::tuple<int, int>> {};

// Every miss is a read of cause map, no read is anything else, and levels add up.
TEST_P(L2p, MissesAreReadsOfCauseMap)
{
	hz_device_config cfg = map_config();
	choose(cfg, std::get<0>(GetParam()), std::get<1>(GetParam()), 0);
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot()) << rig.error;
	fill_and_settle(rig, 0, 4, 96);
	fill_and_settle(rig, 4, 5, 90); // the fifth is not full: chunks, and single sectors at its end
	ASSERT_TRUE(rig.boot()) << rig.error;
	EXPECT_EQ(rig.check(), "");
	std::mt19937 dice(1);
	for (int i = 0; i < 400; i++) {
		uint32_t zone = dice() % 5, offset = dice() % (zone == 4 ? 90 : 96);
		ASSERT_EQ(check_read(rig, zone, offset), "");
	}
	hz_log_ftl c = rig.counters();
	hz_log_flash flash = flash_counters(rig);
	uint64_t hits = c.l2p_hits[0] + c.l2p_hits[1] + c.l2p_hits[2], misses = c.l2p_misses[0] + c.l2p_misses[1] + c.l2p_misses[2];
	EXPECT_EQ(c.l2p_fetches, flash.reads[HZ_CAUSE_MAP]);
	EXPECT_EQ(c.l2p_fetches, misses) << "one table page per zone: every strategy needs one read";
	EXPECT_EQ(hits + misses, 400u) << "one after another, each sector is looked up once";
	EXPECT_EQ(c.l2p_log_hits, 0u);
	EXPECT_GT(hits, 300u);
	if (cfg.l2p_strategy == HZ_L2P_PINNED) {
		EXPECT_GT(c.l2p_hits[HZ_MAP_ZONE], 300u);
		EXPECT_EQ(c.l2p_misses[HZ_MAP_ZONE] + c.l2p_misses[HZ_MAP_CHUNK], 0u) << "aggregated entries are pinned";
	} else {
		EXPECT_EQ(c.l2p_misses[HZ_MAP_ZONE], 4u);
		EXPECT_EQ(c.l2p_misses[HZ_MAP_CHUNK], 5u);
	}
	EXPECT_EQ(rig.check(), "");
}
INSTANTIATE_TEST_SUITE_P(Policies, L2p, testing::Combine(testing::Range(0, 3), testing::Range(0, 2)),
			 [](const auto &test) { return choice_name(std::get<0>(test.param), std::get<1>(test.param), 0); });

// BITMAP knows the page, MULTIPLE reads the zone's first page, the chunk's first page, then the sector's: three reads for one miss.
TEST(L2pStrategies, MultipleReadsUpToThreeTablePages)
{
	for (uint32_t strategy : {HZ_L2P_BITMAP, HZ_L2P_MULTIPLE}) {
		hz_device_config cfg = wide_map_config();
		cfg.l2p_strategy = strategy;
		Rig rig(cfg);
		ASSERT_TRUE(rig.boot()) << rig.error;
		fill_and_settle(rig, 0, 1, 1200); // chunk of 2048 not complete
		auto reads = [&](uint32_t offset) {
			uint64_t before = rig.counters().l2p_fetches;
			EXPECT_EQ(check_read(rig, 0, offset), "");
			return rig.counters().l2p_fetches - before;
		};
		bool multiple = strategy == HZ_L2P_MULTIPLE;
		EXPECT_EQ(reads(1100), multiple ? 2u : 1u) << "zone and chunk begin in the first page, the sector lies in the second";
		EXPECT_EQ(reads(700), 1u) << "a page at hand is not read twice";
		EXPECT_EQ(reads(1100), 0u);
		for (uint32_t at = 1200; at < 2300; at += 50)
			ASSERT_EQ(rig.write(0, at, 50, rig.lba_of(0, at) + 1), 0);
		fill_and_settle(rig, 0, 0, 0);
		EXPECT_EQ(reads(2100), multiple ? 2u : 1u) << "of the second chunk";
		EXPECT_EQ(reads(1500), 1u) << "the first chunk is aggregated";
		EXPECT_EQ(reads(900), 0u);
		EXPECT_EQ(rig.counters().l2p_hits[HZ_MAP_CHUNK], 1u);
		ASSERT_EQ(rig.write(0, 2300, 4, rig.lba_of(0, 2300) + 1), 0);
		fill_and_settle(rig, 0, 0, 0);
		EXPECT_EQ(reads(2200), 1u) << "the zone is";
		EXPECT_EQ(reads(2250) + reads(3) + reads(1024), 0u);
	}
}

TEST(L2pFetch, RequestsThatMissTogetherWaitForOneRead)
{
	hz_device_config cfg = map_config();
	cfg.l2p_levels = HZ_MAP_PAGE;
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot()) << rig.error;
	fill_and_settle(rig, 0, 1, 96);
	hz_log_ftl before = rig.counters();
	std::vector<std::unique_ptr<Request>> reads;
	for (uint32_t i = 0; i < 40; i++) {
		reads.push_back(std::make_unique<Request>(FTL_READ, rig.lba_of(0, i * 2), 1));
		rig.submit(*reads.back(), i % 2);
	}
	lt_host_run_until_idle();
	for (uint32_t i = 0; i < 40; i++)
		EXPECT_TRUE(reads[i]->done && sector_is(reads[i]->pages[0], rig.lba_of(0, i * 2) + 1)) << i;
	hz_log_ftl after = rig.counters();
	EXPECT_EQ(after.l2p_fetches - before.l2p_fetches, 1u);
	EXPECT_EQ(after.l2p_joined - before.l2p_joined, 39u);
	EXPECT_EQ(rig.check(), "");
}

// A request that waits for a free fetch and then needs none, since another one's has brought the entry, wakes the next one.
TEST(L2pFetch, NobodyIsLeftBehindWhoNeedsNoFetchAnyMore)
{
	hz_device_config cfg = map_config();
	cfg.blocks_per_plane = 8 + 14;
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot()) << rig.error;
	const uint32_t fetches = 8, together = 30;
	ASSERT_GT(rig.shape.zones, fetches);
	fill_and_settle(rig, 0, fetches + 1, 96);
	ASSERT_TRUE(rig.boot()) << rig.error;
	std::vector<std::unique_ptr<Request>> reads;
	for (uint32_t i = 0; i < fetches + together; i++)
		reads.push_back(std::make_unique<Request>(FTL_READ, i < fetches ? rig.lba_of(i) : rig.lba_of(fetches, i), 1));
	for (auto &read : reads)
		rig.submit(*read);
	lt_host_run_until_idle();
	for (uint32_t i = 0; i < reads.size(); i++)
		EXPECT_TRUE(reads[i]->done) << i;
	EXPECT_LE(rig.counters().l2p_fetches, fetches + 8u);
	EXPECT_EQ(rig.check(), "");
}

// A large read looks a run up once if one entry or the log covers it, and takes all it needs of a fetched page.
TEST(L2pFetch, ALargeReadLooksUpRunsAndKeepsItsTablePage)
{
	for (uint32_t levels : {HZ_MAP_PAGE, HZ_MAP_ZONE}) {
		hz_device_config cfg = map_config();
		cfg.l2p_levels = levels;
		Rig rig(cfg);
		ASSERT_TRUE(rig.boot()) << rig.error;
		ASSERT_EQ(rig.write(0, 0, 96, rig.lba_of(0) + 1), 0);
		EXPECT_EQ(check_read(rig, 0, 0, 96), "");
		EXPECT_EQ(rig.counters().l2p_log_hits, 3u) << "32 sectors at a time";
		fill_and_settle(rig, 0, 0, 0);
		EXPECT_EQ(check_read(rig, 0, 0, 96), "");
		hz_log_ftl c = rig.counters();
		EXPECT_EQ(c.l2p_fetches, 1u);
		EXPECT_EQ(c.l2p_misses[levels], 1u);
		EXPECT_EQ(c.l2p_hits[HZ_MAP_PAGE] + c.l2p_hits[HZ_MAP_ZONE], 0u) << "the page at hand serves all of it";
	}
}

TEST(L2pFetch, ALookUpEndsWithTheTablePage)
{
	hz_device_config cfg = wide_map_config();
	cfg.l2p_log_entries = 8192;
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot()) << rig.error;
	for (uint32_t at = 0; at < 1200; at += 48)
		ASSERT_EQ(rig.write(0, at, 48, rig.lba_of(0, at) + 1), 0);
	ASSERT_EQ(rig.counters().l2p_flushes, 0u);
	EXPECT_EQ(check_read(rig, 0, 1014, 20), "");
	EXPECT_EQ(rig.counters().l2p_log_hits, 2u) << "the second begins with sector 1024";
	EXPECT_EQ(check_read(rig, 0, 1024, 20), "");
	EXPECT_EQ(rig.counters().l2p_log_hits, 3u);
}

// The same accesses under both: LRU keeps the last used entry longest, CLOCK every entry used since the hand passed.
TEST(L2pEviction, IsTheOneThatWasChosen)
{
	for (uint32_t eviction : {HZ_L2P_LRU, HZ_L2P_CLOCK}) {
		hz_device_config cfg = map_config();
		cfg.l2p_levels = HZ_MAP_PAGE;
		cfg.l2p_eviction = eviction;
		Rig rig(cfg);
		ASSERT_TRUE(rig.boot()) << rig.error;
		fill_and_settle(rig, 0, 1, 96);
		const auto fetches = [&](uint32_t offset) {
			const uint64_t before = rig.counters().l2p_fetches;
			EXPECT_EQ(check_read(rig, 0, offset), "");
			return rig.counters().l2p_fetches - before;
		};
		for (uint32_t at = 0; at < 16; at++)
			EXPECT_EQ(fetches(at), 1u);
		EXPECT_EQ(fetches(1) + fetches(0), 0u); // the second entry, then the first
		for (uint32_t at = 16; at < 31; at++)
			EXPECT_EQ(fetches(at), 1u);
		EXPECT_EQ(fetches(0), eviction == HZ_L2P_LRU ? 0u : 1u);
	}
}

TEST(L2pFetch, PrefetchBringsTheFollowingEntries)
{
	hz_device_config cfg = map_config();
	cfg.l2p_levels = HZ_MAP_PAGE;
	cfg.l2p_prefetch = 9;
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot()) << rig.error;
	fill_and_settle(rig, 0, 1, 96);
	for (uint32_t at = 20; at < 30; at++)
		EXPECT_EQ(check_read(rig, 0, at), "");
	EXPECT_EQ(rig.counters().l2p_fetches, 1u);
	EXPECT_EQ(rig.counters().l2p_prefetched, 9u);
	EXPECT_EQ(check_read(rig, 0, 30), "");
	EXPECT_EQ(rig.counters().l2p_fetches, 2u) << "not one more";
	EXPECT_EQ(check_read(rig, 0, 90), "");
	EXPECT_EQ(rig.counters().l2p_prefetched, 9u + 9 + 5) << "up to the last entry of the page";
	EXPECT_EQ(rig.check(), "");
}

// Prefetched entries are in lines, each at most a sixteenth of the cache.
TEST(L2pFetch, PrefetchMakesLines)
{
	for (uint32_t prefetch : {0, 30, 31, 62, 63}) {
		hz_device_config cfg = map_config();
		cfg.l2p_cache_bytes = 1024 * HZ_MAP_ENTRY_BYTES;
		cfg.l2p_prefetch = prefetch;
		Rig rig(cfg);
		ASSERT_TRUE(rig.boot()) << rig.error;
		EXPECT_EQ(rig_map_line(rig.ftl), prefetch < 31 ? 1u : prefetch < 63 ? 2u : 4u) << prefetch;
	}
}

// Pins leave a quarter of the budget alone; those refused are counted and behave like any entry.
TEST(L2pPinned, PinsAreBounded)
{
	hz_device_config cfg = map_config();
	cfg.l2p_strategy = HZ_L2P_PINNED;
	cfg.l2p_levels = HZ_MAP_CHUNK;
	cfg.l2p_chunk_sectors = 8;
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot()) << rig.error;
	fill_and_settle(rig, 0, 2, 96);
	hz_log_ftl c = rig.counters();
	EXPECT_EQ(c.l2p_pins_refused, 24u - 12u);
	for (uint32_t at = 0; at < 96; at += 5) {
		EXPECT_EQ(check_read(rig, 0, at), "");
		EXPECT_EQ(check_read(rig, 1, at), "");
	}
	EXPECT_EQ(rig.check(), "");
	EXPECT_EQ(rig.run_op(FTL_ZONE_RESET, 0), 0);
	EXPECT_EQ(rig.check(), "");
}

TEST(L2pLog, RestLeavesNothingToMerge)
{
	hz_device_config cfg = map_config();
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot()) << rig.error;
	fill_and_settle(rig, 0, 3, 50);
	ASSERT_TRUE(rig.boot()) << rig.error;
	for (uint32_t z = 0; z < 3; z++)
		EXPECT_EQ(check_read(rig, z, 0, 48), "");
	EXPECT_EQ(rig.counters().l2p_log_hits, 0u) << "all of it was found in table pages";
	EXPECT_EQ(rig.check(), "");
}

TEST(L2pLog, RestLeavesNothingToMergeInAnyPageOfAZone)
{
	Rig rig(wide_map_config());
	ASSERT_TRUE(rig.boot()) << rig.error;
	fill_and_settle(rig, 0, 1, 2304);
	ASSERT_TRUE(rig.boot()) << rig.error;
	for (uint32_t at : {0, 1100, 2200})
		EXPECT_EQ(check_read(rig, 0, at, 20), "");
	EXPECT_EQ(rig.counters().l2p_log_hits, 0u);
	EXPECT_EQ(rig.check(), "");
}

// The table page of a zone that is not full marks the rest as unmapped, and no unit of the log is programmed in vain.
TEST(L2pLog, TablePagesHoldWhatTheyMapAndNothingElse)
{
	Rig rig(map_config());
	ASSERT_TRUE(rig.boot()) << rig.error;
	fill_and_settle(rig, 0, 1, 96);
	fill_and_settle(rig, 1, 3, 24);
	const uint32_t pages = rig.shape.zones;
	std::map<uint32_t, uint64_t> newest;
	for (uint64_t i = 0; i < rig::count_records(rig.media); i++) {
		const hz_nand_oob &oob = rig.media.oob[i];
		EXPECT_NE(oob.kind, HZ_OOB_PAD) << i;
		if (oob.kind == HZ_OOB_MAP && (!newest.count(oob.lpa) || rig.media.oob[newest[oob.lpa]].sequence < oob.sequence))
			newest[oob.lpa] = i;
	}
	ASSERT_EQ(newest.size(), 3u);
	ASSERT_GE(pages, 3u);
	for (uint32_t zone = 0; zone < 3; zone++) {
		uint32_t entry[HZ_MAP_PAGE_ENTRIES];
		std::memcpy(entry, rig::data_of(rig.media, newest[zone]), sizeof entry);
		for (uint32_t i = 0; i < HZ_MAP_PAGE_ENTRIES; i++)
			ASSERT_EQ(entry[i] == UINT32_MAX, i >= (zone ? 24u : 96u)) << zone << " " << i;
	}
}

// A full log makes writes wait and lets them go on; one flushed from half full on does not get there.
TEST(L2pLog, WritesWaitForRoomAndGoOn)
{
	for (uint32_t policy : {HZ_L2P_LOG_BACKGROUND, HZ_L2P_LOG_BLOCKING}) {
		hz_device_config cfg = wide_map_config();
		cfg.l2p_log_policy = policy;
		cfg.slc.program_ns[0] = 50000000; // table pages are slow
		Rig rig(cfg);
		ASSERT_TRUE(rig.boot()) << rig.error;
		Driver driver(rig, 1);
		for (int i = 0; i < 6; i++)
			ASSERT_TRUE(driver.run_batch({{FTL_WRITE, 0, 300, 0}, {FTL_WRITE, 1, 300, 0}}));
		hz_log_ftl c = rig.counters();
		EXPECT_EQ(c.l2p_stalls > 0, policy == HZ_L2P_LOG_BLOCKING) << "a page being written holds the die that programs need too";
		EXPECT_EQ(c.l2p_stall_ns > 0, policy == HZ_L2P_LOG_BLOCKING);
		EXPECT_GT(c.l2p_flushes, 2u);
		EXPECT_EQ(c.l2p_updates, 3600u);
		EXPECT_EQ(rig.check(), "");
		driver.verify_all();
	}
}

// The content of an unreadable page comes from the zone, never by luck.
TEST(L2pFaults, ATablePageThatCannotBeReadIsMadeAnew)
{
	hz_device_config cfg = map_config();
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot()) << rig.error;
	fill_and_settle(rig, 0, 2, 96);
	for (uint32_t z = 0; z < 2; z++)
		ASSERT_EQ(spoil_table_page(rig, z), 1u);
	for (uint32_t z = 0; z < 2; z++)
		EXPECT_EQ(check_read(rig, z, 10, 40), "");
	hz_log_ftl c = rig.counters();
	EXPECT_EQ(c.l2p_rebuilt, 2u);
	EXPECT_EQ(c.l2p_fetches, 2u * 4);
	EXPECT_GT(c.l2p_log_hits, 0u) << "its entries are in the log again";
	EXPECT_EQ(rig.check(), "");
	fill_and_settle(rig, 0, 0, 0);
	ASSERT_TRUE(rig.boot()) << rig.error;
	EXPECT_EQ(check_read(rig, 1, 0, 96), "");
	EXPECT_EQ(rig.counters().l2p_log_hits, 0u);
}

// --- power cuts ---

static const std::vector<std::vector<Op>> flushes = {
	{{FTL_WRITE, 0, 48, 0}, {FTL_WRITE, 1, 48, 0}},
	{{FTL_WRITE, 0, 48, 0}, {FTL_WRITE, 1, 48, 0}},
	{{FTL_WRITE, 2, 96, 0}},
	{{FTL_ZONE_RESET, 0, 0, 0}},
	{{FTL_WRITE, 0, 60, 0}, {FTL_WRITE, 3, 50, 0}},
	{{FTL_FLUSH, 0, 0, 0}},
	{{FTL_WRITE, 3, 40, 0}},
	{{FTL_WRITE, 0, 10, FTL_FUA}},
};

// False when the cut lies beyond the end.
static bool run_cut(const hz_device_config &cfg, uint64_t cut, uint32_t before, uint64_t &pages)
{
	Rig rig(cfg);
	nand_policy policy{};
	policy.power_cut_op = cut;
	policy.cut_before = before;
	EXPECT_TRUE(rig.boot(policy)) << rig.error;
	Driver driver(rig, 1);
	bool alive = true;
	for (const auto &batch : flushes)
		alive = alive && driver.run_batch(batch);
	pages = std::max(pages, rig.counters().l2p_table_pages_written);
	EXPECT_TRUE(rig.boot()) << rig.error;
	if (!rig.ftl)
		return false;
	driver.check_recovered();
	if (testing::Test::HasFailure())
		return false;
	driver.run_batch({{FTL_WRITE, 4, 90, 0}, {FTL_WRITE, 5, 90, 0}});
	EXPECT_EQ(rig.check(), "");
	return !alive;
}

class L2pPowerCut : public testing::TestWithParam<int> {};

TEST_P(L2pPowerCut, EveryOperationOfABodyThatFlushesTheLog)
{
	hz_device_config cfg = map_config();
	cfg.l2p_log_entries = 256;
	choose(cfg, GetParam() % 3, 0, GetParam() / 3);
	uint64_t pages = 0;
	for (uint32_t before = 0; before < 2; before++) {
		uint64_t cut = 1;
		for (bool more = true; more; cut++) {
			SCOPED_TRACE(testing::Message() << "cut " << cut << (before ? " before" : " inside"));
			more = run_cut(cfg, cut, before, pages);
			ASSERT_FALSE(HasFailure());
		}
		EXPECT_GT(cut, 60u);
	}
	EXPECT_GT(pages, 2u) << "the body must flush the log";
}
INSTANTIATE_TEST_SUITE_P(Policies, L2pPowerCut, testing::Range(0, 6));

TEST(L2pPowerCutLong, ChainOfCuts)
{
	for (uint64_t seed = 1; seed <= 24; seed++) {
		std::mt19937_64 dice(seed);
		hz_device_config cfg = dice() % 3 ? map_config() : wide_map_config();
		choose(cfg, dice() % 3, dice() % 2, dice() % 2);
		cfg.slc_program_sectors = dice() % 2 ? 2 : 1;
		Rig rig(cfg);
		Driver driver(rig, seed);
		for (int boot = 0; boot < 8; boot++) {
			nand_policy policy{};
			policy.power_cut_op = 1 + dice() % 250;
			policy.cut_before = dice() % 2;
			SCOPED_TRACE(testing::Message() << "seed " << seed << " boot " << boot << " cut " << policy.power_cut_op);
			ASSERT_TRUE(rig.boot(policy)) << rig.error;
			driver.check_recovered();
			ASSERT_FALSE(HasFailure());
			while (driver.run_batch(driver.random_batch()))
				ASSERT_FALSE(HasFailure());
			ASSERT_FALSE(HasFailure());
		}
	}
}
