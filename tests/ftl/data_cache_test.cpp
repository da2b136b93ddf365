// The data cache: its answers, its write-backs and their times, against counters and a model of evictions; failing media; random
// operations on small caches of every kind.
// SPDX-License-Identifier: BSD-3-Clause
#include <list>

#include "conventional_model.hpp"

using namespace ftl_rig;

namespace {

// A block namespace with a cache of one shard, in lines of two sectors.
hz_device_config cached_config(uint32_t lines, uint32_t eviction = HZ_CACHE_LRU)
{
	hz_device_config cfg = conventional_config(true);
	use_data_cache(cfg, lines, 10 + eviction);
	return cfg;
}

uint16_t write_at(Rig &rig, uint64_t lba, uint32_t sectors, uint64_t tag, uint8_t flags = 0)
{
	Request request(FTL_WRITE, lba, sectors, flags);
	for (uint32_t i = 0; i < sectors; i++)
		fill_sector(request.pages[i], tag + i);
	return rig.run(request);
}

std::string read_at(Rig &rig, uint64_t lba, uint32_t sectors, uint64_t tag)
{
	return rig.compare(0, static_cast<uint32_t>(lba), sectors, tag);
}

uint64_t media_reads(Rig &rig)
{
	hz_log_flash log;
	tsu_report(rig.tsu, &log);
	return log.reads[HZ_CAUSE_HOST];
}

uint16_t flush(Rig &rig) { return rig.run_op(FTL_FLUSH, 0); }

} // namespace

TEST(DataCache, WhatWasWrittenIsReadWithoutFlash)
{
	Rig rig(cached_config(32));
	ASSERT_TRUE(rig.boot()) << rig.error;
	ASSERT_EQ(write_at(rig, 10, 6, 100), 0);
	EXPECT_EQ(read_at(rig, 10, 6, 100), "");
	const hz_log_ftl c = rig.counters();
	EXPECT_EQ(c.cache_write_misses, 3u);
	EXPECT_EQ(c.cache_read_hits, 3u);
	EXPECT_EQ(c.host_write_sectors, 6u);
	EXPECT_EQ(c.host_read_sectors, 6u);
	EXPECT_EQ(nand_media_operations(&rig.media), 0u) << "no flash was touched";
	EXPECT_EQ(rig.check(), "");
}

// A write is over as soon as its data have crossed the link; a hit as soon as they have crossed it back.
TEST(DataCache, HitsTakeTheLinksTimeAlone)
{
	Rig rig(cached_config(32));
	ASSERT_TRUE(rig.boot()) << rig.error;
	Request write(FTL_WRITE, 0, 2), read(FTL_READ, 0, 2);
	const uint64_t cross_ns = 2 * HZ_SECTOR_BYTES * 1000000000ull / rig.cfg.pcie_bytes_per_s;
	uint64_t from_ns = clock_now_ns();
	ASSERT_EQ(rig.run(write), 0);
	EXPECT_GE(write.done_ns - from_ns + 10, cross_ns);
	EXPECT_LT(write.done_ns - from_ns, cross_ns + 5000);
	from_ns = clock_now_ns();
	ASSERT_EQ(rig.run(read), 0);
	EXPECT_LT(read.done_ns - from_ns, 2 * cross_ns + 5000);
}

// A line with a missing sector gets it from flash, and keeps the written ones.
TEST(DataCache, PartsOfPagesAreRight)
{
	Rig rig(cached_config(32));
	ASSERT_TRUE(rig.boot()) << rig.error;
	ASSERT_EQ(write_at(rig, 20, 4, 100), 0);
	ASSERT_EQ(flush(rig), 0);
	ASSERT_TRUE(rig.boot()) << rig.error;
	ASSERT_EQ(write_at(rig, 21, 1, 500), 0);
	Request read(FTL_READ, 20, 4);
	ASSERT_EQ(rig.run(read), 0);
	const uint64_t expected[] = {100, 500, 102, 103};
	for (uint32_t i = 0; i < 4; i++)
		EXPECT_TRUE(sector_is(read.pages[i], expected[i])) << i;
	EXPECT_EQ(rig.counters().cache_read_partial, 1u);
	EXPECT_EQ(rig.counters().cache_read_misses, 1u);
	const uint64_t reads = nand_media_operations(&rig.media);
	EXPECT_EQ(read_at(rig, 20, 1, 100), "") << "it is there now";
	EXPECT_EQ(read_at(rig, 22, 2, 102), "");
	EXPECT_EQ(nand_media_operations(&rig.media), reads);
	ASSERT_EQ(flush(rig), 0);
	EXPECT_EQ(rig.counters().cache_written_sectors, 1u) << "the sector that is dirty, not the page";
	EXPECT_EQ(rig.check(), "");
}

// Concurrent misses of one line read flash once; compares and verifies find the same data.
TEST(DataCache, MissesOfALineReadFlashOnce)
{
	Rig rig(cached_config(32));
	ASSERT_TRUE(rig.boot()) << rig.error;
	ASSERT_EQ(write_at(rig, 0, 24, 92), 0); // a superpage
	ASSERT_EQ(flush(rig), 0);
	ASSERT_TRUE(rig.boot()) << rig.error;
	const uint64_t before = media_reads(rig);
	Request first(FTL_READ, 8, 2), second(FTL_READ, 8, 2), third(FTL_COMPARE, 8, 2), fourth(FTL_VERIFY, 8, 2);
	for (uint32_t i = 0; i < 2; i++)
		fill_sector(third.pages[i], 100 + i);
	unsigned worker = 0;
	for (Request *request : {&first, &second, &third, &fourth})
		rig.submit(*request, worker++ % 2);
	lt_host_run_until_idle();
	for (const Request *request : {&first, &second, &third, &fourth})
		EXPECT_TRUE(request->done && !request->status());
	EXPECT_TRUE(sector_is(second.pages[1], 101));
	EXPECT_EQ(media_reads(rig) - before, 1u);
	EXPECT_EQ(rig.counters().cache_read_hits, 3u);
	EXPECT_EQ(rig.check(), "");
}

// One line after the other, and a model of the eviction order. CLOCK gives lines used since its last look another round.
class DataCacheOrder : public testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Evictions, DataCacheOrder, testing::Range(0u, uint32_t(HZ_CACHE_EVICTIONS)));

TEST_P(DataCacheOrder, WhoLeavesIsWhoTheModelSays)
{
	constexpr uint32_t lines = 16, pages = 30;
	Rig rig(cached_config(lines, GetParam()));
	ASSERT_TRUE(rig.boot()) << rig.error;
	std::mt19937_64 random(7);
	std::list<std::pair<uint32_t, bool>> model; // page, used; oldest first
	uint64_t hits = 0, misses = 0;
	for (int i = 0; i < 1500; i++) {
		const uint32_t page = static_cast<uint32_t>(std::min(random() % pages, random() % pages));
		const bool writes = random() % 3 == 0;
		auto found = std::find_if(model.begin(), model.end(), [page](auto &line) { return line.first == page; });
		const bool hit = found != model.end();
		(hit ? hits : misses)++;
		if (hit && GetParam() == HZ_CACHE_CLOCK)
			found->second = true;
		else if (hit)
			model.splice(model.end(), model, found);
		while (!hit && model.size() == lines && model.front().second && GetParam() == HZ_CACHE_CLOCK) {
			model.front().second = false;
			model.splice(model.end(), model, model.begin());
		}
		if (!hit && model.size() == lines)
			model.pop_front();
		if (!hit)
			model.emplace_back(page, false);
		const hz_log_ftl before = rig.counters();
		Request request(writes ? FTL_WRITE : FTL_READ, page * 2, 2);
		ASSERT_EQ(rig.run(request), 0);
		const hz_log_ftl after = rig.counters();
		ASSERT_EQ(after.cache_read_hits + after.cache_write_hits - before.cache_read_hits - before.cache_write_hits, hit)
			<< "step " << i << " page " << page;
	}
	EXPECT_GT(hits, 400u);
	EXPECT_GT(misses, 400u);
	EXPECT_GT(rig.counters().cache_evicted, 50u);
	EXPECT_EQ(rig.check(), "");
}

// More writes than lines: they wait until some have been written back, and all end.
TEST(DataCache, WritersWaitForALine)
{
	hz_device_config cfg = cached_config(16);
	cfg.data_cache_dirty_percent = 100;
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot()) << rig.error;
	std::vector<std::unique_ptr<Request>> writes;
	for (uint32_t i = 0; i < 60; i++) {
		writes.push_back(std::make_unique<Request>(FTL_WRITE, i * 3, 3));
		for (uint32_t s = 0; s < 3; s++)
			fill_sector(writes.back()->pages[s], 100 + i * 3 + s);
		rig.submit(*writes.back(), i % 2);
	}
	lt_host_run_until_idle();
	for (auto &write : writes)
		ASSERT_TRUE(write->done && !write->status());
	EXPECT_GT(rig.counters().cache_waits, 20u);
	EXPECT_GT(rig.counters().cache_evicted, 60u);
	for (uint32_t at = 0; at < 180; at += 30)
		ASSERT_EQ(rig.compare(at / 96, at % 96, std::min(30u, 96 - at % 96), 100 + at), "");
	EXPECT_EQ(rig.check(), "");
}

// Sectors written by a Flush, a write through and a background write are counted separately.
TEST(DataCache, WriteBacksAreCountedByCause)
{
	hz_device_config cfg = cached_config(20);
	cfg.data_cache_dirty_percent = 50;
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot()) << rig.error;
	ASSERT_EQ(write_at(rig, 0, 20, 100), 0);
	EXPECT_EQ(rig.counters().cache_background, 0u) << "half of it is dirty";
	ASSERT_EQ(write_at(rig, 40, 4, 200), 0);
	EXPECT_EQ(rig.counters().cache_background, 2u);
	ASSERT_EQ(write_at(rig, 60, 2, 300, FTL_FUA), 0);
	EXPECT_EQ(rig.counters().cache_through, 1u);
	EXPECT_EQ(rig.counters().cache_flushed, 0u);
	ASSERT_EQ(flush(rig), 0);
	EXPECT_EQ(rig.counters().cache_flushed, 10u);
	ASSERT_EQ(flush(rig), 0);
	EXPECT_EQ(rig.counters().cache_flushed, 10u) << "nothing is dirty";
	EXPECT_EQ(rig.counters().cache_written_sectors, 26u);
	EXPECT_EQ(rig.counters().cache_evicted, 0u);
	EXPECT_EQ(rig.check(), "");
}

// A Flush waits for lines dirty at its arrival, not for lines written all the time.
TEST(DataCache, AFlushEndsBesideWriters)
{
	Rig rig(cached_config(40));
	ASSERT_TRUE(rig.boot()) << rig.error;
	std::vector<std::unique_ptr<Request>> writes;
	Request flushes(FTL_FLUSH, 0, 0);
	std::function<void(Request &)> again = [&](Request &) {
		const uint64_t n = writes.size(); // a durable one now and then, since it takes time
		if (flushes.done || n > 20000)
			return;
		writes.push_back(std::make_unique<Request>(FTL_WRITE, n % 30 * 2, 1, static_cast<uint8_t>(n % 8 ? 0 : FTL_FUA)));
		writes.back()->then = again;
		rig.submit(*writes.back(), 1);
	};
	ASSERT_EQ(write_at(rig, 0, 60, 100), 0);
	rig.submit(flushes);
	Request first(FTL_WRITE, 0, 1);
	first.then = again;
	rig.submit(first, 1);
	lt_host_run_until_idle();
	EXPECT_TRUE(flushes.done && !flushes.status());
	EXPECT_LT(writes.size(), 20000u);
	EXPECT_EQ(rig.check(), "");
}

// With write_back off a write ends when flash's own path has it; it needs no Flush to survive a clean shutdown.
TEST(DataCache, WithoutWriteBackNothingStaysDirty)
{
	hz_device_config cfg = cached_config(20);
	cfg.data_cache_write_back = HZ_OFF;
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot()) << rig.error;
	ASSERT_EQ(write_at(rig, 3, 9, 100), 0);
	EXPECT_EQ(rig.counters().cache_through, 5u);
	EXPECT_EQ(rig.counters().cache_written_sectors, 9u);
	EXPECT_EQ(read_at(rig, 3, 9, 100), "");
	EXPECT_EQ(rig.counters().cache_read_hits, 5u);
	ASSERT_EQ(flush(rig), 0);
	EXPECT_EQ(rig.counters().cache_flushed, 0u);
}

TEST(DataCache, AnOrderlyShutdownLeavesNothingBehind)
{
	Rig rig(cached_config(30));
	ASSERT_TRUE(rig.boot()) << rig.error;
	ASSERT_EQ(write_at(rig, 3, 40, 100), 0);
	ASSERT_EQ(rig.shut_down_cleanly(), 0);
	EXPECT_TRUE(rig.is_clean());
	EXPECT_EQ(rig.check(), "");
	ASSERT_TRUE(rig.boot()) << rig.error;
	EXPECT_EQ(read_at(rig, 3, 40, 100), "");
}

// Ranges of a few lines, and of more than there are.
TEST(DataCache, DeallocatedSectorsAreGone)
{
	for (uint32_t sectors : {3u, 100u, 500u}) {
		Rig rig(cached_config(20));
		ASSERT_TRUE(rig.boot()) << rig.error;
		ASSERT_EQ(write_at(rig, 0, 60, 100), 0);
		ASSERT_EQ(write_at(rig, 7, 20, 300), 0);
		Request request(FTL_DEALLOCATE, 0, 1);
		request.name_ranges({{0, sectors, 9}});
		ASSERT_EQ(rig.run(request), 0);
		EXPECT_EQ(read_at(rig, 0, 7, 100), "");
		EXPECT_EQ(read_at(rig, 7, 2, 300), "");
		EXPECT_EQ(read_at(rig, 9, std::min(sectors, 50u), 0), "");
		EXPECT_EQ(rig.check(), "");
		ASSERT_EQ(flush(rig), 0);
		ASSERT_TRUE(rig.boot()) << rig.error;
		EXPECT_EQ(read_at(rig, 7, 2, 300), "");
		EXPECT_EQ(read_at(rig, 9, std::min(sectors, 50u), 0), "");
	}
}

// A deallocation has passed a line and waits at another one being filled. A fill of the first line meanwhile reads sectors about to be
// deallocated, and no read may find them there afterwards.
TEST(DataCache, WhatIsReadBesideADeallocationDoesNotStay)
{
	Rig rig(cached_config(32));
	ASSERT_TRUE(rig.boot()) << rig.error;
	ASSERT_EQ(write_at(rig, 0, 48, 100), 0);
	ASSERT_EQ(flush(rig), 0);
	ASSERT_TRUE(rig.boot()) << rig.error;
	Request last(FTL_READ, 40, 2), first(FTL_READ, 0, 2), forget(FTL_DEALLOCATE, 0, 1);
	forget.name_ranges({{0, 48, 0}});
	rig.submit(last);
	rig.submit(forget);
	lt_host_run_until(clock_now_ns() + 3000);
	ASSERT_FALSE(last.done || forget.done);
	rig.submit(first, 1);
	lt_host_run_until_idle();
	ASSERT_TRUE(first.done && forget.done && !forget.status());
	EXPECT_TRUE(sector_is(first.pages[0], 100)) << "it was there when it was read";
	EXPECT_EQ(read_at(rig, 0, 48, 0), "");
	EXPECT_EQ(rig.check(), "");
}

// The same for a write through meanwhile: it is in the map before the deallocation comes there, and gone afterwards.
TEST(DataCache, WhatIsWrittenBesideADeallocationDoesNotStay)
{
	Rig rig(cached_config(32));
	ASSERT_TRUE(rig.boot()) << rig.error;
	std::vector<std::unique_ptr<Request>> busy;
	for (uint32_t i = 0; i < 4; i++) {
		busy.push_back(std::make_unique<Request>(FTL_WRITE, 40, 2, FTL_FUA));
		rig.submit(*busy.back());
	}
	Request forget(FTL_DEALLOCATE, 0, 1), through(FTL_WRITE, 0, 2, FTL_FUA);
	forget.name_ranges({{0, 2, 0}, {0, 2, 40}});
	rig.submit(forget);
	lt_host_run_until(clock_now_ns() + 3000);
	for (uint32_t i = 0; i < 2; i++)
		fill_sector(through.pages[i], 700 + i);
	rig.submit(through, 1);
	lt_host_run_until_idle();
	ASSERT_TRUE(through.done && !through.status() && forget.done && !forget.status());
	ASSERT_LT(through.done_ns, forget.done_ns);
	for (int boot = 0; boot < 2; boot++) {
		EXPECT_EQ(read_at(rig, 0, 2, 0), "");
		EXPECT_EQ(read_at(rig, 40, 2, 0), "");
		EXPECT_EQ(rig.check(), "");
		ASSERT_EQ(flush(rig), 0);
		ASSERT_TRUE(rig.boot()) << rig.error;
	}
}

// The host replaces a list already accepted, while the request waits for a line.
TEST(DataCache, AListThatChangesReachesNothingElse)
{
	const nvme_dsm_range few{0, 40, 9}, all{0, 500, 0}, nowhere{0, 100, UINT64_MAX - 20};
	for (const auto &[before, after] : {std::pair{few, all}, {all, few}, {few, nowhere}, {all, nowhere}}) {
		Rig rig(cached_config(32));
		ASSERT_TRUE(rig.boot()) << rig.error;
		ASSERT_EQ(write_at(rig, 0, 48, 100), 0);
		const uint64_t kept = before.nlb == all.nlb || after.nlb == all.nlb ? 520 : 60;
		ASSERT_EQ(write_at(rig, kept, 4, 900), 0);
		Request busy(FTL_WRITE, 46, 2, FTL_FUA), forget(FTL_DEALLOCATE, 0, 1);
		for (uint32_t i = 0; i < 2; i++)
			fill_sector(busy.pages[i], 146 + i);
		forget.name_ranges({before});
		rig.submit(busy);
		rig.submit(forget);
		lt_host_run_until(clock_now_ns() + 30000);
		ASSERT_FALSE(forget.done);
		forget.name_ranges({after});
		lt_host_run_until_idle();
		ASSERT_TRUE(forget.done);
		EXPECT_EQ(forget.status(), after.slba == nowhere.slba ? NVME_LBA_OUT_OF_RANGE | NVME_DNR : 0);
		EXPECT_EQ(read_at(rig, kept, 4, 900), "") << "in neither list";
		EXPECT_EQ(rig.check(), "");
	}
}

// Only conventional zones are cached; a read may begin there and end elsewhere.
TEST(DataCache, SequentialZonesAreNotCached)
{
	hz_device_config cfg = conventional_config();
	cfg.zone_size_sectors = 96;
	use_data_cache(cfg, 16, 8);
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot()) << rig.error;
	ASSERT_EQ(write_at(rig, 380, 8, 100), NVME_ZONE_BOUNDARY);
	ASSERT_EQ(write_at(rig, 380, 4, 200), 0);
	ASSERT_EQ(write_at(rig, 384, 4, 204), 0);
	EXPECT_EQ(rig.counters().cache_write_misses, 2u);
	Request read(FTL_READ, 380, 8), compare(FTL_COMPARE, 380, 8), verify(FTL_VERIFY, 380, 8), append(FTL_APPEND, 0, 1);
	ASSERT_EQ(rig.run(read), 0);
	for (uint32_t i = 0; i < 8; i++) {
		EXPECT_TRUE(sector_is(read.pages[i], 200 + i)) << i;
		fill_sector(compare.pages[i], 200 + i);
	}
	EXPECT_EQ(rig.run(compare), 0);
	fill_sector(compare.pages[6], 1);
	EXPECT_EQ(rig.run(compare), NVME_COMPARE_FAILURE);
	EXPECT_EQ(rig.run(verify), 0);
	EXPECT_EQ(rig.run(append), NVME_INVALID_FIELD);
	EXPECT_EQ(rig.counters().host_read_sectors, 32u);
	EXPECT_EQ(rig.check(), "");
}

// Flash accepts nothing more: a Flush fails, accepted data are read as long as there is power, and requests without a line end.
TEST(DataCache, WhatFlashRefusesStaysAndIsReported)
{
	hz_device_config cfg = cached_config(16);
	cfg.normal.endurance = 3;
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot()) << rig.error;
	ConventionalDriver driver(rig, 5);
	driver.writes_may_fail = true;
	for (int i = 0; i < 400 && !driver.refused; i++) {
		driver.run_batch({{FTL_WRITE, driver.pick_place(), 20}});
		driver.run_batch({{FTL_FLUSH, 0, 0}});
		ASSERT_FALSE(HasFailure());
	}
	ASSERT_TRUE(driver.refused);
	EXPECT_GT(rig.counters().cache_failures, 0u);
	driver.verify_all();
	EXPECT_EQ(flush(rig), NVME_WRITE_FAULT) << "still";
	uint16_t status = 0;
	for (uint32_t at = 0; at < 80 && !status; at += 2)
		status = write_at(rig, at, 2, 9000 + at);
	EXPECT_EQ(status, NVME_WRITE_FAULT) << "every line holds what cannot be written";
	EXPECT_EQ(read_at(rig, 0, 2, 9000), "");
	Request all(FTL_READ, 200, 40);
	EXPECT_EQ(rig.run(all), 0) << "past the lines";
	EXPECT_EQ(rig.check(), "");
	Request forget(FTL_DEALLOCATE, 0, 1);
	forget.name_ranges({{0, driver.sector_count(), 0}});
	rig.run(forget);
	EXPECT_EQ(rig.check(), "") << "nothing is dirty any more";
}

// A write waits for the line that flash is about to refuse, and a Flush behind it: the write's change of the line saves none of its former
// data.
TEST(DataCache, AFlushTellsOfARefusalThatWasTouchedSince)
{
	hz_device_config cfg = cached_config(16);
	cfg.normal.endurance = 3;
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot()) << rig.error;
	uint16_t status = 0;
	for (uint32_t i = 0; i < 4000 && !status; i++)
		status = write_at(rig, i * 2 % 200, 2, 100, FTL_FUA);
	ASSERT_EQ(status, NVME_WRITE_FAULT);
	Request through(FTL_WRITE, 300, 2, FTL_FUA), touch(FTL_WRITE, 300, 1), late(FTL_FLUSH, 0, 0);
	rig.submit(through);
	rig.submit(touch);
	rig.submit(late);
	lt_host_run_until_idle();
	ASSERT_TRUE(through.done && touch.done && late.done);
	EXPECT_EQ(through.status(), NVME_WRITE_FAULT);
	EXPECT_EQ(touch.status(), 0);
	EXPECT_EQ(late.status(), NVME_WRITE_FAULT);
	EXPECT_EQ(rig.check(), "");
}

// Any one operation fails: nothing is lost, nothing is refused.
TEST(DataCache, AnyOneOperationMayFail)
{
	uint64_t operations = 1000;
	for (uint64_t fail = 1; fail <= operations; fail += 3) {
		SCOPED_TRACE(testing::Message() << "operation " << fail << " fails");
		Rig rig(cached_config(24));
		nand_policy policy{};
		policy.fail_op = fail;
		ASSERT_TRUE(rig.boot(policy));
		ConventionalDriver driver(rig, 1);
		driver.reads_may_fail = driver.writes_may_fail = true;
		for (int round = 0; round < 3; round++)
			driver.fill(48);
		driver.run_batch({{FTL_FLUSH, 0, 0}, {FTL_WRITE, 10, 30}});
		driver.run_batch({{FTL_WRITE, 0, 48, FTL_FUA}});
		driver.verify_all();
		ASSERT_EQ(rig.check(), "");
		operations = nand_media_operations(&rig.media);
		ASSERT_FALSE(HasFailure());
	}
	EXPECT_GT(operations, 50u);
}

// Every operation, on caches of every kind and size; then after a start.
class DataCacheRandom : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Seeds, DataCacheRandom, testing::Range(0, 16));

TEST_P(DataCacheRandom, OperationsAgreeWithTheModel)
{
	const auto seed = static_cast<uint64_t>(GetParam());
	hz_device_config cfg = seed % 2 ? mapped_conventional_config(seed % 3) : conventional_config(seed % 3);
	use_data_cache(cfg, 16 + 16 * (seed % 5), seed * 7);
	if (seed % 4 == 3)
		lay_out(cfg, true, seed % 8 == 3);
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot()) << rig.error;
	ConventionalDriver driver(rig, seed);
	driver.deallocations = seed % 4 == 1 ? 25 : 2;
	for (int i = 0; i < 150; i++) {
		ASSERT_TRUE(driver.run_batch(driver.random_batch()));
		ASSERT_FALSE(HasFailure());
		ASSERT_EQ(rig.check(), "");
	}
	driver.verify_all();
	const hz_log_ftl c = rig.counters();
	EXPECT_GT(c.cache_read_hits, 50u);
	EXPECT_GT(c.cache_read_misses, 50u);
	ASSERT_TRUE(driver.run_batch({{FTL_FLUSH, 0, 0}}));
	ASSERT_TRUE(rig.boot()) << rig.error;
	driver.check_recovered();
}
