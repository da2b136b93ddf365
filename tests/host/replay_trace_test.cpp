// Traces on zones: the cut into threads, preloading, wrapping, timestamps, and zoned traces as they are.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <unistd.h>

#include "replay/direct_blocks.hpp"
#include "replay/log_shim.hpp"
#include "replay/trace_streams.hpp"
#include "replay/trace_zones.hpp"
#include "replay_harness.hpp"
#include "trace_source.hpp"

namespace {

using namespace hz;
using namespace hz::replay;

std::shared_ptr<TraceSurvey> divided(wl::Split split, uint32_t threads, uint64_t chunk_sectors = TraceSurvey::most_chunk)
{
	auto survey = std::make_shared<TraceSurvey>();
	survey->spec.threads = threads;
	survey->split = split;
	survey->chunk_sectors = chunk_sectors;
	return survey;
}

trace::Record request(uint64_t stream, uint64_t sector, uint64_t sectors)
{
	trace::Record r;
	r.stream = stream;
	r.offset = sector * 4096;
	r.bytes = sectors * 4096;
	return r;
}

TEST(TraceCut, EverySectorBelongsToOneThread)
{
	std::mt19937_64 random(1);
	for (int round = 0; round < 2000; round++) {
		const trace::Record r = request(random() % 20, random() % 1000000, 1 + random() % 2000);
		const auto survey = divided(round % 2 ? wl::Split::address : wl::Split::stream, 5, 1ull << random() % 9);
		uint64_t total = 0;
		for (uint32_t thread = 0; thread < 5; thread++) {
			std::vector<wl::BlockOp> pieces;
			TraceCut{survey, thread, 4096}.divide(r, pieces);
			for (const wl::BlockOp &piece : pieces) {
				EXPECT_LE(piece.lba + piece.sectors, 4096u);
				total += piece.sectors;
			}
		}
		EXPECT_EQ(total, r.bytes / 4096);
	}
}

TEST(TraceCut, DifferentSectorsStayDifferentWhenTheyFit)
{
	for (const uint64_t chunk : {256, 8, 1}) {
		const auto survey = divided(wl::Split::address, 4, chunk);
		std::set<std::pair<uint32_t, uint64_t>> places;
		for (uint64_t sector = 0; sector < 4 * 4096; sector++)
			for (uint32_t thread = 0; thread < 4; thread++) {
				std::vector<wl::BlockOp> pieces;
				EXPECT_FALSE((TraceCut{survey, thread, 4096}.divide(request(0, sector, 1), pieces)));
				for (const wl::BlockOp &piece : pieces)
					EXPECT_TRUE(places.insert({thread, piece.lba}).second) << sector;
			}
		EXPECT_EQ(places.size(), 4u * 4096);
	}
}

TEST(TraceCut, WhatLiesBeyondTheSpaceIsFolded)
{
	const TraceCut cut{divided(wl::Split::stream, 1), 0, 100};
	std::vector<wl::BlockOp> pieces;
	EXPECT_FALSE(cut.divide(request(0, 90, 10), pieces));
	EXPECT_TRUE(cut.divide(request(0, 91, 10), pieces));
	EXPECT_TRUE(cut.divide(request(0, 1000, 1), pieces));
	EXPECT_EQ(pieces.back().lba, 0u);
}

/* Streams of a shared space meet at the same sectors, others do not. */
TEST(TraceCut, ASharedSpaceIsOneSpace)
{
	const TraceCut cut{divided(wl::Split::address, 1), 0, 4096};
	for (const bool shared : {true, false}) {
		std::vector<wl::BlockOp> pieces;
		for (uint64_t stream : {3, 8}) {
			trace::Record r = request(stream, 5, 1);
			r.shared_space = shared;
			cut.divide(r, pieces);
		}
		EXPECT_EQ(pieces[0].lba == pieces[1].lba, shared);
	}
}

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
	std::string error_of(const wl::TraceSpec &spec)
	{
		try {
			blocks_of(spec, 100);
		} catch (const trace::TraceError &e) {
			return std::string(e.what()).substr(spec.file.size());
		}
		return "no error";
	}
	std::vector<std::string> paths_;
};

TEST_F(TraceFile, ReadsBeforeWritesArePreloaded)
{
	const wl::TraceSpec spec = write("hartzone-trace 1\n0 0 read 10 4\n1 0 write 20 2\n2 0 read 20 2\n3 0 read 12 4\n4 0 flush\n");
	const wl::ZoneShare share = share_of(0, 6, 64);
	const uint64_t space = LogShim::space_of(share, 0.2);
	LogShim shim(share, {}, blocks_of(spec, space));
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
	LogShim shim(share, {}, blocks_of(spec, 100));
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
	LogShim shim(share, {}, blocks_of(spec, 100));
	FakeDevice device(share, 9, 1);
	const res::QueueAccount account = run_both(device, shim, 1);
	EXPECT_EQ(account.of(res::Kind::write).ops, 3u);
	EXPECT_EQ(account.of(res::Kind::read).ops, 3u);
}

TEST_F(TraceFile, ARepeatedTraceArrivesAfterTheEndOfTheFirstPass)
{
	wl::TraceSpec spec = write("100 0 0 8 0\n600 0 8 8 0\n");
	spec.repeat = 3;
	spec.timing = wl::Timing::open;
	const auto blocks = blocks_of(spec, 100);
	std::vector<uint64_t> arrivals;
	for (wl::BlockOp op; blocks->next(op);)
		arrivals.push_back(op.not_before_ns);
	EXPECT_EQ(arrivals, (std::vector<uint64_t>{0, 500, 500, 1000, 1000, 1500}));
}

TEST_F(TraceFile, ZonedTracesAreReplayedAsTheyAre)
{
	wl::TraceSpec spec = write("hartzone-trace 1\n0 0 open z1\n1 0 write z1 8\n2 0 write z1+8 8\n3 0 read z1+4 8\n4 0 append z1 4\n"
				   "5 0 read z1+16 4\n6 0 read z1+20 2\n7 0 reset z1\n8 0 write z1 1\n9 0 read z1 1\n10 0 finish z1\n"
				   "11 0 flush\n12 0 write z3 4\n13 0 read z3 4\n");
	const wl::ZoneShare share = share_of(0, 4, 64);
	TraceZones source(survey_trace(spec), share, 0);
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
	TraceZones source(survey_trace(spec), share, 0);
	FakeDevice device(share, 9, 2);
	const res::QueueAccount account = run_both(device, source, 1);
	EXPECT_EQ(account.errors.at(NVME_ZONE_INVALID_WRITE), 1u);
	EXPECT_EQ(account.failures, 0u) << "the trace asked for it";
}

TEST_F(TraceFile, DurableWritesAreSentAsSuchUnlessTheWorkloadSaysOtherwise)
{
	wl::TraceSpec spec = write("hartzone-trace 1\n0 0 write 0 8 durable\n1 0 write 8 8\n2 0 append z1 1 durable\n");
	for (const bool asked : {true, false})
		for (const bool taken : {true, false}) {
			spec.durable = asked;
			wl::ZoneShare share = share_of(0, 4, 64);
			share.durable_writes = taken;
			TraceZones source(survey_trace(spec), share, 0);
			source.begin_measurement();
			for (const bool durable : {true, false, true}) {
				wl::Request request;
				ASSERT_EQ(source.next(request), wl::Step::issue);
				EXPECT_EQ(request.durable, durable && asked && taken);
				EXPECT_EQ(request.fua, durable && asked && !taken);
				source.complete(request, 0, request.lba);
			}
		}
}

/* A write without the mark, one with it, and another one: the order in which they are handed out; |
 * marks a wait of the source. */
std::string order_of(wl::Source &source)
{
	std::string out;
	std::vector<wl::Request> under_way;
	source.begin_measurement();
	for (wl::Request request; out.size() < 40;) {
		const wl::Step step = source.next(request);
		if (step == wl::Step::done && under_way.empty())
			break;
		if (step == wl::Step::issue) {
			out += request.op == wl::Op::flush ? "F" : request.fua ? "D" : "W";
			under_way.push_back(request);
			source.arrives(request, false);
			continue;
		}
		out += step == wl::Step::blocked ? "|" : "";
		const auto flush = std::find_if(under_way.begin(), under_way.end(), [](const auto &r) { return r.op == wl::Op::flush; });
		const auto first = flush == under_way.end() ? under_way.begin() : flush;
		const wl::Request ended = *first;
		under_way.erase(first);
		source.complete(ended, 0, ended.lba);
	}
	return out;
}

TEST_F(TraceFile, AFlushComesBeforeAWriteThatAsksForOne)
{
	wl::TraceSpec spec = write("hartzone-trace 2\n0 0 write 0 1\n1 0 write 1 40 flush-first durable\n2 0 write 50 1\n");
	const auto orders = [&] {
		TraceZones zones(survey_trace(spec), share_of(0, 6, 64), 0);
		LogShim shim(share_of(0, 6, 64), {}, blocks_of(spec, 100));
		DirectBlocks direct(FlatSpace{0, 100, 100, 1, 32, true}, blocks_of(spec, 100));
		return std::vector{order_of(zones), order_of(shim), order_of(direct)};
	};
	for (const std::string &order : orders())
		EXPECT_EQ(order, "WF|DDW") << "the write is of two commands, and neither waits for the first one's write";
	spec.durable = false;
	for (const std::string &order : orders())
		EXPECT_EQ(order, "WWWW");
}

TEST_F(TraceFile, AWaitForAFlushIsNoOverlap)
{
	const wl::TraceSpec spec = write("hartzone-trace 2\n0 0 write 1 1 flush-first\n");
	DirectBlocks direct(FlatSpace{0, 100, 100, 1, 32, true}, blocks_of(spec, 100));
	direct.begin_measurement();
	wl::Request flush, held;
	ASSERT_EQ(direct.next(flush), wl::Step::issue);
	direct.complete(flush, 0, 0);
	ASSERT_EQ(direct.next(held), wl::Step::issue);
	direct.arrives(held, true);
	EXPECT_EQ(direct.cost()["overlap_waits"], 0u);
}

/* The commands that a source hands out, a letter each with its arrival, if that is later; | is a wait. `ends`: which of the commands
 * under way ends next, 10 ns later. */
std::string streams_of(wl::Source &source, const std::vector<size_t> &ends)
{
	std::string out;
	std::vector<wl::Request> under_way;
	uint64_t now = 0;
	source.begin_measurement();
	for (size_t turn = 0; out.size() < 400;) {
		wl::Request request;
		source.at(now);
		const wl::Step step = source.next(request);
		if (step == wl::Step::done && under_way.empty())
			return out;
		if (step == wl::Step::issue) {
			static constexpr char letters[] = "rwafZ";
			out += letters[size_t(request.op)];
			out += request.op == wl::Op::flush ? "" : std::to_string(request.lba);
			out += request.not_before_ns ? "@" + std::to_string(request.not_before_ns) : "";
			out += " ";
			under_way.push_back(request);
			continue;
		}
		out += step == wl::Step::blocked ? "| " : "";
		const size_t which = turn < ends.size() ? std::min(ends[turn], under_way.size() - 1) : 0;
		turn++;
		const wl::Request ended = under_way[which];
		under_way.erase(under_way.begin() + long(which));
		now = std::max(now, ended.not_before_ns) + 10;
		source.at(now);
		source.complete(ended, 0, ended.lba);
	}
	return out + "...";
}

class Streams : public TraceFile {
protected:
	std::string run(const std::string &records, const std::vector<size_t> &ends = {}, double scale = 1)
	{
		wl::TraceSpec spec = write("hartzone-trace 2\n" + records);
		spec.order = wl::Order::streams;
		spec.think_scale = scale;
		spec.threads = 1;
		TraceStreams source(survey_trace(spec), share_of(0, 6, 64));
		return streams_of(source, ends);
	}
};

TEST_F(Streams, EachHasOneCommandUnderWayAndWaitsForNoOther)
{
	EXPECT_EQ(run("0 5 write z0 1\n1 5 write z0+1 1\n2 9 write z1 1\n3 9 flush\n4 5 write z0+2 1\n"), "w0 w64 | w1 | f | w2 ");
	EXPECT_EQ(run("0 5 write z0 1\n1 5 write z0+1 1\n2 9 write z1 1\n3 9 flush\n4 5 write z0+2 1\n", {1, 1, 0}),
		  "w0 w64 | f | | w1 | w2 ");
}

TEST_F(Streams, ARecordWaitsForThoseOfAnotherStream)
{
	const std::string before = "0 1 write z0 1\n1 1 flush\n2 2 write z1 1 ", behind = "\n3 2 write z1+1 1\n";
	EXPECT_EQ(run(before + behind), "w0 w64 | f | w65 ") << "nothing is waited for";
	EXPECT_EQ(run(before + "after=1:1" + behind), "w0 | f w64 | | w65 ");
	EXPECT_EQ(run(before + "after=1:2" + behind), "w0 | f | w64 | w65 ");
	EXPECT_EQ(run("0 1 write z0 1\n0 2 write z1 1\n0 3 write z2 1 after=1:1 after=2:1\n", {1}), "w0 w64 | | w128 ");
}

TEST_F(Streams, WritesOfAZoneComeAsTheyComeAndReadsFindThem)
{
	EXPECT_EQ(run("0 1 flush\n1 1 write z0 2\n2 2 write z0+2 1\n3 2 write z0+3 1\n4 3 read z0 4\n5 3 reset z0\n6 2 write z0 1\n", {1}),
		  "f w0 | w1 | w2 | | r2 | r0 | Z0 | w0 ");
}

TEST_F(Streams, AResetWaitsForAllThatTheTraceHasBeforeIt)
{
	EXPECT_EQ(run("0 1 flush\n1 1 write z0 1\n2 2 reset z0\n3 3 write z0 1\n"), "f | w0 | Z0 | w0 ");
}

TEST_F(Streams, AStreamComputesBesideTheOthers)
{
	const std::string records = "0 1 write z0 1\n1 1 write z0+1 1 think=100\n2 2 flush\n3 2 write z1 1\n4 2 write z1+1 1\n";
	EXPECT_EQ(run(records), "w0 f | w1@110 | w64 | | w65 ") << "a Flush may last: the command is placed with its time";
	EXPECT_EQ(run(records, {1, 0, 0, 0}), "w0 f | w64 | | w65 | w1@120 ") << "a write does not last: its end is waited for";
	EXPECT_EQ(run(records, {}, 0), "w0 f | w1 | w64 | | w65 ");
	EXPECT_EQ(run(records, {}, 2), "w0 f | w1@210 | w64 | | w65 ");
}

TEST_F(Streams, RefuseWhatTheyCannotRun)
{
	const auto refused = [this](const std::string &records) {
		try {
			run(records);
		} catch (const trace::TraceError &e) {
			return std::string(e.what()).substr(std::string(e.what()).find(':'));
		}
		return std::string("nothing");
	};
	EXPECT_EQ(refused("0 0 write z0 1\n1 1 write z1 1 after=0:2\n"),
		  ":3: after=0:2: stream 0 has 1 records before this one: a record waits for earlier ones only");
	EXPECT_EQ(refused("0 0 write z0 65\n"), ":2: the record touches several zones: order: streams takes none of these");
	EXPECT_EQ(refused("0 0 reset-all\n"), ":2: the record touches several zones: order: streams takes none of these");
	std::string many;
	for (int stream = 0; stream < 65; stream++)
		many += "0 " + std::to_string(stream) + " flush\n";
	EXPECT_EQ(refused(many), ":66: order: streams runs 64 streams at most: use order: trace");
	EXPECT_EQ(refused("0 0 write z0 1 after=0\n").substr(0, 21), ":2: field 6 'after=0'");
	EXPECT_EQ(refused("0 0 write z0 1 after=0:0\n").substr(0, 23), ":2: field 6 'after=0:0'");
	EXPECT_EQ(refused("0 0 write z0 1 think=x\n").substr(0, 21), ":2: field 6 'think=x'");
}

TEST_F(Streams, AreReplayedOnADevice)
{
	wl::TraceSpec spec = write("hartzone-trace 2\n0 0 write z0 4\n0 1 write z0+4 4\n0 1 read z0 8\n0 0 flush\n0 0 reset z0\n"
				   "0 1 write z0 2\n0 1 read z0 2 after=0:2\n");
	spec.order = wl::Order::streams;
	spec.threads = 1;
	const wl::ZoneShare share = share_of(0, 4, 64);
	TraceStreams source(survey_trace(spec), share);
	FakeDevice device(share, 9, 2);
	const res::QueueAccount account = run_both(device, source, 4);
	EXPECT_TRUE(account.errors.empty());
	EXPECT_EQ(account.mismatched_sectors, 0u) << account.first_mismatch;
	EXPECT_EQ(account.verified_bytes, 10u * 4096);
}

TEST_F(TraceFile, MarksOfStreamsAreLeftOutByTheOrderOfTheTrace)
{
	wl::TraceSpec spec = write("hartzone-trace 2\n0 0 write z0 1\n0 1 write z1 1 after=0:1 think=5\n");
	EXPECT_EQ(survey_trace(spec)->left_out, (trace::LeftOut{{"the mark after", 1}, {"the mark think", 1}}));
	spec.order = wl::Order::streams;
	EXPECT_EQ(survey_trace(spec)->left_out, trace::LeftOut{});
}

TEST_F(TraceFile, EachThreadResetsItsZonesWhenAllAreReset)
{
	wl::TraceSpec spec = write("hartzone-trace 2\n0 0 write z0 1\n1 0 write z1 1\n2 0 write z3 1\n3 0 reset-all\n4 0 write z1 2\n");
	spec.threads = 2;
	const wl::ZoneShare share = share_of(0, 4, 64);
	uint64_t resets[2];
	for (uint32_t thread = 0; thread < 2; thread++) {
		TraceZones source(survey_trace(spec), share, thread);
		FakeDevice device(share, 9, 2);
		EXPECT_TRUE(run_both(device, source, 4).errors.empty());
		resets[thread] = device.resets;
	}
	EXPECT_EQ(resets[0], 1u);
	EXPECT_EQ(resets[1], 2u);
}

TEST_F(TraceFile, AWriteFaultIsAFailureWhateverTheTraceIs)
{
	wl::TraceSpec spec = write("hartzone-trace 1\n0 0 write 0 8\n1 0 write 8 8\n");
	const wl::ZoneShare share = share_of(1, 4, 64);
	TraceZones source(survey_trace(spec), share, 0);
	FakeDevice device(share, 9, 2, {.fail_write = 2, .corrupt_read = 0});
	const res::QueueAccount account = run_both(device, source, 1);
	EXPECT_EQ(account.failures, 1u);
	EXPECT_EQ(account.first_failure.substr(0, 40), "queue 1, write of 8 sectors at LBA 72: W") << "zone 0 is the first sequential one";
}

TEST_F(TraceFile, ErrorsNameTheLine)
{
	EXPECT_EQ(error_of(write("hartzone-trace 1\n0 0 write 1 1\n1 0 wipe 1 1\n")).substr(0, 18), ":3: field 3 'wipe'");
	EXPECT_EQ(error_of(write("hartzone-trace 1\n0 0 write 1 1\n1 0 write z9 1\n")),
		  ":3: the address is in a zone: replay this trace on a zoned device, with --mapping direct");
	wl::TraceSpec beyond = write("hartzone-trace 1\n0 0 write 90 10\n1 0 write 91 10\n");
	EXPECT_EQ(error_of(beyond), "no error");
	beyond.fit = wl::Fit::refuse;
	EXPECT_EQ(error_of(beyond),
		  ":3: the address lies beyond the 409600 bytes that a thread has: choose offsets: wrap, a larger device, "
		  "or fewer threads");
	EXPECT_EQ(error_of(write("hartzone-trace 1\n# nothing\n")), ":1: the trace holds no requests");
}

TEST_F(TraceFile, ZonesThatTheDeviceLacksAreNamed)
{
	struct {
		const char *line, *error;
	} const cases[] = {
		{"write z9 1", "zone 9 does not exist: the device has 4 sequential zones"},
		{"write z4294967295 1", "zone 4294967295 does not exist: the device has 4 sequential zones"},
		{"write 256 1", "zone 4 does not exist: the device has 4 sequential zones"},
		{"write z1+64 1", "the address lies 64 sectors into a zone: on this device they are 64 apart"},
	};
	const wl::ZoneShare share = share_of(2, 4, 64);
	for (const auto &[line, error] : cases) {
		const wl::TraceSpec spec = write("hartzone-trace 1\n0 0 write 1 1\n1 0 " + std::string(line) + "\n");
		TraceZones zones(survey_trace(spec), share, 0);
		FakeDevice device(share, 9, 2);
		try {
			run_both(device, zones, 1);
			ADD_FAILURE() << line;
		} catch (const trace::TraceError &e) {
			EXPECT_EQ(e.what(), spec.file + ":3: " + error);
		}
	}
}

/* Each zone has one thread, also where a request spans several. */
TEST_F(TraceFile, ARequestIsCutAtTheEndsOfZones)
{
	const wl::ZoneShare share = share_of(0, 4, 64);
	wl::TraceSpec spec = write("hartzone-trace 1\n0 0 write z0 150\n1 0 read z0+32 100\n2 0 write z2+22 42\n3 0 read z0 192\n");
	spec.threads = 2;
	uint64_t written[2], read[2];
	for (uint32_t thread = 0; thread < 2; thread++) {
		TraceZones source(survey_trace(spec), share, thread);
		FakeDevice device(share, 9, 2);
		const res::QueueAccount account = run_both(device, source, 8);
		EXPECT_TRUE(account.errors.empty());
		EXPECT_EQ(account.mismatched_sectors, 0u) << account.first_mismatch;
		written[thread] = account.of(res::Kind::write).bytes / 4096;
		read[thread] = account.of(res::Kind::read).bytes / 4096;
	}
	EXPECT_EQ(written[0], 64u + 22 + 42);
	EXPECT_EQ(written[1], 64u);
	EXPECT_EQ(read[0], 32u + 4 + 64 + 64);
	EXPECT_EQ(read[1], 64u + 64);
	spec = write("hartzone-trace 1\n0 0 write z3 65\n");
	TraceZones beyond(survey_trace(spec), share, 0);
	FakeDevice device(share, 9, 2);
	EXPECT_THROW(run_both(device, beyond, 1), trace::TraceError);
}

TEST_F(TraceFile, WhatAReplayCannotDoIsCounted)
{
	const auto cost = [](wl::BlockSource &source) {
		for (wl::BlockOp op; source.next(op);) {}
		return source.cost();
	};
	const auto folded = blocks_of(write("hartzone-trace 1\n0 0 write 1 1\n1 0 write 99 3\n2 0 read 500 1\n3 0 reset 1\n"), 100);
	EXPECT_EQ(cost(*folded), nlohmann::json({{"trace_records", 3},
						 {"unaligned_records", 0},
						 {"ignored_records", 1},
						 {"ignored_reset", 1},
						 {"wrapped_records", 2}}));
	wl::TraceSpec spec = write("hartzone-trace 1 unit=512\n0 0 write 1 1\n0 1 reset 8\n0 2 reset 8\n");
	spec.threads = 2;
	const auto survey = survey_trace(spec);
	uint64_t ignored = 0;
	for (uint32_t thread = 0; thread < 2; thread++) {
		TraceBlocks part(TraceCut{survey, thread, 100}, {});
		ignored += cost(part)["ignored_records"].get<uint64_t>();
	}
	EXPECT_EQ(ignored, 2u) << "each by one thread";
	TraceZones zones(survey_trace(write("hartzone-trace 1\n0 0 trim 1 1\n0 0 write 0 1\n")), share_of(0, 4, 64), 0);
	FakeDevice device(share_of(0, 4, 64), 9, 2);
	run_both(device, zones, 1);
	EXPECT_EQ(zones.cost(), nlohmann::json({{"trace_records", 1}, {"ignored_records", 1}, {"ignored_trim", 1}}));
}

} // namespace
