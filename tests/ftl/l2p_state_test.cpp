// State of the map in flash in RAM grows with its cache and log, and by a few bytes for each table page; entries in common lists for that
// are not confused.
// SPDX-License-Identifier: BSD-3-Clause
#include <set>

#include "l2p_rig.hpp"
#include "units_model.hpp"

using namespace ftl_rig;

namespace {

struct Held {
	uint64_t bytes, pages, zones;
};

// State of the map, without data and memory lent to mount.
Held held_by_map(const hz_device_config &cfg)
{
	arena_ledger ledger{};
	Rig rig(cfg);
	rig.ledger = &ledger;
	EXPECT_TRUE(rig.boot()) << rig.error;
	Held held{0, uint64_t(rig.shape.zones) * rig.shape.map_pages_per_zone, rig.shape.zones};
	for (uint32_t i = 0; i < ledger.count; i++) {
		const arena_line &line = ledger.line[i];
		if (std::string(line.owner) == "map" && (line.use == ARENA_STATE || line.use == ARENA_TABLE))
			held.bytes += line.bytes;
	}
	return held;
}

// Zones of that many sectors.
hz_device_config long_zones(hz_device_config cfg, uint32_t sectors)
{
	cfg.pages_per_block = sectors / 8;
	if (cfg.zone_size_sectors)
		cfg.zone_size_sectors = sectors;
	return cfg;
}

} // namespace

// As many zones, larger ones: all the growth is for their table pages. Five of them, so that rounding up to a power of two cannot help.
TEST(L2pState, ATablePageTakesSixBytes)
{
	const Held small = held_by_map(map_config()), large = held_by_map(long_zones(map_config(), 4800));
	ASSERT_EQ(small.zones, large.zones);
	ASSERT_EQ(large.pages, 5 * small.pages);
	EXPECT_EQ(large.bytes - small.bytes, 6 * (large.pages - small.pages));
}

// … and of a conventional zone 8.
TEST(L2pState, ATablePageOfAConventionalZoneTakesEightBytes)
{
	const Held small = held_by_map(mapped_conventional_config()), large = held_by_map(long_zones(mapped_conventional_config(), 4800));
	ASSERT_EQ(small.zones, 6u);
	ASSERT_EQ(large.pages, 5 * small.pages);
	EXPECT_EQ(large.bytes - small.bytes, 8u * 4 * 4 + 6u * 2 * 4) << "four conventional zones and two others have four more each";
}

TEST(L2pState, ACheckpointTellsCopiesApartBy29BitsOfTheirNumbers)
{
	Rig rig(mapped_conventional_config());
	ASSERT_TRUE(rig.boot()) << rig.error;
	std::mt19937_64 dice(1);
	for (uint32_t page = 0; page < 4; page++)
		for (int i = 0; i < 100; i++) {
			const uint64_t sequence = dice() >> dice() % 64;
			ASSERT_EQ(rig_version(rig.ftl, page, sequence), sequence & ((1u << 29) - 1));
		}
	for (uint32_t bit = 0; bit < 29; bit++)
		EXPECT_EQ(rig_version(rig.ftl, 0, uint64_t{1} << bit), 1u << bit);
}

// Dirty pages against a set: a pass takes each page dirty at its beginning, once, and pages that become dirty meanwhile in this pass or in
// the next one.
TEST(L2pState, APassTakesAllDirtyPages)
{
	for (uint32_t shape = 0; shape < 3; shape++) {
		SCOPED_TRACE(testing::Message() << "shape " << shape);
		hz_device_config cfg = shape ? long_zones(map_config(), shape == 1 ? 4800 : 96) : wide_map_config();
		cfg.l2p_cache_bytes = 128 * HZ_MAP_ENTRY_BYTES;
		cfg.l2p_shards = 1u << shape;
		Rig rig(cfg);
		ASSERT_TRUE(rig.boot()) << rig.error;
		const uint32_t pages = rig.shape.map_pages_per_zone, zones = rig.shape.zones;
		std::mt19937_64 dice(shape);
		std::set<uint32_t> dirty;
		auto soil = [&](uint32_t count) {
			for (; count; count--) {
				const uint32_t zone = dice() % zones, page = dice() % pages;
				rig_dirty(rig.ftl, zone, page);
				dirty.insert(zone * pages + page);
			}
		};
		for (int pass = 0; pass < 300; pass++) {
			soil(dice() % 12);
			std::set<uint32_t> due = dirty, taken;
			uint32_t page;
			rig_dirty_begin(rig.ftl);
			while ((page = rig_dirty_take(rig.ftl, pages)) != UINT32_MAX) {
				ASSERT_TRUE(dirty.erase(page)) << "page " << page << " is not dirty";
				due.erase(page);
				ASSERT_TRUE(taken.insert(page).second) << "page " << page << " was taken twice in a pass";
				if (pass % 2)
					soil(dice() % 2);
			}
			ASSERT_TRUE(due.empty()) << "page " << *due.begin() << " was left out";
			const char *wrong = rig_dirty_check(rig.ftl);
			ASSERT_EQ(wrong, nullptr) << wrong;
		}
	}
}

// Reads of pages with their fetches in one list, while one of the zones is reset and rewritten.
TEST(L2pState, FetchesOfOneListAreKeptApart)
{
	hz_device_config cfg = map_config();
	cfg.l2p_levels = HZ_MAP_PAGE;
	cfg.slc_blocks_per_plane = 10;
	cfg.blocks_per_plane = 10 + 22;
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot()) << rig.error;
	ASSERT_GT(rig.shape.zones, 16u) << "of eight lists, two of these have their pages in the same";
	const uint32_t in_list[] = {0, 8, 16};
	for (uint64_t after_ns = 0; after_ns < 250000; after_ns += 7000) {
		SCOPED_TRACE(testing::Message() << "after " << after_ns << " ns");
		for (uint32_t zone : in_list) {
			ASSERT_EQ(rig.run_op(FTL_ZONE_RESET, zone), 0);
			for (uint32_t at = 0; at < 96; at += 48)
				ASSERT_EQ(rig.write(zone, at, 48, rig.lba_of(zone, at) + 1), 0);
		}
		rig_merge_map(rig.ftl);
		lt_host_run_until_idle();
		hz_log_ftl before = rig.counters();
		Request reset(FTL_ZONE_RESET, rig.lba_of(8), 0);
		rig.submit(reset);
		lt_host_run_until(clock_now_ns() + after_ns);
		std::vector<std::unique_ptr<Request>> reads;
		for (uint32_t i = 0; i < 30; i++) {
			reads.push_back(std::make_unique<Request>(FTL_READ, rig.lba_of(in_list[i % 3], 40 + i), 1));
			rig.submit(*reads.back(), i % 2);
		}
		lt_host_run_until_idle();
		ASSERT_EQ(reset.status(), 0);
		for (uint32_t i = 0; i < 30; i++) {
			const uint64_t tag = rig.lba_of(in_list[i % 3], 40 + i) + 1;
			ASSERT_TRUE(reads[i]->done);
			ASSERT_TRUE(sector_is(reads[i]->pages[0], tag) || (i % 3 == 1 && sector_is(reads[i]->pages[0], 0))) << i;
		}
		EXPECT_LE(rig.counters().l2p_fetches - before.l2p_fetches, 3u) << "one for each page: those of others stay true";
		ASSERT_EQ(rig.check(), "");
	}
}

// A read holds its table page, while a new copy of it is written. A request for an entry only in the new copy does not join.
TEST(L2pState, AnOlderCopyAtHandIsNotJoined)
{
	for (uint64_t after_ns = 60000; after_ns < 300000; after_ns += 8000) {
		SCOPED_TRACE(testing::Message() << "after " << after_ns << " ns");
		hz_device_config cfg = map_config();
		cfg.l2p_levels = HZ_MAP_PAGE;
		Rig rig(cfg);
		ASSERT_TRUE(rig.boot()) << rig.error;
		ASSERT_EQ(rig.write(0, 0, 48, 1), 0);
		ASSERT_EQ(rig.shut_down_cleanly(), 0);
		ASSERT_EQ(rig.write(0, 48, 24, 49), 0);
		rig_merge_map(rig.ftl);
		lt_host_run_until(clock_now_ns() + after_ns);
		std::vector<std::unique_ptr<Request>> reads;
		reads.push_back(std::make_unique<Request>(FTL_READ, rig.lba_of(0), 48));
		rig.submit(*reads[0]);
		for (uint32_t i = 0; i < 16; i++) {
			lt_host_run_until(clock_now_ns() + 10000);
			reads.push_back(std::make_unique<Request>(FTL_READ, rig.lba_of(0, 50 + i), 1));
			rig.submit(*reads.back(), i % 2);
		}
		lt_host_run_until_idle();
		for (uint32_t i = 0; i < reads.size(); i++)
			ASSERT_TRUE(reads[i]->done && sector_is(reads[i]->pages[0], i ? 50 + i : 1)) << i;
		ASSERT_EQ(rig.check(), "");
	}
}

namespace {

// A chain of power cuts against the model, with a change of the state in RAM after each boot and each batch.
template <typename Model, typename Change> void live(const hz_device_config &cfg, uint64_t seed, int boots, Change change)
{
	Rig rig(cfg);
	Model driver(rig, seed);
	std::mt19937_64 dice(seed);
	for (int boot = 0; boot < boots; boot++) {
		nand_policy policy{};
		policy.power_cut_op = 1 + dice() % 300;
		SCOPED_TRACE(testing::Message() << "boot " << boot << " cut " << policy.power_cut_op);
		ASSERT_TRUE(rig.boot(policy)) << rig.error;
		change(rig.ftl);
		driver.check_recovered();
		ASSERT_FALSE(testing::Test::HasFailure());
		while (driver.run_batch(driver.random_batch())) {
			ASSERT_EQ(rig.check(), "");
			ASSERT_FALSE(testing::Test::HasFailure());
			change(rig.ftl);
		}
		ASSERT_FALSE(testing::Test::HasFailure());
	}
}

} // namespace

class L2pCrowded : public testing::TestWithParam<int> {};

TEST_P(L2pCrowded, ZonesLoseNothing)
{
	hz_device_config cfg = GetParam() % 2 ? wide_map_config() : map_config();
	choose(cfg, GetParam() % 3, GetParam() % 2, GetParam() / 2 % 2);
	if (GetParam() % 3 == 2) { // lines
		cfg.l2p_cache_bytes = 130 * HZ_MAP_ENTRY_BYTES;
		cfg.l2p_prefetch = 40;
	}
	live<Driver>(cfg, static_cast<uint64_t>(GetParam()) + 70, 10, rig_crowd_lists);
}

TEST_P(L2pCrowded, ConventionalZonesLoseNothing)
{
	hz_device_config cfg = mapped_conventional_config(GetParam() % 2, GetParam() / 2 % 2);
	if (GetParam() % 3 == 1)
		cfg = long_zones(cfg, 1152); // two table pages for each
	live<ConventionalDriver>(cfg, static_cast<uint64_t>(GetParam()) + 80, 10, rig_crowd_lists);
}
INSTANTIATE_TEST_SUITE_P(Shapes, L2pCrowded, testing::Range(0, 6));

namespace {

hz_device_config map_of_zones(uint32_t zones)
{
	hz_device_config cfg = ftl_config();
	cfg.l2p_kind = HZ_L2P_KIND_ZONE;
	cfg.slc_blocks_per_plane = 10;
	cfg.blocks_per_plane = 10 + 2 + zones;
	return cfg;
}

} // namespace

// A zone has a list of its staged sectors as long as it has some, so there are as many as zones may be active, and not one for each zone.
TEST(ZoneStaged, MemoryDoesNotGrowWithTheDevice)
{
	const Held few = held_by_map(map_of_zones(12)), many = held_by_map(map_of_zones(24));
	ASSERT_EQ(many.zones, 24u);
	ASSERT_EQ(few.zones, 12u);
	EXPECT_EQ(many.bytes - few.bytes, 12u * (8 + 8 + 4)) << "where a zone lies, since when, and which list it has";
}

// Next to a map of zones the map of conventional sectors has nothing of the sequential zones: each more of them takes what it takes alone.
TEST(Units, MemoryOfTheMapOfSectorsDoesNotGrowWithSequentialZones)
{
	for (const bool mapped : {false, true}) {
		SCOPED_TRACE(testing::Message() << "mapped " << mapped);
		const auto with = [mapped](uint32_t zones) {
			hz_device_config cfg = units_config(mapped);
			cfg.blocks_per_plane += 8 + zones - cfg.zones;
			cfg.slc_blocks_per_plane += 8;
			cfg.zones = zones;
			return held_by_map(cfg);
		};
		const Held few = with(24), many = with(32); // so that no zone has a list of its own
		ASSERT_EQ(many.zones - few.zones, 8u);
		EXPECT_EQ(many.bytes - few.bytes, 8u * (8 + 8 + 4));
	}
}

// No zone that has staged sectors goes without a list, whichever of the two kinds it is.
TEST(Units, ZonesOfEitherKindAddListsOfStagedSectors)
{
	hz_device_config cfg = units_config(false);
	cfg.blocks_per_plane += 16 + 8;
	cfg.slc_blocks_per_plane += 8;
	cfg.zones += 16;
	hz_device_config active = cfg, buffers = cfg;
	active.max_active++;
	buffers.conventional_buffers++;
	const uint64_t list = 24 * sizeof(ppa_t); // a write buffer has so many slots
	EXPECT_EQ(held_by_map(active).bytes - held_by_map(cfg).bytes, 2 * list);
	EXPECT_EQ(held_by_map(buffers).bytes - held_by_map(cfg).bytes, 2 * list);
}

TEST(ZoneStaged, AListIsGivenBackWhenNothingIsStagedAnyMore)
{
	for (int end = 0; end < 3; end++) {
		SCOPED_TRACE(testing::Message() << "end " << end);
		Rig rig(map_of_zones(12));
		ASSERT_TRUE(rig.boot()) << rig.error;
		for (int round = 0; round < 30; round++) {
			const uint32_t zone = static_cast<uint32_t>(round) % 12;
			ASSERT_EQ(rig.write(zone, 0, 5, 1, FTL_FUA), 0);
			EXPECT_EQ(rig.compare(zone, 0, 5, 1), "");
			if (end == 0) {
				ASSERT_EQ(rig.write(zone, 5, 91, 6), 0);
				ASSERT_EQ(rig.run_op(FTL_FLUSH, 0), 0);
			} else if (end == 1) {
				ASSERT_EQ(rig.run_op(FTL_ZONE_FINISH, zone), 0);
			}
			ASSERT_EQ(rig.check(), "");
			ASSERT_EQ(rig.run_op(FTL_ZONE_RESET, zone), 0);
			ASSERT_EQ(rig.check(), "");
		}
		EXPECT_EQ(rig_lists_held(rig.ftl), 0u);
	}
}

// Zones without a list, or with one given only after some of their sectors are staged, are read by the reverse map: against the model, with
// power cuts.
class ZoneStagedWithoutLists : public testing::TestWithParam<int> {};

TEST_P(ZoneStagedWithoutLists, LosesNothing)
{
	hz_device_config cfg = map_of_zones(8);
	if (GetParam() % 2)
		use_slots(cfg, 60, HZ_SLOTS_LOCKED, HZ_BUFFER_FLUSH_UNIT);
	std::mt19937_64 dice(static_cast<uint64_t>(GetParam()));
	live<Driver>(cfg, static_cast<uint64_t>(GetParam()) + 90, 10, [&](ftl *device) { rig_waste_lists(device, dice() % 3 != 0); });
}
INSTANTIATE_TEST_SUITE_P(Seeds, ZoneStagedWithoutLists, testing::Range(0, 4));

// … and of backing zones, with the map in RAM and in flash.
class BackingStagedWithoutLists : public testing::TestWithParam<int> {};

TEST_P(BackingStagedWithoutLists, LosesNothing)
{
	hz_device_config cfg = GetParam() % 2 ? mapped_conventional_config(true) : conventional_config();
	cfg.conventional_buffers = 1 + GetParam() % 3; // shared by the streams: a zone that gave its buffer away has staged sectors and no
						       // buffer
	std::mt19937_64 dice(static_cast<uint64_t>(GetParam()));
	live<ConventionalDriver>(cfg, static_cast<uint64_t>(GetParam()) + 60, 10,
				 [&](ftl *device) { rig_waste_lists(device, dice() % 3 != 0); });
}
INSTANTIATE_TEST_SUITE_P(Seeds, BackingStagedWithoutLists, testing::Range(0, 6));

// There are lists for as many backing zones as may have staged sectors at a time, on any device.
TEST(BackingStaged, MemoryDoesNotGrowWithTheDevice)
{
	arena_ledger ledger{};
	uint64_t bytes[2];
	for (uint32_t i = 0; i < 2; i++) {
		hz_device_config cfg = conventional_config();
		cfg.conventional_buffers = 1;
		cfg.conventional_spare += 8 * i;
		cfg.blocks_per_plane += 8 * i;
		ledger = {};
		Rig rig(cfg);
		rig.ledger = &ledger;
		ASSERT_TRUE(rig.boot()) << rig.error;
		ASSERT_EQ(rig.shape.backing_zones, 9 + 8 * i);
		bytes[i] = 0;
		for (uint32_t line = 0; line < ledger.count; line++)
			if (ledger.line[line].use != ARENA_LOAN && strstr(ledger.line[line].what, "staged sectors of zones"))
				bytes[i] += ledger.line[line].bytes;
	}
	ASSERT_GT(bytes[0], 0u);
	EXPECT_EQ(bytes[1] - bytes[0], 8u * 4) << "which list it has";
}

// An unwritable zone keeps its staged sectors for good, and no list: neither when it fails nor after a boot.
TEST(ZoneStaged, AReadOnlyZoneHasNoList)
{
	Rig rig(map_of_zones(12));
	ASSERT_TRUE(rig.boot()) << rig.error;
	for (uint32_t zone = 0; zone < 5; zone++)
		ASSERT_EQ(rig.write(zone, 0, 5, 1, FTL_FUA), 0);
	EXPECT_EQ(rig_lists_held(rig.ftl), 5u);
	rig.cfg.read_fail_ppb = 1000000000;
	ASSERT_EQ(rig.write(0, 5, 19, 6), 0) << "what was staged cannot be read back";
	rig.cfg.read_fail_ppb = 0;
	EXPECT_EQ(rig_lists_held(rig.ftl), 4u);
	for (int boot = 0; boot < 2; boot++) {
		EXPECT_EQ(rig.zone_state(0), NVME_ZS_READ_ONLY);
		EXPECT_EQ(rig.compare(0, 0, 5, 1), "");
		EXPECT_EQ(rig.check(), "");
		ASSERT_TRUE(rig.boot()) << rig.error;
		EXPECT_EQ(rig_lists_held(rig.ftl), 4u);
	}
}

// With the map in RAM mount makes no entries of placed sectors; they are made on demand, by table pages: against the model, with power cuts
// and moves of zones, of three table pages each.
class FlatMap : public testing::TestWithParam<int> {};

TEST_P(FlatMap, EntriesMadeLaterLoseNothing)
{
	hz_device_config cfg = wide_map_config();
	cfg.l2p_cache_bytes = 0;
	live<Driver>(cfg, static_cast<uint64_t>(GetParam()) + 30, 8, [](ftl *) {});
}
INSTANTIATE_TEST_SUITE_P(Seeds, FlatMap, testing::Range(0, 4));

TEST(FlatMapPages, OnlyThoseThatAreAskedForAreMade)
{
	hz_device_config cfg = wide_map_config();
	cfg.l2p_cache_bytes = 0;
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot()) << rig.error;
	for (uint32_t at = 0; at < 2100; at += 84)
		ASSERT_EQ(rig.write(0, at, 84, 1 + at), 0);
	ASSERT_EQ(rig.run_op(FTL_FLUSH, 0), 0);
	EXPECT_EQ(rig_unmade_pages(rig.ftl, 0), 0u);
	ASSERT_TRUE(rig.boot()) << rig.error;
	EXPECT_EQ(rig_unmade_pages(rig.ftl, 0), 3u);
	EXPECT_EQ(rig.compare(0, 1020, 3, 1021), "");
	EXPECT_EQ(rig_unmade_pages(rig.ftl, 0), 2u);
	EXPECT_EQ(rig.check(), "");
	EXPECT_EQ(rig.compare(0, 1020, 10, 1021), "");
	EXPECT_EQ(rig_unmade_pages(rig.ftl, 0), 1u);
	ASSERT_EQ(rig.write(0, 2100, 84, 2101, FTL_FUA), 0) << "behind what mount has found";
	EXPECT_EQ(rig_unmade_pages(rig.ftl, 0), 1u);
	EXPECT_EQ(rig.compare(0, 2040, 84, 2041), "");
	EXPECT_EQ(rig_unmade_pages(rig.ftl, 0), 0u);
	EXPECT_EQ(rig.check(), "");
	ASSERT_TRUE(rig.boot()) << rig.error;
	ASSERT_EQ(rig.run_op(FTL_ZONE_RESET, 0), 0);
	EXPECT_EQ(rig_unmade_pages(rig.ftl, 0), 0u);
	EXPECT_EQ(rig.check(), "");
}

TEST(FlatMapPages, AMoveMakesThem)
{
	hz_device_config cfg = wide_map_config();
	cfg.l2p_cache_bytes = 0;
	cfg.refresh_reads = 12;
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot()) << rig.error;
	for (uint32_t at = 0; at < 2304; at += 72)
		ASSERT_EQ(rig.write(0, at, 72, 1 + at), 0);
	ASSERT_EQ(rig.shut_down_cleanly(), 0);
	ASSERT_TRUE(rig.boot()) << rig.error;
	for (int i = 0; i < 12; i++)
		EXPECT_EQ(rig.compare(0, 7, 1, 8), "");
	lt_host_run_until_idle();
	EXPECT_EQ(rig.counters().refreshed_sectors, 2304u);
	EXPECT_EQ(rig_unmade_pages(rig.ftl, 0), 0u);
	EXPECT_EQ(rig.check(), "");
	for (uint32_t at = 0; at < 2304; at += 72)
		EXPECT_EQ(rig.compare(0, at, 72, 1 + at), "") << at;
}

// A member left empty by an implementation ends the device at the first command that needs it.
TEST(L2pInterfaces, HaveNoEmptyMember) { EXPECT_EQ(rig_empty_map_members(), 0u); }

// Under a kind with looks, and without the map's lock, whoever looks up a conventional sector, or asks for a write's stream, waits for no
// reader that has the lock: it would be the second one of this hart, which the check of locks refuses.
TEST(FlatMap, LookUpsTakeNoLock)
{
	for (const bool unlocked : {false, true}) {
		SCOPED_TRACE(testing::Message() << "unlocked " << unlocked);
		hz_device_config cfg = conventional_config();
		cfg.lock_kind[HZ_LC_L2P] = LT_LOCK_SEQ;
		cfg.l2p_lookups = unlocked ? HZ_LOOKUPS_UNLOCKED : HZ_LOOKUPS_LOCKED;
		Rig rig(cfg);
		ASSERT_TRUE(rig.boot()) << rig.error;
		ASSERT_EQ(rig.write(0, 0, 5, 7), 0);
		ASSERT_EQ(rig.shut_down_cleanly(), 0);
		lt_lock_node node;
		lt_host_set_hart(1);
		lt_lock_read(rig_map_lock(rig.ftl, rig.lba_of(0)), &node);
		lt_host_set_hart(0);
		EXPECT_EQ(rig_conventional_hint(rig.ftl, 3), rig_conventional_place(rig.ftl, 3));
		Request read(FTL_READ, rig.lba_of(0), 5);
		rig.submit(read);
		lt_host_run_until_idle();
		EXPECT_TRUE(read.done && read.status() == 0);
		lt_host_set_hart(1);
		lt_lock_read_end(rig_map_lock(rig.ftl, rig.lba_of(0)), &node);
		lt_host_set_hart(0);
	}
}
