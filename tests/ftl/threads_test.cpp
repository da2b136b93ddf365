// The FTL on real threads: eight harts, every worker at once on shared zones, buffers, SLC and map (run it under TSan).
// SPDX-License-Identifier: BSD-3-Clause
#include "host_queues.hpp"

using namespace ftl_rig;

namespace {

void on_threads()
{
	lt_host_start_harts();
	lt_host_join_harts();
}

class Threads : public testing::TestWithParam<int> {};
class ConventionalThreads : public testing::TestWithParam<int> {};

} // namespace

TEST_P(Threads, EightHartsShareEverything)
{
	Rig rig(with_locks(zone_variant(GetParam()), GetParam() + GetParam() / 4));
	ASSERT_TRUE(rig.boot({}, false)) << rig.error;
	contest<ZoneQueue>(rig, GetParam() * 100, 600, on_threads);
}

// Commands travel to the owners of zones; workers meet at shared state only.
TEST(OwnerThreads, EightHartsShareEverything)
{
	for (const int variant : {0, 5, 13}) {
		hz_device_config cfg = with_locks(zone_variant(variant), variant);
		cfg.routing = HZ_ROUTE_OWNER;
		Rig rig(cfg);
		ASSERT_TRUE(rig.boot({}, false)) << rig.error;
		contest<ZoneQueue>(rig, variant * 100, 600, on_threads);
	}
}

TEST_P(Threads, ZonesLiveAndDie)
{
	hz_device_config cfg = with_locks(zone_variant(GetParam()), GetParam() + GetParam() / 4);
	if (!cfg.plp_bytes)
		cfg.write_buffers = 2 + static_cast<uint32_t>(GetParam()) % 5;
	if (cfg.buffer_pool_bytes && !cfg.plp_bytes)
		share_memory(cfg, static_cast<uint32_t>(GetParam()));
	use_long_zones(cfg);
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot({}, false)) << rig.error;
	contest<LifeQueue>(rig, environment("HARTZONE_TEST_SEED", static_cast<uint64_t>(GetParam()) * 100), 600, on_threads);
}
INSTANTIATE_TEST_SUITE_P(Kinds, Threads, testing::Range(0, zone_variants));

TEST_P(ConventionalThreads, EightHartsOverwriteUnderTheCollector)
{
	Rig rig(with_locks(page_variant(GetParam()), GetParam() + GetParam() / 4));
	ASSERT_NO_FATAL_FAILURE(fill_device(rig));
	ASSERT_TRUE(rig.boot({}, false)) << rig.error;
	contest<ConventionalQueue>(rig, GetParam() * 100, 1200, [&rig] {
		on_threads();
		EXPECT_GT(rig.counters().conventional_gc_runs, 10u);
	});
}
INSTANTIATE_TEST_SUITE_P(Policies, ConventionalThreads, testing::Range(0, conventional_variants));

// Zones and conventional sectors share buffers and SLC, and their maps' logs run side by side.
class UnitsThreads : public testing::TestWithParam<int> {};
TEST_P(UnitsThreads, EightHartsShareEverything)
{
	Rig rig(with_locks(units_variant(GetParam()), GetParam()));
	ASSERT_NO_FATAL_FAILURE(fill_device(rig));
	ASSERT_TRUE(rig.boot({}, false)) << rig.error;
	contest<ConventionalQueue, ZoneQueue>(rig, GetParam() * 100, 600, on_threads);
}
INSTANTIATE_TEST_SUITE_P(Layouts, UnitsThreads, testing::Range(0, units_variants));

// A worker on the TSU's hart overtakes earlier submissions of other harts, so nothing may depend on the order of two submissions: all
// workers append to the patches of the same zones, and the media refuses a program out of order.
TEST(PatchThreads, RowsReachTheFlashInOrderWhoeverSubmitsThem)
{
	hz_device_config cfg = ftl_config();
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
		ASSERT_TRUE(rig.boot()) << rig.error;
		for (uint32_t z = 0; z < rig.shape.zones; z++) {
			ASSERT_EQ(rig.run_op(FTL_ZONE_RESET, z), 0);
			ASSERT_EQ(rig.write(z, 0, 96, 1, FTL_FUA), 0);
		}
		ASSERT_TRUE(rig.boot({}, false)) << rig.error;
		std::deque<Request> appends;
		uint32_t left = rig.shape.zones * 32;
		for (uint32_t i = 0; i < rig.shape.zones * 32; i++) {
			Request &append = appends.emplace_back(FTL_APPEND, rig.lba_of(i / 32), 1);
			append.then = [&left](Request &r) {
				EXPECT_EQ(r.status(), 0);
				if (--left == 0)
					lt_harts_stop();
			};
			rig.submit(append, i % cfg.worker_count);
		}
		lt_host_start_harts();
		lt_host_join_harts();
		ASSERT_EQ(left, 0u);
		ASSERT_FALSE(HasFailure());
	}
}
