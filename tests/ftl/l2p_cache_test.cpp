// The cache of mapping entries against a slow and simple model of LRU and CLOCK with pins.
#include <gtest/gtest.h>

#include <list>
#include <random>
#include <vector>

extern "C" {
#include "lt/arena.h"
}
#include "l2p_cache.h"

namespace {

struct Memory {
	std::vector<uint64_t> bytes = std::vector<uint64_t>(1 << 20);
	arena space{reinterpret_cast<uint8_t *>((reinterpret_cast<uintptr_t>(bytes.data()) + 63) & ~uintptr_t(63)), (8 << 20) - 64, 0};
};

struct ModelEntry {
	uint32_t lba, ppa, group;
	uint8_t level;
	bool pinned = false, hit = false;
};

// Front = next victim.
class Model {
public:
	Model(size_t room, bool clock) : room_(room), clock_(clock) {}

	ModelEntry *Find(uint32_t lba, uint8_t level)
	{
		for (auto it = order_.begin(); it != order_.end(); ++it)
			if (it->lba == lba && it->level == level) {
				Touch(it);
				return &*std::find_if(order_.begin(), order_.end(),
						      [&](const ModelEntry &e) { return e.lba == lba && e.level == level; });
			}
		return nullptr;
	}
	// Returns whether another entry left.
	bool Insert(ModelEntry entry, bool &pin)
	{
		if (ModelEntry *old = Find(entry.lba, entry.level)) {
			old->ppa = entry.ppa;
			pin = pin && (old->pinned || MayPin());
			old->pinned = old->pinned || pin;
			return false;
		}
		bool replaced = order_.size() == room_;
		if (replaced)
			Evict();
		pin = pin && MayPin();
		entry.pinned = pin;
		order_.push_back(entry);
		return replaced;
	}
	void Drop(uint32_t group, uint32_t first, uint32_t end, uint8_t below)
	{
		order_.remove_if([&](const ModelEntry &e) {
			return e.group == group && e.lba >= first && e.lba < end && e.level < below;
		});
	}
	size_t Size() const { return order_.size(); }
	size_t Pinned() const { return std::count_if(order_.begin(), order_.end(), [](auto &e) { return e.pinned; }); }
	const std::list<ModelEntry> &Entries() const { return order_; }

private:
	bool MayPin() const { return Pinned() + 1 + (room_ + 3) / 4 <= room_; }
	void Touch(std::list<ModelEntry>::iterator it)
	{
		if (it->pinned)
			return;
		it->hit = true;
		if (!clock_)
			order_.splice(order_.end(), order_, it);
	}
	void Evict()
	{
		for (;;) {
			auto it = std::find_if(order_.begin(), order_.end(), [](auto &e) { return !e.pinned; });
			ASSERT_NE(it, order_.end());
			if (!clock_ || !it->hit) {
				order_.erase(it);
				return;
			}
			it->hit = false;
			order_.splice(order_.end(), order_, it);
		}
	}
	std::list<ModelEntry> order_;
	size_t room_;
	bool clock_;
};

enum { GROUPS = 8 };

struct Choice { uint32_t entries, buckets; bool clock; };

class L2pCache : public testing::TestWithParam<Choice> {};

} // namespace

TEST_P(L2pCache, DoesWhatTheModelDoes)
{
	const Choice choice = GetParam();
	Memory memory;
	l2p_cache cache{};
	l2p_cache_init(&cache, &memory.space, choice.entries, 1, choice.buckets, GROUPS, choice.clock);
	Model model(choice.entries, choice.clock);
	std::mt19937 dice(choice.entries);
	for (int i = 0; i < 20000; i++) {
		uint32_t lba = dice() % (choice.entries * 3), group = lba % GROUPS;
		uint8_t level = dice() % HZ_MAP_LEVELS;
		switch (dice() % 16) {
		case 0: {
			uint32_t first = dice() % (choice.entries * 3), end = first + dice() % choice.entries;
			uint8_t below = 1 + dice() % HZ_MAP_LEVELS;
			l2p_cache_drop(&cache, 0, group, first, end, below);
			model.Drop(group, first, end, below);
			break;
		}
		case 1: case 2: case 3: case 4: case 5: case 6: {
			l2p_cache_new entry{lba, static_cast<ppa_t>(i), group, level, dice() % 8 == 0};
			bool pin = entry.pin;
			bool replaced = model.Insert({lba, static_cast<uint32_t>(i), group, level}, pin);
			ASSERT_EQ(l2p_cache_insert(&cache, 0, &entry, 0) == L2P_CACHE_REPLACED, replaced) << "step " << i;
			ASSERT_EQ(entry.pin, pin) << "step " << i;
			break;
		}
		default: {
			ModelEntry *expected = model.Find(lba, level);
			ASSERT_EQ(l2p_cache_find(&cache, 0, lba, level, 0), expected ? expected->ppa : PPA_NONE) << "step " << i;
			break;
		}
		}
		ASSERT_EQ(cache.shard[0].held, model.Size());
		ASSERT_EQ(cache.shard[0].pinned, model.Pinned());
		if (i % 100 == 0) {
			ASSERT_EQ(l2p_cache_check(&cache, GROUPS), nullptr);
		}
	}
	for (const ModelEntry &entry : model.Entries())
		ASSERT_EQ(l2p_cache_find(&cache, 0, entry.lba, entry.level, 0), entry.ppa);
}
INSTANTIATE_TEST_SUITE_P(Sizes, L2pCache, testing::Values(Choice{16, 0, false}, Choice{16, 1, true}, Choice{37, 0, true},
							  Choice{37, 2, false}, Choice{200, 0, false}, Choice{200, 0, true}),
			 [](const auto &test) {
				 return std::to_string(test.param.entries) + (test.param.clock ? "Clock" : "Lru") + "Buckets" +
					std::to_string(test.param.buckets);
			 });

// One shard works, the other has entries that nobody has used since: their room moves over, and never a bit more.
TEST(L2pCacheShards, RoomGoesWhereItIsNeeded)
{
	Memory memory;
	l2p_cache cache{};
	l2p_cache_init(&cache, &memory.space, 67, 2, 0, 2, false);
	EXPECT_EQ(cache.shard[0].own, 34u);
	EXPECT_EQ(cache.shard[1].own, 33u);
	for (uint32_t lba = 0; lba < 33; lba++) {
		l2p_cache_new entry{lba, lba, 1, HZ_MAP_PAGE, false};
		EXPECT_EQ(l2p_cache_insert(&cache, 1, &entry, 10 + lba), L2P_CACHE_ADDED);
	}
	for (uint32_t lba = 0; lba < 34; lba++) {
		l2p_cache_new entry{1000 + lba, lba, 0, HZ_MAP_PAGE, false};
		EXPECT_EQ(l2p_cache_insert(&cache, 0, &entry, 20 + lba), L2P_CACHE_ADDED);
	}
	EXPECT_EQ(l2p_cache_lender(&cache, 0, 1), 1u);
	EXPECT_EQ(l2p_cache_lender(&cache, 1, 0), 1u) << "its own entries are older";
	uint32_t count;
	uint32_t chain = l2p_cache_take(&cache, 1, 15, 64, &count);
	EXPECT_EQ(count, 5u) << "those used before 15";
	l2p_cache_give(&cache, 0, chain, count);
	EXPECT_EQ(cache.shard[0].own + cache.shard[1].own, 67u);
	EXPECT_EQ(l2p_cache_find(&cache, 1, 4, HZ_MAP_PAGE, 50), PPA_NONE);
	EXPECT_EQ(l2p_cache_find(&cache, 1, 5, HZ_MAP_PAGE, 50), 5u);
	EXPECT_EQ(l2p_cache_check(&cache, 2), nullptr);
	chain = l2p_cache_take(&cache, 1, LT_FOREVER, 64, &count);
	EXPECT_EQ(cache.shard[1].own, L2P_CACHE_SMALLEST_SHARD / 2u) << "a shard keeps some";
	l2p_cache_give(&cache, 0, chain, count);
	EXPECT_EQ(l2p_cache_check(&cache, 2), nullptr);
	for (uint32_t lba = 0; lba < 200; lba++) {
		l2p_cache_new entry{2000 + lba, lba, 0, HZ_MAP_PAGE, false};
		l2p_cache_insert(&cache, 0, &entry, 60 + lba);
	}
	EXPECT_EQ(cache.shard[0].held, cache.shard[0].own);
	EXPECT_EQ(cache.shard[0].own, 67u - L2P_CACHE_SMALLEST_SHARD / 2u);
}
