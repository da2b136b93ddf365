// Tournament tree against a linear scan.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

extern "C" {
#include "hil/queue/tournament.h"
}

TEST(Tournament, FirstIsTheSmallestKeyAndTiesGoToTheLowestLeaf)
{
	const uint64_t seed = 5;
	std::mt19937_64 random(seed);
	tournament t;
	tournament_init(&t);
	EXPECT_EQ(t.key[tournament_first(&t)], TOURNAMENT_NEVER);
	for (int i = 0; i < 20000; i++) {
		const auto queues = static_cast<unsigned>(std::min<int>(TOURNAMENT_LEAVES, 1 + i / 200)); // there are ever more
		tournament_set(&t, random() % queues, random() % 8 ? random() % 50 : TOURNAMENT_NEVER);
		auto smallest = std::min_element(t.key, t.key + TOURNAMENT_LEAVES) - t.key;
		ASSERT_EQ(tournament_first(&t), smallest) << "seed " << seed << " step " << i;
	}
}
