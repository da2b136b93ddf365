// The directory of table pages on flash: the reads of a miss, look-ups without any, and a directory that is old, lost or switched off.
// SPDX-License-Identifier: BSD-3-Clause
#include "l2p_rig.hpp"
#include "inside.h"
#include "conventional_model.hpp"

using namespace ftl_rig;

namespace {

hz_device_config directory_config(bool compress)
{
	hz_device_config cfg = mapped_conventional_config(true);
	cfg.l2p_compress = compress ? HZ_ON : HZ_OFF;
	cfg.conventional_streams = 1;
	use_directory(cfg);
	return cfg;
}

void merge_map(Rig &r)
{
	ASSERT_EQ(r.shut_down_cleanly(), 0);
	ASSERT_EQ(r.check(), "");
}

// Each sector of a zone somewhere else: no table page lies in order.
void scatter(Rig &r, uint32_t zone, uint64_t tag)
{
	for (uint32_t odd = 0; odd < 2; odd++)
		for (uint32_t at = odd; at < 96; at += 2)
			ASSERT_EQ(r.write(zone, at, 1, tag + at), 0);
}

hz_log_ftl since(Rig &r, const hz_log_ftl &before)
{
	hz_log_ftl now = r.counters();
	now.l2p_fetches -= before.l2p_fetches;
	now.l2p_directory_hits -= before.l2p_directory_hits;
	now.l2p_directory_misses -= before.l2p_directory_misses;
	for (int level : {HZ_MAP_PAGE, HZ_MAP_CHUNK}) {
		now.l2p_hits[level] -= before.l2p_hits[level];
		now.l2p_misses[level] -= before.l2p_misses[level];
	}
	return now;
}

// Sectors of the directory on flash; the newest of them, if there is any.
std::vector<uint64_t> directory_pages(const Rig &r)
{
	std::vector<uint64_t> found;
	for (uint64_t i = 0; i < rig::count_records(r.media); i++)
		if (r.media.oob[i].kind == HZ_OOB_DIRECTORY)
			found.push_back(i);
	std::sort(found.begin(), found.end(), [&r](uint64_t a, uint64_t b) { return r.media.oob[a].sequence < r.media.oob[b].sequence; });
	return found;
}

TEST(Directory, AMissReadsTwoPages)
{
	Rig r(directory_config(false));
	ASSERT_TRUE(r.boot()) << r.error;
	for (uint32_t zone : {0u, 1u, 2u})
		scatter(r, zone, 1000 * zone);
	merge_map(r);
	ASSERT_FALSE(directory_pages(r).empty());
	const hz_log_ftl before = r.counters();
	EXPECT_EQ(r.compare(1, 40, 1, 1040), "");
	hz_log_ftl now = since(r, before);
	EXPECT_EQ(now.l2p_fetches, 2u);
	EXPECT_EQ(now.l2p_directory_misses, 1u);
	EXPECT_EQ(now.l2p_misses[HZ_MAP_PAGE], 1u);
	EXPECT_EQ(r.compare(1, 41, 1, 1041), "") << "the entry of the table page is in the cache";
	now = since(r, before);
	EXPECT_EQ(now.l2p_fetches, 3u);
	EXPECT_EQ(now.l2p_directory_hits, 1u);
	EXPECT_EQ(now.l2p_directory_misses, 1u);
	for (uint32_t at = 0; at < 16; at++) // the cache has 16 entries; the directory's is used each time, so it stays
		EXPECT_EQ(r.compare(1, 60 + at, 1, 1060 + at), "");
	now = since(r, before);
	EXPECT_EQ(now.l2p_directory_hits, 17u);
	EXPECT_EQ(now.l2p_directory_misses, 1u);
	EXPECT_EQ(r.compare(1, 60, 16, 1060), "") << "15 are in the cache";
	EXPECT_EQ(r.compare(5, 0, 4, 0), "") << "never written";
	ASSERT_EQ(r.check(), "");
}

TEST(Directory, ALineOfEntriesComesAtOnce)
{
	hz_device_config cfg = directory_config(false);
	cfg.l2p_cache_bytes *= 8;
	cfg.l2p_prefetch = 95;
	Rig r(cfg);
	ASSERT_TRUE(r.boot()) << r.error;
	ASSERT_EQ(rig_map_line(r.ftl), 4u);
	for (uint32_t zone : {0u, 1u, 2u})
		scatter(r, zone, 1000 * zone);
	merge_map(r);
	const hz_log_ftl before = r.counters();
	for (uint32_t zone : {0u, 1u, 2u})
		EXPECT_EQ(r.compare(zone, 40, 1, 1000 * zone + 40), "");
	const hz_log_ftl now = since(r, before);
	EXPECT_EQ(now.l2p_directory_misses, 1u);
	EXPECT_EQ(now.l2p_directory_hits, 2u);
	EXPECT_EQ(now.l2p_fetches, 4u);
	ASSERT_EQ(r.check(), "");
}

// Without a table page, until it lies in order no more.
TEST(Directory, ItSaysItselfWhereSectorsInOrderLie)
{
	Rig r(directory_config(true));
	ASSERT_TRUE(r.boot()) << r.error;
	ASSERT_EQ(r.write(0, 0, 96, 1000), 0);
	merge_map(r);
	hz_log_ftl before = r.counters();
	for (uint32_t at = 0; at < 96; at += 5)
		ASSERT_EQ(r.compare(0, at, 1, 1000 + at), "");
	EXPECT_EQ(r.compare(0, 3, 90, 1003), "");
	hz_log_ftl now = since(r, before);
	EXPECT_EQ(now.l2p_fetches, 1u);
	EXPECT_EQ(now.l2p_directory_misses, 1u);
	EXPECT_EQ(now.l2p_directory_hits, 19u + 3) << "a read is one of 32 sectors at most";
	EXPECT_EQ(now.l2p_hits[HZ_MAP_CHUNK], 19u + 3);
	EXPECT_EQ(now.l2p_misses[HZ_MAP_CHUNK], 1u);
	ASSERT_EQ(r.write(0, 50, 1, 5000), 0);
	EXPECT_EQ(r.compare(0, 50, 1, 5000), "");
	EXPECT_EQ(r.compare(0, 51, 45, 1051), "") << "the others lie where they lay";
	EXPECT_EQ(since(r, before).l2p_fetches, 1u);
	ASSERT_EQ(r.check(), "");
	merge_map(r);
	before = r.counters();
	EXPECT_EQ(r.compare(0, 50, 1, 5000), "");
	EXPECT_EQ(r.compare(0, 49, 1, 1049), "");
	now = since(r, before);
	EXPECT_EQ(now.l2p_misses[HZ_MAP_PAGE], 2u);
	EXPECT_EQ(now.l2p_directory_misses, 1u);
	ASSERT_TRUE(r.boot()) << r.error;
	EXPECT_EQ(r.compare(0, 0, 50, 1000), "");
	EXPECT_EQ(r.compare(0, 50, 1, 5000), "");
	EXPECT_EQ(r.compare(0, 51, 45, 1051), "");
	ASSERT_EQ(r.check(), "");
}

// Entries of consecutive sectors survive a boot, too.
TEST(Directory, ABootReadsWhatLiesInOrder)
{
	Rig r(directory_config(true));
	ASSERT_TRUE(r.boot()) << r.error;
	ASSERT_EQ(r.write(0, 0, 96, 1000), 0);
	merge_map(r);
	ASSERT_TRUE(r.boot()) << r.error;
	ASSERT_EQ(r.check(), "");
	const hz_log_ftl before = r.counters();
	EXPECT_EQ(r.compare(0, 0, 96, 1000), "");
	const hz_log_ftl now = since(r, before);
	EXPECT_EQ(now.l2p_fetches, 1u);
	EXPECT_EQ(now.l2p_directory_misses, 1u);
}

// Unchanged table pages are moved now and then by the SLC collector: no pass of the log updates the directory.
TEST(Directory, TheCollectorMovesTablePages)
{
	for (bool compress : {false, true}) {
		hz_device_config cfg = directory_config(compress);
		cfg.l2p_cache_bytes *= 8;
		cfg.l2p_prefetch = 95;
		cfg.slc_gc = HZ_GC_FIFO;
		cfg.slc_gc_low = 12; // nearly always
		Rig r(cfg);
		ASSERT_TRUE(r.boot()) << r.error;
		for (uint32_t zone : {1u, 2u, 3u})
			ASSERT_EQ(r.write(zone, 0, 96, 1000 * zone), 0);
		merge_map(r);
		for (uint32_t round = 0; round < 600; round++) {
			const uint32_t zone = 1 + round % 3, at = round * 7 % 96;
			const hz_log_ftl before = r.counters();
			ASSERT_EQ(r.write(0, at, 1, 10000 + round), 0);
			if (round % 3)
				merge_map(r);
			ASSERT_EQ(r.compare(zone, at, 1, 1000 * zone + at), "");
			ASSERT_EQ(r.compare(0, at, 1, 10000 + round), "");
			ASSERT_EQ(r.check(), "") << round;
			if (compress && round % 3 == 0) { // the news of zone 0 are in the log
				const hz_log_ftl now = since(r, before);
				ASSERT_EQ(now.l2p_fetches, now.l2p_directory_misses) << round << ": no table page";
			}
		}
		EXPECT_GT(r.counters().slc_gc_runs, 5u);
		EXPECT_GT(r.counters().slc_gc_sectors, 5u);
	}
}

TEST(Directory, APageThatCannotBeReadIsWrittenAnew)
{
	Rig r(directory_config(false));
	ASSERT_TRUE(r.boot()) << r.error;
	scatter(r, 0, 1000);
	merge_map(r);
	const size_t pages = directory_pages(r).size();
	rig::flip_data(r.media, directory_pages(r).back());
	EXPECT_EQ(r.compare(0, 0, 96, 1000), "");
	EXPECT_EQ(r.counters().l2p_rebuilt, 1u);
	ASSERT_EQ(r.check(), "");
	scatter(r, 1, 2000);
	merge_map(r);
	EXPECT_GT(directory_pages(r).size(), pages);
	EXPECT_EQ(r.compare(0, 0, 96, 1000), "");
	EXPECT_EQ(r.counters().l2p_rebuilt, 1u);
	rig::flip_data(r.media, directory_pages(r).back());
	ASSERT_TRUE(r.boot()) << r.error;
	EXPECT_EQ(r.compare(0, 0, 96, 1000), "");
	EXPECT_EQ(r.compare(1, 0, 96, 2000), "");
	EXPECT_EQ(r.check(), "");
}

// The newest page is gone, and an older one could be taken for it; its entries all differ.
TEST(Directory, AnOldPageIsNotBelieved)
{
	for (bool compress : {false, true}) {
		Rig r(directory_config(compress));
		ASSERT_TRUE(r.boot()) << r.error;
		for (uint64_t round = 1; round < 4; round++) {
			for (uint32_t zone : {0u, 1u, 2u})
				ASSERT_EQ(r.write(zone, 0, 96, 10000 * round + 1000 * zone), 0);
			scatter(r, 3, 10000 * round + 3000);
			merge_map(r);
		}
		ASSERT_GT(directory_pages(r).size(), 1u);
		rig::lose_record(r.media, directory_pages(r).back());
		ASSERT_TRUE(r.boot()) << r.error;
		ASSERT_EQ(r.check(), "");
		for (uint32_t zone : {0u, 1u, 2u, 3u})
			EXPECT_EQ(r.compare(zone, 0, 96, 30000 + 1000 * zone), "");
		ASSERT_EQ(r.check(), "");
	}
}

// A boot without it, or with the map in RAM, leaves its pages to the collector; the next one with it trusts none of them.
TEST(Directory, BootsWithAndWithoutIt)
{
	const hz_device_config cfg = directory_config(true);
	for (uint64_t seed = 1; seed <= 4; seed++) {
		Rig r(cfg);
		ASSERT_TRUE(r.boot()) << r.error;
		ConventionalDriver driver(r, seed);
		driver.fill();
		for (int boot = 0; boot < 9; boot++) {
			for (int i = 0; i < 12; i++)
				ASSERT_TRUE(driver.run_batch(driver.random_batch()));
			driver.run_batch({{FTL_FLUSH, 0, 0}});
			r.cfg.l2p_cache_bytes = boot % 3 == 2 ? 0 : cfg.l2p_cache_bytes;
			r.cfg.l2p_compress = boot % 3 != 2;
			r.cfg.l2p_directory = boot % 3 ? HZ_L2P_DIRECTORY_RAM : HZ_L2P_DIRECTORY_FLASH;
			ASSERT_TRUE(r.boot()) << r.error;
			driver.check_recovered();
			ASSERT_FALSE(HasFailure()) << "boot " << boot;
		}
	}
}

} // namespace
