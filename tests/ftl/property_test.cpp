// Random operations against the reference model, several zones and workers side by side, in simulated time.
// SPDX-License-Identifier: BSD-3-Clause
#include "model.hpp"

using namespace ftl_rig;

struct Variant {
	const char *name;
	void (*change)(hz_device_config &);
};

static const Variant variants[] = {
	{"Plain", [](hz_device_config &) {}},
	{"FirstFree", [](hz_device_config &cfg) { cfg.buffer_binding = HZ_BIND_FIRST_FREE; }},
	{"PerZone",
	 [](hz_device_config &cfg) {
		 cfg.buffer_binding = HZ_BIND_PER_ZONE;
		 cfg.write_buffers = 5;
	 }},
	{"OneBuffer", [](hz_device_config &cfg) { cfg.write_buffers = 1; }},
	{"WideUnits",
	 [](hz_device_config &cfg) {
		 cfg.flush_unit_planes = 2;
		 cfg.slc_blocks_per_plane = 8;
		 cfg.blocks_per_plane = 18;
	 }},
	{"WholeSuperpage",
	 [](hz_device_config &cfg) {
		 cfg.flush_unit_planes = 4;
		 cfg.slc_blocks_per_plane = 12;
		 cfg.blocks_per_plane = 22;
	 }},
	{"SlcPages", [](hz_device_config &cfg) { cfg.slc_program_sectors = 2; }},
	{"OddCapacity", [](hz_device_config &cfg) { cfg.zone_capacity_sectors = 77; }},
	{"NativeSize",
	 [](hz_device_config &cfg) {
		 cfg.zone_capacity_sectors = 77;
		 cfg.zone_size_sectors = 77;
	 }},
	{"SharedMemory", [](hz_device_config &cfg) { share_memory(cfg, 100); }},
	{"LittleSharedMemory", [](hz_device_config &cfg) { share_memory(cfg, 2); }},
	{"SharedMemoryWideUnits",
	 [](hz_device_config &cfg) {
		 cfg.flush_unit_planes = 4;
		 cfg.slc_blocks_per_plane = 12;
		 cfg.blocks_per_plane = 22;
		 share_memory(cfg, 90);
	 }},
	{"ZoneMap", [](hz_device_config &cfg) { cfg.l2p_kind = HZ_L2P_KIND_ZONE, cfg.l2p_zone_log = 3; }},
	{"Slots",
	 [](hz_device_config &cfg) { use_slots(cfg, 100, HZ_SLOTS_LOCKED, HZ_BUFFER_FLUSH_UNIT), cfg.l2p_kind = HZ_L2P_KIND_ZONE; }},
	{"FewSlotsBySuperpage", [](hz_device_config &cfg) { use_slots(cfg, 7, HZ_SLOTS_LOCK_FREE, HZ_BUFFER_FLUSH_SUPERPAGE); }},
	{"ShardedSlotsUntilShortTuples",
	 [](hz_device_config &cfg) { use_slots(cfg, 60, HZ_SLOTS_SHARDED, HZ_BUFFER_FLUSH_SHORT), cfg.protection = HZ_PROTECTION_TYPE1; }},
	{"SlotsBySuperpageIdleOddCapacity",
	 [](hz_device_config &cfg) {
		 cfg.zone_capacity_sectors = 77, cfg.buffer_idle_ns = 100000;
		 use_slots(cfg, 40, HZ_SLOTS_SHARDED, HZ_BUFFER_FLUSH_SUPERPAGE);
	 }},
	{"AccountsBySuperpage", [](hz_device_config &cfg) { share_memory(cfg, 30), cfg.buffer_flush = HZ_BUFFER_FLUSH_SUPERPAGE; }},
	{"OwnMemoryBySuperpage", [](hz_device_config &cfg) { cfg.buffer_flush = HZ_BUFFER_FLUSH_SUPERPAGE, cfg.buffer_idle_ns = 100000; }},
	{"Lent", [](hz_device_config &cfg) { lend_buffers(cfg); }},
	{"LentOneBufferCachedPrograms", [](hz_device_config &cfg) { lend_buffers(cfg), cfg.write_buffers = 1, cfg.cache_program = HZ_ON; }},
	{"LentPolledIdle", [](hz_device_config &cfg) { lend_buffers(cfg, true), cfg.buffer_idle_ns = 100000; }},
	{"PolledOneBuffer", [](hz_device_config &cfg) { lend_buffers(cfg, true), cfg.buffer_release = 0, cfg.write_buffers = 1; }},
	{"KeptOneBuffer", [](hz_device_config &cfg) { cfg.buffer_handover = HZ_HANDOVER_KEPT, cfg.write_buffers = 1; }},
	{"LentKeptBySuperpage",
	 [](hz_device_config &cfg) {
		 lend_buffers(cfg), cfg.buffer_handover = HZ_HANDOVER_KEPT, cfg.buffer_flush = HZ_BUFFER_FLUSH_SUPERPAGE;
	 }},
	{"Whole", [](hz_device_config &cfg) { cfg.buffer_release = HZ_RELEASE_WHOLE; }},
	{"WholeKeptOneBufferBySuperpage",
	 [](hz_device_config &cfg) {
		 cfg.buffer_release = HZ_RELEASE_WHOLE, cfg.buffer_flush = HZ_BUFFER_FLUSH_SUPERPAGE;
		 cfg.buffer_handover = HZ_HANDOVER_KEPT, cfg.write_buffers = 1;
	 }},
	{"SlotsKept",
	 [](hz_device_config &cfg) { use_slots(cfg, 7, HZ_SLOTS_LOCKED, HZ_BUFFER_FLUSH_UNIT), cfg.buffer_handover = HZ_HANDOVER_KEPT; }},
	{"Protected", [](hz_device_config &cfg) { protect_memory(cfg, 60, 40); }},
	{"LittleProtected", [](hz_device_config &cfg) { protect_memory(cfg, 2, 2); }},
	{"TwoPlanes", [](hz_device_config &cfg) { use_planes(cfg, 2); }},
	{"TwoPlanesFlushed",
	 [](hz_device_config &cfg) {
		 cfg.flush_unit_planes = 2;
		 cfg.slc_blocks_per_plane = 8;
		 cfg.blocks_per_plane = 18;
		 use_planes(cfg, 2);
	 }},
	{"OnePlane", [](hz_device_config &cfg) { use_planes(cfg, 1); }},
	{"TwoPlanesProtected", [](hz_device_config &cfg) { use_planes(cfg, 2), protect_memory(cfg, 60, 40); }},
	{"Tuples", [](hz_device_config &cfg) { cfg.protection = HZ_PROTECTION_TYPE1; }},
	{"TuplesProtected", [](hz_device_config &cfg) { cfg.protection = HZ_PROTECTION_TYPE1, protect_memory(cfg, 60, 40); }},
	{"Rain", use_rain},
	{"RainOneBufferOddCapacity", [](hz_device_config &cfg) { use_rain(cfg), cfg.write_buffers = 1, cfg.zone_capacity_sectors = 77; }},
	{"RainSlotsIdle",
	 [](hz_device_config &cfg) {
		 use_rain(cfg), cfg.buffer_idle_ns = 100000, use_slots(cfg, 7, HZ_SLOTS_LOCK_FREE, HZ_BUFFER_FLUSH_SUPERPAGE);
	 }},
	{"RainWideUnitsSharedMemory",
	 [](hz_device_config &cfg) {
		 use_rain(cfg), cfg.flush_unit_planes = 4, cfg.slc_blocks_per_plane = 12, cfg.blocks_per_plane = 22;
		 share_memory(cfg, 90);
	 }},
	{"OneHart",
	 [](hz_device_config &cfg) {
		 cfg.harts = 1;
		 cfg.tsu_hart[0] = cfg.worker_hart[0] = cfg.worker_hart[1] = 0;
	 }},
	{"ShardedLocks", [](hz_device_config &cfg) { support::choose_granularity(cfg, 2); }},
	{"ALockPerClass", [](hz_device_config &cfg) { support::choose_granularity(cfg, HZ_LOCKS_CLASS); }},
	{"OneLockForAll", [](hz_device_config &cfg) { support::choose_granularity(cfg, HZ_LOCKS_GLOBAL); }},
};

class Property : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(Property, AgreesWithTheModel)
{
	const Variant &variant = variants[std::get<0>(GetParam())];
	uint64_t seed = std::get<1>(GetParam());
	SCOPED_TRACE(testing::Message() << variant.name << " seed " << seed);
	hz_device_config cfg = ftl_config();
	variant.change(cfg);
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot()) << rig.error;
	Driver driver(rig, seed);
	for (int i = 0; i < 250; i++) {
		ASSERT_TRUE(driver.run_batch(driver.random_batch()));
		ASSERT_EQ(rig.check(), "") << "after batch " << i;
		ASSERT_FALSE(HasFailure()) << "batch " << i;
		if (i % 50 == 49) {
			driver.verify_all();
			ASSERT_FALSE(HasFailure()) << "batch " << i;
		}
		if (i % 100 == 99) {
			// A boot without a flush: volatile data may be lost.
			ASSERT_TRUE(rig.boot()) << rig.error;
			driver.check_recovered();
			ASSERT_FALSE(HasFailure()) << "boot after batch " << i;
		}
	}
}
INSTANTIATE_TEST_SUITE_P(Variants, Property, testing::Combine(testing::Range(0, int(std::size(variants))), testing::Range(1, 4)),
			 [](const auto &test) {
				 return std::string(variants[std::get<0>(test.param)].name) + "_" + std::to_string(std::get<1>(test.param));
			 });
