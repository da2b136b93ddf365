// Randomness: portable arithmetic, distinct seeds, and the shape of the zipf distribution.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "workload/random.hpp"
#include "workload/zipf.hpp"

namespace {

using namespace hz::wl;

TEST(Random, ThreadSeedsAreDistinct)
{
	std::set<uint64_t> seeds;
	for (uint64_t seed = 0; seed < 100; seed++)
		for (uint64_t thread = 0; thread < 64; thread++)
			seeds.insert(thread_seed(seed, thread));
	EXPECT_EQ(seeds.size(), 6400u);
}

TEST(Random, ValuesAreTheSameEverywhere)
{
	Random random(42);
	EXPECT_EQ(random.next(), 13679457532755275413ull); // SplitMix64 with seed 42
	EXPECT_EQ(random.next(), 2949826092126892291ull);
}

TEST(Random, BelowIsEven)
{
	Random random(7);
	int count[10] = {};
	for (int i = 0; i < 100000; i++)
		count[random.below(10)]++;
	for (const int c : count)
		EXPECT_NEAR(c, 10000, 500);
}

TEST(Random, PortableFunctionsAgreeWithTheLibrary)
{
	for (double x = 1e-9; x < 1e12; x *= 1.37)
		EXPECT_NEAR(portable_log(x), std::log(x), 1e-13 * std::max(1.0, std::fabs(std::log(x)))) << x;
	for (double x = -40; x < 40; x += 0.173)
		EXPECT_NEAR(portable_exp(x) / std::exp(x), 1.0, 1e-13) << x;
}

TEST(Random, ExponentialHasItsMean)
{
	Random random(3);
	double sum = 0;
	for (int i = 0; i < 200000; i++)
		sum += double(random.exponential(10000));
	EXPECT_NEAR(sum / 200000, 10000, 100);
}

class ZipfTest : public testing::TestWithParam<double> {};

TEST_P(ZipfTest, FrequenciesFollowTheLaw)
{
	const double theta = GetParam();
	constexpr int items = 1000, draws = 400000;
	Zipf zipf(items, theta);
	Random random(11);
	std::vector<int> count(items);
	for (int i = 0; i < draws; i++)
		count[zipf.draw(random)]++;
	double norm = 0;
	for (int k = 1; k <= items; k++)
		norm += std::pow(k, -theta);
	for (const int k : {1, 2, 3, 5, 10, 50, 200}) {
		const double expected = draws * std::pow(k, -theta) / norm;
		EXPECT_NEAR(count[size_t(k - 1)], expected, 5 * std::sqrt(expected) + 1) << "rank " << k;
	}
}
INSTANTIATE_TEST_SUITE_P(Thetas, ZipfTest, testing::Values(0.3, 0.8, 0.99, 1.0, 1.2, 2.0));

TEST(Zipf, OneItemAndManyItems)
{
	Random random(1);
	EXPECT_EQ(Zipf(1, 0.9).draw(random), 0u);
	Zipf many(1ull << 40, 0.9);
	for (int i = 0; i < 1000; i++)
		EXPECT_LT(many.draw(random), 1ull << 40);
}

} // namespace
