// The same FTL with its harts interleaved at any access to a shared word, by a seed: what real threads meet once in a thousand runs, or
// under no load of this machine, comes here in each of them, and again with the same seed.
// Environment: HARTZONE_TEST_SEED is the first seed, HARTZONE_TEST_ROUNDS how many follow one another.
// SPDX-License-Identifier: BSD-3-Clause
#include "host_queues.hpp"
#include "inside.h"
#include "model.hpp"

using namespace ftl_rig;

namespace {

// Some harts stand still for a few accesses, some for thousands.
void Interleave(uint64_t seed) { lt_host_interleave(seed, 4u << seed % 8); }

template <typename F> void EachSeed(F body)
{
	uint64_t first = Environment("HARTZONE_TEST_SEED", 0), rounds = Environment("HARTZONE_TEST_ROUNDS", 3);
	for (uint64_t seed = first; seed < first + rounds && !testing::Test::HasFailure(); seed++) {
		SCOPED_TRACE(testing::Message() << "HARTZONE_TEST_SEED=" << seed);
		body(seed);
	}
}

class InterleavedZones : public testing::TestWithParam<int> {};
class InterleavedConventional : public testing::TestWithParam<int> {};

} // namespace

TEST_P(InterleavedZones, QueuesShareEverything)
{
	EachSeed([](uint64_t seed) {
		Rig rig(ZoneVariant(GetParam()));
		ASSERT_TRUE(rig.Boot()) << rig.error;
		Interleave(seed);
		Contest<ZoneQueue>(rig, seed * 100, 300, lt_host_run_until_idle);
	});
}
TEST_P(InterleavedZones, EveryCommandSideBySide)
{
	EachSeed([](uint64_t seed) {
		Rig rig(ZoneVariant(GetParam()));
		ASSERT_TRUE(rig.Boot()) << rig.error;
		Driver driver(rig, seed);
		Interleave(seed);
		for (int i = 0; i < 60; i++)
			ASSERT_TRUE(driver.Batch(driver.RandomBatch()));
		driver.VerifyAll();
		EXPECT_EQ(rig.Check(), "");
	});
}
TEST_P(InterleavedZones, TheControllerIsResetInTheMidstOfIt)
{
	EachSeed([](uint64_t seed) {
		hz_device_config cfg = ZoneVariant(GetParam());
		cfg.max_open = 3;
		cfg.max_active = 5;
		Rig rig(cfg);
		ASSERT_TRUE(rig.Boot()) << rig.error;
		Driver driver(rig, seed);
		Interleave(seed);
		for (int i = 0; i < 30 && !testing::Test::HasFailure(); i++) {
			driver.AbandonedBatch(driver.RandomBatch(12), driver.Roll(400000));
			lt_host_run_until_idle();
			driver.Abandoned();
		}
	});
}
// A zone's writes wait for the active budget while another zone drains, and go on while later ones arrive.
TEST_P(InterleavedZones, WritesKeepTheirOrderWhenTheBudgetComesFree)
{
	EachSeed([](uint64_t seed) {
		hz_device_config cfg = ZoneVariant(GetParam());
		cfg.max_open = cfg.max_active = 1;
		Rig rig(cfg);
		ASSERT_TRUE(rig.Boot()) << rig.error;
		const auto capacity = static_cast<uint32_t>(rig.shape.zone_capacity_sectors);
		std::vector<std::unique_ptr<Request>> writes;
		Request fill(FTL_WRITE, rig.Lba(0), capacity), pace(FTL_ZONE_REPORT, 0, 0, 0, 4096);
		auto next = [&](Request &) {
			if (writes.size() == 40)
				return;
			writes.push_back(std::make_unique<Request>(FTL_WRITE, rig.Lba(1, static_cast<uint32_t>(writes.size())), 1));
			rig.Submit(*writes.back(), 1);
			rig.Submit(pace, 2); // the next write comes when this has been answered
		};
		fill.then = pace.then = next;
		Interleave(seed);
		rig.Submit(fill);
		lt_host_run_until_idle();
		ASSERT_EQ(writes.size(), 40u);
		for (auto &write : writes)
			ASSERT_TRUE(write->done && write->status() == 0) << write->status() << " at " << write->req.lba;
		EXPECT_EQ(rig.Check(), "");
	});
}
INSTANTIATE_TEST_SUITE_P(Kinds, InterleavedZones, testing::Range(0, kZoneVariants));

TEST_P(InterleavedConventional, QueuesOverwriteUnderTheCollector)
{
	EachSeed([](uint64_t seed) {
		Rig rig(PageVariant(GetParam()));
		ASSERT_NO_FATAL_FAILURE(FillDevice(rig));
		ASSERT_TRUE(rig.Boot()) << rig.error;
		Interleave(seed);
		Contest<ConventionalQueue>(rig, seed * 100, 300, lt_host_run_until_idle);
	});
}
TEST_P(InterleavedConventional, TheControllerIsResetInTheMidstOfIt)
{
	EachSeed([](uint64_t seed) {
		Rig rig(PageVariant(GetParam()));
		ConventionalDriver driver(rig, seed);
		ASSERT_TRUE(rig.Boot()) << rig.error;
		driver.Fill();
		Interleave(seed);
		for (int i = 0; i < 30 && !testing::Test::HasFailure(); i++) {
			driver.AbandonedBatch(driver.RandomBatch(12), driver.Roll(400000));
			lt_host_run_until_idle();
			driver.Abandoned();
			EXPECT_EQ(rig.Check(), "");
		}
	});
}
// Power is cut in the midst of it, wherever the harts stand.
TEST_P(InterleavedConventional, BatchesAreCut)
{
	EachSeed([](uint64_t seed) {
		Rig rig(PageVariant(GetParam()));
		ConventionalDriver driver(rig, seed);
		ASSERT_TRUE(rig.Boot()) << rig.error;
		driver.Fill();
		for (int boot = 0; boot < 4; boot++) {
			nand_policy policy{};
			policy.power_cut_op = 1 + driver.Roll(300);
			policy.cut_before = driver.Roll(2);
			SCOPED_TRACE(testing::Message() << "boot " << boot << " cut " << policy.power_cut_op);
			ASSERT_TRUE(rig.Boot(policy)) << rig.error;
			driver.Recovered();
			Interleave(seed + boot);
			while (!testing::Test::HasFailure() && driver.Batch(driver.RandomBatch()))
				;
			ASSERT_FALSE(testing::Test::HasFailure());
		}
	});
}
INSTANTIATE_TEST_SUITE_P(Policies, InterleavedConventional, testing::Range(0, kPageVariants));

// A round of the map's log gets its sequence numbers, is stopped before it merges, and meanwhile a zone is collected, reset and written again.
// What the round then writes names places that are younger than its number.
TEST(InterleavedMap, AZoneIsResetBetweenNumberAndMerge)
{
	hz_device_config cfg = MappedPageConfig(true);
	cfg.l2p_cache_bytes *= 8;
	cfg.lock_shards[HZ_LC_L2P] = 2;
	cfg.conventional_gc = HZ_GC_GREEDY;
	cfg.lock_kind[HZ_LC_L2P] = LT_LOCK_TICKET;
	cfg.harts = 5; // the last one, without a role, is this test
	Rig rig(cfg);
	ASSERT_NO_FATAL_FAILURE(FillDevice(rig));
	uint64_t tag = 100;
	for (int round = 0; round < 20; round++, tag += 100) // so that victims hold nothing else
		ASSERT_EQ(rig.Write(1, 0, 40, tag), 0);
	Request rest(FTL_FLUSH, 0, 0, FTL_AT_REST);
	ASSERT_EQ(rig.Run(rest), 0);
	lt_host_interleave(1, UINT32_MAX);
	ASSERT_EQ(rig.Write(0, 0, 1, 7), 0);
	ASSERT_EQ(rig.Write(1, 0, 40, tag), 0);
	rig_merge_map(rig.ftl);
	lt_host_run_until(clock_now_ns() + 1000); // the copies are being read
	lt_lock *held = rig_map_lock(rig.ftl, rig.Lba(0));
	lt_lock_node node;
	lt_host_set_hart(4);
	lt_lock_acquire(held, &node);
	uint64_t resets = rig_backing_resets(rig.ftl);
	for (int round = 0; round < 40; round++, tag += 100)
		ASSERT_EQ(rig.Write(1, 0, 40, tag, 0, 1), 0); // the log is worker 0's
	EXPECT_GT(rig_backing_resets(rig.ftl), resets);
	lt_lock_release(held, &node);
	lt_host_set_hart(0);
	lt_host_run_until_idle();
	for (int round = 0; round < 2; round++) {
		ASSERT_EQ(rig.Write(1, 0, 40, tag), 0);
		rig_merge_map(rig.ftl);
		lt_host_run_until_idle();
		EXPECT_EQ(rig.Check(), "");
	}
	EXPECT_EQ(rig.Compare(1, 0, 40, tag), "");
}

// A round of the map's log is stopped between its look at the list of dirty pages and the locks under which it takes a page out of it.
// Who reads meanwhile must find what was changed: the page has no copy yet.
TEST(InterleavedMap, ATablePageIsReadWhileTheLogChoosesIt)
{
	hz_device_config cfg = MappedPageConfig(true);
	cfg.lock_kind[HZ_LC_ZONE] = LT_LOCK_TICKET;
	cfg.harts = 5; // the last one, without a role, is this test
	Rig rig(cfg);
	ASSERT_TRUE(rig.Boot()) << rig.error;
	lt_host_interleave(1, UINT32_MAX);
	ASSERT_EQ(rig.Write(0, 0, 1, 7), 0);
	lt_lock *held = rig_zone_lock(rig.ftl, 0);
	lt_lock_node node;
	lt_host_set_hart(4);
	lt_lock_acquire(held, &node);
	rig_merge_map(rig.ftl);
	lt_host_run_until(clock_now_ns() + 1000);
	Request read(FTL_READ, rig.Lba(0), 1);
	EXPECT_EQ(rig.Run(read, 1), 0); // worker 0 has the log's round, and waits
	EXPECT_TRUE(PageIs(read.pages[0], 7));
	lt_lock_release(held, &node);
	lt_host_set_hart(0);
	lt_host_run_until_idle();
	EXPECT_EQ(rig.Check(), "");
}
