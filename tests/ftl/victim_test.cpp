// Policies of garbage collection: each one's preference between two candidates, over all small ones.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <functional>
#include <vector>

extern "C" {
#include "device_config.h"
#include "gc/victim.h"
}

namespace {

constexpr gc_view view = {.now = 50, .capacity = 8, .wear_total = 20, .wear_count = 10};

std::vector<gc_candidate> all_candidates()
{
	std::vector<gc_candidate> all;
	for (uint64_t valid : {0, 1, 2, 4, 7, 8})
		for (uint64_t youngest : {0, 10, 30, 49})
			for (uint64_t erases : {0, 1, 2, 3})
				for (uint64_t filled : {5, 6})
					all.push_back({valid, filled, youngest, erases, all.size() * 7 % 193});
	return all;
}

// `of` is the quantity that the policy wants to be large; ties go to the lower order.
void expect_prefers(hz_gc_policy policy, const std::function<long double(const gc_candidate &)> &of)
{
	const std::vector<gc_candidate> all = all_candidates();
	for (const gc_candidate &a : all)
		for (const gc_candidate &b : all) {
			const bool better = of(a) != of(b) ? of(a) > of(b) : a.order < b.order;
			ASSERT_EQ(gc_policies[policy](&view, &a, &b), better)
				<< a.valid << " " << a.youngest << " " << a.erases << " " << a.filled << " " << a.order << ", " << b.valid
				<< " " << b.youngest << " " << b.erases << " " << b.filled << " " << b.order;
		}
}

TEST(Victim, GreedyTakesTheFewestValid)
{
	expect_prefers(HZ_GC_GREEDY, [](const gc_candidate &c) { return -static_cast<long double>(c.valid); });
}

TEST(Victim, FifoTakesTheOldest)
{
	expect_prefers(HZ_GC_FIFO, [](const gc_candidate &c) { return -static_cast<long double>(c.filled); });
}

// (1 - u) / 2u times the age of the youngest data.
TEST(Victim, CostBenefitWeighsAgeAgainstCopies)
{
	expect_prefers(HZ_GC_COST_BENEFIT, [](const gc_candidate &c) {
		const long double age = static_cast<long double>(view.now - c.youngest),
				  room = static_cast<long double>(view.capacity - c.valid);
		return c.valid ? room * age / static_cast<long double>(c.valid) : 1e9L;
	});
}

// Candidates worn more than the mean, or with nothing to give back, come behind all others.
TEST(Victim, WearSparesTheWorn)
{
	expect_prefers(HZ_GC_WEAR, [](const gc_candidate &c) {
		const bool spared = c.erases * view.wear_count > view.wear_total || c.valid >= view.capacity;
		return -static_cast<long double>(c.valid) - (spared ? 100 : 0);
	});
}

TEST(Victim, LargeNumbersDoNotRunOver)
{
	const gc_view late = {.now = uint64_t{1} << 47, .capacity = uint64_t{1} << 30, .wear_total = 0, .wear_count = 1};
	const gc_candidate old = {.valid = 1u << 29, .filled = 0, .youngest = 0, .erases = 0, .order = 1};
	const gc_candidate young = {.valid = 1u << 28, .filled = 0, .youngest = late.now - 2, .erases = 0, .order = 0};
	EXPECT_TRUE(gc_policies[HZ_GC_COST_BENEFIT](&late, &old, &young));
	EXPECT_FALSE(gc_policies[HZ_GC_COST_BENEFIT](&late, &young, &old));
}

} // namespace
