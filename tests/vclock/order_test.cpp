// The order of harts, without QEMU: the token, waiting and waking, the race check, caches.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

#include "order_rig.h"

namespace {

void begin(unsigned harts)
{
	rig_start(harts);
	for (unsigned i = 0; i < harts; i++)
		rig_gate(i);
	ASSERT_EQ(rig_holder(), 0) << "of equal clocks the first hart's";
}

TEST(Token, GoesToTheHartThatIsBehind)
{
	begin(2);
	EXPECT_EQ(rig_hand_overs(), 0u);
	rig_work(0, 10);
	rig_order(0);
	EXPECT_EQ(rig_holder(), 1);
	EXPECT_EQ(rig_switched_to(), 1);
	EXPECT_EQ(rig_hand_overs(), 1u);
	EXPECT_TRUE(rig_is_ready(0));
	EXPECT_FALSE(rig_drained(1));
	rig_work(1, 5);
	rig_order(1);
	EXPECT_EQ(rig_holder(), 1) << "still behind";
	EXPECT_EQ(rig_hand_overs(), 1u);
	rig_work(1, 6);
	rig_order(1);
	EXPECT_EQ(rig_holder(), 0);
	EXPECT_FALSE(rig_drained(0));
	EXPECT_EQ(rig_hand_overs(), 2u);
}

TEST(Token, IsNobodysWhileAllAreHalted)
{
	begin(2);
	rig_idle(0, true);
	EXPECT_EQ(rig_holder(), 1);
	rig_idle(1, true);
	EXPECT_EQ(rig_holder(), -1);
	EXPECT_FALSE(rig_all_sleep()) << "an interrupt may come to each";
	EXPECT_EQ(rig_flag(RIG_STOPPED), 0u);
}

TEST(Token, SleepIsForEverIfOneWaitsAndTheRestIsHalted)
{
	begin(2);
	rig_idle(0, true);
	ASSERT_EQ(rig_holder(), 1);
	EXPECT_FALSE(rig_all_sleep());
	rig_park(1);
	EXPECT_EQ(rig_holder(), -1);
	EXPECT_TRUE(rig_all_sleep());
}

TEST(Token, AMachineThatIsStoppedLetsItsHartsGoOneByOne)
{
	begin(3);
	rig_idle(0, false);
	EXPECT_EQ(rig_flag(RIG_STOPPED), 1u);
	EXPECT_EQ(rig_holder(), 1);
	EXPECT_TRUE(rig_drained(1));
	rig_idle(1, false);
	EXPECT_EQ(rig_flag(RIG_STOPPED), 1u) << "it is one stop";
	EXPECT_EQ(rig_holder(), 2);
}

TEST(Token, AHartThatComesWhileOthersAreLetGoWaits)
{
	rig_start(3);
	rig_gate(0);
	rig_gate(1);
	rig_idle(2, false);
	EXPECT_EQ(rig_holder(), 0);
	rig_gate(2);
	EXPECT_EQ(rig_holder(), 0);
	EXPECT_TRUE(rig_is_ready(1));
	EXPECT_TRUE(rig_is_ready(2));
}

TEST(Waiting, WakesAreCountedOutsideFreezesOnly)
{
	begin(2);
	rig_wake(0, 1);
	EXPECT_EQ(rig_wakes(), 1u);
	rig_freeze(0);
	rig_wake(0, 1);
	rig_thaw(0);
	EXPECT_EQ(rig_wakes(), 1u);
}

TEST(Waiting, LooksAreCountedAnewInEachFreeze)
{
	constexpr uint64_t patience = 1 << 20;
	begin(1);
	for (int i = 0; i < 2; i++) {
		rig_freeze(0);
		rig_look(0, patience - 1);
		EXPECT_FALSE(rig_ended());
		rig_thaw(0);
	}
	rig_freeze(0);
	rig_look(0, patience);
	EXPECT_TRUE(rig_ended());
}

TEST(Waiting, TheHostIsWokenAtItsQueues)
{
	std::vector<uint64_t> shared(1 << 16);
	begin(1);
	EXPECT_EQ(rig_host_wakes(nullptr, 1), 0u) << "there is no host";
	EXPECT_EQ(rig_host_wakes(shared.data(), 1), 1u);
	EXPECT_EQ(rig_host_wakes(shared.data(), 1000), 1u) << "no such queue";
	EXPECT_EQ(rig_host_wakes(nullptr, 1000), 1u);
}

// Each test has words of its own, and instructions: a race is reported once.
struct Races : testing::Test {
	Races()
	{
		begin(5);
		rig_check_races(true);
		before = rig_races();
	}
	unsigned found() const { return rig_races() - before; }
	unsigned before;
};

TEST_F(Races, OfAllHartsThatReadAWordEachIsRemembered)
{
	for (unsigned hart : {1, 2, 3})
		rig_race_access(hart, 0x100 + hart, 0x80001000, 8, false);
	rig_race_access(0, 0x104, 0x80001000, 8, true);
	EXPECT_EQ(found(), 3u);
}

TEST_F(Races, OfOneHartsReadsOfAWordTheLastIsRemembered)
{
	rig_race_access(1, 0x201, 0x80001040, 8, false);
	rig_race_access(1, 0x202, 0x80001040, 8, false);
	rig_race_access(0, 0x203, 0x80001040, 8, true);
	EXPECT_EQ(found(), 1u);
}

TEST_F(Races, OfOneHartEachByteIsRemembered)
{
	rig_race_access(1, 0x211, 0x80001050, 1, false);
	rig_race_access(1, 0x212, 0x80001054, 1, false);
	rig_race_access(0, 0x213, 0x80001050, 1, true);
	EXPECT_EQ(found(), 1u);
	rig_race_access(0, 0x214, 0x80001054, 1, true);
	EXPECT_EQ(found(), 2u);
}

TEST_F(Races, FiveHartsAccessesOfAWordAreMoreThanIsRemembered)
{
	for (unsigned hart : {0, 1, 2, 3}) {
		rig_race_access(hart, 0x220 + hart, 0x80001060, 8, false);
		rig_put(1);
		rig_take(hart);
	}
	rig_race_acquire(4, RIG_WORD);
	rig_race_access(4, 0x224, 0x80001060, 8, false); // in the place of one that it knows
	rig_race_access(0, 0x225, 0x80001060, 8, true);
	EXPECT_GE(found(), 3u);
}

TEST_F(Races, AnAccessMayReachIntoTheNextWord)
{
	rig_race_access(1, 0x301, 0x80001086, 4, true);
	rig_race_access(0, 0x302, 0x80001080, 6, false);
	EXPECT_EQ(found(), 0u);
	rig_race_access(0, 0x303, 0x80001088, 1, false);
	rig_race_access(0, 0x304, 0x80001087, 1, false);
	EXPECT_EQ(found(), 2u);
	rig_race_access(0, 0x305, 0x8000108a, 6, false);
	EXPECT_EQ(found(), 2u);
}

TEST_F(Races, AnInstructionAtAddressZeroIsOneToo)
{
	rig_race_access(1, 0, 0x800010c0, 8, true);
	rig_race_access(0, 0, 0x800010c0, 8, true);
	EXPECT_EQ(found(), 1u);
}

TEST_F(Races, WhoTakesAWordHandsOnWhatItKnows)
{
	rig_race_access(0, 0x401, 0x80001100, 8, true);
	rig_put(5);
	EXPECT_EQ(rig_take(0), 5u);
	rig_race_acquire(1, RIG_WORD);
	rig_race_access(1, 0x402, 0x80001100, 8, false);
	EXPECT_EQ(found(), 0u);
	rig_race_access(2, 0x403, 0x80001100, 8, false);
	EXPECT_EQ(found(), 1u) << "who did not acquire knows nothing of it";
}

TEST_F(Races, AHartWithoutTheTokenAcquiresNothing)
{
	rig_race_access(0, 0x501, 0x80001140, 8, true);
	rig_wake(0, 3);
	rig_idle(1, false); // the machine is stopped
	rig_wait(3);
	rig_race_access(3, 0x502, 0x80001140, 8, false);
	EXPECT_EQ(found(), 1u);
}

TEST(Caches, AFullOneGivesUpTheLineThatCameFirst)
{
	constexpr uint64_t line = 0x80000400, other = 0x80000800;
	rig_start(2);
	rig_caches(1);
	rig_fetch(1, line);
	rig_fetch(0, line);
	EXPECT_EQ(*rig_holders(line), 3u);
	rig_fetch(0, other);
	EXPECT_EQ(*rig_holders(line), 2u);
	EXPECT_EQ(*rig_holders(other), 1u);
}

TEST(Caches, LinesOutsideOfRamAreLinesToo)
{
	constexpr uint64_t device = 0x10000000;
	rig_start(2);
	rig_caches(1);
	*rig_holders(device) = 2;
	EXPECT_EQ(*rig_holders(device + 63), 2u);
	EXPECT_EQ(*rig_holders(device + 64), 0u);
	EXPECT_EQ(*rig_holders(device - 1), 0u);
}

TEST(Memory, AFileThatIsTooSmallIsRefused)
{
	const std::string path = testing::TempDir() + "hz-small-ram-" + std::to_string(getpid());
	std::ofstream(path) << std::string(4096, 'x');
	rig_start(1);
	EXPECT_FALSE(rig_map_ram(path.c_str()));
	unlink(path.c_str());
}

TEST(Locks, ClassesHaveNames)
{
	for (unsigned i = 0; i < rig_lock_classes(); i++)
		EXPECT_STRNE(rig_lock_class(i), "other");
	EXPECT_STREQ(rig_lock_class(rig_lock_classes()), "other");
}

} // namespace
