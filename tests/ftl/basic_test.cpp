// The data path one step at a time: buffered, staged, folded and placed data read back; finish, reset, capacity, flush.
// SPDX-License-Identifier: BSD-3-Clause
#include "ftl_rig.hpp"

using namespace ftl_rig;

struct Basic : testing::Test {
	Basic() : r(Config()) { EXPECT_TRUE(r.Boot()) << r.error; }
	~Basic() { EXPECT_EQ(r.Check(), ""); }
	Rig r;
};

TEST_F(Basic, AnEmptyZoneReadsZeros)
{
	EXPECT_EQ(r.Compare(0, 0, 96, 0), "");
	EXPECT_EQ(r.State(0), NVME_ZS_EMPTY);
}

TEST_F(Basic, BufferedDataReadBack)
{
	EXPECT_EQ(r.Write(1, 0, 3, 100), 0);
	EXPECT_EQ(r.Compare(1, 0, 3, 100), "");
	EXPECT_EQ(r.Counters().buffer_read_sectors, 3u);
	EXPECT_EQ(r.Compare(1, 3, 4, 0), "");
	EXPECT_EQ(r.State(1), NVME_ZS_IMPLICIT_OPEN);
}

TEST_F(Basic, FlushStagesAPartialUnitAndLaterWritesFoldIt)
{
	EXPECT_EQ(r.Write(1, 0, 3, 100), 0);
	EXPECT_EQ(r.Op(FTL_FLUSH, 0), 0);
	EXPECT_EQ(r.Counters().slc_sectors, 3u);
	EXPECT_EQ(r.Write(3, 0, 1, 900), 0); // zone 3 shares the buffer: zone 1 must go
	EXPECT_EQ(r.Compare(1, 0, 3, 100), "");
	EXPECT_EQ(r.Check(), "");
	EXPECT_EQ(r.Write(1, 3, 10, 103), 0);
	EXPECT_EQ(r.Counters().fold_sectors, 3u);
	EXPECT_EQ(r.Compare(1, 0, 13, 100), "");
	EXPECT_EQ(r.Compare(3, 0, 1, 900), "");
}

TEST_F(Basic, ForceUnitAccessIsDurableAfterAReboot)
{
	EXPECT_EQ(r.Write(2, 0, 8, 500, FTL_FUA), 0);
	EXPECT_EQ(r.Write(2, 8, 1, 508), 0);
	ASSERT_TRUE(r.Boot()) << r.error;
	EXPECT_EQ(r.Report()[2].write_pointer, r.Lba(2, 8));
	EXPECT_EQ(r.State(2), NVME_ZS_CLOSED);
	EXPECT_EQ(r.Compare(2, 0, 8, 500), "");
	EXPECT_EQ(r.Compare(2, 8, 1, 0), "");
	EXPECT_EQ(r.Check(), "");
	EXPECT_EQ(r.Write(2, 8, 88, 508), 0);
	EXPECT_EQ(r.Compare(2, 0, 96, 500), "");
	EXPECT_EQ(r.State(2), NVME_ZS_FULL);
}

TEST_F(Basic, AWholeZoneInLargeRequests)
{
	EXPECT_EQ(r.Write(0, 0, 96, 1), 0);
	EXPECT_EQ(r.State(0), NVME_ZS_FULL);
	EXPECT_EQ(r.Compare(0, 0, 96, 1), "");
	EXPECT_EQ(r.Write(0, 96, 1, 1), NVME_ZONE_FULL);
	ASSERT_TRUE(r.Boot());
	EXPECT_EQ(r.State(0), NVME_ZS_FULL);
	EXPECT_EQ(r.Compare(0, 0, 96, 1), "");
}

TEST_F(Basic, ReadsMayCrossZones)
{
	EXPECT_EQ(r.Write(0, 0, 96, 1), 0);
	EXPECT_EQ(r.Write(1, 0, 10, 1000), 0);
	Request read(FTL_READ, r.Lba(0, 90), static_cast<uint32_t>(r.shape.zone_size_sectors) - 90 + 12);
	EXPECT_EQ(r.Run(read), 0);
	EXPECT_TRUE(PageIs(read.pages[0], 91));
	EXPECT_TRUE(PageIs(read.pages[6], 0)); // beyond the capacity
	EXPECT_TRUE(PageIs(read.pages[r.shape.zone_size_sectors - 90], 1000));
	EXPECT_TRUE(PageIs(read.pages[r.shape.zone_size_sectors - 90 + 10], 0));
}

TEST_F(Basic, ResetEmptiesTheZoneForGood)
{
	EXPECT_EQ(r.Write(4, 0, 40, 1), 0);
	uint64_t before = clock_now_ns();
	EXPECT_EQ(r.Op(FTL_ZONE_RESET, 4), 0);
	EXPECT_GE(clock_now_ns() - before, r.cfg.normal.erase_ns);
	EXPECT_EQ(r.State(4), NVME_ZS_EMPTY);
	EXPECT_EQ(r.Compare(4, 0, 40, 0), "");
	ASSERT_TRUE(r.Boot());
	EXPECT_EQ(r.State(4), NVME_ZS_EMPTY);
	EXPECT_EQ(r.Compare(4, 0, 40, 0), "");
	EXPECT_EQ(r.Write(4, 0, 40, 7), 0);
	EXPECT_EQ(r.Compare(4, 0, 40, 7), "");
}

TEST_F(Basic, FinishIsDurable)
{
	EXPECT_EQ(r.Write(5, 0, 8, 1), 0);
	EXPECT_EQ(r.Op(FTL_ZONE_FINISH, 5), 0);
	EXPECT_EQ(r.Op(FTL_ZONE_FINISH, 6), 0); // an empty one
	for (int boot = 0; boot < 2; boot++) {
		EXPECT_EQ(r.State(5), NVME_ZS_FULL);
		EXPECT_EQ(r.State(6), NVME_ZS_FULL);
		EXPECT_EQ(r.Compare(5, 0, 8, 1), "");
		EXPECT_EQ(r.Compare(5, 8, 40, 0), "");
		EXPECT_EQ(r.Write(5, 8, 1, 1), NVME_ZONE_FULL);
		EXPECT_EQ(r.Check(), "");
		ASSERT_TRUE(r.Boot());
	}
	EXPECT_EQ(r.Op(FTL_ZONE_RESET, 5), 0);
	EXPECT_EQ(r.Op(FTL_ZONE_RESET, 6), 0);
	EXPECT_EQ(r.Write(6, 0, 20, 3), 0);
	EXPECT_EQ(r.Compare(6, 0, 20, 3), "");
}

TEST_F(Basic, AppendsFromTwoWorkersGetDistinctPlaces)
{
	std::deque<Request> appends;
	for (int i = 0; i < 12; i++) {
		Request &a = appends.emplace_back(FTL_APPEND, r.Lba(1), 5);
		for (auto *page : a.pages)
			FillPage(page, 1000 + i);
		r.Submit(a, i & 1);
	}
	lt_host_run_until_idle();
	std::vector<bool> seen(60);
	for (int i = 0; i < 12; i++) {
		ASSERT_TRUE(appends[i].done);
		ASSERT_EQ(appends[i].status(), 0);
		uint64_t at = appends[i].req.result - r.Lba(1);
		ASSERT_EQ(at % 5, 0u);
		EXPECT_FALSE(seen[at]);
		seen[at] = true;
		Request read(FTL_READ, appends[i].req.result, 5);
		EXPECT_EQ(r.Run(read), 0);
		for (auto *page : read.pages)
			EXPECT_TRUE(PageIs(page, 1000 + i));
	}
}

TEST_F(Basic, WriteZeroesGoesThroughTheSamePath)
{
	EXPECT_EQ(r.Write(0, 0, 4, 1), 0);
	Request zeroes(FTL_WRITE_ZEROES, r.Lba(0, 4), 10);
	EXPECT_EQ(r.Run(zeroes), 0);
	EXPECT_EQ(r.Write(0, 14, 30, 50), 0);
	EXPECT_EQ(r.Compare(0, 0, 4, 1), "");
	EXPECT_EQ(r.Compare(0, 4, 10, 0), "");
	EXPECT_EQ(r.Compare(0, 14, 30, 50), "");
}

TEST_F(Basic, BufferingCompletesEarlyAndFuaLate)
{
	Request early(FTL_WRITE, r.Lba(0), 6), late(FTL_WRITE, r.Lba(1), 6, FTL_FUA);
	uint64_t from = clock_now_ns();
	r.Run(early);
	EXPECT_LT(early.done_ns - from, 100000u);
	from = clock_now_ns();
	r.Run(late);
	EXPECT_GE(late.done_ns - from, 937500u);
}

// More reads than flash transactions: the later ones are still waiting when the reset comes, and it must wait for them.
TEST_F(Basic, AResetWaitsForReadsUnderWay)
{
	EXPECT_EQ(r.Write(0, 0, 96, 1), 0);
	std::deque<Request> reads;
	for (int i = 0; i < 12; i++)
		r.Submit(reads.emplace_back(FTL_READ, r.Lba(0), 96), 0);
	lt_host_turn(2);
	Request reset(FTL_ZONE_RESET, r.Lba(0), 0), late(FTL_READ, r.Lba(0), 96);
	r.Submit(reset, 1);
	r.Submit(late, 1);
	lt_host_run_until_idle();
	EXPECT_EQ(reset.status() | late.status(), 0);
	for (const Request &read : reads) {
		EXPECT_TRUE(read.done);
		for (uint32_t i = 0; i < 96; i++)
			EXPECT_TRUE(PageIs(read.pages[i], 1 + i)) << i;
		EXPECT_LE(read.done_ns, reset.done_ns);
	}
	for (uint32_t i = 0; i < 96; i++)
		EXPECT_TRUE(PageIs(late.pages[i], 0)) << i;
}
