// Timeline: spans become tracks without overlapping spans, and omitted ones are counted.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "results/timeline.hpp"

namespace {

using namespace hz;
using nlohmann::json;

// A hart, and a queue with two commands of 3 that were under way at once; the first arrived at 1000 ns.
res::RunFacts two_commands()
{
	res::RunFacts f;
	f.elapsed_ns = 9000;
	f.harts.harts = 1;
	f.harts.hart[0].roles = HZ_ROLE_HIL;
	res::QueueAccount q;
	q.qid = 4;
	q.completed = 3;
	q.first_arrival_ns = 1000;
	q.spans = {{res::Kind::read, 1000, 3000}, {res::Kind::write, 2000, 10000}};
	f.queues.push_back(q);
	return f;
}

struct Shown {
	std::string name;
	double begin_us, us;
	bool operator==(const Shown &) const = default;
};

// The spans of a track, in their order.
std::vector<Shown> track(const res::Timeline &timeline, int process, int thread)
{
	std::vector<Shown> out;
	const json all = json::parse(timeline.json);
	for (const json &e : all["traceEvents"])
		if (e["ph"] == "X" && e["pid"] == process && e["tid"] == thread)
			out.push_back({e["name"], e["ts"], e["dur"]});
	return out;
}

TEST(Timeline, AHartWorksWheneverItIsNotIdle)
{
	const auto t = res::timeline_of(two_commands(), "idle 0 500 2000\nwait 0 0 3 2500 2750\nidle 0 4000 6000\nleft-out 0\n");
	const auto spans = track(t, 1, 0);
	ASSERT_EQ(spans.size(), 3u);
	EXPECT_EQ(spans[0], (Shown{"work", 1, 2}));
	EXPECT_EQ(spans[1], (Shown{"work", 5, 4}));
	EXPECT_EQ(spans[2].begin_us, 1.5);
	EXPECT_EQ(spans[2].us, 0.25);
	EXPECT_EQ(spans[2].name.substr(0, 14), "wait for lock ");
}

TEST(Timeline, WhatIsUnderWayAtOnceHasLanes)
{
	const auto t = res::timeline_of(two_commands(), "die 2 0 0 1500 2500\ndie 2 1 3 2500 9000\ndie 2 2 4 3000 4000\nleft-out 0\n");
	EXPECT_EQ(track(t, 3, 4000), (std::vector<Shown>{{"read", 0, 2}}));
	EXPECT_EQ(track(t, 3, 4001), (std::vector<Shown>{{"write", 1, 8}}));
	EXPECT_EQ(track(t, 2, 2000), (std::vector<Shown>{{"read for host", 0.5, 1}, {"program for gc", 1.5, 6.5}}));
	EXPECT_EQ(track(t, 2, 2001), (std::vector<Shown>{{"erase for map", 2, 1}}));
}

TEST(Timeline, WhatDidNotFitIsCounted)
{
	const auto t = res::timeline_of(two_commands(), "idle 0 500 2000\nidle 0 4000 6000\nleft-out 7\n");
	EXPECT_EQ(t.left_out, 7u + 1u) << "the third command, too";
	EXPECT_EQ(t.shown, 1u + 2u);
	EXPECT_EQ(track(t, 1, 0), (std::vector<Shown>{{"work", 1, 2}})) << "nothing is known of the hart after its last span";
}

} // namespace
