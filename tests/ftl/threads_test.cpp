// The FTL on real threads: eight harts, every worker at once on shared zones, buffers, SLC and map (run it under TSan).
// SPDX-License-Identifier: BSD-3-Clause
#include "host_queues.hpp"

using namespace ftl_rig;

namespace {

void OnThreads()
{
	lt_host_start_harts();
	lt_host_join_harts();
}

class Threads : public testing::TestWithParam<int> {};
class ConventionalThreads : public testing::TestWithParam<int> {};

} // namespace

TEST_P(Threads, EightHartsShareEverything)
{
	Rig rig(ZoneVariant(GetParam()));
	ASSERT_TRUE(rig.Boot({}, false)) << rig.error;
	Contest<ZoneQueue>(rig, GetParam() * 100, 600, OnThreads);
}
INSTANTIATE_TEST_SUITE_P(Kinds, Threads, testing::Range(0, kZoneVariants));

TEST_P(ConventionalThreads, EightHartsOverwriteUnderTheCollector)
{
	Rig rig(PageVariant(GetParam()));
	ASSERT_NO_FATAL_FAILURE(FillDevice(rig));
	ASSERT_TRUE(rig.Boot({}, false)) << rig.error;
	Contest<ConventionalQueue>(rig, GetParam() * 100, 1200, [&rig] {
		OnThreads();
		EXPECT_GT(rig.Counters().conventional_gc_runs, 10u);
	});
}
INSTANTIATE_TEST_SUITE_P(Policies, ConventionalThreads, testing::Range(0, kPageVariants));

// A worker on the TSU's hart overtakes what other harts have sent before, so nothing may depend on the order of two submissions: all workers
// append to the patches of the same zones, and the media refuses a program out of order.
TEST(PatchThreads, RowsReachTheFlashInOrderWhoeverSubmitsThem)
{
	hz_device_config cfg = Config();
	cfg.zone_capacity_sectors = cfg.zone_size_sectors = 128;
	cfg.slc_blocks_per_plane = 18;
	cfg.blocks_per_plane = 28;
	cfg.max_open = cfg.max_active = 0;
	cfg.write_buffers = 8;
	cfg.worker_count = 3;
	cfg.worker_hart[2] = cfg.tsu_hart[0];
	for (uint8_t &kind : cfg.lock_kind)
		kind = LT_LOCK_MCS;
	cfg.slc.program_ns[0] = 1000;
	cfg.channel_bytes_per_s = 0;
	Rig rig(cfg);
	for (uint32_t round = 0; round < 20; round++) {
		ASSERT_TRUE(rig.Boot()) << rig.error;
		for (uint32_t z = 0; z < rig.shape.zones; z++) {
			ASSERT_EQ(rig.Op(FTL_ZONE_RESET, z), 0);
			ASSERT_EQ(rig.Write(z, 0, 96, 1, FTL_FUA), 0);
		}
		ASSERT_TRUE(rig.Boot({}, false)) << rig.error;
		std::deque<Request> appends;
		uint32_t left = rig.shape.zones * 32;
		for (uint32_t i = 0; i < rig.shape.zones * 32; i++) {
			Request &append = appends.emplace_back(FTL_APPEND, rig.Lba(i / 32), 1);
			append.then = [&left](Request &r) {
				EXPECT_EQ(r.status(), 0);
				if (--left == 0)
					lt_harts_stop();
			};
			rig.Submit(append, i % cfg.worker_count);
		}
		lt_host_start_harts();
		lt_host_join_harts();
		ASSERT_EQ(left, 0u);
		ASSERT_FALSE(HasFailure());
	}
}
