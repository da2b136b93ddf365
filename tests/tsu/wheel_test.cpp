// The timing wheel against a sorted list.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <random>

#include "tsu/event_wheel.h"

TEST(Wheel, GivesEventsInOrderOfTimeThenOfArrival)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		SCOPED_TRACE(testing::Message() << "seed " << seed);
		std::mt19937_64 random(seed);
		auto wheel = std::make_unique<event_wheel>();
		std::multimap<uint64_t, wheel_node *> sorted;
		std::deque<wheel_node> nodes;
		uint64_t now = random() >> (random() % 64), steps = 0;
		wheel->now_ns = now;
		for (int i = 0; i < 20000; i++) {
			if (sorted.empty() || random() % 2) {
				wheel_node &node = nodes.emplace_back();
				uint64_t at = now + (random() & ((1ull << random() % 40) - 1));
				if (random() % 10 == 0)
					at = now - std::min<uint64_t>(now, random() % 1000);
				wheel_add(wheel.get(), &node, at);
				EXPECT_EQ(node.at_ns, at);
				sorted.emplace(std::max(at, wheel->now_ns), &node);
				steps++;
			} else {
				auto first = sorted.begin();
				ASSERT_EQ(wheel_next_ns(wheel.get()), first->first);
				ASSERT_EQ(wheel_take(wheel.get(), first->first - 1), first->first ? nullptr : first->second);
				ASSERT_EQ(wheel_take(wheel.get(), first->first), first->second);
				now = first->first;
				sorted.erase(first);
			}
		}
		EXPECT_LT(wheel->steps, steps * WHEEL_LEVELS);
	}
}

TEST(Wheel, ManyEventsOfOneTimeAreNotMovedEachTimeThatOneIsTaken)
{
	auto wheel = std::make_unique<event_wheel>();
	std::vector<wheel_node> nodes(1000);
	for (wheel_node &node : nodes)
		wheel_add(wheel.get(), &node, 5000);
	for (wheel_node &node : nodes)
		ASSERT_EQ(wheel_take(wheel.get(), 5000), &node);
	EXPECT_LE(wheel->steps, nodes.size() * WHEEL_LEVELS);
}

TEST(Wheel, IsEmptyAtFirst)
{
	auto wheel = std::make_unique<event_wheel>();
	EXPECT_EQ(wheel_next_ns(wheel.get()), UINT64_MAX);
	EXPECT_EQ(wheel_take(wheel.get(), UINT64_MAX - 1), nullptr);
}
