// Traces on zones: the cut into threads, preloading, wrapping, timestamps, and zoned traces as they are.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <unistd.h>

#include "replay/log_shim.hpp"
#include "replay/trace_blocks.hpp"
#include "replay/trace_zones.hpp"
#include "replay_harness.hpp"

namespace {

using namespace hz;
using namespace hz::replay;

class TraceFile : public testing::Test {
protected:
	wl::TraceSpec write(const std::string &text)
	{
		char name[] = "/tmp/hz-trace-XXXXXX";
		close(mkstemp(name));
		paths_.push_back(name);
		std::ofstream(name) << text;
		wl::TraceSpec spec;
		spec.file = name;
		spec.threads = 1;
		return spec;
	}
	void TearDown() override
	{
		for (const std::string &path : paths_)
			std::filesystem::remove(path);
	}
	std::vector<std::string> paths_;
};

TEST(TraceCut, EverySectorBelongsToOneThread)
{
	std::mt19937_64 random(1);
	for (int round = 0; round < 2000; round++) {
		const uint64_t first = random() % 1000000, sectors = 1 + random() % 2000, stream = random() % 20;
		uint64_t total = 0;
		for (uint32_t thread = 0; thread < 5; thread++) {
			const TraceCut cut{thread, 5, 4096, wl::Split::hash, wl::Fit::wrap};
			std::vector<wl::BlockOp> pieces;
			ASSERT_TRUE(cut.cut(stream, first, sectors, pieces));
			for (const wl::BlockOp &piece : pieces) {
				EXPECT_LE(piece.lba + piece.sectors, 4096u);
				total += piece.sectors;
			}
		}
		EXPECT_EQ(total, sectors);
	}
}

TEST(TraceCut, DifferentSectorsStayDifferentWhenTheyFit)
{
	std::set<std::pair<uint32_t, uint64_t>> places;
	for (uint64_t sector = 0; sector < 4 * 4096; sector++)
		for (uint32_t thread = 0; thread < 4; thread++) {
			const TraceCut cut{thread, 4, 4096, wl::Split::hash, wl::Fit::wrap};
			std::vector<wl::BlockOp> pieces;
			cut.cut(0, sector, 1, pieces);
			for (const wl::BlockOp &piece : pieces)
				EXPECT_TRUE(places.insert({thread, piece.lba}).second) << sector;
		}
	EXPECT_EQ(places.size(), 4u * 4096);
}

TEST(TraceCut, RefuseMeansRefuse)
{
	const TraceCut cut{0, 1, 100, wl::Split::stream, wl::Fit::refuse};
	std::vector<wl::BlockOp> pieces;
	EXPECT_TRUE(cut.cut(0, 90, 10, pieces));
	EXPECT_FALSE(cut.cut(0, 91, 10, pieces));
}

TEST_F(TraceFile, ReadsBeforeWritesArePreloaded)
{
	const wl::TraceSpec spec = write("hartzone-trace 1\n0 0 read 10 4\n1 0 write 20 2\n2 0 read 20 2\n3 0 read 12 4\n4 0 flush\n");
	const wl::ZoneShare share = share_of(0, 6, 64);
	const uint64_t space = LogShim::space_of(share, 0.2);
	LogShim shim(share, {}, std::make_unique<TraceBlocks>(spec, TraceCut{0, 1, space, spec.split, spec.fit}));
	FakeDevice device(share, 9, 1);
	const res::QueueAccount account = run_both(device, shim, 4);
	EXPECT_EQ(account.of(res::Kind::read).bytes, 10u * 4096);
	EXPECT_EQ(account.of(res::Kind::flush).ops, 1u);
	EXPECT_EQ(account.mismatched_sectors, 0u);
	EXPECT_EQ(shim.cost()["unmapped_read_bytes"], 0u);
	EXPECT_EQ(shim.cost()["trace_records"], 5u);
}

TEST_F(TraceFile, TimestampsAreArrivalTimes)
{
	wl::TraceSpec spec = write("1000 0 0 8 0\n501000 0 8 8 0\n2001000 0 16 8 0\n");
	spec.timing = wl::Timing::open;
	spec.time_scale = 2;
	const wl::ZoneShare share = share_of(0, 6, 64);
	LogShim shim(share, {}, std::make_unique<TraceBlocks>(spec, TraceCut{0, 1, 100, spec.split, spec.fit}));
	FakeDevice device(share, 9, 1);
	run_both(device, shim, 4);
	ASSERT_EQ(device.history.size(), 4u) << "three writes, and one read for all they left";
	const auto arrival = [&](size_t i) { return std::stoull(device.history[i].substr(device.history[i].rfind(' '))); };
	EXPECT_EQ(arrival(1) - arrival(0), 1000000u);
	EXPECT_EQ(arrival(2) - arrival(0), 4000000u);
}

TEST_F(TraceFile, RepeatedTracesGoOn)
{
	wl::TraceSpec spec = write("hartzone-trace 1\n0 0 write 1 1\n1 0 read 1 1\n");
	spec.repeat = 3;
	const wl::ZoneShare share = share_of(0, 6, 64);
	LogShim shim(share, {}, std::make_unique<TraceBlocks>(spec, TraceCut{0, 1, 100, spec.split, spec.fit}));
	FakeDevice device(share, 9, 1);
	const res::QueueAccount account = run_both(device, shim, 1);
	EXPECT_EQ(account.of(res::Kind::write).ops, 3u);
	EXPECT_EQ(account.of(res::Kind::read).ops, 3u);
}

TEST_F(TraceFile, ZonedTracesAreReplayedAsTheyAre)
{
	wl::TraceSpec spec = write("hartzone-trace 1\n0 0 open z1\n1 0 write z1 8\n2 0 write z1+8 8\n3 0 read z1+4 8\n4 0 append z1 4\n"
				   "5 0 read z1+16 4\n6 0 read z1+20 2\n7 0 reset z1\n8 0 write z1 1\n9 0 read z1 1\n10 0 finish z1\n"
				   "11 0 flush\n12 0 write z3 4\n13 0 read z3 4\n");
	const wl::ZoneShare share = share_of(0, 4, 64);
	TraceZones source(spec, share, 0);
	FakeDevice device(share, 9, 2);
	const res::QueueAccount account = run_both(device, source, 8);
	EXPECT_TRUE(account.errors.empty());
	EXPECT_EQ(account.mismatched_sectors, 0u) << account.first_mismatch;
	EXPECT_EQ(account.verified_bytes, (8u + 4 + 2 + 1 + 4) * 4096);
	EXPECT_EQ(account.appends, 1u);
}

TEST_F(TraceFile, ABlockTraceOnZonesGetsTheStatusOfTheSpecification)
{
	wl::TraceSpec spec = write("hartzone-trace 1\n0 0 write 0 8\n1 0 write 0 8\n");
	const wl::ZoneShare share = share_of(0, 4, 64);
	TraceZones source(spec, share, 0);
	FakeDevice device(share, 9, 2);
	const res::QueueAccount account = run_both(device, source, 1);
	EXPECT_EQ(account.errors.at(NVME_ZONE_INVALID_WRITE), 1u);
	EXPECT_EQ(account.failures, 0u) << "the trace asked for it";
}

TEST_F(TraceFile, AWriteFaultIsAFailureWhateverTheTraceIs)
{
	wl::TraceSpec spec = write("hartzone-trace 1\n0 0 write 0 8\n1 0 write 8 8\n");
	const wl::ZoneShare share = share_of(1, 4, 64);
	TraceZones source(spec, share, 0);
	FakeDevice device(share, 9, 2, {.fail_write = 2, .corrupt_read = 0});
	const res::QueueAccount account = run_both(device, source, 1);
	EXPECT_EQ(account.failures, 1u);
	EXPECT_EQ(account.first_failure.substr(0, 40), "queue 1, write of 8 sectors at LBA 72: W") << "zone 0 is the first sequential one";
}

TEST_F(TraceFile, ErrorsNameTheLine)
{
	const wl::TraceSpec broken = write("hartzone-trace 1\n0 0 write 1 1\n1 0 wipe 1 1\n");
	try {
		TraceBlocks blocks(broken, TraceCut{0, 1, 100, wl::Split::hash, wl::Fit::wrap});
		FAIL();
	} catch (const trace::TraceError &e) {
		EXPECT_NE(std::string(e.what()).find(":3: field 3 'wipe'"), std::string::npos);
	}
	const wl::TraceSpec beyond = write("hartzone-trace 1\n0 0 write 1 1\n1 0 write z9 1\n");
	TraceZones zones(beyond, share_of(0, 4, 64), 1 % beyond.threads);
	FakeDevice device(share_of(0, 4, 64), 9, 2);
	EXPECT_THROW(run_both(device, zones, 1), trace::TraceError);
}

} // namespace
