// The replay thread: data checks that can fail, arrival times, errors that count as errors, data patterns.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <set>

#include <fcntl.h>
#include <pty.h>
#include <unistd.h>

#include "replay/pattern.hpp"
#include "replay/progress.hpp"
#include "replay/runner.hpp"
#include "replay_harness.hpp"
#include "session/machine/interrupt.hpp"
#include "workload/zone_generator.hpp"

namespace {

using namespace hz;
using namespace hz::replay;

wl::ThreadSpec plain_spec_of(uint64_t ops)
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
	wl::ZoneGenerator source(plain_spec_of(500), share, 5);
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
		wl::ZoneGenerator source(plain_spec_of(500), share, 5);
		digests.insert(run_both(device, source, 8).digest.text());
	}
	EXPECT_EQ(digests.size(), 2u);
}

TEST(ReplayThread, ClosedLoopArrivalsFollowCompletionTurnaroundAndThink)
{
	const wl::ZoneShare share = share_of(0, 6, 96);
	FakeDevice device(share, 2, 1);
	wl::ThreadSpec spec = plain_spec_of(50);
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
	wl::ZoneGenerator idle(plain_spec_of(500), share, 5);
	EXPECT_EQ(run_phase({{&one, &idle, {}}}, "test", [] {}).at(0).submitted, 0u);
	EXPECT_FALSE(one.opened);
}

TEST(Runner, AFailureStopsAllThreadsAndIsReported)
{
	const wl::ZoneShare share = share_of(0, 6, 96);
	FakeDevice one(share, 9, 1), two(share, 9, 2);
	wl::ZoneGenerator fine(plain_spec_of(500), share, 5);
	FailingSource failing(plain_spec_of(500), share, 6);
	fine.begin_measurement();
	failing.begin_measurement();
	bool aborted = false;
	EXPECT_THROW(run_phase({{&one, &fine, {}}, {&two, &failing, {}}}, "test", [&] { aborted = true; }), wl::WorkloadError);
	EXPECT_TRUE(aborted);
}

/* The user presses Ctrl-C when the source is asked for its nth command. */
class PressedAt : public wl::ZoneGenerator {
public:
	PressedAt(uint64_t nth, const wl::ZoneShare &share) : ZoneGenerator(plain_spec_of(5000), share, 5), left_(nth) {}
	wl::Step next(wl::Request &request) override
	{
		if (--left_ == 0)
			raise(SIGINT);
		return ZoneGenerator::next(request);
	}

private:
	uint64_t left_;
};

TEST(ReplayThread, AGentleStopFinishesWhatIsUnderWay)
{
	const wl::ZoneShare share = share_of(0, 6, 96);
	FakeDevice one(share, 9, 1), two(share, 9, 2);
	PressedAt pressed(200, share);
	wl::ZoneGenerator other(plain_spec_of(5000), share, 6);
	pressed.begin_measurement();
	other.begin_measurement();
	catch_interrupts();
	GentleStop gentle;
	const auto accounts = run_phase({{&one, &pressed, {}}, {&two, &other, {}}}, "test", [] {});
	EXPECT_FALSE(interrupted());
	EXPECT_TRUE(stop_asked());
	set_interrupted(false);
	for (const res::QueueAccount &account : accounts) {
		EXPECT_TRUE(account.interrupted);
		EXPECT_EQ(account.submitted, account.completed);
		EXPECT_LT(account.completed, 5000u);
	}
	EXPECT_LE(accounts[0].submitted, 200u) << "the command that was being made is the last one";
	EXPECT_TRUE(one.closed && two.closed);
}

TEST(Progress, Line)
{
	EXPECT_EQ(progress_line("job", 500000, 4, true), "[###############...............]  50 % job, 4 s left");
	EXPECT_EQ(progress_line("job", 0, 4, true), "[..............................]   0 % job");
	EXPECT_EQ(progress_line("job", 500000, 40, false), "hartzone:  50 % job, 40 s left");
	EXPECT_EQ(progress_line("job", 5000, 5, false), "hartzone:   0 % job") << "too early to say";
	EXPECT_EQ(progress_line("job", 5000, 30, false), "hartzone:   0 % job, 100 min left");
	EXPECT_EQ(progress_line("job", 1000, 60, false), "hartzone:   0 % job, 16.6 h left");
	EXPECT_EQ(progress_line("job", 100, 60, false), "hartzone:   0 % job");
}

/* Shows progress on `file` instead of stderr. */
void show_on(int file, double first_s, double next_s)
{
	fflush(stderr);
	const int before = dup(STDERR_FILENO);
	dup2(file, STDERR_FILENO);
	{
		Progress progress("job", first_s, next_s);
		progress.show(250000);
		progress.show(500000);
	}
	fflush(stderr);
	dup2(before, STDERR_FILENO);
	close(before);
}

TEST(Progress, IsSaidNowAndThenWhereThereIsNoTerminal)
{
	const auto text = [](double first_s, double next_s) {
		int ends[2];
		EXPECT_EQ(pipe2(ends, O_NONBLOCK), 0);
		show_on(ends[1], first_s, next_s);
		char buffer[512];
		const ssize_t got = read(ends[0], buffer, sizeof(buffer));
		close(ends[0]);
		close(ends[1]);
		return std::string(buffer, got > 0 ? size_t(got) : 0);
	};
	EXPECT_EQ(text(10, 30), "");
	EXPECT_EQ(text(0, 30), "hartzone:  25 % job\n");
	EXPECT_EQ(text(0, 0), "hartzone:  25 % job\nhartzone:  50 % job\n");
}

TEST(Progress, IsALineThatChangesOnATerminal)
{
	int ours, theirs;
	ASSERT_EQ(openpty(&ours, &theirs, nullptr, nullptr, nullptr), 0);
	show_on(theirs, 10, 30);
	close(theirs);
	std::string shown; // output written at two times may come in two pieces; the last one is followed by the end
	char buffer[512];
	for (ssize_t got; (got = read(ours, buffer, sizeof(buffer))) > 0;)
		shown.append(buffer, size_t(got));
	EXPECT_EQ(shown, "\r[#######.......................]  25 % job\033[K\r\033[K");
	close(ours);
}

} // namespace
