// Conventional zones and block namespaces: requests, statuses, reports, and random operations against the model.
// SPDX-License-Identifier: BSD-3-Clause
#include "l2p_rig.hpp"
#include "inside.h"
#include "conventional_model.hpp"

using namespace ftl_rig;

static void write_at(Rig &r, uint64_t lba, uint32_t sectors, uint64_t tag, uint16_t expected = 0, uint8_t flags = 0)
{
	Request w(FTL_WRITE, lba, sectors, flags);
	for (uint32_t i = 0; i < sectors; i++)
		fill_sector(w.pages[i], tag + i);
	EXPECT_EQ(r.run(w), expected) << "write of " << sectors << " at " << lba;
}

TEST(ConventionalSpace, OverwritesInPlaceAndReadsBack)
{
	Rig r(conventional_config());
	ASSERT_TRUE(r.boot()) << r.error;
	EXPECT_EQ(r.compare(0, 0, 90, 0), "") << "never written: zeros";
	write_at(r, r.lba_of(0, 10), 5, 100);
	write_at(r, r.lba_of(0, 12), 1, 200);
	write_at(r, r.lba_of(0, 0), 3, 300, 0, FTL_FUA);
	EXPECT_EQ(r.compare(0, 10, 2, 100), "");
	EXPECT_EQ(r.compare(0, 12, 1, 200), "");
	EXPECT_EQ(r.compare(0, 13, 2, 103), "");
	EXPECT_EQ(r.compare(0, 0, 3, 300), "");
	EXPECT_EQ(r.compare(0, 3, 7, 0), "");
	EXPECT_EQ(r.check(), "");
	Request flush(FTL_FLUSH, 0, 0);
	EXPECT_EQ(r.run(flush), 0);
	ASSERT_TRUE(r.boot()) << r.error;
	EXPECT_EQ(r.compare(0, 10, 2, 100), "");
	EXPECT_EQ(r.compare(0, 12, 1, 200), "");
	EXPECT_EQ(r.compare(0, 0, 3, 300), "");
	EXPECT_EQ(r.check(), "");
}

// The check of the whole state compares map, reverse map, validity and counts, with the map in RAM, in changes, and in table pages.
TEST(ConventionalSpace, TheCheckSeesWhatDoesNotFit)
{
	for (const char *map : {"ram", "changes", "copies"}) {
		SCOPED_TRACE(map);
		Rig r(*map == 'r' ? conventional_config() : mapped_conventional_config());
		ASSERT_TRUE(r.boot()) << r.error;
		write_at(r, r.lba_of(0, 10), 5, 100);
		const uint32_t old = rig_conventional_place(r.ftl, r.lba_of(0, 12));
		write_at(r, r.lba_of(0, 12), 1, 200);
		Request flush(FTL_FLUSH, 0, 0);
		ASSERT_EQ(r.run(flush), 0);
		if (*map == 'c' && map[1] == 'o') {
			rig_merge_map(r.ftl);
			lt_host_run_until_idle();
		}
		const uint32_t place = rig_conventional_place(r.ftl, r.lba_of(0, 12));
		ASSERT_NE(place, old);
		ASSERT_EQ(r.check(), "");

		for (uint32_t offset = 10; offset < 15; offset++) {
			uint32_t *const lba = rig_reverse(r.ftl, rig_conventional_place(r.ftl, r.lba_of(0, offset)));
			*lba ^= 1;
			EXPECT_EQ(r.check(), "a place does not know the conventional sector that is mapped to it") << offset;
			*lba ^= 1;
		}

		uint64_t bit;
		lt_word *validity = rig_validity(r.ftl, place, &bit), *count = rig_valid_places(r.ftl, old); // it may be another zone's
		lt_and(validity, ~bit);
		EXPECT_EQ(r.check(), "a conventional sector is mapped to an invalid place");
		lt_or(validity, bit);

		lt_add(count, 1);
		EXPECT_EQ(r.check(), "a backing zone's count of valid sectors is wrong");
		validity = rig_validity(r.ftl, old, &bit);
		lt_or(validity, bit);
		EXPECT_EQ(r.check(), "there are more or fewer valid places than mapped conventional sectors");
		lt_and(validity, ~bit);
		lt_add(count, uint64_t(-1));
		EXPECT_EQ(r.check(), "");
	}
}

// Table pages are gone through one by one, however many sectors of a zone are mapped.
TEST(ConventionalSpace, TheCheckSeesZonesOfSeveralTablePages)
{
	for (const bool in_flash : {false, true}) {
		hz_device_config cfg = in_flash ? mapped_conventional_config() : conventional_config();
		cfg.pages_per_block *= 16;
		cfg.l2p_log_entries = 4096;
		Rig r(cfg);
		ASSERT_TRUE(r.boot()) << r.error;
		const uint32_t sectors = r.shape.zone_capacity_sectors;
		ASSERT_GT(sectors, HZ_MAP_PAGE_ENTRIES + 100u);
		for (uint32_t o = 0; o < sectors; o += 8)
			write_at(r, r.lba_of(0, o), std::min(8u, sectors - o), o);
		ASSERT_EQ(r.check(), "");
		uint32_t *const lba = rig_reverse(r.ftl, rig_conventional_place(r.ftl, r.lba_of(0, sectors - 1)));
		*lba ^= 1;
		EXPECT_EQ(r.check(), "a place does not know the conventional sector that is mapped to it");
		*lba ^= 1;
	}
}

// A mount skips exactly the table pages without findings.
TEST(ConventionalMap, AMountFindsWhatLiesBetweenBlankTablePages)
{
	hz_device_config cfg = mapped_conventional_config();
	cfg.pages_per_block *= 32;
	Rig r(cfg);
	ASSERT_TRUE(r.boot()) << r.error;
	const uint32_t sectors = r.shape.zone_capacity_sectors;
	ASSERT_EQ(sectors, 3u * HZ_MAP_PAGE_ENTRIES);
	const std::pair<uint32_t, uint32_t> written[] = {
		{0, 5}, {0, 2 * HZ_MAP_PAGE_ENTRIES + 7}, {1, HZ_MAP_PAGE_ENTRIES}, {2, 0}, {3, sectors - 8}};
	for (const auto &[zone, offset] : written)
		write_at(r, r.lba_of(zone, offset), 8, 100000 * zone + offset);
	for (const bool merged : {false, true}) {
		Request flush(FTL_FLUSH, 0, 0);
		ASSERT_EQ(r.run(flush), 0);
		if (merged) {
			ASSERT_EQ(r.shut_down_cleanly(), 0);
		}
		ASSERT_TRUE(r.boot()) << r.error;
		EXPECT_EQ(r.check(), "");
		for (const auto &[zone, offset] : written)
			EXPECT_EQ(r.compare(zone, offset, 8, 100000 * zone + offset), "") << zone << " " << offset;
	}
}

// Valid places are counted by words, several at a time where none has any: one in any word is seen.
TEST(ConventionalSpace, TheCheckCountsPlacesOfEveryWord)
{
	hz_device_config cfg = conventional_config();
	cfg.pages_per_block *= 4;
	Rig r(cfg);
	ASSERT_TRUE(r.boot()) << r.error;
	write_at(r, r.lba_of(0, 0), 1, 100);
	const uint32_t first = rig_conventional_place(r.ftl, 0), sectors = r.shape.backing_sectors;
	ASSERT_GT(sectors, 9u * 32);
	for (uint32_t offset = 1; offset < sectors; offset += 31) {
		uint64_t bit;
		lt_word *const validity = rig_validity(r.ftl, first + offset, &bit);
		lt_or(validity, bit);
		EXPECT_EQ(r.check(), "a backing zone's count of valid sectors is wrong") << offset;
		lt_and(validity, ~bit);
	}
	EXPECT_EQ(r.check(), "");
}

TEST(ConventionalSpace, KnowsItsBoundaries)
{
	hz_device_config cfg = conventional_config();
	cfg.zone_size_sectors = 96;
	Rig r(cfg);
	ASSERT_TRUE(r.boot()) << r.error;
	write_at(r, 90, 12, 100);                     // from zone 0 into zone 1
	write_at(r, 380, 8, 100, NVME_ZONE_BOUNDARY); // from the last conventional zone into a sequential one
	write_at(r, 380, 4, 200);
	write_at(r, 384, 4, 204);
	Request read(FTL_READ, 380, 8); // reads may cross
	ASSERT_EQ(r.run(read), 0);
	for (uint32_t i = 0; i < 8; i++)
		EXPECT_TRUE(sector_is(read.pages[i], 200 + i)) << i;
	Request across(FTL_READ, 90, 12);
	ASSERT_EQ(r.run(across), 0);
	for (uint32_t i = 0; i < 12; i++)
		EXPECT_TRUE(sector_is(across.pages[i], 100 + i)) << i;
	EXPECT_EQ(r.check(), "");
}

TEST(ConventionalSpace, StopsAtTheCapacityOfAZone)
{
	Rig r(conventional_config()); // zone size 128, capacity 96
	ASSERT_TRUE(r.boot()) << r.error;
	write_at(r, r.lba_of(1, 90), 6, 100);
	write_at(r, r.lba_of(1, 90), 7, 100, NVME_ZONE_BOUNDARY);
	write_at(r, r.lba_of(1, 100), 1, 100, NVME_ZONE_BOUNDARY);
	write_at(r, r.lba_of(2, 0), 10, 500);
	Request read(FTL_READ, r.lba_of(1, 90), 48); // into the next zone
	ASSERT_EQ(r.run(read), 0);
	for (uint32_t i = 0; i < 48; i++)
		EXPECT_TRUE(sector_is(read.pages[i], i < 6 ? 100 + i : i < 38 ? 0 : 500 + i - 38)) << i;
	Request last(FTL_READ, r.lba_of(1, 80), 20); // to a blank place
	ASSERT_EQ(r.run(last), 0);
	for (uint32_t i = 0; i < 20; i++)
		EXPECT_TRUE(sector_is(last.pages[i], i >= 10 && i < 16 ? 90 + i : 0)) << i;
}

// In superblocks with a power of two of sectors, the last place and the first one of the next superblock are neighbours by number.
TEST(ConventionalSpace, ReadsWhatEndsOneSuperblockAndBeginsTheNext)
{
	hz_device_config cfg = conventional_config();
	cfg.cell = HZ_CELL_MLC;
	cfg.program_pages = 2;
	cfg.pages_per_block = 16;
	cfg.conventional_streams = 1;
	Rig r(cfg);
	ASSERT_TRUE(r.boot()) << r.error;
	hz_shape shape;
	hz_shape_of(&cfg, &shape);
	ASSERT_EQ(shape.superblock_sectors, 128u);
	for (uint32_t i = 0; i < 127; i++)
		write_at(r, r.lba_of(1, i), 1, 500 + i);
	for (uint32_t i = 0; i < 8; i++)
		write_at(r, r.lba_of(0, 10 + i), 1, 100 + i);
	EXPECT_EQ(r.compare(0, 10, 8, 100), "");
	EXPECT_EQ(r.check(), "");
}

// Two workers have a write frontier each. It stays in its zone after every start: no new zone is opened, and nothing need be collected.
TEST(ConventionalSpace, FrontiersGoOnAfterAStart)
{
	hz_device_config cfg = conventional_config();
	cfg.conventional_streams = 1;
	use_frontiers(cfg, 2);
	Rig r(cfg);
	for (uint32_t boot = 0; boot < 20; boot++) {
		ASSERT_TRUE(r.boot()) << r.error;
		for (unsigned worker = 0; worker < 2; worker++) {
			Request write(FTL_WRITE, r.lba_of(worker, boot), 1);
			fill_sector(write.pages[0], 100 + 100 * worker + boot);
			r.submit(write, worker);
			lt_host_run_until_idle();
			ASSERT_TRUE(write.done && !write.status());
		}
		ASSERT_EQ(r.run_op(FTL_FLUSH, 0), 0);
		const uint32_t first = rig_conventional_place(r.ftl, r.lba_of(0, boot)),
			       second = rig_conventional_place(r.ftl, r.lba_of(1, boot));
		EXPECT_GE(first ^ second, r.shape.superblock_sectors);
		EXPECT_EQ(r.counters().conventional_gc_runs, 0u);
		ASSERT_EQ(r.check(), "");
	}
	r.cfg.conventional_frontiers = 1;
	ASSERT_TRUE(r.boot()) << r.error;
	EXPECT_EQ(r.compare(0, 0, 20, 100), "");
	EXPECT_EQ(r.compare(1, 0, 20, 200), "");
	EXPECT_EQ(r.check(), "");
}

// Power fails in each operation of writes to the same sectors of a superblock on one plane: the torn unit proves nothing, and earlier ones
// are in no doubt. Its sequence numbers count all the same: a write after the start is the newer one.
TEST(ConventionalSpace, NumbersGoOnAfterEveryCut)
{
	hz_device_config cfg = conventional_config();
	use_planes(cfg, 1);
	bool cut = true;
	for (uint64_t operation = 1; cut; operation++) {
		SCOPED_TRACE(testing::Message() << "cut at " << operation);
		Rig rig(cfg);
		nand_policy policy{};
		policy.power_cut_op = operation;
		ASSERT_TRUE(rig.boot(policy)) << rig.error;
		ConventionalDriver driver(rig, 1);
		cut = false;
		for (uint32_t i = 0; i < 5 && !cut; i++)
			cut = !driver.run_batch({{FTL_WRITE, 0, 12}});
		for (int boot = 0; boot < 2; boot++) {
			ASSERT_TRUE(rig.boot()) << rig.error;
			driver.check_recovered();
			ASSERT_TRUE(driver.run_batch({{FTL_WRITE, 0, 12, FTL_FUA}}));
			ASSERT_FALSE(HasFailure());
		}
		ASSERT_TRUE(rig.boot()) << rig.error;
		driver.check_recovered();
	}
}

TEST(ConventionalSpace, RefusesZoneCommands)
{
	Rig r(conventional_config());
	ASSERT_TRUE(r.boot()) << r.error;
	write_at(r, r.lba_of(2), 4, 100);
	for (ftl_op op : {FTL_ZONE_OPEN, FTL_ZONE_CLOSE, FTL_ZONE_FINISH, FTL_ZONE_RESET, FTL_ZONE_OFFLINE})
		EXPECT_EQ(r.run_op(op, 2), NVME_INVALID_FIELD) << op;
	Request append(FTL_APPEND, r.lba_of(2), 1);
	EXPECT_EQ(r.run(append), NVME_INVALID_FIELD);
	EXPECT_EQ(r.write(4, 0, 5, 50), 0);
	for (ftl_op op : {FTL_ZONE_CLOSE, FTL_ZONE_OPEN, FTL_ZONE_FINISH, FTL_ZONE_RESET}) {
		EXPECT_EQ(r.run_op(op, 0, FTL_ALL_ZONES), 0) << op;
		EXPECT_EQ(r.compare(2, 0, 4, 100), "") << "all-zones command " << op;
	}
	EXPECT_EQ(r.compare(4, 0, 5, 0), "") << "the sequential zone was reset";
	EXPECT_EQ(r.check(), "");
}

TEST(ConventionalSpace, IsReportedAsConventional)
{
	Rig r(conventional_config());
	ASSERT_TRUE(r.boot()) << r.error;
	write_at(r, r.lba_of(0), 4, 100);
	auto all = r.report_zones();
	ASSERT_EQ(all.size(), 6u);
	for (uint32_t z = 0; z < 6; z++) {
		EXPECT_EQ(all[z].type, z < 4 ? 1 : 2);
		EXPECT_EQ(all[z].state >> 4, z < 4 ? 0 : NVME_ZS_EMPTY);
		EXPECT_EQ(all[z].capacity, 96u);
	}
	EXPECT_EQ(r.report_zones(1).size(), 2u) << "only sequential zones are EMPTY";
}

TEST(ConventionalSpace, WaitingWritesAreCounted)
{
	Rig r(conventional_config(true));
	ASSERT_TRUE(r.boot()) << r.error;
	ConventionalDriver driver(r, 1);
	driver.fill();
	std::vector<ConventionalOp> ops;
	for (uint32_t i = 0; i < 40; i++)
		ops.push_back({FTL_WRITE, i * 14, 14});
	ASSERT_TRUE(driver.run_batch(ops));
	EXPECT_GT(r.counters().conventional_stalls, 0u);
	EXPECT_GT(r.counters().conventional_stall_ns, 0u);
	EXPECT_GT(r.counters().conventional_gc_runs, 0u);
	driver.verify_all();
	EXPECT_EQ(r.check(), "");
}

// A flush after which no part of the map is in RAM only.
static void shut_down_cleanly(Rig &r) { ASSERT_EQ(r.shut_down_cleanly(), 0); }

// The log's changes go to flash, and before them the data of their places.
static void merge_map(Rig &r)
{
	rig_merge_map(r.ftl);
	lt_host_run_until_idle();
}

// Neither a cached entry nor a fetched table page outlives a change, also after the log has dropped the change.
TEST(ConventionalMap, AChangeOutlastsTheLog)
{
	Rig r(mapped_conventional_config(true));
	ASSERT_TRUE(r.boot()) << r.error;
	for (uint64_t round = 1; round < 5; round++) {
		ASSERT_EQ(r.write(1, 0, 8, 100 * round), 0);
		EXPECT_EQ(r.compare(1, 0, 8, 100 * round), "") << "in the log";
		shut_down_cleanly(r);
		EXPECT_EQ(r.compare(1, 0, 8, 100 * round), "") << "fetched";
		EXPECT_EQ(r.compare(1, 0, 8, 100 * round), "") << "cached";
		ASSERT_EQ(r.check(), "");
	}
	EXPECT_EQ(r.counters().l2p_log_hits, 4u * 8);
	EXPECT_EQ(r.counters().l2p_misses[HZ_MAP_PAGE], 4u);
	EXPECT_EQ(r.counters().l2p_fetches, 4u);
	EXPECT_GE(r.counters().l2p_hits[HZ_MAP_PAGE], 4u * 8);
}

// A table page with consecutive sectors takes one entry of the cache, for all of them, until one changes.
TEST(ConventionalMap, WhatLiesInOrderIsOneEntry)
{
	for (uint32_t compress : {HZ_ON, HZ_OFF}) {
		hz_device_config cfg = mapped_conventional_config(true);
		cfg.l2p_compress = compress;
		cfg.conventional_streams = 1;
		Rig r(cfg);
		ASSERT_TRUE(r.boot()) << r.error;
		ASSERT_EQ(r.write(0, 0, 96, 1000), 0);
		shut_down_cleanly(r);
		for (uint32_t at = 0; at < 96; at += 5)
			ASSERT_EQ(r.compare(0, at, 1, 1000 + at), "");
		const hz_log_ftl first = r.counters();
		EXPECT_EQ(first.l2p_fetches, compress ? 1u : 20u) << "the cache has 16 entries";
		EXPECT_EQ(first.l2p_misses[HZ_MAP_CHUNK], compress ? 1u : 0u);
		EXPECT_EQ(first.l2p_hits[HZ_MAP_CHUNK], compress ? 19u : 0u);
		EXPECT_EQ(r.compare(0, 3, 90, 1003), "") << "across it";
		ASSERT_EQ(r.check(), "");
		ASSERT_EQ(r.write(0, 50, 1, 5000), 0);
		EXPECT_EQ(r.compare(0, 50, 1, 5000), "") << "at once";
		EXPECT_EQ(r.compare(0, 51, 1, 1051), "");
		shut_down_cleanly(r);
		const hz_log_ftl second = r.counters();
		for (uint32_t at = 0; at < 96; at += 5)
			ASSERT_EQ(r.compare(0, at, 1, at == 50 ? 5000 : 1000 + at), "");
		EXPECT_EQ(r.counters().l2p_hits[HZ_MAP_CHUNK], second.l2p_hits[HZ_MAP_CHUNK]) << "it is one no more";
		EXPECT_GT(r.counters().l2p_fetches, second.l2p_fetches);
		ASSERT_EQ(r.check(), "");
		ASSERT_EQ(r.write(1, 0, 95, 4000), 0); // to the end of a backing zone
		ASSERT_EQ(r.write(0, 0, 96, 3000), 0);
		shut_down_cleanly(r);
		ASSERT_TRUE(r.boot()) << r.error;
		for (uint32_t at = 0; at < 96; at += 5)
			ASSERT_EQ(r.compare(0, at, 1, 3000 + at), "");
		EXPECT_EQ(r.counters().l2p_fetches, compress ? 1u : 20u) << "in order again, and flash says so";
		ASSERT_EQ(r.check(), "");
	}
}

// An image keeps its content if the next device does not compress, or the next one does.
TEST(ConventionalMap, ImagesGoBetweenDevicesThatCompressAndDoNot)
{
	hz_device_config cfg = mapped_conventional_config(true);
	auto image = std::make_shared<rig::Image>(hz_nand_image_bytes(&cfg));
	for (uint64_t round = 0; round < 6; round++) {
		cfg.l2p_compress = round % 2 ? HZ_ON : HZ_OFF;
		Rig r(cfg, image);
		ASSERT_TRUE(r.boot()) << r.error;
		if (round) {
			EXPECT_EQ(r.compare(1, 0, 96, 1000 * round), "");
		}
		ASSERT_EQ(r.write(1, 0, 96, 1000 * (round + 1)), 0);
		EXPECT_EQ(r.compare(1, 0, 96, 1000 * (round + 1)), "");
		ASSERT_EQ(r.check(), "");
		if (round % 3)
			shut_down_cleanly(r);
		else
			EXPECT_EQ(r.run_op(FTL_FLUSH, 0), 0);
	}
}

// A place in a table page on flash is durable, without any flush by the host.
TEST(ConventionalMap, AMergedPlaceIsDurable)
{
	Rig r(mapped_conventional_config(true));
	ASSERT_TRUE(r.boot()) << r.error;
	ASSERT_EQ(r.write(1, 7, 1, 100), 0);
	shut_down_cleanly(r);
	ASSERT_EQ(r.write(1, 7, 1, 200), 0);
	merge_map(r);
	ASSERT_TRUE(r.boot()) << r.error;
	EXPECT_EQ(r.compare(1, 7, 1, 200), "");
	EXPECT_EQ(r.check(), "");
}

// A sector comes to the same place again after the zone there was reset; the table page still has the former place. After mount the device
// must not take that for the present one: it would not know that the place is free when the sector is written elsewhere.
TEST(ConventionalMap, ATablePageFromBeforeAResetIsOld)
{
	hz_device_config cfg = mapped_conventional_config(true);
	cfg.l2p_log_entries = 1 << 16; // no table page is written meanwhile
	cfg.conventional_streams = 1;
	cfg.conventional_gc = HZ_GC_FIFO; // though the table page holds on to the place
	Rig r(cfg);
	ASSERT_TRUE(r.boot()) << r.error;
	ASSERT_EQ(r.write(1, 7, 1, 100), 0);
	shut_down_cleanly(r);
	const uint64_t lba = r.lba_of(1, 7), resets = rig_backing_resets(r.ftl);
	const uint32_t place = rig_conventional_place(r.ftl, lba);
	uint64_t tag = 101;
	do
		ASSERT_EQ(r.write(1, 7, 1, tag, FTL_FUA), 0);
	while (rig_conventional_place(r.ftl, lba) != place && ++tag < 5000);
	ASSERT_GT(rig_backing_resets(r.ftl), resets);
	ASSERT_EQ(rig_conventional_place(r.ftl, lba), place);
	ASSERT_TRUE(r.boot()) << r.error;
	ASSERT_EQ(rig_conventional_place(r.ftl, lba), place);
	EXPECT_EQ(r.compare(1, 7, 1, tag), "");
	ASSERT_EQ(r.write(1, 7, 1, 7777), 0);
	shut_down_cleanly(r);
	EXPECT_EQ(r.compare(1, 7, 1, 7777), "");
	EXPECT_EQ(r.check(), "");
}

// A read holds a table page while it waits for flash reads; meanwhile the log drops a change missing in the page.
TEST(ConventionalMap, AHeldTablePageEndsWithItsCopy)
{
	Rig r(mapped_conventional_config(true));
	ASSERT_TRUE(r.boot()) << r.error;
	for (uint32_t zone : {1u, 2u, 3u})
		for (uint32_t odd = 0; odd < 2; odd++)
			for (uint32_t at = odd; at < 96; at += 2) // neighbours lie apart: a flash read for each sector
				ASSERT_EQ(r.write(zone, at, 1, 1000 * zone + at), 0);
	shut_down_cleanly(r);
	ASSERT_EQ(r.write(3, 95, 1, 77), 0);
	Request first(FTL_READ, r.lba_of(1), 96), second(FTL_READ, r.lba_of(2), 96), third(FTL_READ, r.lba_of(3), 96);
	for (Request *read : {&first, &second, &third})
		r.submit(*read);
	merge_map(r);
	ASSERT_TRUE(third.done);
	EXPECT_TRUE(sector_is(third.pages[95], 77));
}

// An unreadable table page is rebuilt from the backing zones.
TEST(ConventionalMap, ALostTablePageIsRebuilt)
{
	Rig r(mapped_conventional_config(true));
	ASSERT_TRUE(r.boot()) << r.error;
	for (uint32_t at = 0; at < 96; at += 32)
		ASSERT_EQ(r.write(2, at, 32, 7000 + at), 0);
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t at = 0; at < 96; at += 32)
			ASSERT_EQ(r.write(3, at, 32, 8000 + round * 1000 + at), 0);
	shut_down_cleanly(r);
	ASSERT_EQ(r.check(), "");
	ASSERT_EQ(r.write(3, 5, 3, 500), 0); // in the log when the page is lost
	for (uint32_t page : {2u, 3u})
		ASSERT_EQ(spoil_table_page(r, page), 1u);
	EXPECT_EQ(r.compare(2, 0, 96, 7000), "");
	EXPECT_EQ(r.compare(3, 8, 88, 9008), "");
	EXPECT_EQ(r.compare(3, 5, 3, 500), "");
	EXPECT_EQ(r.counters().l2p_rebuilt, 2u);
	EXPECT_EQ(r.check(), "");
	shut_down_cleanly(r);
	ASSERT_TRUE(r.boot()) << r.error;
	EXPECT_EQ(r.compare(2, 0, 96, 7000), "");
	EXPECT_EQ(r.compare(3, 8, 88, 9008), "");
	EXPECT_EQ(r.check(), "");
}

struct Variant {
	const char *name;
	void (*change)(hz_device_config &);
};

static const Variant variants[] = {
	{"Zoned", [](hz_device_config &) {}},
	{"Block", [](hz_device_config &cfg) { cfg = conventional_config(true); }},
	{"Greedy",
	 [](hz_device_config &cfg) {
		 cfg = conventional_config(true);
		 cfg.conventional_gc_low = 2;
	 }},
	{"CostBenefit",
	 [](hz_device_config &cfg) {
		 cfg = conventional_config(true);
		 cfg.conventional_gc = HZ_GC_COST_BENEFIT;
	 }},
	{"Fifo",
	 [](hz_device_config &cfg) {
		 cfg = conventional_config(true);
		 cfg.conventional_gc = HZ_GC_FIFO;
	 }},
	{"Wear",
	 [](hz_device_config &cfg) {
		 cfg = conventional_config(true);
		 cfg.conventional_gc = HZ_GC_WEAR;
	 }},
	{"OneStream",
	 [](hz_device_config &cfg) {
		 cfg.conventional_streams = 1;
		 cfg.conventional_spare = 4;
	 }},
	{"OneBuffer", [](hz_device_config &cfg) { cfg.conventional_buffers = 1; }},
	{"TwoBuffers",
	 [](hz_device_config &cfg) {
		 cfg.conventional_buffers = 2;
		 cfg.write_buffers = 1;
	 }},
	{"OddCapacity", [](hz_device_config &cfg) { cfg.zone_capacity_sectors = 77; }},
	{"OddBlock",
	 [](hz_device_config &cfg) {
		 cfg = conventional_config(true);
		 cfg.zone_capacity_sectors = cfg.zone_size_sectors = 77;
	 }},
	{"WideUnits", [](hz_device_config &cfg) { cfg.flush_unit_planes = 2; }},
	{"SlcPages", [](hz_device_config &cfg) { cfg.slc_program_sectors = 2; }},
	{"TwoPlanes", [](hz_device_config &cfg) { use_planes(cfg, 2); }},
	{"MappedOnePlane",
	 [](hz_device_config &cfg) {
		 cfg = mapped_conventional_config(true);
		 use_planes(cfg, 1);
	 }},
	{"OneHart",
	 [](hz_device_config &cfg) {
		 cfg.harts = 1;
		 cfg.tsu_hart[0] = cfg.worker_hart[0] = cfg.worker_hart[1] = 0;
	 }},
	{"ProgramsFail",
	 [](hz_device_config &cfg) {
		 cfg = conventional_config(true);
		 cfg.program_fail_ppb = 1000000;
		 cfg.spare_superblocks = 12;
		 cfg.blocks_per_plane += 10;
	 }},
	{"Mapped", [](hz_device_config &cfg) { cfg = mapped_conventional_config(); }},
	{"MappedBlock", [](hz_device_config &cfg) { cfg = mapped_conventional_config(true, HZ_L2P_LOG_BLOCKING); }},
	{"MappedShards",
	 [](hz_device_config &cfg) {
		 cfg = mapped_conventional_config(true);
		 cfg.l2p_cache_bytes = 512;
		 cfg.l2p_eviction = HZ_L2P_CLOCK;
	 }},
	{"MappedPrefetch",
	 [](hz_device_config &cfg) {
		 cfg = mapped_conventional_config(true);
		 cfg.l2p_cache_bytes = 400;
		 cfg.l2p_prefetch = 1023;
		 cfg.l2p_shards = 1;
	 }},
	{"MappedPinned",
	 [](hz_device_config &cfg) {
		 cfg = mapped_conventional_config();
		 cfg.l2p_strategy = HZ_L2P_PINNED;
		 cfg.l2p_prefetch = 4;
	 }},
	{"MappedOdd",
	 [](hz_device_config &cfg) {
		 cfg = mapped_conventional_config(true);
		 cfg.zone_capacity_sectors = cfg.zone_size_sectors = 77;
	 }},
	{"MappedSlcPages",
	 [](hz_device_config &cfg) {
		 cfg = mapped_conventional_config(true);
		 cfg.slc_program_sectors = 2;
	 }},
	{"Patched", [](hz_device_config &cfg) { lay_out(cfg, true, false); }},
	{"PatchedBlock", [](hz_device_config &cfg) { cfg = conventional_config(true), lay_out(cfg, true, false); }},
	{"MappedPatched", [](hz_device_config &cfg) { cfg = mapped_conventional_config(), lay_out(cfg, true, false); }},
	{"Slc", [](hz_device_config &cfg) { lay_out(cfg, false, true); }},
	{"SlcBlockWear",
	 [](hz_device_config &cfg) {
		 cfg = conventional_config(true);
		 cfg.conventional_gc = HZ_GC_WEAR;
		 lay_out(cfg, false, true);
	 }},
	{"SlcPagesForGood", [](hz_device_config &cfg) { cfg.slc_program_sectors = 2, lay_out(cfg, false, true); }},
	{"SlcPatchedMapped",
	 [](hz_device_config &cfg) {
		 cfg = mapped_conventional_config();
		 cfg.slc_program_sectors = cfg.flush_unit_planes = 2;
		 lay_out(cfg, true, true);
	 }},
	{"SlcPatchedLent", [](hz_device_config &cfg) { lend_buffers(cfg), lay_out(cfg, true, true); }},
	{"SlcProgramsFail",
	 [](hz_device_config &cfg) {
		 cfg.program_fail_ppb = 1000000;
		 cfg.spare_superblocks = 12;
		 lay_out(cfg, true, true);
	 }},
	{"MappedCompressed",
	 [](hz_device_config &cfg) { cfg = mapped_conventional_config(), cfg.l2p_compress = HZ_ON, cfg.conventional_streams = 1; }},
	{"CompressedPatchedBlock",
	 [](hz_device_config &cfg) {
		 cfg = mapped_conventional_config(true), cfg.l2p_compress = HZ_ON;
		 lay_out(cfg, true, false);
	 }},
	{"Directory", [](hz_device_config &cfg) { cfg = mapped_conventional_config(true), use_directory(cfg); }},
	{"DirectoryCompressed",
	 [](hz_device_config &cfg) {
		 cfg = mapped_conventional_config(), cfg.l2p_compress = HZ_ON, cfg.conventional_streams = 1;
		 use_directory(cfg);
	 }},
	{"DirectoryInLines",
	 [](hz_device_config &cfg) {
		 cfg = mapped_conventional_config(true, HZ_L2P_LOG_BLOCKING), cfg.l2p_compress = HZ_ON;
		 cfg.l2p_cache_bytes *= 8, cfg.l2p_prefetch = 95;
		 use_directory(cfg);
		 lay_out(cfg, true, true);
	 }},
	{"TwoFrontiers", [](hz_device_config &cfg) { use_frontiers(cfg, 2); }},
	{"TwoFrontiersMapped", [](hz_device_config &cfg) { cfg = mapped_conventional_config(true), use_frontiers(cfg, 2); }},
	{"TwoCollectors", [](hz_device_config &cfg) { use_collectors(cfg, 2); }},
	{"TwoCollectorsTwoFrontiers", [](hz_device_config &cfg) { use_frontiers(cfg, 2), use_collectors(cfg, 2); }},
	{"TwoCollectorsMapped", [](hz_device_config &cfg) { cfg = mapped_conventional_config(true), use_collectors(cfg, 2); }},
	{"TwoCollectorsLent", [](hz_device_config &cfg) { lend_buffers(cfg), use_collectors(cfg, 2); }},
	{"TwoCollectorsProgramsFail",
	 [](hz_device_config &cfg) {
		 cfg.program_fail_ppb = 1000000;
		 cfg.spare_superblocks = 12;
		 cfg.blocks_per_plane += 10;
		 use_collectors(cfg, 2);
	 }},
	{"ShardedLocks", [](hz_device_config &cfg) { support::choose_granularity(cfg, 2); }},
	{"ALockPerClass", [](hz_device_config &cfg) { support::choose_granularity(cfg, HZ_LOCKS_CLASS); }},
	{"OneLockForAll", [](hz_device_config &cfg) { support::choose_granularity(cfg, HZ_LOCKS_GLOBAL); }},
	{"MappedOneLockForAll",
	 [](hz_device_config &cfg) {
		 cfg = mapped_conventional_config(true);
		 support::choose_granularity(cfg, HZ_LOCKS_GLOBAL);
	 }},
};

class ConventionalProperty : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(ConventionalProperty, AgreesWithTheModel)
{
	const Variant &variant = variants[std::get<0>(GetParam())];
	uint64_t seed = std::get<1>(GetParam());
	SCOPED_TRACE(testing::Message() << variant.name << " seed " << seed);
	hz_device_config cfg = conventional_config();
	variant.change(cfg);
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot()) << rig.error;
	ConventionalDriver driver(rig, seed);
	if (seed % 2) {
		driver.fill();
		ASSERT_FALSE(HasFailure());
	}
	for (int i = 0; i < 150; i++) {
		ASSERT_TRUE(driver.run_batch(driver.random_batch()));
		ASSERT_FALSE(HasFailure()) << "batch " << i;
		if (i % 10 == 9) {
			ASSERT_EQ(rig.check(), "") << "after batch " << i;
		}
		if (i % 50 == 49) {
			driver.verify_all();
			ASSERT_TRUE(rig.boot()) << rig.error; // without a flush: volatile data may be lost
			driver.check_recovered();
			ASSERT_FALSE(HasFailure()) << "boot after batch " << i;
		}
	}
}
INSTANTIATE_TEST_SUITE_P(Variants, ConventionalProperty,
			 testing::Combine(testing::Range(0, int(std::size(variants))), testing::Range(1, 3)), [](const auto &test) {
				 return std::string(variants[std::get<0>(test.param)].name) + "_" + std::to_string(std::get<1>(test.param));
			 });
