// Histogram against the sorted values themselves.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "results/digest.hpp"
#include "results/histogram.hpp"

namespace {

using hz::res::Digest;
using hz::res::Histogram;

TEST(Histogram, QuantilesKeepThreeDigits)
{
	for (uint64_t seed = 1; seed <= 6; seed++) {
		SCOPED_TRACE("seed " + std::to_string(seed));
		std::mt19937_64 random(seed);
		std::vector<uint64_t> values;
		Histogram histogram;
		for (int i = 0; i < 20000; i++) {
			const uint64_t value = random() >> (random() % 50 + 10);
			values.push_back(value);
			histogram.add(value);
		}
		std::sort(values.begin(), values.end());
		long double sum = 0;
		for (const uint64_t v : values)
			sum += v;
		EXPECT_NEAR(histogram.mean(), double(sum / 20000), double(sum / 20000) * 1e-12);
		EXPECT_EQ(histogram.max(), values.back());
		EXPECT_EQ(histogram.min(), values.front());
		for (const double part : {0.0001, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 1.0}) {
			const uint64_t exact = values[size_t(std::ceil(part * 20000)) - 1], got = histogram.quantile(part);
			EXPECT_GE(got, exact);
			EXPECT_LE(got, exact + exact / 1000) << part;
		}
	}
}

TEST(Histogram, SmallValuesAreExactAndEmptyIsZero)
{
	Histogram h;
	EXPECT_EQ(h.quantile(0.5), 0u);
	EXPECT_EQ(h.mean(), 0.0);
	for (uint64_t v = 0; v < 2048; v++)
		h.add(v);
	for (uint64_t v = 0; v < 2048; v++)
		EXPECT_EQ(h.quantile(double(v + 1) / 2048), v);
	h.add(UINT64_MAX);
	EXPECT_EQ(h.max(), UINT64_MAX);
}

TEST(Histogram, BucketsTileTheNumbersAndMergeAdds)
{
	Histogram a, b;
	for (uint64_t v = 1; v < 1ull << 40; v = v * 3 / 2 + 1)
		a.add(v), b.add(v + 7);
	const uint64_t counts = a.count() + b.count();
	a.merge(b);
	uint64_t sum = 0, last = 0;
	for (const Histogram::Bucket &bucket : a.buckets()) {
		EXPECT_LE(bucket.low, bucket.high);
		EXPECT_GE(bucket.low, last);
		last = bucket.high;
		sum += bucket.count;
	}
	EXPECT_EQ(sum, counts);
}

TEST(Digest, IsFnv1a)
{
	EXPECT_EQ(Digest().text(), "cbf29ce484222325");
	Digest a;
	const char letter = 'a';
	a.bytes(std::as_bytes(std::span(&letter, 1)));
	EXPECT_EQ(a.text(), "af63dc4c8601ec8c");
	Digest word;
	word.u16(0x0061);
	EXPECT_NE(word.value(), a.value());
}

} // namespace
