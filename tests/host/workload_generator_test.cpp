// The zoned generator on the fake device: legal, verified, deterministic, and as its file says.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "replay_harness.hpp"
#include "workload/block_generator.hpp"
#include "workload/zone_generator.hpp"

namespace {

using namespace hz;
using namespace hz::replay;

wl::ThreadSpec spec_of(uint64_t ops)
{
	wl::ThreadSpec spec;
	spec.total_ops = ops;
	spec.blocks = {{1, 1}, {4, 2}, {16, 1}};
	return spec;
}

struct Case {
	const char *name;
	wl::ThreadSpec spec;
};

Case mixed() { return {"mixed", spec_of(3000)}; }
Case appends()
{
	wl::ThreadSpec s = spec_of(3000);
	s.append = true;
	s.open_zones = 2;
	return {"appends", s};
}
Case lanes()
{
	wl::ThreadSpec s = spec_of(3000);
	s.open_zones = 3;
	s.write_pattern = wl::Pattern::random;
	s.read_pattern = wl::Pattern::sequential;
	s.zone_depth = 1;
	s.flush_every = 10;
	return {"lanes", s};
}
Case zipf()
{
	wl::ThreadSpec s = spec_of(3000);
	s.distribution = wl::Distribution::zipf;
	s.prefill = 0.6;
	s.read_ratio = 0.8;
	s.think_ns = 20000;
	s.think = wl::Think::exponential;
	return {"zipf", s};
}

/* Records of 1,500 bytes do not divide their blocks; those of 512 bytes are written in place. */
Case records(const char *name, bool zrwa, uint64_t bytes, uint64_t block, uint32_t lanes)
{
	wl::ThreadSpec s = spec_of(3000);
	s.record = bytes;
	s.blocks = {{block, 1}};
	s.zrwa = zrwa;
	s.open_zones = lanes;
	s.prefill = 0.3;
	s.read_ratio = 0.25;
	return {name, s};
}

Case areas_alone()
{
	wl::ThreadSpec s = spec_of(3000);
	s.zrwa = true;
	s.open_zones = 2;
	return {"areas_alone", s};
}

class ZoneGeneratorTest : public testing::TestWithParam<Case> {};

TEST_P(ZoneGeneratorTest, EveryCommandSucceedsAndEveryReadIsRight)
{
	for (uint64_t seed = 1; seed <= 5; seed++) {
		SCOPED_TRACE("seed " + std::to_string(seed));
		const wl::ZoneShare share = share_of(2, 6, 96);
		FakeDevice device(share, 9, seed);
		device.set_areas(16, 8);
		wl::ZoneGenerator source(GetParam().spec, share, wl::thread_seed(seed, 0));
		const res::QueueAccount account = run_both(device, source, 8);
		EXPECT_TRUE(account.errors.empty()) << "status " << std::hex << account.errors.begin()->first;
		EXPECT_EQ(account.mismatched_sectors, 0u) << account.first_mismatch;
		EXPECT_EQ(account.of(res::Kind::read).ops + account.of(res::Kind::write).ops, 3000u);
		EXPECT_EQ(account.verified_bytes, account.of(res::Kind::read).bytes);
		EXPECT_GT(account.verified_bytes, 0u);
		EXPECT_GT(device.resets, GetParam().spec.record ? 0u : 5u);
		EXPECT_EQ(device.commits > 0, GetParam().spec.zrwa);
		EXPECT_EQ(device.rewrites > 500, GetParam().spec.record > 0);
		EXPECT_LE(device.most_under_way, 8u);
		EXPECT_TRUE(device.closed);
	}
}

TEST_P(ZoneGeneratorTest, DoesNotDependOnHowManyCompletionsAreSeenAtOnce)
{
	std::vector<std::string> first;
	for (const size_t batch : {SIZE_MAX, size_t(1), size_t(2)}) {
		const wl::ZoneShare share = share_of(0, 6, 96);
		FakeDevice device(share, 9, 3);
		device.set_batch(batch);
		device.set_areas(16, 8);
		wl::ZoneGenerator source(GetParam().spec, share, 99);
		run_both(device, source, 8);
		if (first.empty())
			first = device.history;
		EXPECT_EQ(device.history, first);
	}
}
INSTANTIATE_TEST_SUITE_P(Specs, ZoneGeneratorTest,
			 testing::Values(mixed(), appends(), lanes(), zipf(), records("areas", true, 1500, 1, 2),
					 records("blocks", true, 3000, 4, 3), records("in_place", false, 1024, 1, 2), areas_alone()),
			 [](const auto &which) { return which.param.name; });

// Commands that are placed before they arrive are the same, and arrive at the same times.
Case writers(Case c, const char *name, uint32_t zone_depth = 0)
{
	c.spec.read_ratio = 0;
	c.spec.zone_depth = zone_depth;
	return {name, c.spec};
}
Case readers()
{
	wl::ThreadSpec s = zipf().spec;
	s.read_ratio = 1;
	return {"readers", s};
}
Case once()
{
	wl::ThreadSpec s = writers(lanes(), "").spec;
	s.reset_when_full = false;
	return {"once", s};
}

class ZoneGeneratorAhead : public testing::TestWithParam<Case> {};

TEST_P(ZoneGeneratorAhead, ChangesNothing)
{
	wl::ThreadSpec spec = GetParam().spec;
	spec.total_ops = 1000;
	for (uint64_t seed = 1; seed <= 3; seed++) {
		std::set<std::vector<std::string>> histories;
		std::set<std::string> digests;
		for (const unsigned ahead : {0u, 1u, 7u, 32u}) {
			const wl::ZoneShare share = share_of(2, 6, 96);
			FakeDevice device(share, 8 + 33, seed);
			wl::ZoneGenerator source(spec, share, wl::thread_seed(seed, 0));
			const res::QueueAccount account = run_both(device, source, 8, 5, ahead);
			EXPECT_TRUE(account.errors.empty()) << "status " << std::hex << account.errors.begin()->first;
			EXPECT_EQ(account.mismatched_sectors, 0u) << account.first_mismatch;
			EXPECT_LE(device.most_under_way, 8u) << "no more than the queue has room for";
			histories.insert(device.history);
			digests.insert(account.digest.text() + " " + std::to_string(account.verified_bytes));
		}
		EXPECT_EQ(histories.size(), 1u) << "seed " << seed;
		EXPECT_EQ(digests.size(), 1u) << "seed " << seed;
	}
}
INSTANTIATE_TEST_SUITE_P(Specs, ZoneGeneratorAhead,
			 testing::Values(mixed(), readers(), once(), writers(mixed(), "writers"), writers(appends(), "appenders"),
					 writers(lanes(), "lanes"), writers(lanes(), "shallow", 1)),
			 [](const auto &which) { return which.param.name; });

TEST(ZoneGenerator, PlansAheadWhatDependsOnNothingUnderWay)
{
	const auto plans = [](const Case &c) {
		wl::ZoneGenerator source(c.spec, share_of(0, 6, 96), 1);
		source.begin_measurement();
		return source.plans_ahead() && source.foresees() == (c.spec.read_ratio > 0 || !c.spec.reset_when_full);
	};
	EXPECT_TRUE(plans(readers()));
	EXPECT_TRUE(plans(once()));
	EXPECT_TRUE(plans(writers(mixed(), "writers"))) << "but no lane is open yet";
	EXPECT_FALSE(plans(mixed()));
	EXPECT_FALSE(plans(writers(lanes(), "shallow", 1)));
}

TEST(ZoneGenerator, ReadRatioAndBlockSizesAreKept)
{
	const wl::ZoneShare share = share_of(0, 8, 128);
	wl::ThreadSpec spec = spec_of(20000);
	spec.read_ratio = 0.7;
	spec.blocks = {{1, 3}, {8, 1}};
	FakeDevice device(share, 9, 1);
	wl::ZoneGenerator source(spec, share, 5);
	const res::QueueAccount account = run_both(device, source, 8);
	const double reads = double(account.of(res::Kind::read).ops);
	EXPECT_NEAR(reads / 20000, 0.7, 0.015);
	const double mean = double(account.of(res::Kind::write).bytes) / double(account.of(res::Kind::write).ops) / 4096;
	EXPECT_NEAR(mean, 2.75, 0.15);
}

// 8 records of 512 bytes are 8 writes of the same sector, and the ninth begins the next one.
TEST(ZoneGenerator, ARecordWritesTheBlockAgainThatTheLastOneLeftHalfFull)
{
	wl::ThreadSpec spec = spec_of(9);
	spec.record = 512;
	spec.blocks = {{1, 1}};
	spec.read_ratio = 0;
	spec.zrwa = spec.fua = true;
	wl::ZoneGenerator source(spec, share_of(0, 2, 96), 1);
	source.begin_measurement();
	wl::Request request;
	ASSERT_EQ(source.next(request), wl::Step::issue);
	EXPECT_EQ(request.op, wl::Op::open_zrwa);
	EXPECT_EQ(source.next(request), wl::Step::blocked) << "the zone has no area yet";
	source.complete(request, 0, 0);
	for (uint64_t record = 0; record < 9; record++) {
		ASSERT_EQ(source.next(request), wl::Step::issue);
		EXPECT_EQ(request.lba, record / 8);
		EXPECT_EQ(request.sectors, 1u);
		EXPECT_EQ(request.stamps[0].version, record + 1);
		EXPECT_TRUE(request.fua);
		EXPECT_FALSE(request.in_place);
		wl::Request next;
		EXPECT_EQ(source.next(next), record == 8 ? wl::Step::done : wl::Step::blocked);
		source.complete(request, 0, 0);
	}
	EXPECT_EQ(source.live()[0].stamp.version, 8u);
}

// A write across the end of the area commits what lies an area before its own end. Another write that begins there would be refused.
TEST(ZoneGenerator, WritesUnderWayTogetherFitTheArea)
{
	for (const auto &[block, depth, expected] :
	     {std::array<uint32_t, 3>{3, 0, 5}, {4, 0, 20}, {16, 0, 20}, {12, 0, 1}, {12, 3, 1}, {3, 2, 2}, {4, 3, 3}}) {
		wl::ThreadSpec spec;
		spec.zrwa = true;
		spec.blocks = {{block, 1}};
		spec.zone_depth = depth;
		spec.read_ratio = 0;
		spec.total_ops = 20;
		wl::ZoneShare share = share_of(0, 1, 1024);
		share.zrwa_sectors = 16;
		share.zrwa_granularity = 1;
		wl::ZoneGenerator generator(spec, share, 1);
		generator.begin_measurement();
		wl::Request request;
		ASSERT_EQ(generator.next(request), wl::Step::issue);
		ASSERT_EQ(request.op, wl::Op::open_zrwa);
		generator.complete(request, 0, 0);
		unsigned under_way = 0;
		while (generator.next(request) == wl::Step::issue)
			under_way++;
		EXPECT_EQ(under_way, expected) << block << " sectors, depth " << depth;
	}
}

TEST(BlockGenerator, ALogBeginsAgainAtItsStart)
{
	wl::ThreadSpec spec = spec_of(6);
	spec.record = 6144;
	spec.blocks = {{1, 1}};
	spec.read_ratio = 0;
	spec.fua = true;
	wl::BlockGenerator blocks(spec, 4, 3);
	std::vector<std::pair<uint64_t, uint64_t>> seen;
	for (wl::BlockOp op; blocks.next(op);) {
		seen.emplace_back(op.lba, op.sectors);
		EXPECT_TRUE(op.fua);
	}
	EXPECT_EQ(seen, (std::vector<std::pair<uint64_t, uint64_t>>{{0, 2}, {1, 2}, {3, 1}, {0, 2}, {1, 2}, {3, 1}}));
	spec.write_pattern = wl::Pattern::random;
	EXPECT_THROW(wl::BlockGenerator(spec, 4, 3), wl::WorkloadError);
}

TEST(ZoneGenerator, TrimsAreRefused)
{
	wl::ThreadSpec spec = spec_of(10);
	spec.trim_ratio = 0.1;
	EXPECT_THROW(wl::ZoneGenerator(spec, share_of(0, 8, 128), 5), wl::WorkloadError);
}

TEST(BlockGenerator, RatiosAreKept)
{
	wl::ThreadSpec spec = spec_of(20000);
	spec.read_ratio = 0.5;
	spec.trim_ratio = 0.2;
	wl::BlockGenerator blocks(spec, 4096, 3);
	std::array<unsigned, 4> count{};
	for (wl::BlockOp op; blocks.next(op);)
		count[size_t(op.verb)]++;
	EXPECT_NEAR(count[size_t(wl::BlockVerb::read)], 10000, 300);
	EXPECT_NEAR(count[size_t(wl::BlockVerb::trim)], 4000, 250);
	EXPECT_NEAR(count[size_t(wl::BlockVerb::write)], 6000, 300);
}

TEST(ZoneGenerator, SomeWritesAreDurable)
{
	for (const double ratio : {0.0, 0.25, 1.0}) {
		wl::ThreadSpec spec = spec_of(4000);
		spec.read_ratio = 0.5;
		spec.durable_ratio = ratio;
		spec.prefill = 0.5;
		spec.flush_every = 50;
		wl::ZoneGenerator source(spec, share_of(0, 8, 128), 5);
		wl::Request request;
		uint32_t writes = 0, durable = 0;
		for (bool measured : {false, true}) {
			while (source.next(request) == wl::Step::issue) {
				writes += measured && request.op == wl::Op::write;
				durable += request.durable;
				EXPECT_TRUE(!request.durable || (measured && request.op == wl::Op::write));
				source.complete(request, 0, 0);
			}
			source.begin_measurement();
		}
		EXPECT_GT(writes, 1500u);
		EXPECT_NEAR(double(durable) / writes, ratio, 0.03);
	}
}

TEST(ZoneGenerator, ReadsStayInTheSpan)
{
	for (const wl::Pattern pattern : {wl::Pattern::random, wl::Pattern::sequential}) {
		const wl::ZoneShare share = share_of(1, 8, 96);
		wl::ThreadSpec spec = spec_of(4000);
		spec.read_ratio = 1;
		spec.read_pattern = pattern;
		spec.blocks = {{4, 1}};
		spec.prefill = 1;
		spec.span_sectors = 96 * 2 + 12; /* two zones and three blocks of the next */
		FakeDevice device(share, 9, 1);
		wl::ZoneGenerator source(spec, share, 5);
		const res::QueueAccount account = run_both(device, source, 8);
		EXPECT_EQ(account.of(res::Kind::read).ops, 4000u);
		EXPECT_EQ(account.mismatched_sectors, 0u) << account.first_mismatch;
		std::set<uint64_t> places;
		for (size_t i = 0, seen = 0; i < device.history.size() && seen < 4000; i++)
			if (device.history[i].substr(0, 2) == "0 " && ++seen)
				places.insert(std::stoull(device.history[i].substr(2)));
		EXPECT_EQ(places.size(), 24u + 24 + 3);
		EXPECT_EQ(*places.begin(), 128u);
		EXPECT_EQ(*places.rbegin(), 3 * 128u + 8);
	}
}

TEST(ZoneGenerator, ASpanThatIsNotWrittenIsRefused)
{
	wl::ThreadSpec spec = spec_of(10);
	spec.span_sectors = 96;
	EXPECT_THROW(wl::ZoneGenerator(spec, share_of(0, 3, 96), 1), wl::WorkloadError);
	spec.span_sectors = 96 * 4;
	spec.prefill = 1;
	EXPECT_THROW(wl::ZoneGenerator(spec, share_of(0, 3, 96), 1), wl::WorkloadError);
}

TEST(ZoneGenerator, WithoutResetsItEndsWhenTheZonesAreFull)
{
	const wl::ZoneShare share = share_of(0, 3, 64);
	wl::ThreadSpec spec = spec_of(1000000);
	spec.read_ratio = 0;
	spec.reset_when_full = false;
	FakeDevice device(share, 9, 1);
	wl::ZoneGenerator source(spec, share, 5);
	EXPECT_EQ(run_both(device, source, 8).of(res::Kind::write).bytes, 3u * 64 * 4096);
}

TEST(ZoneGenerator, AFailedWriteCountsAsAnErrorAndTheZoneIsLeft)
{
	const wl::ZoneShare share = share_of(0, 6, 96);
	FakeDevice device(share, 9, 1, {.fail_write = 40, .corrupt_read = 0});
	wl::ZoneGenerator source(spec_of(2000), share, 5);
	const res::QueueAccount account = run_both(device, source, 8);
	EXPECT_EQ(account.errors.at(NVME_WRITE_FAULT), 1u);
	EXPECT_GE(account.failures, 1u) << "writes behind it in the zone fail too";
	EXPECT_NE(account.first_failure.find("queue 1, write of "), std::string::npos) << account.first_failure;
	EXPECT_NE(account.first_failure.find("sectors at LBA "), std::string::npos);
	EXPECT_EQ(account.mismatched_sectors, 0u) << account.first_mismatch;
	uint64_t good = 0;
	for (const res::KindAccount &kind : account.kind)
		good += kind.ops;
	uint64_t bad = 0;
	for (const auto &[status, count] : account.errors)
		bad += count;
	EXPECT_EQ(good + bad, account.completed);
}

TEST(ZoneGenerator, ImpossibleSpecsAreRefused)
{
	wl::ThreadSpec wide = spec_of(1);
	wide.open_zones = 9;
	EXPECT_THROW(wl::ZoneGenerator(wide, share_of(0, 3, 64), 1), wl::WorkloadError);
	wl::ThreadSpec large = spec_of(1);
	large.blocks = {{128, 1}};
	EXPECT_THROW(wl::ZoneGenerator(large, share_of(0, 3, 64), 1), wl::WorkloadError);
	wl::ThreadSpec reader = spec_of(10);
	reader.read_ratio = 1;
	FakeDevice device(share_of(0, 3, 64), 9, 1);
	wl::ZoneGenerator source(reader, share_of(0, 3, 64), 1);
	EXPECT_THROW(run_both(device, source, 8), wl::WorkloadError);
}

} // namespace
