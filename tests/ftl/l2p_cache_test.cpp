// The cache of mapping entries against a slow and simple model of LRU and CLOCK with pins and lines.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <random>
#include <vector>

extern "C" {
#include "lt/arena.h"
}
#include "map/flash_cache.h"

namespace {

struct Memory {
	std::vector<uint64_t> bytes = std::vector<uint64_t>(1 << 20);
	arena space = arena_of(reinterpret_cast<uint8_t *>((reinterpret_cast<uintptr_t>(bytes.data()) + 63) & ~uintptr_t(63)),
			       (8 << 20) - 64, LT_CACHE_LINE);
};

struct ModelNode {
	uint32_t lba, group;
	uint8_t level;
	std::map<uint32_t, uint32_t> entries; // LBA → address; of a range: one
	bool pinned = false, hit = false;
};

// Front = next victim.
class Model {
public:
	Model(size_t room, uint32_t line, bool clock) : room_(room), line_(line), clock_(clock) {}

	ModelNode *find(uint32_t lba, uint8_t level)
	{
		auto it = find_at(lba, level);
		if (it == order_.end())
			return nullptr;
		touch(it);
		return &*it;
	}
	// Returns how many entries left.
	size_t insert(uint32_t lba, uint8_t level, uint32_t group, uint32_t ppa, bool &pin)
	{
		ModelNode *node = find(lba, level);
		size_t left = 0;
		if (!node) {
			left = make_room(level);
			order_.push_back({lba, group, level, {}});
			node = &order_.back();
		}
		node->entries[lba] = ppa;
		pin = pin && (node->pinned || may_pin());
		node->pinned = node->pinned || pin;
		return left;
	}
	// Entries [first, first + count) of one line, but not those in `holes`.
	size_t fill(uint32_t line, uint32_t group, const std::map<uint32_t, uint32_t> &entries)
	{
		ModelNode *node = find(line, HZ_MAP_PAGE);
		size_t left = 0;
		if (!node) {
			left = make_room(HZ_MAP_PAGE);
			order_.push_back({line, group, HZ_MAP_PAGE, {}});
			node = &order_.back();
		}
		for (auto [lba, ppa] : entries)
			node->entries[lba] = ppa;
		return left;
	}
	void drop(uint32_t group, uint32_t first, uint32_t end, uint8_t below)
	{
		for (ModelNode &node : order_)
			if (node.group == group && node.level < below)
				std::erase_if(node.entries, [&](const auto &e) { return e.first >= first && e.first < end; });
		order_.remove_if([](const ModelNode &node) { return node.entries.empty(); });
	}
	// Without a use of the line.
	std::map<uint32_t, uint32_t> *line_of(uint32_t lba)
	{
		auto it = find_at(lba / line_ * line_, HZ_MAP_PAGE);
		return it == order_.end() ? nullptr : &it->entries;
	}
	size_t count_used() const
	{
		return sum_of([&](const ModelNode &node) { return size_of(node.level); });
	}
	size_t count_pinned() const
	{
		return sum_of([](const ModelNode &node) { return node.pinned; });
	}
	const std::list<ModelNode> &nodes() const { return order_; }

private:
	std::list<ModelNode>::iterator find_at(uint32_t lba, uint8_t level)
	{
		return std::find_if(order_.begin(), order_.end(), [&](const ModelNode &n) { return n.lba == lba && n.level == level; });
	}
	template <class F> size_t sum_of(F of) const
	{
		size_t sum = 0;
		for (const ModelNode &node : order_)
			sum += of(node);
		return sum;
	}
	size_t size_of(uint8_t level) const { return level == HZ_MAP_PAGE ? line_ : 1; }
	bool may_pin() const { return count_pinned() + 1 + (room_ + 3) / 4 <= room_; }
	void touch(std::list<ModelNode>::iterator it)
	{
		if (it->pinned)
			return;
		it->hit = true;
		if (!clock_)
			order_.splice(order_.end(), order_, it);
	}
	size_t make_room(uint8_t level)
	{
		size_t left = 0;
		while (count_used() + size_of(level) > room_) {
			auto it = std::find_if(order_.begin(), order_.end(), [](const ModelNode &n) { return !n.pinned; });
			if (clock_ && it->hit) {
				it->hit = false;
				order_.splice(order_.end(), order_, it);
				continue;
			}
			left += it->entries.size();
			order_.erase(it);
		}
		return left;
	}
	std::list<ModelNode> order_;
	size_t room_;
	uint32_t line_;
	bool clock_;
};

enum { groups = 8 };

struct Choice {
	uint32_t entries, buckets, window, line;
	bool clock;
};

// One shard and its model do the same at random. Lines of group g lie in [g, g + 1) * span, as those of a table page would.
class Pair {
public:
	explicit Pair(const Choice &choice) : model_(choice.entries, choice.line, choice.clock), line_(choice.line), dice_(choice.entries)
	{
		l2p_cache_choice c{choice.entries, 1, choice.buckets, choice.window, choice.clock};
		l2p_cache_init(&cache_, &memory_.space, &c);
		span_ = (choice.entries * 3 / groups / line_ + 1) * line_;
	}
	void step(uint32_t i)
	{
		uint32_t lba = dice_() % (span_ * groups);
		switch (dice_() % 16) {
		case 0: drop(lba); break;
		case 1: forget(lba); break;
		case 2:
		case 3:
		case 4: insert(lba, i); break;
		case 5:
		case 6:
		case 7: fill(lba, i); break;
		case 8:
		case 9: find_range(lba); break;
		default: find_table_pages(lba); break;
		}
		ASSERT_EQ(cache_.shard[0].used, model_.count_used());
		ASSERT_EQ(cache_.shard[0].pinned, model_.count_pinned());
		if (i % 100 == 0) {
			ASSERT_EQ(l2p_cache_check(&cache_), nullptr);
		}
	}
	void compare_all()
	{
		for (const ModelNode &node : model_.nodes())
			for (auto [lba, ppa] : node.entries) {
				ppa_t found = PPA_NONE;
				if (node.level == HZ_MAP_PAGE)
					l2p_cache_find_entries(&cache_, 0, lba, lba % span_, 1, 0, &found);
				else
					found = l2p_cache_find(&cache_, 0, lba, node.level, 0);
				ASSERT_EQ(found, ppa);
			}
	}
	uint32_t line_size() const { return l2p_cache_line(&cache_); }

private:
	void drop(uint32_t lba)
	{
		uint32_t end = lba + dice_() % (2 * span_), group = lba / span_;
		uint8_t below = 1 + dice_() % HZ_MAP_LEVELS;
		l2p_cache_drop(&cache_, 0, group, lba, end, below);
		model_.drop(group, lba, end, below);
	}
	void forget(uint32_t lba)
	{
		uint32_t count = 1 + dice_() % (span_ - lba % span_);
		l2p_cache_forget(&cache_, 0, lba, lba % span_, count);
		model_.drop(lba / span_, lba, lba + count, HZ_MAP_PAGE + 1);
	}
	void insert(uint32_t lba, uint32_t ppa)
	{
		l2p_cache_new range{lba, ppa, lba / span_, static_cast<uint8_t>(1 + dice_() % (HZ_MAP_LEVELS - 1)), dice_() % 8 == 0};
		bool pin = range.pin;
		size_t left = model_.insert(lba, range.level, range.group, ppa, pin);
		ASSERT_EQ(l2p_cache_insert(&cache_, 0, &range, 0), left);
		ASSERT_EQ(range.pin, pin);
	}
	// With holes; the cache ignores map bits.
	void fill(uint32_t lba, uint32_t i)
	{
		uint32_t from = lba % line_, line = lba - from, count = 1 + dice_() % (line_ - from);
		std::vector<uint32_t> page(line_, UINT32_MAX);
		std::map<uint32_t, uint32_t> entries;
		l2p_cache_entries pages{line, line / span_, from, count, &page[from], 0, 0};
		for (uint32_t e = from; e < from + count; e++)
			if (e == from || dice_() % 4) {
				page[e] = (i * 64 + e) | (2u << HZ_PPA_BITS);
				pages.valid |= uint64_t(1) << e;
				entries[line + e] = i * 64 + e;
			} else if (auto *old = model_.line_of(lba)) {
				if (old->count(line + e)) // not new, but must not be hurt
					page[e] = (*old)[line + e];
			}
		size_t added = 0;
		auto *old = model_.line_of(lba);
		for (auto [at, ppa] : entries)
			added += !old || !old->count(at);
		size_t left = model_.fill(line, line / span_, entries);
		ASSERT_EQ(l2p_cache_fill(&cache_, 0, &pages, 0), left);
		ASSERT_EQ(pages.added, added);
	}
	void find_range(uint32_t lba)
	{
		uint8_t level = 1 + dice_() % (HZ_MAP_LEVELS - 1);
		ModelNode *expected = model_.find(lba, level);
		ASSERT_EQ(l2p_cache_find(&cache_, 0, lba, level, 0), expected ? expected->entries[lba] : PPA_NONE);
	}
	void find_table_pages(uint32_t lba)
	{
		uint32_t count = 1 + dice_() % (2 * line_);
		std::vector<ppa_t> got(2 * line_, PPA_NONE), expected(2 * line_, PPA_NONE);
		uint32_t n = 0;
		auto *line = model_.line_of(lba);
		while (line && n < count && line->count(lba + n)) {
			expected[n] = (*line)[lba + n];
			n++;
		}
		if (n)
			model_.find(lba / line_ * line_, HZ_MAP_PAGE);
		ASSERT_EQ(l2p_cache_find_entries(&cache_, 0, lba, lba % span_, count, 0, got.data()), n);
		ASSERT_EQ(got, expected);
	}
	Memory memory_;
	l2p_cache cache_{};
	Model model_;
	uint32_t line_, span_;
	std::mt19937 dice_;
};

// One page entry; returns how many left.
uint32_t enter(l2p_cache &cache, uint32_t shard, uint32_t lba, uint64_t now_ns)
{
	uint32_t from = lba % l2p_cache_line(&cache);
	l2p_cache_entries pages{lba - from, !shard ? 0u : 1u, from, 1, &lba, uint64_t(1) << from, 0};
	return l2p_cache_fill(&cache, shard, &pages, now_ns);
}

bool has(l2p_cache &cache, uint32_t shard, uint32_t lba)
{
	ppa_t ppa = PPA_NONE;
	return l2p_cache_find_entries(&cache, shard, lba, lba, 1, 50, &ppa) && ppa == lba;
}

class L2pCache : public testing::TestWithParam<Choice> {};

} // namespace

TEST_P(L2pCache, DoesWhatTheModelDoes)
{
	Pair pair(GetParam());
	ASSERT_EQ(pair.line_size(), GetParam().line);
	for (uint32_t i = 0; i < 20000; i++) {
		pair.step(i);
		ASSERT_FALSE(HasFatalFailure()) << "step " << i;
	}
	pair.compare_all();
}
INSTANTIATE_TEST_SUITE_P(Sizes, L2pCache,
			 testing::Values(Choice{16, 0, 1, 1, false}, Choice{16, 1, 16, 1, true}, Choice{37, 0, 1024, 2, true},
					 Choice{37, 2, 1, 1, false}, Choice{200, 0, 1, 1, true}, Choice{200, 0, 64, 4, false},
					 Choice{200, 3, 1024, 8, true}, Choice{2050, 0, 1024, 64, false}),
			 [](const auto &test) {
				 return std::to_string(test.param.entries) + (test.param.clock ? "Clock" : "Lru") + "Buckets" +
					std::to_string(test.param.buckets) + "Line" + std::to_string(test.param.line);
			 });

// A shard may hold most of the budget, but of many no one does.
TEST(L2pCacheShards, HaveBucketsForWhatTheyMayHold)
{
	struct {
		uint32_t entries, shards, bits;
	} const cases[] = {{1024, 1, 8}, {1025, 1, 9}, {1280, 1, 9}, {1024, 8, 8}, {16384, 8, 12}, {16384, 16, 11}, {65536, 64, 11}};
	for (const auto &c : cases) {
		Memory memory;
		l2p_cache cache{};
		l2p_cache_choice choice{c.entries, c.shards, 0, 1, false};
		l2p_cache_init(&cache, &memory.space, &choice);
		EXPECT_EQ(cache.bucket_bits, c.bits) << c.entries << " entries, " << c.shards << " shards";
	}
}

// One shard works, the other has entries not used since: their room moves over, and never a bit more.
TEST(L2pCacheShards, RoomGoesWhereItIsNeeded)
{
	Memory memory;
	l2p_cache cache{};
	l2p_cache_choice choice{67, 2, 0, 1, false};
	l2p_cache_init(&cache, &memory.space, &choice);
	EXPECT_EQ(cache.shard[0].own, 34u);
	EXPECT_EQ(cache.shard[1].own, 33u);
	for (uint32_t lba = 0; lba < 33; lba++)
		EXPECT_EQ(enter(cache, 1, lba, 10 + lba), 0u);
	for (uint32_t lba = 0; lba < 34; lba++)
		EXPECT_EQ(enter(cache, 0, 1024 + lba, 20 + lba), 0u);
	EXPECT_EQ(l2p_cache_lender(&cache, 0, 1), 1u);
	EXPECT_EQ(l2p_cache_lender(&cache, 1, 0), 1u) << "its own entries are older";
	l2p_cache_loan loan = l2p_cache_take(&cache, 1, 15, 64);
	EXPECT_EQ(loan.count, 5u) << "those used before 15";
	l2p_cache_give(&cache, 0, loan);
	EXPECT_EQ(cache.shard[0].own + cache.shard[1].own, 67u);
	EXPECT_FALSE(has(cache, 1, 4));
	EXPECT_TRUE(has(cache, 1, 5));
	EXPECT_EQ(l2p_cache_check(&cache), nullptr);
	loan = l2p_cache_take(&cache, 1, LT_FOREVER, 64);
	EXPECT_EQ(cache.shard[1].own, L2P_CACHE_SMALLEST_SHARD / 2u) << "a shard keeps some";
	l2p_cache_give(&cache, 0, loan);
	EXPECT_EQ(l2p_cache_check(&cache), nullptr);
	for (uint32_t lba = 0; lba < 200; lba++)
		enter(cache, 0, 2048 + lba, 60 + lba);
	EXPECT_EQ(cache.shard[0].held, cache.shard[0].own);
	EXPECT_EQ(cache.shard[0].own, 67u - L2P_CACHE_SMALLEST_SHARD / 2u);
}

TEST(L2pCacheShards, LendThoseWhoHaveTheOldestEntry)
{
	Memory memory;
	l2p_cache cache{};
	l2p_cache_choice choice{67, 2, 0, 1, false};
	l2p_cache_init(&cache, &memory.space, &choice);
	EXPECT_EQ(l2p_cache_lender(&cache, 0, 1), 0u) << "nobody has one";
	l2p_cache_new range{7, 1, 1, HZ_MAP_CHUNK, false};
	l2p_cache_insert(&cache, 1, &range, 10);
	EXPECT_EQ(l2p_cache_lender(&cache, 0, 1), 1u);
	enter(cache, 0, 1024, 5);
	EXPECT_EQ(l2p_cache_lender(&cache, 1, 0), 0u);
	EXPECT_EQ(l2p_cache_lender(&cache, 0, 1), 0u);
	l2p_cache_drop(&cache, 0, 0, 0, 4096, HZ_MAP_LEVELS);
	EXPECT_EQ(l2p_cache_lender(&cache, 1, 0), 1u) << "it has none any more";
	EXPECT_EQ(l2p_cache_lender(&cache, 0, 1), 1u);
	EXPECT_EQ(l2p_cache_check(&cache), nullptr);
}

// Lines of four: room moves a line at a time, with ranges in the way.
TEST(L2pCacheShards, LinesAreLentWhole)
{
	Memory memory;
	l2p_cache cache{};
	l2p_cache_choice choice{131, 2, 0, 1024, false};
	l2p_cache_init(&cache, &memory.space, &choice);
	ASSERT_EQ(l2p_cache_line(&cache), 4u);
	EXPECT_EQ(cache.shard[0].own, 64u);
	EXPECT_EQ(cache.shard[1].own, 67u);
	for (uint32_t i = 0; i < 67; i++) { // more of them than lines
		l2p_cache_new range{i, i, 1, HZ_MAP_CHUNK, false};
		EXPECT_EQ(l2p_cache_insert(&cache, 1, &range, 10 + i), 0u);
	}
	l2p_cache_loan loan = l2p_cache_take(&cache, 1, 22, 64);
	EXPECT_EQ(loan.count, 12u) << "as much as whole lines take of those used before 22";
	l2p_cache_give(&cache, 0, loan);
	EXPECT_EQ(l2p_cache_check(&cache), nullptr);
	loan = l2p_cache_take(&cache, 1, LT_FOREVER, 63);
	EXPECT_EQ(cache.shard[1].own, 35u) << "least: eight lines and what is none";
	l2p_cache_give(&cache, 0, loan);
	EXPECT_EQ(l2p_cache_check(&cache), nullptr);
	for (uint32_t line = 0; line < 40; line++)
		enter(cache, 0, 1024 + 4 * line, 100 + line);
	EXPECT_EQ(cache.shard[0].own, 96u);
	EXPECT_EQ(cache.shard[0].by_level[HZ_MAP_PAGE], 24u) << "lent room holds lines";
	EXPECT_EQ(l2p_cache_check(&cache), nullptr);
}
