// Durability on the real image: kill -9 of QEMU at any moment, again and again on one image, and orderly shutdowns.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "crash_rig.hpp"
#include "setting.hpp"

namespace e2e {
namespace {

class Durability : public ::testing::TestWithParam<bool> {
protected:
	uint64_t seed = setting("HARTZONE_TEST_SEED", 1);
	::testing::ScopedTrace trace{__FILE__, __LINE__, "HARTZONE_TEST_SEED=" + std::to_string(seed)};
	CrashRig rig{GetParam(), seed};

	uint64_t rounds(uint64_t usual) const { return setting("HARTZONE_TEST_ROUNDS", usual); }
	uint64_t draw(uint64_t below) { return rig.random()() % below; }
};

INSTANTIATE_TEST_SUITE_P(Clock, Durability, ::testing::Bool(), [](const auto &i) { return i.param ? "virtual" : "real"; });

TEST_P(Durability, KilledAtACommand)
{
	for (uint64_t round = 0; round < rounds(12) && !HasFailure(); round++) {
		SCOPED_TRACE("round " + std::to_string(round));
		rig.boot_and_run(200, {.kill_at_command = 1 + draw(600)});
	}
	if (HasFailure())
		return;
	rig.check();
	EXPECT_EQ(rig.cuts(), rounds(12));
	EXPECT_GT(rig.lost_sectors(), 0u) << "no cut hit data under way: this proves nothing";
}

TEST_P(Durability, KilledAtAMoment)
{
	for (uint64_t round = 0; round < rounds(12) && !HasFailure(); round++) {
		SCOPED_TRACE("round " + std::to_string(round));
		if (rig.boot_and_run(100000, {.kill_after_us = 1000 + draw(200000)}))
			rig.kill();
	}
	if (HasFailure())
		return;
	rig.check();
	EXPECT_EQ(rig.cuts(), rounds(12));
	EXPECT_GT(rig.lost_sectors(), 0u) << "no cut hit data under way: this proves nothing";
}

TEST_P(Durability, AnOrderlyShutdownLosesNothing)
{
	for (uint64_t round = 0; round < rounds(3) && !HasFailure(); round++) {
		SCOPED_TRACE("round " + std::to_string(round));
		ASSERT_TRUE(rig.boot_and_run(150, {}));
		rig.shutdown();
		rig.settle();
	}
	EXPECT_GT(rig.durable_sectors(), 0u);
	rig.check();
	EXPECT_EQ(rig.lost_sectors(), 0u);
}

// With table pages on flash, which a death may leave half written, old, or missing.
TEST(DurabilityCachedMap, KilledAndCutAtAnyOperation)
{
	CrashRig rig(true, setting("HARTZONE_TEST_SEED", 1), "crash-cached");
	const uint64_t rounds = setting("HARTZONE_TEST_ROUNDS", 16);
	for (uint64_t round = 0; round < rounds && !::testing::Test::HasFailure(); round++) {
		SCOPED_TRACE("round " + std::to_string(round));
		const uint64_t at = 1 + rig.random()() % 600;
		if (rig.boot_and_run(300, round % 2 ? CrashRig::End{.kill_at_command = at} : CrashRig::End{.cut_op = at}))
			rig.kill();
	}
	if (::testing::Test::HasFailure())
		return;
	rig.check();
	EXPECT_GT(rig.cuts(), rounds * 3 / 4);
	EXPECT_GT(rig.lost_sectors(), 0u) << "no cut hit data under way: this proves nothing";
}

// Durable writes end in memory that capacitors keep alive, and the kill comes before anything of it is on flash.
TEST_P(Durability, KilledWithCapacitors)
{
	CrashRig kept(GetParam(), seed, "crash-kept");
	for (uint64_t round = 0; round < rounds(8) && !HasFailure(); round++) {
		SCOPED_TRACE("round " + std::to_string(round));
		const uint64_t at = 1 + draw(400);
		if (kept.boot_and_run(200, round % 4 == 3 ? CrashRig::End{.cut_op = at} : CrashRig::End{.kill_at_command = at}))
			kept.kill();
	}
	if (HasFailure())
		return;
	kept.check();
	EXPECT_GT(kept.durable_sectors(), 0u);
	EXPECT_GT(kept.cuts(), rounds(8) / 2);
}

class PowerCut : public Durability {};
INSTANTIATE_TEST_SUITE_P(Clock, PowerCut, ::testing::Values(true), [](const auto &) { return "virtual"; });

TEST_P(PowerCut, AtSampledOperations)
{
	for (uint64_t round = 0; round < rounds(40) && !HasFailure(); round++) {
		const uint64_t at = 1 + draw(draw(2) ? 60 : 900); // some hit the mount
		SCOPED_TRACE("round " + std::to_string(round) + ", operation " + std::to_string(at));
		if (rig.boot_and_run(300, {.cut_op = at}))
			rig.kill();
	}
	if (HasFailure())
		return;
	rig.check();
	EXPECT_GT(rig.lost_sectors(), 0u);
	EXPECT_GT(rig.cuts(), rounds(40) * 3 / 4);
}

TEST_P(PowerCut, AtSampledDeviceTimes)
{
	for (uint64_t round = 0; round < rounds(10) && !HasFailure(); round++) {
		const uint64_t at = 1 + draw(60000000);
		SCOPED_TRACE("round " + std::to_string(round) + ", device time " + std::to_string(at));
		if (rig.boot_and_run(400, {.cut_ns = at}))
			rig.kill();
	}
	if (HasFailure())
		return;
	rig.check();
	EXPECT_GT(rig.cuts(), rounds(10) / 2);
}

} // namespace
} // namespace e2e
