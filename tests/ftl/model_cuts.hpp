// Power cuts under a model of zones: at every flash operation of a sequence, and chains of them at random operations. A model has run(step)
// (false: power went), any() (a step that is legal now) and recovered() (the device, started again, is as the model allows).
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <random>
#include <set>

#include "ftl_rig.hpp"

namespace ftl_rig {

template <typename Model, typename Steps> void cut_at_every_operation(const hz_device_config &config, const Steps &steps)
{
	for (bool before : {false, true}) {
		nand_policy policy{};
		policy.cut_before = before;
		policy.power_cut_op = 1;
		for (bool more = true; more; policy.power_cut_op++) {
			SCOPED_TRACE(testing::Message() << "cut " << policy.power_cut_op << (before ? " before" : " inside"));
			Rig cut(config);
			ASSERT_TRUE(cut.boot(policy)) << cut.error;
			Model model(cut, 1);
			bool alive = true;
			for (const auto &step : steps)
				alive = alive && model.run(step);
			for (int boot = 0; boot < 2; boot++) { // the deferred work may be cut off by pulling the plug again
				ASSERT_TRUE(cut.boot()) << cut.error;
				ASSERT_NO_FATAL_FAILURE(model.recovered());
				ASSERT_TRUE(model.run(model.any()));
			}
			more = !alive && !testing::Test::HasFailure();
		}
		EXPECT_GT(policy.power_cut_op, 50u);
	}
}

// HARTZONE_TEST_SEED, HARTZONE_TEST_ROUNDS. after_cut(device): before the next start; after_chain(model).
template <typename Model, typename AfterCut, typename AfterChain>
void chains_of_cuts(const hz_device_config &config, AfterCut after_cut, AfterChain after_chain)
{
	for (uint64_t seed = environment("HARTZONE_TEST_SEED", 1), last = seed + environment("HARTZONE_TEST_ROUNDS", 6); seed < last;
	     seed++) {
		SCOPED_TRACE(testing::Message() << "seed " << seed);
		std::mt19937_64 dice(seed);
		Rig cut(config);
		ASSERT_TRUE(cut.boot()) << cut.error;
		Model model(cut, seed);
		for (int boot = 0; boot < 12; boot++) {
			nand_policy policy{};
			policy.power_cut_op = 1 + dice() % 120;
			policy.cut_before = dice() % 2;
			SCOPED_TRACE(testing::Message() << "boot " << boot);
			ASSERT_TRUE(cut.boot()) << cut.error;
			ASSERT_NO_FATAL_FAILURE(model.recovered()); // by many reads, so that zones may move
			ASSERT_TRUE(cut.boot(policy)) << cut.error;
			while (!testing::Test::HasFailure() && model.run(model.any()))
				;
			after_cut(cut);
		}
		ASSERT_TRUE(cut.boot()) << cut.error;
		ASSERT_NO_FATAL_FAILURE(model.recovered());
		after_chain(model);
	}
}

// The sector's content is one of `possible`, which is that one from now on.
inline void expect_one_of(Rig &rig, uint32_t zone, uint32_t sector, std::set<uint64_t> &possible)
{
	Request read(FTL_READ, rig.lba_of(zone, sector), 1);
	uint64_t tag;
	ASSERT_EQ(rig.run(read), 0);
	std::memcpy(&tag, read.pages[0], sizeof tag);
	ASSERT_TRUE(sector_is(read.pages[0], tag) && possible.count(tag)) << "zone " << zone << " sector " << sector << " holds " << tag;
	possible = {tag};
}

} // namespace ftl_rig
