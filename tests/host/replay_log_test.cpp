// The log mapping against a flat model: every read returns the last write, even if the collector
// moves data meanwhile.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "replay/log_shim.hpp"
#include "replay_harness.hpp"
#include "workload/block_generator.hpp"

namespace {

using namespace hz;
using namespace hz::replay;

// Random reads, writes, trims and flushes; remembers them.
class RandomBlocks : public wl::BlockSource {
public:
	RandomBlocks(uint64_t space, uint64_t count, uint64_t seed) : space_(space), left_(count), random_(seed) {}
	bool prepare(wl::BlockOp &) override { return false; }
	bool next(wl::BlockOp &op) override
	{
		if (!left_--)
			return false;
		const uint64_t roll = random_() % 100;
		op = wl::BlockOp{};
		op.verb = roll < 55   ? wl::BlockVerb::write
			  : roll < 90 ? wl::BlockVerb::read
			  : roll < 97 ? wl::BlockVerb::trim
				      : wl::BlockVerb::flush;
		if (op.verb == wl::BlockVerb::flush)
			return true;
		op.sectors = 1 + random_() % (roll % 5 ? 4 : 50);
		op.lba = random_() % (space_ - op.sectors);
		return true;
	}
	uint32_t progress_ppm() const override { return 0; }

private:
	uint64_t space_, left_;
	std::mt19937_64 random_;
};

// Sits between thread and shim and keeps the flat model: for each logical sector the stamps that a read may bring now.
class Checked : public wl::Source {
public:
	explicit Checked(LogShim &shim) : shim_(shim) {}
	wl::Step next(wl::Request &r) override
	{
		const wl::Step step = shim_.next(r);
		if (step != wl::Step::issue || r.cause != wl::Cause::user)
			return step;
		for (const wl::Stamp &s : r.stamps) {
			if (r.op == wl::Op::write) {
				EXPECT_GT(s.version, issued_[s.key]) << "versions rise";
				issued_[s.key] = s.version;
			} else { // the newest completed write, never an older one
				EXPECT_EQ(s.version, model_[s.key]);
			}
		}
		return step;
	}
	void complete(const wl::Request &r, uint16_t status, uint64_t result) override
	{
		if (r.op == wl::Op::write && r.cause == wl::Cause::user && status == 0)
			for (const wl::Stamp &s : r.stamps)
				model_[s.key] = std::max(model_[s.key], s.version);
		shim_.complete(r, status, result);
	}
	void begin_measurement() override { shim_.begin_measurement(); }
	uint32_t progress_ppm() const override { return 0; }
	std::vector<wl::LiveSector> live() override
	{
		auto sectors = shim_.live();
		for (const wl::LiveSector &sector : sectors)
			EXPECT_EQ(sector.stamp.version, model_[sector.stamp.key]);
		EXPECT_LE(sectors.size(), model_.size());
		EXPECT_GT(sectors.size(), model_.size() / 2) << "every sector that was written and not trimmed is live";
		return sectors;
	}

private:
	LogShim &shim_;
	std::map<uint64_t, uint64_t> issued_, model_;
};

class LogShimSeeds : public testing::TestWithParam<uint64_t> {};

TEST_P(LogShimSeeds, EveryReadIsRightAndTheBooksBalance)
{
	const uint64_t seed = GetParam();
	const wl::ZoneShare share = share_of(uint32_t(seed % 3), 10, 60 + seed);
	const unsigned depth = seed % 4 ? 8 : 1;
	LogOptions options;
	options.over_provisioning = 0.25;
	const uint64_t space = LogShim::space_of(share, options.over_provisioning);
	LogShim shim(share, options, std::make_unique<RandomBlocks>(space, 6000, seed));
	Checked source(shim);
	FakeDevice device(share, depth + 1, seed);
	const res::QueueAccount account = run_both(device, source, depth);
	EXPECT_TRUE(account.errors.empty()) << "status " << std::hex << account.errors.begin()->first;
	EXPECT_EQ(account.mismatched_sectors, 0u) << account.first_mismatch;
	EXPECT_EQ(shim.check(), "");
	const auto cost = shim.cost();
	EXPECT_GT(cost["gc_runs"].get<uint64_t>(), 10u);
	EXPECT_GT(cost["host_waf"].get<double>(), 1.0);
	EXPECT_EQ(cost["gc_copied_bytes"], account.of(res::Kind::gc_write).bytes);
	EXPECT_EQ(cost["user_written_bytes"], account.of(res::Kind::write).bytes);
	EXPECT_EQ(cost["zone_resets"], account.of(res::Kind::zone).ops);
}

// Commands that are placed before they arrive are the same, and arrive at the same times, the collector's among them.
TEST_P(LogShimSeeds, CommandsAheadChangeNothing)
{
	const uint64_t seed = GetParam();
	const wl::ZoneShare share = share_of(uint32_t(seed % 3), 10, 60 + seed);
	const unsigned depth = seed % 4 ? 8 : 1;
	std::set<std::vector<std::string>> histories;
	std::set<std::string> costs;
	for (const unsigned ahead : {0u, 1u, 7u, 32u}) {
		LogShim shim(share, {0.25, 2, 4}, std::make_unique<RandomBlocks>(LogShim::space_of(share, 0.25), 1000, seed));
		FakeDevice device(share, depth + 33, seed);
		const res::QueueAccount account = run_both(device, shim, depth, 5, ahead);
		EXPECT_EQ(account.mismatched_sectors, 0u) << account.first_mismatch;
		EXPECT_EQ(shim.check(), "");
		EXPECT_GT(shim.cost()["gc_runs"].get<uint64_t>(), 3u);
		EXPECT_EQ(device.most_under_way, depth) << "no more than the queue has room for";
		histories.insert(device.history);
		costs.insert(account.digest.text() + " " + std::to_string(account.verified_bytes) + " " + shim.cost().dump());
	}
	EXPECT_EQ(histories.size(), 1u);
	EXPECT_EQ(costs.size(), 1u);
}
INSTANTIATE_TEST_SUITE_P(Seeds, LogShimSeeds, testing::Range<uint64_t>(1, 13));

TEST(LogShim, ForeseesUntilItCollects)
{
	const wl::ZoneShare share = share_of(0, 10, 16);
	wl::ThreadSpec spec;
	spec.read_ratio = 0;
	spec.blocks = {{16, 1}}; // a zone
	LogShim shim(share, {0.25, 2, 4}, std::make_unique<wl::BlockGenerator>(spec, 16, 1));
	shim.begin_measurement();
	ASSERT_TRUE(shim.plans_ahead());
	for (int written = 0; written < 9; written++) {
		wl::Request request;
		EXPECT_TRUE(shim.foresees()) << written;
		EXPECT_EQ(shim.next(request), wl::Step::issue);
	}
	EXPECT_FALSE(shim.foresees()) << "one zone is free";
}

TEST(LogShim, SurvivesAFailedWrite)
{
	const wl::ZoneShare share = share_of(0, 10, 64);
	const uint64_t space = LogShim::space_of(share, 0.5);
	for (const unsigned ahead : {0u, 32u}) {
		LogShim shim(share, {0.5, 2, 4}, std::make_unique<RandomBlocks>(space, 3000, 4));
		FakeDevice device(share, 8 + 33, 4, {.fail_write = 500, .corrupt_read = 0});
		const res::QueueAccount account = run_both(device, shim, 8, 5, ahead);
		EXPECT_EQ(account.errors.at(NVME_WRITE_FAULT), 1u);
		EXPECT_EQ(account.mismatched_sectors, 0u) << account.first_mismatch;
		EXPECT_EQ(shim.check(), "");
	}
}

TEST(LogShim, SequentialWritesCostNothing)
{
	const wl::ZoneShare share = share_of(0, 10, 64);
	wl::ThreadSpec spec;
	spec.read_ratio = 0;
	spec.blocks = {{8, 1}};
	const uint64_t space = LogShim::space_of(share, 0.2);
	spec.total_sectors = space / 8 * 8;
	LogShim shim(share, {}, std::make_unique<wl::BlockGenerator>(spec, space, 1));
	FakeDevice device(share, 9, 1);
	run_both(device, shim, 8);
	EXPECT_EQ(shim.cost()["gc_copied_bytes"], 0u);
	EXPECT_EQ(shim.cost()["host_waf"], 1.0);
}

TEST(LogShim, FewZonesAreRefused)
{
	EXPECT_EQ(LogShim::space_of(share_of(0, 3, 64), 0.2), 0u);
	EXPECT_THROW(LogShim(share_of(0, 3, 64), {}, std::make_unique<RandomBlocks>(10, 1, 1)), wl::WorkloadError);
}

} // namespace
