// The whole FTL with its map in flash against the reference model: tiny caches, every strategy, eviction and log policy.
// SPDX-License-Identifier: BSD-3-Clause
#include "inside.h"
#include "l2p_rig.hpp"
#include "units_model.hpp"

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

// Two units under two maps, with restarts and resets of the controller.
class UnitsProperty : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(UnitsProperty, AgreesWithTheModels)
{
	const UnitsLayout &layout = units_layouts[std::get<0>(GetParam())];
	Rig rig(units_config(layout));
	ASSERT_TRUE(rig.boot()) << rig.error;
	UnitsDriver driver(rig, static_cast<uint64_t>(std::get<1>(GetParam())));
	driver.sectors.fill();
	for (int i = 0; i < 150; i++) {
		SCOPED_TRACE(testing::Message() << "batch " << i);
		ASSERT_TRUE(driver.run_batch(driver.random_batch()));
		ASSERT_EQ(rig.check(), "");
		if (i % 10 == 9) {
			driver.zones.run_cancelled_batch(driver.zones.random_batch(8), driver.zones.roll(400000));
			lt_host_run_until_idle();
			driver.zones.check_cancelled();
			driver.sectors.run_cancelled_batch(driver.sectors.random_batch(8), driver.zones.roll(400000));
			lt_host_run_until_idle();
			driver.verify_all();
		}
		if (i % 50 == 49) {
			ASSERT_TRUE(rig.boot()) << rig.error;
			driver.check_recovered();
		}
		ASSERT_FALSE(HasFailure());
	}
}
INSTANTIATE_TEST_SUITE_P(Layouts, UnitsProperty, testing::Combine(testing::Range(0, int(std::size(units_layouts))), testing::Range(1, 3)),
			 [](const auto &test) {
				 return units_layouts[std::get<0>(test.param)].name + ("_" + std::to_string(std::get<1>(test.param)));
			 });

TEST(Units, OnlyConventionalWritesWaitForTheLogOfTheirMap)
{
	Rig rig(units_config(true));
	ASSERT_TRUE(rig.boot()) << rig.error;
	const auto zone = static_cast<uint32_t>(rig.shape.conventional_zones);
	rig_close_map_log(rig.ftl);
	EXPECT_EQ(rig.write(zone, 0, 96, 1), 0);
	EXPECT_EQ(rig.write(zone + 1, 0, 3, 100, FTL_FUA), 0) << "staged";
	EXPECT_EQ(rig.counters().l2p_stalls, 0u);
	EXPECT_EQ(rig.write(0, 0, 40, 200), 0);
	EXPECT_EQ(rig.counters().l2p_stalls, 1u) << "until a pass has opened it";
	EXPECT_GT(rig_map_log_used(rig.ftl), 0u);
	uint64_t used = 1;
	Request shutdown(FTL_FLUSH, 0, 0, FTL_CLEAN);
	shutdown.then = [&](Request &) { used = rig_map_log_used(rig.ftl); };
	ASSERT_EQ(rig.run(shutdown), 0);
	EXPECT_EQ(used, 0u) << "a device that was shut down has all of its map on flash";
}
