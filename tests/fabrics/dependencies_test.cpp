// Dependencies: what a command waited for, from small recordings; and hosts at random on devices of several speeds, where each command
// arrives as recorded if the device is the recorded one, and never before what it waited for.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "fabrics/dependencies.hpp"
#include "session/machine/error.hpp"

namespace hz::fabrics {
namespace {

const std::string three_lanes = "hartzone-record 1 lanes 3 depth 8 turnaround 10 workers 1 device d\n";

std::string placed(unsigned lane, uint64_t arrival)
{
	return "s " + std::to_string(lane) + " " + std::to_string(arrival) + " 2 0 1 0 0 0 0 0 0 0 0\n";
}
std::string admin(uint64_t arrival) { return "a " + std::to_string(arrival) + " 0 6 0 1 0 0 0 0 0 0 0 0\n"; }
std::string ended(unsigned lane, uint64_t command, uint64_t arrival, uint64_t completed)
{
	return "c " + std::to_string(lane) + " " + std::to_string(command) + " " + std::to_string(arrival) + " " +
	       std::to_string(completed) + " 0 0\n";
}

std::string refusal(const std::string &lines)
{
	try {
		waits_of(read_recording_of(lines, "r"), "r");
	} catch (const Error &e) {
		return e.what();
	}
	return "";
}

std::vector<std::pair<uint64_t, uint64_t>> waits(const std::string &lines)
{
	std::vector<std::pair<uint64_t, uint64_t>> out;
	for (const Wait &wait : waits_of(read_recording_of(three_lanes + lines, "r"), "r"))
		out.emplace_back(wait.completions, wait.think_ns);
	return out;
}

using Waits = std::vector<std::pair<uint64_t, uint64_t>>;

TEST(Dependencies, OneCommandAtATime)
{
	EXPECT_EQ(waits(placed(1, 100) + ended(1, 0, 100, 150) + placed(1, 175) + ended(1, 1, 175, 300) + placed(1, 310)),
		  (Waits{{0, 100}, {1, 25}, {2, 10}}));
}

TEST(Dependencies, CommandsTogetherWaitForTheSame)
{
	const std::string lines = placed(1, 100) + ended(1, 0, 100, 150) + placed(1, 160) + placed(2, 160) + placed(1, 190);
	EXPECT_EQ(waits(lines), (Waits{{0, 100}, {1, 10}, {1, 10}, {1, 40}}));
	const Recording recording = read_recording_of(three_lanes + lines, "r");
	const WaitFigures figures = figures_of(recording, waits_of(recording, "r"));
	EXPECT_EQ(figures.commands, 1u);
	EXPECT_EQ(figures.completions, 1u);
	EXPECT_EQ(figures.think_ns, 10u);
}

TEST(Dependencies, TheLastOfSeveralCompletionsCounts)
{
	EXPECT_EQ(waits(placed(1, 100) + placed(2, 100) + ended(2, 0, 100, 180) + ended(1, 0, 100, 150) + placed(1, 200)),
		  (Waits{{0, 100}, {0, 100}, {2, 20}}));
}

TEST(Dependencies, WhatIsHandedOverLaterIsNoCause)
{
	EXPECT_EQ(waits(placed(1, 100) + placed(2, 100) + ended(2, 0, 100, 120) + placed(1, 200) + ended(1, 0, 100, 150)),
		  (Waits{{0, 100}, {0, 100}, {1, 80}}));
}

TEST(Dependencies, BehindAnAdminCommandItsDoorbellCounts)
{
	EXPECT_EQ(waits(admin(0) + placed(1, 100) + ended(1, 0, 100, 150) + admin(170) + placed(1, 300)),
		  (Waits{{0, 0}, {0, 100}, {1, 20}, {1, 130}}));
}

TEST(Dependencies, ALaneThatTookPartLateDelaysWhatIsBehind)
{
	EXPECT_EQ(waits(placed(1, 100) + placed(2, 105) + ended(1, 0, 120, 150) + ended(2, 0, 120, 160)), (Waits{{0, 120}, {0, 120}}));
}

TEST(Dependencies, WhatNoHostCanHaveDoneIsRefusedWithItsLine)
{
	EXPECT_EQ(refusal(three_lanes + placed(1, 100) + ended(1, 0, 100, 150) + placed(1, 160)), "");
	EXPECT_NE(refusal(three_lanes + placed(1, 100) + ended(1, 0, 100, 150) + placed(1, 159))
			  .find("r:4: the command arrives at 159 ns, before a host could answer the completions in front of it, at 160 ns"),
		  std::string::npos);
	EXPECT_NE(refusal(three_lanes + placed(1, 100) + placed(2, 99))
			  .find("r:3: the command arrives at 99 ns, before the one in front of it"),
		  std::string::npos);
	EXPECT_NE(refusal(three_lanes + placed(1, 100) + ended(1, 0, 100, 150) + admin(149))
			  .find("r:4: the command arrives at 149 ns, before"),
		  std::string::npos);
	const std::string instant = "hartzone-record 1 lanes 3 depth 8 turnaround 0 workers 1 device d\n";
	EXPECT_NE(refusal(instant + placed(1, 100) + placed(2, 100)).find("r:1: commands came in several queues with no time of transport"),
		  std::string::npos);
	EXPECT_EQ(refusal(instant + placed(2, 100) + ended(2, 0, 100, 150) + placed(2, 150)), "");
}

TEST(Dependencies, ACutPartHasTheSame)
{
	Recording recording = read_recording_of(three_lanes + placed(1, 100) + placed(2, 100) + ended(2, 0, 100, 120) + placed(1, 200) +
							ended(1, 0, 100, 150) + placed(1, 210),
						"r");
	recording.cut(3);
	const auto found = waits_of(recording, "r");
	ASSERT_EQ(found.size(), 3u);
	EXPECT_EQ(found[2].completions, 1u);
	EXPECT_EQ(found[2].think_ns, 80u);
	EXPECT_EQ(recording.completions.size(), 2u);
}

TEST(DependentTime, MovesWithTheCompletions)
{
	const Recording recording = read_recording_of(
		three_lanes + placed(1, 100) + placed(2, 105) + ended(2, 0, 105, 120) + ended(1, 0, 100, 150) + placed(1, 200), "r");
	DependentTime time(recording, waits_of(recording, "r"));
	ASSERT_TRUE(time.is_due(0));
	EXPECT_EQ(time.arrival_ns(0), 100u);
	time.began(0, 100);
	time.began(1, 105);
	EXPECT_FALSE(time.is_due(2));
	EXPECT_EQ(time.earliest_ns(2, 0), 105u);
	EXPECT_EQ(time.earliest_ns(2, 130), 180u);
	time.completed(1, 0, 500);
	EXPECT_FALSE(time.is_due(2)) << "the other lane's is missing";
	time.completed(2, 0, 110);
	ASSERT_TRUE(time.is_due(2));
	EXPECT_EQ(time.arrival_ns(2), 550u);
}

TEST(DependentTime, ALaterCompletionThatIsSeenEarlyDoesNotCount)
{
	const Recording recording = read_recording_of(three_lanes + placed(1, 100) + placed(2, 100) + ended(1, 0, 100, 150) +
							      placed(1, 170) + ended(2, 0, 100, 200) + placed(2, 210),
						      "r");
	DependentTime time(recording, waits_of(recording, "r"));
	time.began(0, 100);
	time.began(1, 100);
	time.completed(1, 0, 150);
	time.completed(2, 0, 190);
	ASSERT_TRUE(time.is_due(2));
	EXPECT_EQ(time.arrival_ns(2), 170u);
	time.began(2, 170);
	EXPECT_EQ(time.arrival_ns(3), 200u);
}

TEST(DependentTime, BehindALateDoorbellCommandsAreLate)
{
	const Recording recording = read_recording_of(three_lanes + placed(1, 100) + ended(1, 0, 100, 150) + admin(170) + placed(1, 300),
						      "r");
	DependentTime time(recording, waits_of(recording, "r"));
	time.began(0, 100);
	time.completed(1, 0, 450);
	ASSERT_TRUE(time.is_due(1));
	EXPECT_EQ(time.arrival_ns(1), 470u);
	time.began(1, 475);
	EXPECT_EQ(time.arrival_ns(2), 605u);
}

TEST(DependentTime, NoCommandOvertakesTheOneInFront)
{
	const Recording recording = read_recording_of(
		three_lanes + placed(1, 100) + ended(1, 0, 100, 150) + placed(1, 950) + placed(2, 1000), "r");
	DependentTime time(recording, waits_of(recording, "r"));
	time.began(0, 100);
	time.completed(1, 0, 120);
	time.began(1, 2000);
	EXPECT_EQ(time.arrival_ns(2), 2000u);
}

// A host of several programs, each with commands that wait for some earlier ones of any program, on a device where each command takes its own
// time, times a factor.
struct Host {
	struct Command {
		unsigned lane;
		std::set<size_t> after;
		uint64_t think_ns, latency_ns;
	};
	std::vector<Command> commands;

	explicit Host(unsigned seed)
	{
		std::mt19937 draw(seed);
		const auto below = [&draw](uint64_t n) { return draw() % n; };
		const uint64_t count = 1 + below(120), ahead = 1 + below(12);
		for (size_t i = 0; i < count; i++) {
			Command command{1 + static_cast<unsigned>(below(3)), {}, 10 + below(200), 5 + below(1000)};
			for (uint64_t n = below(4); n-- && i >= ahead;)
				command.after.insert(i - ahead - below(std::min<uint64_t>(i - ahead + 1, 20)));
			commands.push_back(command);
		}
	}

	uint64_t latency(size_t command, double factor) const
	{
		return static_cast<uint64_t>(std::ceil(static_cast<double>(commands[command].latency_ns) * factor));
	}
};

struct Event {
	uint64_t ns;
	bool completion;
	size_t command;
	// A completion is handed over before what arrives then; the arrival was decided a transport earlier.
	bool operator<(const Event &other) const
	{
		return std::tuple(ns, !completion, command) < std::tuple(other.ns, !other.completion, other.command);
	}
};

struct Simulated {
	std::vector<uint64_t> arrival, completed; // by command
	std::string lines;
};

// Programs issue in the order of their arrivals, for an order of lines that a recorder can have.
Simulated record(const Host &host)
{
	Simulated out;
	const size_t count = host.commands.size();
	std::vector<uint64_t> arrival(count), completed(count);
	uint64_t front = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t after = 0;
		for (const size_t other : host.commands[i].after)
			after = std::max(after, completed[other]);
		arrival[i] = front = std::max(front, after + host.commands[i].think_ns);
		completed[i] = arrival[i] + host.latency(i, 1);
	}
	std::vector<Event> events;
	for (size_t i = 0; i < count; i++) {
		events.push_back({arrival[i] - 10, false, i}); // when it is placed: the transport before its arrival
		events.push_back({completed[i], true, i});
	}
	std::sort(events.begin(), events.end());
	std::vector<uint64_t> number(count);
	uint64_t numbers[4] = {};
	out.lines = "hartzone-record 1 lanes 3 depth 128 turnaround 10 workers 1 device d\n";
	for (const Event &event : events) {
		const unsigned lane = host.commands[event.command].lane;
		if (event.completion)
			out.lines += ended(lane, number[event.command], arrival[event.command], completed[event.command]);
		else
			number[event.command] = numbers[lane]++, out.lines += placed(lane, arrival[event.command]);
	}
	out.arrival = arrival;
	out.completed = completed;
	return out;
}

// As the device would: the earliest completion is seen next.
Simulated repeat(const Host &host, const Recording &recording, double factor)
{
	DependentTime time(recording, waits_of(recording, "r"));
	Simulated out;
	out.arrival.resize(host.commands.size());
	out.completed.resize(host.commands.size());
	std::vector<uint64_t> number;
	uint64_t numbers[4] = {};
	std::set<Event> coming;
	for (size_t next = 0, now = 0; next < recording.commands.size() || !coming.empty();) {
		if (next < recording.commands.size() && time.is_due(next)) {
			const uint64_t at = time.arrival_ns(next);
			time.began(next, at);
			number.push_back(numbers[recording.commands[next].lane]++);
			out.arrival[next] = at;
			out.completed[next] = at + host.latency(next, factor);
			coming.insert({out.completed[next], true, next});
			next++;
			continue;
		}
		if (coming.empty()) {
			ADD_FAILURE() << "command " << next << " waits for nothing that comes";
			break;
		}
		if (next < recording.commands.size()) {
			EXPECT_GE(time.earliest_ns(next, now), now);
		}
		const Event event = *coming.begin();
		coming.erase(coming.begin());
		now = event.ns;
		time.completed(recording.commands[event.command].lane, number[event.command], event.ns);
	}
	return out;
}

TEST(DependentTime, HostsAtRandomOnTheSameAndOtherDevices)
{
	for (unsigned seed = 0; seed < 500; seed++) {
		const Host host(seed);
		const Simulated then = record(host);
		const Recording recording = read_recording_of(then.lines, "r");
		const auto end = [](const Simulated &run) { return *std::max_element(run.completed.begin(), run.completed.end()); };
		EXPECT_EQ(repeat(host, recording, 1).arrival, then.arrival) << seed;
		for (const double factor : {0.5, 2.0, 0.01}) {
			const Simulated now = repeat(host, recording, factor);
			EXPECT_TRUE(std::is_sorted(now.arrival.begin(), now.arrival.end())) << seed;
			EXPECT_TRUE(factor < 1 ? end(now) <= end(then) : end(now) >= end(then)) << seed;
			for (size_t i = 0; i < host.commands.size(); i++)
				for (const size_t other : host.commands[i].after)
					EXPECT_GE(now.arrival[i], now.completed[other] + 10)
						<< seed << ": " << i << " waited for " << other;
		}
	}
}

} // namespace
} // namespace hz::fabrics
