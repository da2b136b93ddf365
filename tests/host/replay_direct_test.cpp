// Block operations without mapping: every read is checked, with any concurrency; lost and torn
// writes are found.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "flat_device.hpp"
#include "replay/direct_blocks.hpp"
#include "replay_harness.hpp"
#include "trace_source.hpp"
#include "workload/block_generator.hpp"

namespace {

using namespace hz;
using namespace hz::replay;

constexpr FlatSpace small_space{100, 512, 512, 1, 32, true};

wl::ThreadSpec hot_spec(uint64_t ops)
{
	wl::ThreadSpec spec;
	spec.total_ops = ops;
	spec.read_pattern = spec.write_pattern = wl::Pattern::random;
	spec.blocks = {{1, 2}, {4, 2}, {48, 1}};
	spec.distribution = wl::Distribution::zipf;
	spec.flush_every = 20;
	return spec;
}

std::unique_ptr<DirectBlocks> source_of(const wl::ThreadSpec &spec, const FlatSpace &space, uint64_t seed)
{
	return std::make_unique<DirectBlocks>(space, std::make_unique<wl::BlockGenerator>(spec, space.sectors(), seed));
}

TEST(DirectBlocks, EveryReadIsRightWhateverOvertakesIt)
{
	uint64_t overlaps = 0, waits = 0;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		SCOPED_TRACE("seed " + std::to_string(seed));
		FlatDevice device(700, 17, seed);
		wl::ThreadSpec spec = hot_spec(4000);
		spec.trim_ratio = seed % 2 ? 0.0 : 0.15;
		auto source = source_of(spec, small_space, seed);
		const res::QueueAccount account = run_both(device, *source, 16);
		EXPECT_EQ(account.mismatched_sectors, 0u) << account.first_mismatch;
		EXPECT_EQ(account.verified_bytes, account.of(res::Kind::read).bytes) << "no read goes unchecked";
		overlaps += device.overlaps;
		waits += source->cost()["overlap_waits"].get<uint64_t>();
	}
	EXPECT_GT(overlaps, 1000u) << "reads beside writes of the same sectors are what this is about";
	EXPECT_GT(waits, 1000u);
}

// Writes name the thread's placement identifier, those before the measurement too; nothing else does.
TEST(DirectBlocks, WritesNameTheirPlacement)
{
	wl::ThreadSpec spec = hot_spec(200);
	spec.placement = 5;
	spec.trim_ratio = 0.2;
	spec.prefill = 0.5;
	const auto source = source_of(spec, small_space, 1);
	std::set<wl::Op> seen;
	for (int phase = 0; phase < 2; phase++) {
		wl::Request request;
		while (source->next(request) == wl::Step::issue) {
			EXPECT_EQ(request.placement, request.op == wl::Op::write ? 5 : 0);
			seen.insert(request.op);
			source->complete(request, 0, 0);
		}
		if (!phase)
			source->begin_measurement();
	}
	EXPECT_EQ(seen.size(), 4u);
}

// Commands that are placed before they arrive are the same, arrive at the same times, and as much is checked.
TEST(DirectBlocks, CommandsAheadChangeNothing)
{
	for (uint64_t seed = 1; seed <= 4; seed++) {
		std::set<std::string> runs;
		uint64_t overlaps = 0;
		for (const unsigned ahead : {0u, 1u, 7u, 32u}) {
			FlatDevice device(700, 49, seed);
			wl::ThreadSpec spec = hot_spec(2000);
			spec.trim_ratio = 0.1;
			spec.think_ns = seed % 2 ? 5000 : 0;
			spec.think = wl::Think::exponential;
			auto source = source_of(spec, small_space, seed);
			const res::QueueAccount account = run_both(device, *source, 16, 5, ahead);
			EXPECT_EQ(account.mismatched_sectors, 0u) << account.first_mismatch;
			runs.insert(account.digest.text() + " " + std::to_string(account.verified_bytes) + " " + source->cost().dump());
			overlaps += device.overlaps;
		}
		EXPECT_EQ(runs.size(), 1u) << "seed " << seed;
		EXPECT_GT(overlaps, 1000u);
	}
}

TEST(DirectBlocks, AnAcknowledgedWriteThatIsLostIsFound)
{
	for (uint64_t lost : {1u, 17u, 100u, 200u}) { /* each place is read several times before it is written again */
		wl::ThreadSpec spec = hot_spec(3000);
		spec.write_pattern = wl::Pattern::sequential;
		spec.distribution = wl::Distribution::uniform;
		spec.blocks = {{16, 1}};
		spec.read_ratio = 0.9;
		for (const unsigned ahead : {0u, 32u}) {
			FlatDevice device(700, 49, 3, {lost, 0});
			auto source = source_of(spec, small_space, 3);
			EXPECT_NE(run_both(device, *source, 16, 5, ahead).mismatched_sectors, 0u) << "write " << lost << " ahead " << ahead;
		}
	}
}

TEST(DirectBlocks, ATrimThatDoesNothingIsFound)
{
	for (uint64_t lost : {1u, 5u, 30u}) {
		wl::ThreadSpec spec = hot_spec(3000);
		spec.write_pattern = wl::Pattern::sequential;
		spec.distribution = wl::Distribution::uniform;
		spec.blocks = {{16, 1}};
		spec.read_ratio = 0.9;
		spec.trim_ratio = 0.05;
		spec.prefill = 1.0;
		for (const unsigned ahead : {0u, 32u}) {
			FlatDevice device(700, 49, 3, {0, 0, lost});
			auto source = source_of(spec, small_space, 3);
			EXPECT_NE(run_both(device, *source, 16, 5, ahead).mismatched_sectors, 0u) << "trim " << lost << " ahead " << ahead;
		}
	}
}

TEST(DirectBlocks, AFailedWriteLeavesOneVersionOrTheOther)
{
	FlatDevice device(700, 17, 3, {0, 300});
	auto source = source_of(hot_spec(3000), small_space, 3);
	const res::QueueAccount account = run_both(device, *source, 16);
	EXPECT_EQ(account.errors.at(NVME_WRITE_FAULT), 1u);
	EXPECT_EQ(account.mismatched_sectors, 0u) << account.first_mismatch;
}

TEST(DirectBlocks, RunsOfConventionalZonesAreLeftNowhere)
{
	const FlatSpace space{128, 96, 128, 3, 32, true};
	wl::ThreadSpec spec = hot_spec(3000);
	spec.blocks = {{8, 1}, {40, 1}};
	FlatDevice device(600, 17, 1);
	auto source = source_of(spec, space, 1);
	const res::QueueAccount account = run_both(device, *source, 16);
	EXPECT_EQ(account.mismatched_sectors, 0u) << account.first_mismatch;
	std::set<uint64_t> zones;
	for (const uint64_t lba : device.lbas) {
		if (lba == 0) /* flushes */
			continue;
		EXPECT_LT(lba % 128, 96u);
		zones.insert(lba / 128);
	}
	EXPECT_EQ(zones, (std::set<uint64_t>{1, 2, 3}));
}

TEST(DirectBlocks, OldDataAreNotCheckedButNewOnesAre)
{
	for (const bool fresh : {true, false}) {
		FlatSpace space = small_space;
		space.fresh = fresh;
		FlatDevice device(700, 17, 1);
		wl::ThreadSpec before = hot_spec(500), after = hot_spec(500);
		auto old = source_of(before, space, 1);
		run_both(device, *old, 16, 11);
		after.read_ratio = 0.9;
		auto source = source_of(after, space, 2);
		const res::QueueAccount account = run_both(device, *source, 16, 12);
		EXPECT_EQ(account.mismatched_sectors != 0, fresh);
		EXPECT_LT(account.verified_bytes, account.of(res::Kind::read).bytes);
		EXPECT_GT(account.verified_bytes, 0u);
	}
}

TEST(DirectBlocks, PrefillCoversTheSpaceInOrder)
{
	wl::ThreadSpec spec = hot_spec(100);
	spec.prefill = 1.0;
	spec.read_ratio = 1.0;
	FlatDevice device(700, 17, 1);
	auto source = source_of(spec, small_space, 1);
	run_both(device, *source, 16);
	EXPECT_EQ(device.writes, 512u / 32);
	EXPECT_EQ(source->live().size(), 512u);
}

// Of a trace that is placed ahead.
res::QueueAccount replayed(FlatDevice &device, const std::string &records, unsigned depth, unsigned ahead, uint64_t &waits)
{
	const std::string path = testing::TempDir() + "/ahead.hzt";
	std::ofstream(path) << "hartzone-trace 1 unit=4096\n" << records;
	wl::TraceSpec spec;
	spec.file = path;
	spec.threads = 1;
	DirectBlocks source(small_space, blocks_of(spec, 512));
	const res::QueueAccount account = run_both(device, source, depth, 5, ahead);
	waits = source.cost()["overlap_waits"].get<uint64_t>();
	return account;
}

TEST(DirectBlocks, OnlyAWriteThatAnotherKeptBackHasWaited)
{
	for (const unsigned ahead : {0u, 32u}) {
		FlatDevice device(700, 49, 1);
		uint64_t waits;
		replayed(device, "0 0 write 0 1\n1 0 write 0 1\n2 0 write 5 1\n3 0 write 6 1\n", 4, ahead, waits);
		EXPECT_EQ(waits, 1u) << ahead;
	}
}

/* The read is placed while the write that is lost is under way, and arrives when it was acknowledged. */
TEST(DirectBlocks, AReadAheadMustBringWhatIsThereWhenItArrives)
{
	for (const unsigned ahead : {0u, 32u}) {
		FlatDevice device(700, 49, 1, {.lose_write = 2});
		uint64_t waits;
		EXPECT_EQ(
			replayed(device, "0 0 write 0 1\n1 0 write 0 1\n2 0 read 0 1\n3 0 write 0 1\n", 1, ahead, waits).mismatched_sectors,
			1u)
			<< ahead;
	}
}

TEST(DirectBlocks, ABlockTraceRunsAsItIs)
{
	const std::string path = testing::TempDir() + "/direct.hzt";
	std::ofstream(path) << "hartzone-trace 1 unit=4096\n0 0 write 0 40\n10 0 read 0 8\n20 0 trim 8 8\n30 0 write 4 2\n40 0 flush\n"
			       "50 0 read 0 16\n60 0 read 200 4\n";
	wl::TraceSpec spec;
	spec.file = path;
	spec.threads = 1;
	FlatDevice device(700, 9, 1);
	DirectBlocks source(small_space, blocks_of(spec, 512));
	const res::QueueAccount account = run_both(device, source, 8);
	EXPECT_EQ(account.mismatched_sectors, 0u) << account.first_mismatch;
	EXPECT_EQ(account.of(res::Kind::read).bytes, 28u * 4096);
	EXPECT_EQ(account.of(res::Kind::write).bytes, 42u * 4096);
	EXPECT_EQ(account.of(res::Kind::flush).ops, 1u);
	EXPECT_EQ(account.of(res::Kind::trim).bytes, 8u * 4096);
	EXPECT_EQ(account.verified_bytes, 28u * 4096);
	size_t zeros = 0;
	for (const wl::LiveSector &live : source.live())
		zeros += !live.stamp.version;
	EXPECT_EQ(zeros, 8u) << "what was trimmed is read again at the end, as zeros";
	EXPECT_EQ(source.cost()["trace_records"], 7u);
	EXPECT_FALSE(source.cost().contains("host_waf")) << "there is no layer that copies";
}

} // namespace
