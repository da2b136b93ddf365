// The stores of free slots: nothing lost, nothing handed out twice, every buffer sure of its own. With eight threads (run it under TSan).
// SPDX-License-Identifier: BSD-3-Clause
#include "slots_bench.hpp"

#include <atomic>

namespace {

constexpr uint32_t threads = 8, sure = 4, total = 100;

/* Kind; stride: with and without room for a tuple. */
class Stores : public testing::TestWithParam<std::tuple<int, int>> {
protected:
	Slots slots{
		static_cast<uint32_t>(std::get<0>(GetParam())), static_cast<uint32_t>(std::get<1>(GetParam())), threads, sure, total, true};
};

} // namespace

TEST_P(Stores, OneTakesWhatOthersAreNotSureOf)
{
	const uint32_t most = total - (threads - 1) * sure;
	std::vector<uint8_t *> all;
	for (uint32_t round = 0; round < 40; round++) {
		const auto some = slots.take(3, 5);
		all.insert(all.end(), some.begin(), some.end());
	}
	EXPECT_EQ(all.size(), most);
	EXPECT_EQ(std::set<uint8_t *>(all.begin(), all.end()).size(), most);
	EXPECT_EQ(slots.free_ones(), total - most);
	for (uint32_t other = 0; other < threads; other++)
		if (other != 3) {
			EXPECT_EQ(slots.take(other, 10).size(), sure) << "of buffer " << other;
		}
}

TEST_P(Stores, WhatComesBackFillsTheStashFirst)
{
	auto mine = slots.take(0, 20);
	ASSERT_EQ(mine.size(), 20u);
	slots.put(0, {mine.begin(), mine.begin() + 6});
	EXPECT_EQ(slots.stash[0].count, sure);
	EXPECT_EQ(slots_count(slots.store), total - threads * sure - 16 + 2);
	slots.put(0, {mine.begin() + 6, mine.end()});
	EXPECT_EQ(slots.free_ones(), total);
	slots.put(0, {});
	EXPECT_EQ(slots.free_ones(), total);
}

/* Each writes its own name into its slots: two owners of a slot would see each other's, and a race detector both. */
TEST_P(Stores, EightThreads)
{
	std::vector<std::thread> running;
	std::atomic<uint32_t> wrong{0};
	for (uint32_t who = 0; who < threads; who++)
		running.emplace_back([this, who, &wrong] {
			lt_host_set_hart(who);
			std::mt19937 dice(who);
			std::vector<uint8_t *> mine;
			for (uint32_t round = 0; round < 3000; round++) {
				const uint32_t wanted = 1 + dice() % 12;
				const size_t due = std::min<size_t>(sure, mine.size() + wanted);
				for (uint8_t *slot : slots.take(who, wanted)) {
					std::memset(slot, static_cast<int>(who + 1), 64);
					mine.push_back(slot);
				}
				wrong += mine.size() < due;
				for (const uint8_t *slot : mine)
					wrong += slot[0] != who + 1 || slot[63] != who + 1;
				std::shuffle(mine.begin(), mine.end(), dice);
				const size_t back = std::min<size_t>(mine.size(), dice() % 24);
				slots.put(who, {mine.end() - static_cast<ptrdiff_t>(back), mine.end()});
				mine.resize(mine.size() - back);
				while (mine.size() > 24) {
					slots.put(who, {mine.back()});
					mine.pop_back();
				}
			}
			for (uint8_t *slot : mine)
				slots.put(who, {slot});
		});
	for (std::thread &one : running)
		one.join();
	EXPECT_EQ(wrong, 0u);
	EXPECT_EQ(slots.free_ones(), total);
	for (const slot_stash &one : slots.stash)
		EXPECT_EQ(one.count, sure);
}
INSTANTIATE_TEST_SUITE_P(Kinds, Stores,
			 testing::Combine(testing::Range(int(HZ_SLOTS_LOCKED), int(HZ_BUFFER_SLOTS_KINDS)), testing::Values(4096, 4104)));
