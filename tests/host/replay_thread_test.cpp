// The replay thread: data checks that can fail, arrival times, errors that count as errors, data patterns.
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "replay/pattern.hpp"
#include "replay/progress.hpp"
#include "replay/runner.hpp"
#include "replay_harness.hpp"
#include "workload/zone_generator.hpp"

namespace {

using namespace hz;
using namespace hz::replay;

wl::ThreadSpec spec_of(uint64_t ops)
{
	wl::ThreadSpec spec;
	spec.total_ops = ops;
	return spec;
}

TEST(Pattern, DependsOnEveryPartAndEveryByteCounts)
{
	std::array<std::byte, sector_bytes> a{}, b{};
	fill_sector(a, 1, {5, 2});
	EXPECT_TRUE(check_sector(a, 1, {5, 2}));
	EXPECT_FALSE(check_sector(a, 2, {5, 2}));
	EXPECT_FALSE(check_sector(a, 1, {6, 2}));
	EXPECT_FALSE(check_sector(a, 1, {5, 3}));
	EXPECT_FALSE(check_sector(a, 1, {}));
	EXPECT_TRUE(check_sector(b, 1, {}));
	for (size_t i = 0; i < sector_bytes; i++) {
		a[i] ^= std::byte{1};
		EXPECT_FALSE(check_sector(a, 1, {5, 2})) << i;
		a[i] ^= std::byte{1};
	}
}

TEST(Pattern, MismatchesAreDescribed)
{
	std::array<std::byte, sector_bytes> sector{};
	EXPECT_EQ(describe_mismatch(sector, 1, {5, 2}, 77), "LBA 77 should hold key 5 version 2 but holds zeros");
	fill_sector(sector, 1, {5, 1});
	EXPECT_EQ(describe_mismatch(sector, 1, {5, 2}, 77), "LBA 77 should hold key 5 version 2 but holds key 5 version 1");
	sector[4000] ^= std::byte{1};
	EXPECT_EQ(describe_mismatch(sector, 1, {}, 7), "LBA 7 should hold zeros but holds key 5 version 1 with damaged content");
	sector[0] ^= std::byte{1};
	EXPECT_EQ(describe_mismatch(sector, 1, {}, 7), "LBA 7 should hold zeros but holds data that no run wrote");
}

TEST(ReplayThread, ADamagedReadIsFound)
{
	const wl::ZoneShare share = share_of(0, 6, 96);
	FakeDevice device(share, 9, 1, {.fail_write = 0, .corrupt_read = 17});
	wl::ZoneGenerator source(spec_of(500), share, 5);
	const res::QueueAccount account = run_both(device, source, 8);
	EXPECT_EQ(account.mismatched_sectors, 1u);
	EXPECT_NE(account.first_mismatch.find("with damaged content"), std::string::npos);
}

TEST(ReplayThread, TheDigestTellsRunsApart)
{
	std::set<std::string> digests;
	for (const uint64_t seed : {1, 1, 2}) {
		const wl::ZoneShare share = share_of(0, 6, 96);
		FakeDevice device(share, 9, seed);
		wl::ZoneGenerator source(spec_of(500), share, 5);
		digests.insert(run_both(device, source, 8).digest.text());
	}
	EXPECT_EQ(digests.size(), 2u);
}

TEST(ReplayThread, ClosedLoopArrivalsFollowCompletionTurnaroundAndThink)
{
	const wl::ZoneShare share = share_of(0, 6, 96);
	FakeDevice device(share, 2, 1);
	wl::ThreadSpec spec = spec_of(50);
	spec.think_ns = 10000;
	spec.read_ratio = 0;
	wl::ZoneGenerator source(spec, share, 5);
	const res::QueueAccount account = run_both(device, source, 1);
	uint64_t expected = 0, number = 0;
	const auto latency_sum = uint64_t(account.of(res::Kind::write).latency.mean() * 50 + 0.5);
	expected = 50 * 10000 + 49 * 4000 + latency_sum; // first think, then completion, turn-around, think …
	number = account.last_completion_ns - 1000000;
	EXPECT_EQ(number, expected);
}

// Gives up in the middle.
class FailingSource : public wl::ZoneGenerator {
public:
	using ZoneGenerator::ZoneGenerator;
	wl::Step next(wl::Request &request) override
	{
		if (++asked_ == 100)
			throw wl::WorkloadError("enough");
		return ZoneGenerator::next(request);
	}

private:
	int asked_ = 0;
};

TEST(Runner, ASourceWithNothingToDoLeavesItsPortClosed)
{
	const wl::ZoneShare share = share_of(0, 6, 96);
	FakeDevice one(share, 9, 1);
	wl::ZoneGenerator idle(spec_of(500), share, 5);
	EXPECT_EQ(run_phase({{&one, &idle, {}}}, "test", [] {}).at(0).submitted, 0u);
	EXPECT_FALSE(one.opened);
}

TEST(Runner, AFailureStopsAllThreadsAndIsReported)
{
	const wl::ZoneShare share = share_of(0, 6, 96);
	FakeDevice one(share, 9, 1), two(share, 9, 2);
	wl::ZoneGenerator fine(spec_of(500), share, 5);
	FailingSource failing(spec_of(500), share, 6);
	fine.begin_measurement();
	failing.begin_measurement();
	bool aborted = false;
	EXPECT_THROW(run_phase({{&one, &fine, {}}, {&two, &failing, {}}}, "test", [&] { aborted = true; }), wl::WorkloadError);
	EXPECT_TRUE(aborted);
}

TEST(Progress, Line)
{
	EXPECT_EQ(progress_line("job", 500000, 4), "[###############...............]  50 % job, 4 s left");
	EXPECT_EQ(progress_line("job", 0, 4), "[..............................]   0 % job");
}

} // namespace
