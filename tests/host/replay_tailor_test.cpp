// Tailor: writes arrive as superpages with the data that the workload meant, and end when they are there and not before.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "replay/tailor.hpp"
#include "replay_harness.hpp"
#include "workload/zone_generator.hpp"

namespace {

using namespace hz;
using namespace hz::replay;
using wl::Op;
using wl::Request;
using wl::Step;

constexpr uint64_t zone = 128, capacity = 96; // sectors

TailorRules rules_of(uint32_t unit)
{
	TailorRules rules;
	rules.unit = unit;
	rules.memory = 8 * unit;
	rules.hold_ns = 1000000;
	rules.zone_size = zone;
	rules.zone_capacity = capacity;
	rules.max_transfer = 32;
	return rules;
}

// Commands of a test, in order; records completions.
class Script : public wl::Source {
public:
	explicit Script(std::vector<Request> all) : all_(std::move(all)) {}
	Step next(Request &request) override
	{
		if (next_ == all_.size())
			return Step::done;
		if (blocked && blocked())
			return Step::blocked;
		request = all_[next_];
		request.tag = next_++;
		return Step::issue;
	}
	void complete(const Request &request, uint16_t status, uint64_t) override { ended.push_back({request.tag, status}); }
	void begin_measurement() override {}
	uint32_t progress_ppm() const override { return 0; }
	std::vector<wl::LiveSector> live() override { return {}; }

	std::function<bool()> blocked;
	std::vector<std::pair<uint64_t, uint16_t>> ended; // tag, status

private:
	std::vector<Request> all_;
	size_t next_ = 0;
};

Request write_of(uint64_t lba, uint32_t sectors, uint64_t think_ns = 0)
{
	Request r;
	r.op = Op::write;
	r.lba = lba;
	r.sectors = sectors;
	r.think_ns = think_ns;
	for (uint32_t i = 0; i < sectors; i++)
		r.stamps.push_back({lba + i, 1});
	return r;
}

Request other(Op op, uint64_t lba = 0)
{
	Request r;
	r.op = op;
	r.lba = lba;
	return r;
}

struct Bench {
	Script *script;
	Tailor tailor;
	Request got;

	Bench(const TailorRules &rules, std::vector<Request> all) : Bench(rules, new Script(std::move(all))) {}
	Bench(const TailorRules &rules, Script *one) : script(one), tailor(rules, std::unique_ptr<wl::Source>(one)) {}
	// The next command: "lba+sectors", or the step returned instead.
	std::string next()
	{
		switch (tailor.next(got)) {
		case Step::blocked: return "blocked";
		case Step::done: return "done";
		case Step::issue: break;
		}
		if (got.op == Op::flush)
			return "flush";
		if (got.op == Op::reset)
			return "reset";
		EXPECT_EQ(got.stamps.size(), got.sectors);
		for (uint32_t i = 0; i < got.sectors; i++)
			EXPECT_EQ(got.stamps[i].key, got.lba + i);
		return std::to_string(got.lba) + "+" + std::to_string(got.sectors) + (got.fua ? "!" : "");
	}
	uint64_t partial(Release why) const { return tailor.figures().partial[size_t(why)]; }
};

using Ended = std::vector<std::pair<uint64_t, uint16_t>>;

TEST(Tailor, SplitsAndGroups)
{
	Bench b(rules_of(8), {write_of(0, 3), write_of(3, 3), write_of(6, 6), write_of(12, 4), write_of(16, 5)});
	EXPECT_EQ(b.next(), "0+8");
	Request first = b.got;
	EXPECT_EQ(b.next(), "8+8");
	Request second = b.got;
	EXPECT_EQ(b.next(), "16+5") << "nothing more comes";
	const Request third = b.got;
	b.tailor.complete(first, 0, 0);
	EXPECT_EQ(b.script->ended, (Ended{{0, 0}, {1, 0}})) << "the third write has a part that is under way";
	b.tailor.complete(second, 0, 0);
	EXPECT_EQ(b.script->ended, (Ended{{0, 0}, {1, 0}, {2, 0}, {3, 0}}));
	b.tailor.complete(third, 0, 0);
	EXPECT_EQ(b.next(), "done");
	const TailorFigures &f = b.tailor.figures();
	EXPECT_EQ(f.writes, 5u);
	EXPECT_EQ(f.sectors, 21u);
	EXPECT_EQ(f.split, 1u);
	EXPECT_EQ(f.grouped, 4u);
	EXPECT_EQ(f.superpages, 2u);
	EXPECT_EQ(b.partial(Release::idle), 1u);
	EXPECT_EQ(f.held_ns.count(), 5u);
	EXPECT_EQ(f.latency_ns.count(), 5u);
}

TEST(Tailor, ASuperpageLargerThanACommandIsSeveral)
{
	Bench b(rules_of(48), {write_of(0, 30), write_of(30, 18)});
	EXPECT_EQ(b.next(), "0+24");
	Request first = b.got;
	EXPECT_EQ(b.next(), "24+24");
	b.tailor.complete(b.got, 0, 0);
	EXPECT_TRUE(b.script->ended.empty());
	b.tailor.complete(first, 0, 0);
	EXPECT_EQ(b.script->ended.size(), 2u);
}

TEST(Tailor, TheEndOfAZoneIsTheEndOfASuperpage)
{
	Bench b(rules_of(40), {write_of(80, 16), write_of(zone, 4)});
	EXPECT_EQ(b.next(), "80+16");
	EXPECT_EQ(b.partial(Release::rest), 1u);
}

TEST(Tailor, AFlushWaitsForAllThatWasTaken)
{
	Bench b(rules_of(8), {write_of(0, 3), write_of(zone, 2), other(Op::flush), write_of(3, 5)});
	EXPECT_EQ(b.next(), "0+3");
	Request first = b.got;
	EXPECT_EQ(b.next(), "128+2");
	Request second = b.got;
	EXPECT_EQ(b.next(), "blocked");
	b.tailor.complete(second, 0, 0);
	EXPECT_EQ(b.next(), "blocked");
	b.tailor.complete(first, 0, 0);
	EXPECT_EQ(b.script->ended, (Ended{{1, 0}, {0, 0}}));
	EXPECT_EQ(b.next(), "flush");
	EXPECT_EQ(b.next(), "3+5") << "what follows begins where the part ended, and ends where the superpage does";
	EXPECT_EQ(b.partial(Release::flush), 2u);
	EXPECT_EQ(b.tailor.figures().passed, 1u);
}

TEST(Tailor, ADurableWriteLeavesAtOnceWithWhatLiesBeforeIt)
{
	Request now = write_of(2, 9);
	now.fua = true;
	Bench b(rules_of(8), {write_of(0, 2), now, write_of(zone, 1)});
	EXPECT_EQ(b.next(), "0+8!");
	EXPECT_EQ(b.next(), "8+3!");
	EXPECT_EQ(b.partial(Release::durable), 1u);
}

TEST(Tailor, ACommandOfAZoneWaitsForThatZoneOnly)
{
	Bench b(rules_of(8), {write_of(0, 3), write_of(zone, 2), other(Op::reset, zone)});
	EXPECT_EQ(b.next(), "128+2");
	EXPECT_EQ(b.next(), "blocked");
	b.tailor.complete(b.got, 0, 0);
	EXPECT_EQ(b.next(), "reset");
	b.tailor.complete(b.got, 0, 0);
	EXPECT_EQ(b.next(), "0+3");
}

TEST(Tailor, NothingIsHeldForLongerThanItMay)
{
	Bench b(rules_of(8), {write_of(0, 3), write_of(3, 1, 600000), write_of(4, 1, 600000)});
	EXPECT_EQ(b.next(), "0+4");
	EXPECT_EQ(b.got.think_ns, 1000000u) << "when the first of them has been held so long, not when the next one comes";
	EXPECT_EQ(b.partial(Release::hold), 1u);
	EXPECT_EQ(b.tailor.figures().held_ns.max(), 1000000u);
	EXPECT_EQ(b.tailor.figures().held_ns.min(), 400000u);
	b.tailor.at(1500000);
	b.tailor.complete(b.got, 0, 0);
	EXPECT_EQ(b.next(), "4+1");
	EXPECT_EQ(b.got.think_ns, 0u) << "it was there at 1.2 ms";
}

TEST(Tailor, MemoryIsLimited)
{
	TailorRules rules = rules_of(8);
	rules.memory = 8;
	Bench b(rules, {write_of(0, 5), write_of(zone, 5), write_of(5, 3)});
	EXPECT_EQ(b.next(), "0+5");
	EXPECT_EQ(b.partial(Release::memory), 1u);
	EXPECT_EQ(b.next(), "blocked");
	b.tailor.complete(b.got, 0, 0);
	EXPECT_EQ(b.tailor.figures().most_held_sectors, 10u);
}

TEST(Tailor, WhatTheWorkloadWaitsForLeaves)
{
	Bench b(rules_of(8), {write_of(0, 3), write_of(3, 3)});
	b.script->blocked = [&b] { return b.tailor.figures().writes > b.script->ended.size(); };
	EXPECT_EQ(b.next(), "0+3");
	EXPECT_EQ(b.next(), "blocked");
	b.tailor.complete(b.got, 0, 0);
	EXPECT_EQ(b.next(), "3+3");
}

TEST(Tailor, AFailureIsReportedToEachWriteThatHasAPartInIt)
{
	Bench b(rules_of(8), {write_of(0, 3), write_of(3, 7), write_of(10, 6)});
	EXPECT_EQ(b.next(), "0+8");
	Request first = b.got;
	EXPECT_EQ(b.next(), "8+8");
	b.tailor.complete(first, NVME_WRITE_FAULT, 0);
	b.tailor.complete(b.got, 0, 0);
	EXPECT_EQ(b.script->ended, (Ended{{0, NVME_WRITE_FAULT}, {1, NVME_WRITE_FAULT}, {2, 0}}));
}

// Whole workloads: all data are checked by the thread, during the run and afterwards.
class Tailored : public testing::TestWithParam<int> {};

TEST_P(Tailored, LeavesTheSameDataInSuperpages)
{
	const int seed = GetParam();
	wl::ZoneShare share = share_of(0, 8, capacity);
	wl::ThreadSpec spec;
	spec.total_ops = 600;
	spec.read_ratio = seed % 3 ? 0.0 : 0.5;
	spec.blocks = {{1, 1}, {5, 1}, {12, 1}, {32, 1}};
	spec.open_zones = 1 + uint32_t(seed % 4);
	spec.zone_depth = seed % 2 ? 0 : 3;
	spec.flush_every = seed % 5 ? 0 : 17;
	spec.think_ns = seed % 7 ? 0 : 300000;
	wl::ZoneGenerator plain(spec, share, 5);
	FakeDevice one(share, 9, uint64_t(seed));
	run_both(one, plain, 8, 5);
	auto source = std::make_unique<wl::ZoneGenerator>(spec, share, 5);
	Tailor tailor(rules_of(seed % 2 ? 16 : 48), std::move(source));
	FakeDevice two(share, 9, uint64_t(seed));
	two.set_batch(seed % 2 ? 1 : SIZE_MAX);
	const res::QueueAccount account = run_both(two, tailor, 8, 5);
	EXPECT_EQ(account.failures, 0u) << account.first_failure;
	const TailorFigures &f = tailor.figures();
	EXPECT_EQ(f.sectors * 4096, account.kind[size_t(res::Kind::write)].bytes);
	EXPECT_EQ(f.latency_ns.count(), f.writes);
	EXPECT_EQ(f.held_ns.count(), f.writes);
	if (spec.read_ratio == 0.0 && !spec.zone_depth && !spec.think_ns && !spec.flush_every) {
		EXPECT_GT(f.superpages, 10 * f.partial[size_t(Release::hold)] + 10) << "of an eager workload nearly all are whole";
	}
}

INSTANTIATE_TEST_SUITE_P(Seeds, Tailored, testing::Range(1, 13));

TEST(Tailor, DoesTheSameHoweverManyCompletionsAreSeenAtOnce)
{
	std::set<std::string> digests;
	for (const size_t batch : {size_t(1), size_t(3), SIZE_MAX}) {
		const wl::ZoneShare share = share_of(0, 8, capacity);
		wl::ThreadSpec spec;
		spec.total_ops = 400;
		spec.open_zones = 3;
		FakeDevice device(share, 9, 3);
		device.set_batch(batch);
		Tailor tailor(rules_of(16), std::make_unique<wl::ZoneGenerator>(spec, share, 5));
		digests.insert(run_both(device, tailor, 8).digest.text());
	}
	EXPECT_EQ(digests.size(), 1u);
}

} // namespace
