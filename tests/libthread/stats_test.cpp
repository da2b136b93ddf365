// The log-linear histogram behind p99: bounded error against exact percentiles.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

extern "C" {
#include "stats.h"
}

namespace {

uint64_t exact_percentile(std::vector<uint64_t> v, unsigned percent)
{
	std::sort(v.begin(), v.end());
	return v[(v.size() * percent + 99) / 100 - 1];
}

TEST(Histogram, SmallValuesAreExact)
{
	for (uint64_t ns = 0; ns < 16; ns++) {
		lt_histogram h{};
		lt_histogram_add(&h, ns, false);
		EXPECT_EQ(lt_histogram_percentile(&h, 99), ns);
	}
	lt_histogram empty{};
	EXPECT_EQ(lt_histogram_percentile(&empty, 99), 0u);
}

TEST(Histogram, EveryValueLiesInItsBucketWithinAnEighth)
{
	for (uint64_t ns = 1; ns < 1u << LT_HISTOGRAM_BITS; ns += 1 + ns / 97) {
		lt_histogram h{};
		lt_histogram_add(&h, ns, false);
		uint64_t edge = lt_histogram_percentile(&h, 99);
		ASSERT_GE(edge, ns);
		ASSERT_LE(edge, ns + ns / 8) << ns;
	}
	for (uint64_t ns : {uint64_t{1} << LT_HISTOGRAM_BITS, uint64_t{3} << (LT_HISTOGRAM_BITS - 1), UINT64_MAX}) {
		lt_histogram h{};
		lt_histogram_add(&h, ns, false);
		EXPECT_EQ(lt_histogram_percentile(&h, 99), UINT64_MAX);
	}
}

TEST(Histogram, PercentilesOfRandomValues)
{
	constexpr uint64_t seed = 99;
	std::mt19937_64 random(seed);

	SCOPED_TRACE(testing::Message() << "seed " << seed);
	for (int round = 0; round < 20; round++) {
		std::vector<uint64_t> values(1 + random() % 2000);
		lt_histogram h{};
		for (auto &v : values) {
			v = random() >> (43 + random() % 20);
			lt_histogram_add(&h, v, round % 2);
		}
		for (unsigned percent : {1u, 50u, 90u, 99u, 100u}) {
			uint64_t exact = exact_percentile(values, percent);
			uint64_t found = lt_histogram_percentile(&h, percent);
			ASSERT_GE(found, exact);
			ASSERT_LE(found, exact + exact / 8);
		}
	}
}

} // namespace
