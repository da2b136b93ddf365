// Tournament tree against a linear scan.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

extern "C" {
#include "hil/queue/horizon.h"
}

TEST(Tournament, FirstIsTheSmallestKeyAndTiesGoToTheLowestLeaf)
{
	for (uint64_t seed = 1; seed <= 100; seed++) {
		std::mt19937_64 random(seed);
		std::vector<uint64_t> keys(TOURNAMENT_LEAVES, TOURNAMENT_NEVER);
		tournament t;
		memset(&t, 0x11, sizeof(t)); // it is set up from any content
		tournament_init(&t);
		EXPECT_EQ(tournament_first(&t), 0u);
		EXPECT_EQ(tournament_first_key(&t), TOURNAMENT_NEVER);
		for (unsigned i = 0; i < 400; i++) {
			const unsigned queues = std::min<unsigned>(TOURNAMENT_LEAVES, 1 + i / 4); // there are ever more
			const auto leaf = static_cast<unsigned>(random() % queues);
			keys[leaf] = random() % 8 ? random() % 50 : TOURNAMENT_NEVER;
			tournament_set(&t, leaf, keys[leaf]);
			const auto smallest = std::min_element(keys.begin(), keys.end());
			ASSERT_EQ(tournament_first(&t), smallest - keys.begin()) << "seed " << seed << " step " << i;
			ASSERT_EQ(tournament_first_key(&t), *smallest);
		}
	}
}
