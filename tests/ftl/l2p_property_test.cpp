// The whole FTL with its map in flash against the reference model: tiny caches, every strategy, eviction and log policy.
// SPDX-License-Identifier: BSD-3-Clause
#include "l2p_rig.hpp"

using namespace ftl_rig;

class L2pProperty : public testing::TestWithParam<std::tuple<int, int, int, int>> {};

static hz_device_config shape_config(int shape)
{
	hz_device_config cfg = shape == 1 ? wide_map_config() : map_config();
	if (shape == 2) { // two shards, prefetch (lines of two entries), aggregation up to chunks
		cfg.l2p_cache_bytes = 130 * HZ_MAP_ENTRY_BYTES;
		cfg.l2p_prefetch = 40;
		cfg.l2p_levels = HZ_MAP_CHUNK;
		cfg.slc_program_sectors = 2;
	}
	return cfg;
}

static void run_against_model(const hz_device_config &cfg, uint64_t seed, int batches)
{
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot()) << rig.error;
	Driver driver(rig, seed);
	for (int i = 0; i < batches; i++) {
		ASSERT_TRUE(driver.run_batch(driver.random_batch()));
		ASSERT_EQ(rig.check(), "") << "after batch " << i;
		ASSERT_FALSE(testing::Test::HasFailure()) << "batch " << i;
		if (i % 50 == 49)
			driver.verify_all();
		if (i % 100 == 99) {
			ASSERT_TRUE(rig.boot()) << rig.error;
			driver.check_recovered();
		}
		ASSERT_FALSE(testing::Test::HasFailure()) << "batch " << i;
	}
}

TEST_P(L2pProperty, AgreesWithTheModel)
{
	const auto &[shape, strategy, eviction, log_policy] = GetParam();
	hz_device_config cfg = shape_config(shape);
	choose(cfg, strategy, eviction, log_policy);
	for (uint64_t seed = 1; seed <= 2 && !HasFailure(); seed++) {
		SCOPED_TRACE(testing::Message() << "seed " << seed);
		run_against_model(cfg, seed, shape == 1 ? 60 : 200);
	}
}

static std::string test_name(const testing::TestParamInfo<std::tuple<int, int, int, int>> &test)
{
	static const char *const shapes[] = {"Narrow", "Wide", "Sharded"};
	const auto &[shape, strategy, eviction, log_policy] = test.param;
	return std::string(shapes[shape]) + choice_name(strategy, eviction, log_policy);
}
INSTANTIATE_TEST_SUITE_P(Policies, L2pProperty,
			 testing::Combine(testing::Range(0, 3), testing::Range(0, 3), testing::Range(0, 2), testing::Range(0, 2)),
			 test_name);
