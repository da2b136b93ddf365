// The steady state of series whose answer is known: constant, ramp, AR(1) from its mean and from far off; and the series itself.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "results/steady.hpp"

namespace {

using namespace hz::res;

constexpr uint64_t window = 1024, begin = 10 * window;

/* As many commands in each window, all of one latency. */
Series with(const std::vector<uint64_t> &commands, uint64_t latency_ns = 100)
{
	Series out;
	for (size_t i = 0; i < commands.size(); i++)
		for (uint64_t c = 0; c < commands[i]; c++)
			out.add(begin + i * window + c, latency_ns);
	return out;
}

Steady steady_with(const std::vector<uint64_t> &commands) { return steady_of(with(commands), begin, begin + commands.size() * window); }

constexpr double mean_commands = 20;

/* About the mean, from so far off; what is off stays in part. */
std::vector<uint64_t> ar1(unsigned seed, size_t length, double start)
{
	std::mt19937 random(seed);
	std::normal_distribution<double> shock(0, start ? 1 : 3);
	std::vector<uint64_t> out(length);
	double off = start;
	for (uint64_t &value : out) {
		off = (start ? 0.97 : 0.5) * off + shock(random);
		value = uint64_t(std::llround(std::max(0.0, mean_commands + off)));
	}
	return out;
}

TEST(Mser5, IsTheCutWithTheLeastStandardError)
{
	for (unsigned seed = 1; seed <= 20; seed++) {
		const std::vector<uint64_t> series = ar1(seed, 101, 60);
		const std::vector<double> values(series.begin(), series.end());
		std::vector<double> errors;
		for (size_t cut = 0; cut <= values.size() / 2; cut++) {
			double mean = 0, squares = 0;
			const double n = double(values.size() - cut);
			for (size_t i = cut; i < values.size(); i++)
				mean += values[i] / n;
			for (size_t i = cut; i < values.size(); i++)
				squares += (values[i] - mean) * (values[i] - mean);
			errors.push_back(squares / n / n);
		}
		EXPECT_EQ(mser5(values), size_t(std::min_element(errors.begin(), errors.end()) - errors.begin())) << "seed " << seed;
	}
}

TEST(Steady, ConstantFromTheFirstCommand)
{
	const Steady s = steady_with(std::vector<uint64_t>(600, 10));
	EXPECT_EQ(s.reason, "");
	EXPECT_EQ(s.warmup_ns, 0u);
	EXPECT_EQ(s.measured_ns, 600 * window);
	EXPECT_DOUBLE_EQ(s.iops.mean, 10e9 / window);
	EXPECT_DOUBLE_EQ(s.iops.half_width, 0);
	EXPECT_DOUBLE_EQ(s.latency_ns.mean, 100);
}

TEST(Steady, RampHasNone)
{
	std::vector<uint64_t> up(600);
	for (size_t i = 0; i < up.size(); i++)
		up[i] = 10 + i / 6;
	EXPECT_NE(steady_with(up).reason.find("warm-up does not end"), std::string::npos);
	std::reverse(up.begin(), up.end());
	EXPECT_NE(steady_with(up).reason.find("warm-up does not end"), std::string::npos);
}

TEST(Steady, StepIsCut)
{
	std::vector<uint64_t> step(600, 10);
	std::fill(step.begin(), step.begin() + 100, 30);
	const Steady s = steady_with(step);
	EXPECT_EQ(s.reason, "");
	EXPECT_GE(s.warmup_ns, 100 * window);
	EXPECT_DOUBLE_EQ(s.iops.mean, 10e9 / window);
	std::fill(step.begin() + 100, step.begin() + 330, 30);
	EXPECT_NE(steady_with(step).reason, "") << "it comes in the second half";
}

TEST(Steady, LatencyMayWarmUpWhereThroughputDoesNot)
{
	Series series;
	for (uint64_t i = 0; i < 600; i++)
		for (uint64_t c = 0; c < 10; c++)
			series.add(begin + i * window + c, i < 200 ? 100 : 500);
	const Steady s = steady_of(series, begin, begin + 600 * window);
	EXPECT_EQ(s.reason, "");
	EXPECT_DOUBLE_EQ(s.latency_ns.mean, 500);
}

TEST(Steady, IntervalsHoldTheMeanAsOftenAsTheySay)
{
	unsigned holds = 0;
	for (unsigned seed = 1; seed <= 200; seed++) {
		const Steady s = steady_with(ar1(seed, 600, 0));
		ASSERT_EQ(s.reason, "") << "seed " << seed;
		holds += std::abs(s.iops.mean * window / 1e9 - mean_commands) <= s.iops.half_width * window / 1e9;
	}
	EXPECT_GE(holds, 176u) << "of 200; 95 % are 190";
	EXPECT_LE(holds, 199u);
}

TEST(Steady, FarOffBeginningIsCut)
{
	for (unsigned seed = 1; seed <= 20; seed++) {
		const std::vector<uint64_t> series = ar1(seed, 1500, 600);
		const Steady s = steady_with(series);
		ASSERT_EQ(s.reason, "") << "seed " << seed;
		EXPECT_GT(s.warmup_ns, 75 * window) << "by then a tenth of the way is left";
		EXPECT_LT(s.warmup_ns, 750 * window);
		EXPECT_NEAR(s.iops.mean * window / 1e9, mean_commands, 4) << "without a cut 13 more";
	}
}

TEST(Steady, ShortRunsHaveNone)
{
	EXPECT_NE(steady_of(Series(), 0, 1000000).reason, "");
	EXPECT_NE(steady_with(std::vector<uint64_t>(149, 10)).reason.find("fewer than 30 batches"), std::string::npos);
	EXPECT_EQ(steady_with(std::vector<uint64_t>(150, 10)).reason, "");
	EXPECT_NE(steady_with(std::vector<uint64_t>(1000, 1)).reason.find("fewer than 30 batches"), std::string::npos)
		<< "1,000 commands are 125 observations";
	std::vector<uint64_t> holes(600, 10);
	std::fill(holes.begin() + 300, holes.begin() + 320, 0);
	EXPECT_EQ(steady_with(holes).reason, "");
	EXPECT_GT(steady_with(holes).iops.half_width, 0.02 * steady_with(holes).iops.mean) << "a batch without a command counts";
	std::rotate(holes.begin(), holes.begin() + 300, holes.end());
	EXPECT_EQ(steady_with(holes).reason, "") << "a pause at the beginning is warm-up";
	EXPECT_DOUBLE_EQ(steady_with(holes).iops.mean, 10e9 / window);
}

TEST(Series, MergingIsAddingAll)
{
	std::mt19937 random(1);
	Series all, parts[3];
	for (uint64_t i = 0; i < 30000; i++) {
		const uint64_t part = random() % 3, at = 5000000 + i * (part == 0 ? 1500 : part == 1 ? 7 : 100000);
		parts[part].add(at, i);
		all.add(at, i);
	}
	Series merged;
	for (const size_t part : {1, 0, 2})
		merged.merge(parts[part]);
	EXPECT_EQ(merged.window_ns(), all.window_ns());
	const auto one = merged.between(0, uint64_t(1) << 40), two = all.between(0, uint64_t(1) << 40);
	ASSERT_EQ(one.size(), two.size());
	for (size_t i = 0; i < one.size(); i++) {
		EXPECT_EQ(one[i].commands, two[i].commands);
		EXPECT_EQ(one[i].latency_ns, two[i].latency_ns);
	}
}

TEST(Series, WindowsAreBounded)
{
	Series early, late;
	early.add(1000, 1);
	late.add(uint64_t(1) << 50, 2);
	early.merge(late);
	EXPECT_GE(early.window_ns() * Series::most_windows, uint64_t(1) << 50);
	uint64_t commands = 0;
	for (const Series::Window &w : early.between(0, uint64_t(1) << 51))
		commands += w.commands;
	EXPECT_EQ(commands, 2u);
}

} // namespace
