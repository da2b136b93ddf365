// The data path one step at a time: buffered, staged, folded and placed data read back; finish, reset, capacity, flush.
// SPDX-License-Identifier: BSD-3-Clause
#include <set>

#include "ftl_rig.hpp"

using namespace ftl_rig;

struct Basic : testing::Test {
	Basic() : r(ftl_config()) { EXPECT_TRUE(r.boot()) << r.error; }
	~Basic() { EXPECT_EQ(r.check(), ""); }
	Rig r;
};

TEST_F(Basic, AnEmptyZoneReadsZeros)
{
	EXPECT_EQ(r.compare(0, 0, 96, 0), "");
	EXPECT_EQ(r.zone_state(0), NVME_ZS_EMPTY);
}

TEST_F(Basic, BufferedDataReadBack)
{
	EXPECT_EQ(r.write(1, 0, 3, 100), 0);
	EXPECT_EQ(r.compare(1, 0, 3, 100), "");
	EXPECT_EQ(r.counters().buffer_read_sectors, 3u);
	EXPECT_EQ(r.compare(1, 3, 4, 0), "");
	EXPECT_EQ(r.zone_state(1), NVME_ZS_IMPLICIT_OPEN);
}

// How many flush units had gone to flash when that changed.
static std::set<uint64_t> write_outs(uint32_t release)
{
	hz_device_config cfg = ftl_config();
	cfg.buffer_release = release;
	cfg.buffer_flush = HZ_BUFFER_FLUSH_SUPERPAGE;
	Rig rig(cfg);
	EXPECT_TRUE(rig.boot()) << rig.error;
	Request write(FTL_WRITE, 0, 48);
	for (uint32_t i = 0; i < 48; i++)
		fill_sector(write.pages[i], i + 1);
	rig.submit(write);
	std::set<uint64_t> seen;
	for (uint64_t begin_ns = clock_now_ns(), at_ns = begin_ns; at_ns < begin_ns + 20000000; at_ns += 20000) {
		lt_host_run_until(at_ns);
		seen.insert(rig.counters().buffer_flushes_full);
	}
	EXPECT_EQ(write.status(), 0);
	EXPECT_EQ(rig.compare(0, 0, 48, 1), "");
	EXPECT_EQ(rig.check(), "");
	return seen;
}

TEST(Release, ABufferIsWrittenOutUnitByUnitOrWhole)
{
	const std::set<uint64_t> units = write_outs(HZ_RELEASE_PROGRAMMED), whole = write_outs(HZ_RELEASE_WHOLE);
	EXPECT_EQ(*units.rbegin(), *whole.rbegin());
	EXPECT_EQ(whole.size(), 3u) << "none, a superpage, two";
	EXPECT_GT(units.size(), 3u);
}

TEST_F(Basic, FlushStagesAPartialUnitAndLaterWritesFoldIt)
{
	EXPECT_EQ(r.write(1, 0, 3, 100), 0);
	EXPECT_EQ(r.run_op(FTL_FLUSH, 0), 0);
	EXPECT_EQ(r.counters().slc_sectors, 3u);
	EXPECT_EQ(r.write(3, 0, 1, 900), 0); // zone 3 shares the buffer: zone 1 must go
	EXPECT_EQ(r.compare(1, 0, 3, 100), "");
	EXPECT_EQ(r.check(), "");
	EXPECT_EQ(r.write(1, 3, 10, 103), 0);
	EXPECT_EQ(r.counters().fold_sectors, 3u);
	EXPECT_EQ(r.compare(1, 0, 13, 100), "");
	EXPECT_EQ(r.compare(3, 0, 1, 900), "");
}

TEST_F(Basic, ForceUnitAccessIsDurableAfterAReboot)
{
	EXPECT_EQ(r.write(2, 0, 8, 500, FTL_FUA), 0);
	EXPECT_EQ(r.write(2, 8, 1, 508), 0);
	ASSERT_TRUE(r.boot()) << r.error;
	EXPECT_EQ(r.report_zones()[2].write_pointer, r.lba_of(2, 8));
	EXPECT_EQ(r.zone_state(2), NVME_ZS_CLOSED);
	EXPECT_EQ(r.compare(2, 0, 8, 500), "");
	EXPECT_EQ(r.compare(2, 8, 1, 0), "");
	EXPECT_EQ(r.check(), "");
	EXPECT_EQ(r.write(2, 8, 88, 508), 0);
	EXPECT_EQ(r.compare(2, 0, 96, 500), "");
	EXPECT_EQ(r.zone_state(2), NVME_ZS_FULL);
}

TEST_F(Basic, AWholeZoneInLargeRequests)
{
	EXPECT_EQ(r.write(0, 0, 96, 1), 0);
	EXPECT_EQ(r.zone_state(0), NVME_ZS_FULL);
	EXPECT_EQ(r.compare(0, 0, 96, 1), "");
	EXPECT_EQ(r.write(0, 96, 1, 1), NVME_ZONE_FULL);
	ASSERT_TRUE(r.boot());
	EXPECT_EQ(r.zone_state(0), NVME_ZS_FULL);
	EXPECT_EQ(r.compare(0, 0, 96, 1), "");
}

TEST_F(Basic, ReadsMayCrossZones)
{
	EXPECT_EQ(r.write(0, 0, 96, 1), 0);
	EXPECT_EQ(r.write(1, 0, 10, 1000), 0);
	Request read(FTL_READ, r.lba_of(0, 90), static_cast<uint32_t>(r.shape.zone_size_sectors) - 90 + 12);
	EXPECT_EQ(r.run(read), 0);
	EXPECT_TRUE(sector_is(read.pages[0], 91));
	EXPECT_TRUE(sector_is(read.pages[6], 0)); // beyond the capacity
	EXPECT_TRUE(sector_is(read.pages[r.shape.zone_size_sectors - 90], 1000));
	EXPECT_TRUE(sector_is(read.pages[r.shape.zone_size_sectors - 90 + 10], 0));
}

TEST_F(Basic, ResetEmptiesTheZoneForGood)
{
	EXPECT_EQ(r.write(4, 0, 40, 1), 0);
	uint64_t before = clock_now_ns();
	EXPECT_EQ(r.run_op(FTL_ZONE_RESET, 4), 0);
	EXPECT_GE(clock_now_ns() - before, r.cfg.normal.erase_ns);
	EXPECT_EQ(r.zone_state(4), NVME_ZS_EMPTY);
	EXPECT_EQ(r.compare(4, 0, 40, 0), "");
	ASSERT_TRUE(r.boot());
	EXPECT_EQ(r.zone_state(4), NVME_ZS_EMPTY);
	EXPECT_EQ(r.compare(4, 0, 40, 0), "");
	EXPECT_EQ(r.write(4, 0, 40, 7), 0);
	EXPECT_EQ(r.compare(4, 0, 40, 7), "");
}

TEST_F(Basic, FinishIsDurable)
{
	EXPECT_EQ(r.write(5, 0, 8, 1), 0);
	EXPECT_EQ(r.run_op(FTL_ZONE_FINISH, 5), 0);
	EXPECT_EQ(r.run_op(FTL_ZONE_FINISH, 6), 0); // an empty one
	for (int boot = 0; boot < 2; boot++) {
		EXPECT_EQ(r.zone_state(5), NVME_ZS_FULL);
		EXPECT_EQ(r.zone_state(6), NVME_ZS_FULL);
		EXPECT_EQ(r.compare(5, 0, 8, 1), "");
		EXPECT_EQ(r.compare(5, 8, 40, 0), "");
		EXPECT_EQ(r.write(5, 8, 1, 1), NVME_ZONE_FULL);
		EXPECT_EQ(r.check(), "");
		ASSERT_TRUE(r.boot());
	}
	EXPECT_EQ(r.run_op(FTL_ZONE_RESET, 5), 0);
	EXPECT_EQ(r.run_op(FTL_ZONE_RESET, 6), 0);
	EXPECT_EQ(r.write(6, 0, 20, 3), 0);
	EXPECT_EQ(r.compare(6, 0, 20, 3), "");
}

TEST_F(Basic, AppendsFromTwoWorkersGetDistinctPlaces)
{
	std::deque<Request> appends;
	for (int i = 0; i < 12; i++) {
		Request &a = appends.emplace_back(FTL_APPEND, r.lba_of(1), 5);
		for (auto *page : a.pages)
			fill_sector(page, 1000 + i);
		r.submit(a, i & 1);
	}
	lt_host_run_until_idle();
	std::vector<bool> seen(60);
	for (int i = 0; i < 12; i++) {
		ASSERT_TRUE(appends[i].done);
		ASSERT_EQ(appends[i].status(), 0);
		uint64_t at = appends[i].req.result - r.lba_of(1);
		ASSERT_EQ(at % 5, 0u);
		EXPECT_FALSE(seen[at]);
		seen[at] = true;
		Request read(FTL_READ, appends[i].req.result, 5);
		EXPECT_EQ(r.run(read), 0);
		for (auto *page : read.pages)
			EXPECT_TRUE(sector_is(page, 1000 + i));
	}
}

// A zone with its start at its place, then staged in SLC, then in the buffer, and unwritten at its end.
TEST_F(Basic, CompareAndVerifyFindDataWhereverTheyAre)
{
	ASSERT_EQ(r.write(0, 0, 30, 100), 0);
	ASSERT_EQ(r.write(0, 30, 4, 130, FTL_FUA), 0);
	ASSERT_EQ(r.write(0, 34, 3, 134), 0);
	Request compare(FTL_COMPARE, r.lba_of(0), 40);
	for (uint32_t i = 0; i < 40; i++)
		fill_sector(compare.pages[i], i < 37 ? 100 + i : 0);
	EXPECT_EQ(r.run(compare), 0);
	EXPECT_GT(compare.req.ready_ns, 0u) << "its data cross the link";
	for (uint32_t i : {0u, 23u, 24u, 31u, 35u, 36u, 37u, 39u}) {
		compare.pages[i][HZ_SECTOR_BYTES - 1] ^= 1;
		EXPECT_EQ(r.run(compare), NVME_COMPARE_FAILURE) << "sector " << i;
		compare.pages[i][HZ_SECTOR_BYTES - 1] ^= 1;
	}
	EXPECT_EQ(r.run(compare), 0) << "the host's data are as they were";
	Request verify(FTL_VERIFY, r.lba_of(0), 40);
	verify.req.sgl = {};
	EXPECT_EQ(r.run(verify), 0);
	EXPECT_EQ(r.compare(0, 0, 37, 100), "");
}

TEST_F(Basic, WriteZeroesGoesThroughTheSamePath)
{
	EXPECT_EQ(r.write(0, 0, 4, 1), 0);
	Request zeroes(FTL_WRITE_ZEROES, r.lba_of(0, 4), 10);
	EXPECT_EQ(r.run(zeroes), 0);
	EXPECT_EQ(r.write(0, 14, 30, 50), 0);
	EXPECT_EQ(r.compare(0, 0, 4, 1), "");
	EXPECT_EQ(r.compare(0, 4, 10, 0), "");
	EXPECT_EQ(r.compare(0, 14, 30, 50), "");
}

TEST_F(Basic, BufferingCompletesEarlyAndFuaLate)
{
	Request early(FTL_WRITE, r.lba_of(0), 6), late(FTL_WRITE, r.lba_of(1), 6, FTL_FUA);
	uint64_t from = clock_now_ns();
	r.run(early);
	EXPECT_LT(early.done_ns - from, 100000u);
	from = clock_now_ns();
	r.run(late);
	EXPECT_GE(late.done_ns - from, 937500u);
}

// More reads than flash transactions: the later ones are still waiting when the reset comes, and it must wait for them. Each flush waits
// for data landed at its beginning.
TEST_F(Basic, AFlushWaitsForNothingThatCameLater)
{
	std::deque<Request> flushes;
	ASSERT_EQ(r.write(0, 0, 3, 1), 0);
	for (uint32_t zone : {1u, 2u}) {
		r.submit(flushes.emplace_back(FTL_FLUSH, 0, 0));
		lt_host_run_until(clock_now_ns() + 50000); // it programs for 75 us
		ASSERT_FALSE(flushes.back().done);
		Request write(FTL_WRITE, r.lba_of(zone), 3);
		r.submit(write);
		lt_host_run_until(clock_now_ns() + 10000);
		ASSERT_TRUE(write.done);
	}
	r.submit(flushes.emplace_back(FTL_FLUSH, 0, 0));
	lt_host_run_until_idle();
	for (size_t i = 0; i < flushes.size(); i++) {
		ASSERT_TRUE(flushes[i].done) << i;
		EXPECT_EQ(flushes[i].status(), 0);
		if (i)
			EXPECT_GT(flushes[i].answered_ns, flushes[i - 1].answered_ns + 20000);
	}
	EXPECT_EQ(r.check(), "");
}

TEST_F(Basic, AResetWaitsForReadsUnderWay)
{
	EXPECT_EQ(r.write(0, 0, 96, 1), 0);
	std::deque<Request> reads;
	for (int i = 0; i < 12; i++)
		r.submit(reads.emplace_back(FTL_READ, r.lba_of(0), 96), 0);
	lt_host_turn(2);
	Request reset(FTL_ZONE_RESET, r.lba_of(0), 0), late(FTL_READ, r.lba_of(0), 96);
	r.submit(reset, 1);
	r.submit(late, 1);
	lt_host_run_until_idle();
	EXPECT_EQ(reset.status() | late.status(), 0);
	for (const Request &read : reads) {
		EXPECT_TRUE(read.done);
		for (uint32_t i = 0; i < 96; i++)
			EXPECT_TRUE(sector_is(read.pages[i], 1 + i)) << i;
		EXPECT_LE(read.done_ns, reset.done_ns);
	}
	for (uint32_t i = 0; i < 96; i++)
		EXPECT_TRUE(sector_is(late.pages[i], 0)) << i;
}

// More reads at once than a worker has flash reads for: a waiter resumes when there are enough for all of it, so that its pages still run
// on two planes at once; later reads wait behind it.
TEST(ReadPool, ReadsThatWaitGoOnInBatches)
{
	Rig r(ftl_config());
	ASSERT_TRUE(r.boot()) << r.error;
	ASSERT_EQ(r.write(0, 0, 96, 1000), 0);
	ASSERT_EQ(r.run_op(FTL_FLUSH, 0), 0);
	hz_log_flash before, after;
	tsu_report(r.tsu, &before);
	std::vector<std::unique_ptr<Request>> reads;
	for (uint32_t i = 0; i < 120; i++)
		reads.push_back(std::make_unique<Request>(FTL_READ, r.lba_of(0, i % 3 * 32), 32));
	Request last(FTL_READ, r.lba_of(0, 5), 1);
	reads[0]->then = [&](Request &) { r.submit(last); }; // when a few have come back, too few for the waiting ones
	for (const auto &read : reads)
		r.submit(*read);
	lt_host_run_until_idle();
	tsu_report(r.tsu, &after);
	for (const auto &read : reads) {
		ASSERT_TRUE(read->done);
		for (uint32_t i = 0; i < 32; i++)
			ASSERT_TRUE(sector_is(read->pages[i], 1000 + (read->req.lba - r.lba_of(0)) + i));
	}
	EXPECT_TRUE(sector_is(last.pages[0], 1005));
	const uint64_t pages = after.reads[HZ_CAUSE_HOST] - before.reads[HZ_CAUSE_HOST];
	EXPECT_EQ(pages, 120u * 16 + 1);
	EXPECT_GT(after.multi_plane_ops - before.multi_plane_ops, pages / 4);
	uint32_t earlier = 0;
	for (const auto &read : reads)
		earlier += read->answered_ns <= last.answered_ns;
	EXPECT_GT(earlier, 80u);
	EXPECT_EQ(r.check(), "");
}
