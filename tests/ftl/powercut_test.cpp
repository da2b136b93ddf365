// Power cuts: the same body again and again with the cut at every flash operation, inside it and just before it; chains of cuts on one
// image, and chains of cuts and shutdowns. Sequential zones, conventional ones, and both in one device under two maps, are cut by the same
// code, each with a model of its own.
// Environment, for chains: HARTZONE_TEST_SEED is the first seed, HARTZONE_TEST_ROUNDS how many follow one another (a round is twelve cuts).
// SPDX-License-Identifier: BSD-3-Clause
#include <array>

#include "units_model.hpp"

using namespace ftl_rig;

// Subject of cuts. Its run boots a device, does the same thing each time until power fails, mounts again, and compares with the model;
// false: the cut was beyond the end.
struct Subject {
	std::string name;
	uint64_t operations;          // lower bound
	std::array<uint64_t, 2> step; // between cuts: inside an operation, before one
	std::function<bool(const nand_policy &)> run;
};
static std::ostream &operator<<(std::ostream &out, const Subject &subject) { return out << subject.name; }

class PowerCut : public testing::TestWithParam<Subject> {};

TEST_P(PowerCut, EveryOperation)
{
	const Subject &subject = GetParam();
	for (uint32_t before = 0; before < 2; before++) {
		nand_policy policy{};
		policy.cut_before = before;
		policy.power_cut_op = 1;
		for (bool more = true; more; policy.power_cut_op += subject.step[before]) {
			SCOPED_TRACE(testing::Message() << "cut " << policy.power_cut_op << (before ? " before" : " inside"));
			more = subject.run(policy);
			ASSERT_FALSE(HasFailure());
		}
		EXPECT_GT(policy.power_cut_op, subject.operations) << "the body must do something";
	}
}

// An orderly shutdown with a possible power cut in it. False: there was one.
template <typename Driver> bool shut_down(Driver &driver)
{
	Request shutdown(FTL_FLUSH, 0, 0, FTL_CLEAN);
	driver.rig.submit(shutdown);
	// It waits for the end of background work; after a cut that never ends.
	for (const uint64_t give_up_ns = clock_now_ns() + 10000000000; !shutdown.done && clock_now_ns() < give_up_ns;) {
		lt_host_run_until(clock_now_ns() + 1000000);
		if (lt_load(&driver.rig.media.off))
			return false;
	}
	EXPECT_TRUE(shutdown.done);
	EXPECT_EQ(shutdown.status(), 0);
	EXPECT_TRUE(driver.rig.is_clean());
	driver.all_durable();
	return true;
}

// A shutdown records the zones as recovered: the next start finds them so, after one more cut, too.
template <typename Driver> void shut_down_and_start(Driver &driver)
{
	ASSERT_TRUE(shut_down(driver));
	for (int start = 0; start < 2 && !testing::Test::HasFailure(); start++) {
		ASSERT_TRUE(driver.rig.boot()) << driver.rig.error;
		driver.check_recovered();
	}
}

// The batches until power goes; then the device is mounted and compared, and goes on. False when power did not go.
// shuts_down: it is shut down before.
template <typename Driver, typename Body> bool cut_in(Driver &driver, const Body &body, void (*go_on)(Driver &), bool shuts_down)
{
	bool alive = true;
	for (const auto &batch : body)
		alive = alive && driver.run_batch(batch);
	EXPECT_TRUE(driver.rig.boot()) << driver.rig.error;
	if (!driver.rig.ftl)
		return false;
	driver.check_recovered();
	if (!testing::Test::HasFailure() && shuts_down)
		shut_down_and_start(driver);
	if (!testing::Test::HasFailure())
		go_on(driver);
	return !alive;
}

// Pulls the plug without a cut inside an operation, and looks again.
template <typename Driver> void replug(Driver &driver)
{
	ASSERT_EQ(driver.rig.check(), "");
	ASSERT_TRUE(driver.rig.boot()) << driver.rig.error;
	driver.check_recovered();
}

// Random batches, the device cut again and again on the same image, at one of its next `most` operations. Returns how often power went.
template <typename Driver> uint64_t chain_of_cuts(Driver &driver, std::mt19937_64 &dice, uint64_t most)
{
	uint64_t cuts = 0;
	for (int boot = 0; boot < 12 && !testing::Test::HasFailure(); boot++) {
		nand_policy policy{};
		policy.power_cut_op = 1 + dice() % most;
		policy.cut_before = dice() % 2;
		SCOPED_TRACE(testing::Message() << "boot " << boot << " cut " << policy.power_cut_op);
		EXPECT_TRUE(driver.rig.boot(policy)) << driver.rig.error;
		if (!driver.rig.ftl)
			break;
		driver.check_recovered();
		while (!testing::Test::HasFailure() && driver.run_batch(driver.random_batch()))
			;
		cuts += lt_load(&driver.rig.media.off);
	}
	return cuts;
}

// Lives of a device with ends in any order: by a cut at work, by one in a shutdown, by a shutdown; half of the cuts soon after the start.
// Returns the number of shutdowns.
template <typename Driver, typename Batch> uint64_t chain_of_lives(Driver &driver, std::mt19937_64 &dice, Batch batch)
{
	uint64_t shutdowns = 0;
	for (int life = 0; life < 24 && !testing::Test::HasFailure(); life++) {
		const bool orderly = dice() % 2;
		nand_policy policy{};
		if (!orderly || dice() % 4 == 0)
			policy = {.power_cut_op = 1 + dice() % (dice() % 2 ? 8 : 80), .cut_before = static_cast<uint32_t>(dice() % 2)};
		SCOPED_TRACE(testing::Message() << "life " << life << " cut " << policy.power_cut_op);
		EXPECT_TRUE(driver.rig.boot(policy)) << driver.rig.error;
		if (!driver.rig.ftl)
			break;
		driver.check_recovered();
		bool alive = true;
		for (uint64_t most = orderly ? dice() % 4 : UINT64_MAX; alive && most && !testing::Test::HasFailure(); most--)
			alive = driver.run_batch(batch(driver, dice));
		if (alive && !testing::Test::HasFailure())
			shutdowns += shut_down(driver);
	}
	return shutdowns;
}

namespace zones {

static Op w(uint32_t zone, uint32_t sectors, uint8_t flags = 0) { return {FTL_WRITE, zone, sectors, flags}; }
static Op z(ftl_op op, uint32_t zone) { return {op, zone, 0, 0}; }
static const Op flush{FTL_FLUSH, 0, 0, 0};

using Body = std::vector<std::vector<Op>>;

static const std::vector<std::pair<const char *, Body>> bodies = {
	{"FlushPartial", {{w(0, 3)}, {flush}, {w(0, 5)}, {flush}, {w(0, 9)}, {flush}, {w(0, 1, FTL_FUA)}}},
	{"TwoZonesOneBuffer", {{w(0, 4), w(2, 3)}, {w(0, 5), w(2, 7)}, {flush}, {w(2, 20), w(0, 2)}, {flush}}},
	{"FillAndReset", {{w(1, 40)}, {w(1, 56)}, {z(FTL_ZONE_RESET, 1)}, {w(1, 30, FTL_FUA)}, {z(FTL_ZONE_RESET, 1)}, {w(1, 7)}, {flush}}},
	{"Finish",
	 {{w(3, 8)},
	  {z(FTL_ZONE_FINISH, 3)},
	  {w(4, 12)},
	  {z(FTL_ZONE_FINISH, 4)},
	  {z(FTL_ZONE_FINISH, 5)},
	  {z(FTL_ZONE_RESET, 3)},
	  {w(3, 5, FTL_FUA)}}},
	{"ManyUnitsInFlight", {{w(0, 64), w(1, 50)}, {flush}, {w(0, 30), w(1, 40)}, {flush}}},
	{"SmallForced",
	 {{w(0, 1, FTL_FUA), w(0, 1, FTL_FUA), w(0, 1, FTL_FUA)},
	  {w(0, 1, FTL_FUA), w(0, 1, FTL_FUA), w(0, 1, FTL_FUA)},
	  {w(0, 1, FTL_FUA), w(0, 1), w(0, 2, FTL_FUA)}}},
	{"FullZones", {{w(0, 96)}, {w(1, 96), w(2, 20)}, {w(3, 30)}, {flush}}},
	{"NearTheEnd",
	 {{w(0, 93), w(1, 40)}, {w(0, 2, FTL_FUA)}, {w(0, 1), w(2, 3)}, {w(0, 14)}, {flush}, {z(FTL_ZONE_RESET, 0)}, {w(0, 2, FTL_FUA)}}},
};

// Policies side by side; each body is cut at each of its operations under each of them.
struct Policy {
	const char *name;
	void (*change)(hz_device_config &);
	uint64_t operations = 8; // of each body, at least
};

static void patch(hz_device_config &cfg)
{
	cfg.zone_capacity_sectors = 110; // the body "NearTheEnd" crosses the seam at 96
	cfg.zone_size_sectors = 128;
	cfg.slc_blocks_per_plane = 18;
	cfg.blocks_per_plane = 28;
}

static const Policy policies[] = {
	{"Plain", [](hz_device_config &) {}},
	{"TwoPlanes", [](hz_device_config &cfg) { cfg.flush_unit_planes = 2; }},
	{"SlcPages", [](hz_device_config &cfg) { cfg.slc_program_sectors = 2; }},
	{"TwoPlanesSlcPages", [](hz_device_config &cfg) { cfg.flush_unit_planes = cfg.slc_program_sectors = 2; }},
	{"FirstFreeCostBenefit",
	 [](hz_device_config &cfg) { cfg.buffer_binding = HZ_BIND_FIRST_FREE, cfg.slc_gc = HZ_GC_COST_BENEFIT, cfg.slc_gc_low = 6; }},
	{"PerZoneFifoIdle",
	 [](hz_device_config &cfg) {
		 cfg.buffer_binding = HZ_BIND_PER_ZONE, cfg.write_buffers = cfg.max_active, cfg.slc_gc = HZ_GC_FIFO, cfg.slc_gc_low = 6,
		 cfg.buffer_idle_ns = 200000;
	 }},
	{"SharedMemory", [](hz_device_config &cfg) { share_memory(cfg, 60); }},
	{"Slots",
	 [](hz_device_config &cfg) {
		 use_slots(cfg, 30, HZ_SLOTS_LOCK_FREE, HZ_BUFFER_FLUSH_UNIT), cfg.l2p_kind = HZ_L2P_KIND_ZONE, cfg.l2p_zone_log = 1;
	 }},
	{"SlotsBySuperpage", [](hz_device_config &cfg) { use_slots(cfg, 40, HZ_SLOTS_SHARDED, HZ_BUFFER_FLUSH_SUPERPAGE); }, 0},
	{"Lent", [](hz_device_config &cfg) { lend_buffers(cfg), cfg.write_buffers = 1; }},
	{"KeptOneBuffer", [](hz_device_config &cfg) { cfg.buffer_handover = HZ_HANDOVER_KEPT, cfg.write_buffers = 1; }},
	{"WholePatched", [](hz_device_config &cfg) { patch(cfg), cfg.buffer_release = HZ_RELEASE_WHOLE; }},
	{"LentPolledPatched", [](hz_device_config &cfg) { patch(cfg), lend_buffers(cfg, true), cfg.cache_program = HZ_ON; }},
	{"Protected", [](hz_device_config &cfg) { protect_memory(cfg, 40, 30); }, 0},
	{"ProtectedInPlace", [](hz_device_config &cfg) { protect_memory(cfg, 40, 30), cfg.plp_flush = HZ_PLP_IN_PLACE; }, 0},
	{"Narrow", [](hz_device_config &cfg) { use_planes(cfg, 2); }},
	{"NarrowSlowDie", [](hz_device_config &cfg) { use_planes(cfg, 2), cfg.slow_die = 1, cfg.slow_percent = 2000; }},
	{"NarrowProtected", [](hz_device_config &cfg) { use_planes(cfg, 2), protect_memory(cfg, 40, 30); }, 0},
	{"NarrowProtectedInPlaceTuples",
	 [](hz_device_config &cfg) {
		 use_planes(cfg, 2), protect_memory(cfg, 40, 30), cfg.plp_flush = HZ_PLP_IN_PLACE;
		 cfg.protection = HZ_PROTECTION_TYPE1;
	 },
	 0},
	{"ProtectedAll", [](hz_device_config &cfg) { protect_memory(cfg, 40, 30), cfg.plp_mode = HZ_PLP_FULL; }, 0},
	{"NarrowProtectedAllInPlace",
	 [](hz_device_config &cfg) {
		 use_planes(cfg, 2), protect_memory(cfg, 40, 30), cfg.plp_mode = HZ_PLP_FULL, cfg.plp_flush = HZ_PLP_IN_PLACE;
	 },
	 0},
	{"PatchedIdleTuples", [](hz_device_config &cfg) { patch(cfg), cfg.buffer_idle_ns = 1, cfg.protection = HZ_PROTECTION_TYPE1; }},
	// One die lags far behind: rows must not run away from it, mount looks at the last two only.
	{"PatchedSlowDie", [](hz_device_config &cfg) { patch(cfg), cfg.slow_die = 1, cfg.slow_percent = 2000; }},
	{"PatchedSpread", [](hz_device_config &cfg) { patch(cfg), spread_times(cfg); }},
	{"NarrowProtectedSpread", [](hz_device_config &cfg) { use_planes(cfg, 2), protect_memory(cfg, 40, 30), spread_times(cfg); }, 0},
	{"Rain", use_rain},
	{"RainOneBufferMapOfZones",
	 [](hz_device_config &cfg) {
		 use_rain(cfg), cfg.write_buffers = 1, cfg.flush_unit_planes = 2, cfg.slc_blocks_per_plane = 9, cfg.blocks_per_plane = 19;
		 cfg.l2p_kind = HZ_L2P_KIND_ZONE, cfg.buffer_idle_ns = 200000;
	 }},
	{"RainSlots", [](hz_device_config &cfg) { use_rain(cfg), use_slots(cfg, 30, HZ_SLOTS_SHARDED, HZ_BUFFER_FLUSH_UNIT); }},
	{"RainSlowDie",
	 [](hz_device_config &cfg) { use_rain(cfg), cfg.zone_capacity_sectors = 77, cfg.slow_die = 3, cfg.slow_percent = 2000; }},
	{"PatchedSlcPagesFifo",
	 [](hz_device_config &cfg) { patch(cfg), cfg.slc_program_sectors = 2, cfg.slc_gc = HZ_GC_FIFO, cfg.slc_gc_low = 6; }},
};

// Once more after the crash: write, flush, write.
static void go_on(Driver &driver)
{
	std::vector<Op> more;
	for (uint32_t zone = 0; zone < 5; zone++)
		more.push_back(w(zone, 4));
	driver.run_batch(more);
	driver.run_batch({flush});
	for (Op &op : more)
		op.sectors = 1;
	driver.run_batch(more);
	replug(driver);
}

static hz_device_config cut_config(const Policy &policy)
{
	hz_device_config cfg = ftl_config();
	cfg.slc_blocks_per_plane = 8;
	cfg.blocks_per_plane = 18;
	policy.change(cfg);
	return cfg;
}

static bool run_cut(const Policy &changed, const Body &body, const nand_policy &policy)
{
	Rig rig(cut_config(changed));
	EXPECT_TRUE(rig.boot(policy)) << rig.error;
	Driver driver(rig, 1);
	return cut_in(driver, body, go_on, !policy.cut_before);
}

static std::vector<Subject> subjects()
{
	std::vector<Subject> all;
	for (const auto &[name, body] : bodies)
		for (const Policy &policy : policies)
			all.push_back({std::string(name) + "_" + policy.name,
				       policy.operations,
				       {1, 1},
				       [&taken = body, &policy](const nand_policy &cut) { return run_cut(policy, taken, cut); }});
	return all;
}
INSTANTIATE_TEST_SUITE_P(Zones, PowerCut, testing::ValuesIn(subjects()), [](const auto &test) { return test.param.name; });

static hz_device_config random_config(std::mt19937_64 &dice)
{
	hz_device_config cfg = ftl_config();
	cfg.buffer_binding = dice() % 3;
	cfg.write_buffers = cfg.buffer_binding == HZ_BIND_PER_ZONE ? cfg.max_active : 1 + dice() % 3;
	cfg.flush_unit_planes = dice() % 2 ? 2 : 1;
	cfg.slc_program_sectors = dice() % 2 ? 2 : 1;
	cfg.slc_blocks_per_plane = 8;
	cfg.blocks_per_plane = 18;
	const bool patched = dice() % 3 == 0;
	if (patched)
		patch(cfg);
	else if (dice() % 2)
		use_planes(cfg, 2);
	const uint64_t memory = patched ? 0 : 1 + dice() % 3;
	if (memory == 1)
		share_memory(cfg, 60 + static_cast<uint32_t>(dice() % 100));
	if (memory == 2) {
		protect_memory(cfg, 10 + static_cast<uint32_t>(dice() % 60), 2 + static_cast<uint32_t>(dice() % 60));
		cfg.plp_flush = dice() % 2;
		cfg.plp_mode = dice() % 2 ? HZ_PLP_FULL : HZ_PLP_SELECTIVE;
	}
	if (memory == 0 || memory == 3)
		cfg.buffer_release = dice() % 2;
	if (cfg.buffer_binding == HZ_BIND_MODULO)
		cfg.buffer_handover = dice() % HZ_HANDOVERS;
	cfg.l2p_kind = patched ? HZ_L2P_KIND_SECTOR : dice() % HZ_L2P_KINDS;
	cfg.l2p_zone_log = 1 + dice() % 5;
	cfg.buffer_slots = memory == 1 ? dice() % HZ_BUFFER_SLOTS_KINDS : HZ_SLOTS_ACCOUNTS;
	cfg.buffer_flush = patched ? HZ_BUFFER_FLUSH_UNIT : dice() % HZ_BUFFER_FLUSHES;
	cfg.slc_gc = dice() % 3;
	cfg.slc_gc_low = dice() % 8;
	cfg.buffer_idle_ns = dice() % 2 ? 1 + dice() % 1000000 : 0;
	if (dice() % 3 == 0)
		spread_times(cfg);
	if (!patched && !cfg.superblock_planes && cfg.plp_mode == HZ_PLP_NONE && cfg.buffer_release == HZ_RELEASE_PROGRAMMED)
		use_rain(cfg);
	return cfg;
}

static uint64_t chain(uint64_t seed)
{
	std::mt19937_64 dice(seed);
	Rig rig(random_config(dice));
	Driver driver(rig, seed);
	return chain_of_cuts(driver, dice, 150);
}

// Few zones, and each of their commands often.
static std::vector<Op> busy_batch(Driver &driver, std::mt19937_64 &dice)
{
	static constexpr ftl_op kinds[] = {FTL_WRITE,        FTL_WRITE,       FTL_WRITE,      FTL_APPEND,
					   FTL_WRITE_ZEROES, FTL_FLUSH,       FTL_ZONE_OPEN,  FTL_ZONE_CLOSE,
					   FTL_ZONE_FINISH,  FTL_ZONE_FINISH, FTL_ZONE_RESET, FTL_WRITE_UNCORRECTABLE};
	std::vector<Op> ops;
	if (dice() % 4 == 0)
		return driver.random_batch();
	for (uint32_t zone = 0; zone < 4; zone++)
		if (dice() % 3 == 0)
			ops.push_back({kinds[dice() % std::size(kinds)], zone, 1 + static_cast<uint32_t>(dice() % (dice() % 3 ? 8 : 60)),
				       static_cast<uint8_t>(dice() % 3 ? 0 : FTL_FUA)});
	for (Op &op : ops)
		if (op.kind == FTL_FLUSH || op.kind >= FTL_ZONE_OPEN)
			op.sectors = op.flags = 0;
	return ops;
}

static uint64_t lives(uint64_t seed)
{
	std::mt19937_64 dice(seed);
	Rig rig(random_config(dice));
	Driver driver(rig, seed);
	return chain_of_lives(driver, dice, busy_batch);
}

} // namespace zones

namespace conventional {

using Body = std::vector<std::vector<ConventionalOp>>;

static ConventionalOp w(uint32_t lba, uint32_t sectors, uint8_t flags = 0) { return {FTL_WRITE, lba, sectors, flags}; }
static ConventionalOp d(uint32_t lba, uint32_t sectors, uint8_t flags = 0) { return {FTL_DEALLOCATE, lba, sectors, flags}; }
static ConventionalOp c(uint32_t from, uint32_t to, uint32_t sectors, uint8_t flags = 0) { return {FTL_COPY, to, sectors, flags, from}; }
static const ConventionalOp flush{FTL_FLUSH, 0, 0};

// The last body overwrites a device filled before, so that the collector runs.
static const std::vector<std::pair<const char *, Body>> bodies = {
	{"Overwrites", {{w(0, 9)}, {flush}, {w(3, 4, FTL_FUA)}, {w(0, 30), w(200, 3)}, {w(5, 2)}, {flush}, {w(4, 3)}}},
	{"SideBySide", {{w(0, 40), w(20, 40), w(95, 4)}, {w(10, 5, FTL_FUA), w(11, 5, FTL_FUA)}, {flush, w(0, 12)}}},
	{"Deallocates", {{w(0, 40)}, {flush}, {d(3, 20)}, {w(8, 4), d(30, 5, FTL_FUA)}, {flush}, {d(8, 2), w(5, 30)}, {flush}, {d(0, 9)}}},
	{"Copies",
	 {{w(0, 40)}, {c(0, 60, 20)}, {flush}, {c(5, 8, 30, FTL_FUA), w(100, 9)}, {c(60, 100, 20), c(8, 60, 5)}, {flush}, {w(0, 3)}}},
	{"Collecting", {{w(0, 60), w(100, 60)}, {w(30, 60)}, {flush, w(10, 30)}, {w(0, 48, FTL_FUA)}}},
};

// Once more after the crash: write until backing zones are collected.
static void go_on(ConventionalDriver &driver)
{
	for (int i = 0; i < 4; i++)
		driver.run_batch({w(i * 7, 40), w(i * 50, 30, FTL_FUA)});
	driver.run_batch({flush});
	driver.run_batch({w(3, 9)});
	replug(driver);
}

struct Layout {
	const char *name;
	bool mapped, patched, slc, compressed = false, cached = false, directory = false;
	uint32_t lanes = 1; // write frontiers, and collectors
};
static const Layout layouts[] = {
	{"Flat", false, false, false},
	{"Mapped", true, false, false},
	{"MappedPatched", true, true, false},
	{"Slc", false, false, true},
	{"MappedSlc", true, true, true},
	{"Compressed", true, false, false, true},
	{"Cached", true, false, false, false, true},
	{"Directory", true, false, false, true, false, true},
	{"TwoCollectors", false, false, false, false, false, false, 2},
};

static hz_device_config cut_config(const Layout &layout)
{
	hz_device_config cfg = layout.mapped ? mapped_conventional_config(true) : conventional_config(true);
	cfg.zones = cfg.conventional_zones = 3;
	cfg.blocks_per_plane = cfg.slc_blocks_per_plane + 3 + 5 + 2;
	cfg.l2p_compress = layout.compressed;
	if (layout.cached)
		use_data_cache(cfg, 20, 9);
	if (layout.directory)
		use_directory(cfg);
	use_frontiers(cfg, layout.lanes);
	use_collectors(cfg, layout.lanes);
	if (layout.patched || layout.slc)
		lay_out(cfg, layout.patched, layout.slc);
	return cfg;
}

static bool run_cut(const Body &body, const Layout &layout, bool filled, const nand_policy &policy)
{
	Rig rig(cut_config(layout));
	EXPECT_TRUE(rig.boot()) << rig.error;
	ConventionalDriver driver(rig, 1);
	if (filled)
		for (int round = 0; round < 3; round++)
			driver.fill(48);
	driver.run_batch({flush});
	EXPECT_TRUE(rig.boot(policy)) << rig.error;
	return cut_in(driver, body, go_on, !policy.cut_before);
}

// Of the longest bodies, and of those that program each sector by itself, a part.
static std::array<uint64_t, 2> steps(const Layout &layout, bool filled)
{
	if (layout.slc)
		return {filled ? 17ul : 3, filled ? 19ul : 4};
	return {filled && layout.mapped ? 3ul : 1, filled ? 3ul : 1};
}

static std::vector<Subject> subjects()
{
	std::vector<Subject> all;
	for (const auto &[name, body] : bodies)
		for (const Layout &layout : layouts) {
			bool filled = name == std::string("Collecting");
			all.push_back(
				{name + std::string("_") + layout.name, filled ? 60u : 10u, steps(layout, filled),
				 [&taken = body, &layout, filled](const nand_policy &cut) { return run_cut(taken, layout, filled, cut); }});
		}
	return all;
}
INSTANTIATE_TEST_SUITE_P(Conventional, PowerCut, testing::ValuesIn(subjects()), [](const auto &test) { return test.param.name; });

static hz_device_config random_config(uint64_t seed, std::mt19937_64 &dice)
{
	hz_device_config cfg = seed % 2 ? mapped_conventional_config(seed % 3, seed & 4 ? HZ_L2P_LOG_BLOCKING : HZ_L2P_LOG_BACKGROUND)
					: conventional_config(seed % 3);
	cfg.conventional_gc = static_cast<uint32_t>(dice() % HZ_GC_POLICIES);
	cfg.conventional_streams = 1 + dice() % 2;
	use_frontiers(cfg, 1 + dice() % cfg.worker_count);
	cfg.conventional_buffers = 1 + dice() % 3;
	cfg.conventional_gc_low = 2 + dice() % 3;
	cfg.flush_unit_planes = dice() % 2 ? 2 : 1;
	cfg.slc_program_sectors = dice() % 2 ? 2 : 1;
	if (dice() % 3 == 0)
		use_planes(cfg, 2);
	const uint64_t memory = dice() % 4;
	if (memory == 1)
		share_memory(cfg, 20 + static_cast<uint32_t>(dice() % 100));
	if (memory == 2) {
		protect_memory(cfg, 10 + static_cast<uint32_t>(dice() % 60), 2 + static_cast<uint32_t>(dice() % 60));
		cfg.plp_mode = dice() % 2 ? HZ_PLP_FULL : HZ_PLP_SELECTIVE;
	}
	if (memory == 0)
		lend_buffers(cfg);
	const uint64_t layout = dice() % 6;
	if (layout && layout < 4 && !cfg.superblock_planes && !cfg.buffer_pool_bytes)
		lay_out(cfg, layout & 1, layout & 2);
	cfg.l2p_compress = cfg.l2p_cache_bytes && dice() % 2;
	if (cfg.l2p_cache_bytes && seed % 4 == 3)
		use_directory(cfg);
	if (dice() % 3 == 0 && cfg.plp_mode == HZ_PLP_NONE)
		use_data_cache(cfg, 16 + static_cast<uint32_t>(dice() % 40), dice());
	if (seed % 5 == 2 && cfg.namespace_kind == HZ_NS_BLOCK && !cfg.data_cache_bytes)
		use_handles(cfg, 2 + static_cast<uint32_t>(seed / 5 % 3));
	use_collectors(cfg, 1 + static_cast<uint32_t>(seed / 3 % cfg.worker_count));
	fit_slc(cfg);
	return cfg;
}

// A full device: most cuts hit a collection.
static uint64_t chain(uint64_t seed)
{
	std::mt19937_64 dice(seed);
	Rig rig(random_config(seed, dice));
	ConventionalDriver driver(rig, seed);
	EXPECT_TRUE(rig.boot()) << rig.error;
	driver.fill();
	return chain_of_cuts(driver, dice, 200);
}

static uint64_t lives(uint64_t seed)
{
	std::mt19937_64 dice(seed);
	Rig rig(random_config(seed, dice));
	ConventionalDriver driver(rig, seed);
	EXPECT_TRUE(rig.boot()) << rig.error;
	driver.fill();
	return chain_of_lives(driver, dice, [](ConventionalDriver &d, std::mt19937_64 &) { return d.random_batch(); });
}

} // namespace conventional

namespace units {

static Op w(uint32_t zone, uint32_t sectors, uint8_t flags = 0) { return {FTL_WRITE, zone, sectors, flags}; }
static Op z(ftl_op op, uint32_t zone) { return {op, zone, 0, 0}; }
static ConventionalOp c(uint32_t lba, uint32_t sectors, uint8_t flags = 0) { return {FTL_WRITE, lba, sectors, flags}; }
static ConventionalOp d(uint32_t lba, uint32_t sectors) { return {FTL_DEALLOCATE, lba, sectors}; }
static const Op flush{FTL_FLUSH, 0, 0, 0};

using Body = std::vector<UnitsBatch>;

// The last body overwrites conventional zones filled before, so that both collectors run.
static const std::vector<std::pair<const char *, Body>> bodies = {
	{"StagedBoth", {{{w(0, 3)}, {c(0, 5)}}, {{flush}, {c(2, 9)}}, {{w(0, 5), w(1, 30)}, {c(90, 12, FTL_FUA)}}, {{flush}, {d(4, 20)}}}},
	{"FullZonesAndOverwrites",
	 {{{w(0, 96)}, {c(0, 60)}},
	  {{w(1, 96)}, {c(20, 60)}},
	  {{z(FTL_ZONE_RESET, 0), flush}, {c(5, 9)}},
	  {{w(0, 30, FTL_FUA)}, {c(3, 4)}}}},
	{"Collecting",
	 {{{w(0, 40)}, {c(0, 60), c(100, 60)}},
	  {{w(0, 56), w(2, 9)}, {c(30, 60)}},
	  {{flush}, {c(10, 30)}},
	  {{w(2, 9, FTL_FUA)}, {c(0, 48)}}}},
};

static void go_on(UnitsDriver &driver)
{
	for (uint32_t i = 0; i < 3; i++)
		driver.run_batch({{w(i, 5), w(4, 9)}, {c(i * 50, 60), c(i * 7, 30, FTL_FUA)}});
	driver.run_batch({{flush}, {}});
	driver.run_batch({{w(1, 3)}, {c(3, 9)}});
	replug(driver);
}

static bool run_cut(const Body &body, const UnitsLayout &layout, bool filled, const nand_policy &policy)
{
	Rig rig(units_config(layout));
	EXPECT_TRUE(rig.boot()) << rig.error;
	UnitsDriver driver(rig, 1);
	for (int round = 0; filled && round < 2; round++)
		driver.sectors.fill(48);
	driver.run_batch({{flush}, {}});
	EXPECT_TRUE(rig.boot(policy)) << rig.error;
	return cut_in(driver, body, go_on, !policy.cut_before);
}

static std::vector<Subject> subjects()
{
	std::vector<Subject> all;
	for (const auto &[name, body] : bodies)
		for (const UnitsLayout &layout : units_layouts) {
			const bool filled = name == std::string("Collecting"), slow = layout.change == units_layouts[5].change || filled;
			all.push_back(
				{name + std::string("_") + layout.name,
				 8,
				 {slow ? 3ul : 1, slow ? 5ul : 1},
				 [&taken = body, &layout, filled](const nand_policy &cut) { return run_cut(taken, layout, filled, cut); }});
		}
	return all;
}
INSTANTIATE_TEST_SUITE_P(Units, PowerCut, testing::ValuesIn(subjects()), [](const auto &test) { return test.param.name; });

static hz_device_config random_config(uint64_t seed)
{
	hz_device_config cfg = units_config(units_layouts[seed % std::size(units_layouts)]);
	cfg.l2p_zone_log = 1 + static_cast<uint32_t>(seed / 3 % 5);
	cfg.buffer_idle_ns = seed % 3 ? 0 : 200000;
	return cfg;
}

// On a device whose conventional zones have been written.
template <typename F> static uint64_t on_filled(uint64_t seed, F chain_of)
{
	std::mt19937_64 dice(seed);
	Rig rig(random_config(seed));
	UnitsDriver driver(rig, seed);
	EXPECT_TRUE(rig.boot()) << rig.error;
	driver.sectors.fill();
	return chain_of(driver, dice);
}

static uint64_t chain(uint64_t seed)
{
	return on_filled(seed, [](UnitsDriver &driver, std::mt19937_64 &dice) { return chain_of_cuts(driver, dice, 200); });
}

static uint64_t lives(uint64_t seed)
{
	return on_filled(seed, [](UnitsDriver &driver, std::mt19937_64 &dice) {
		return chain_of_lives(driver, dice, [](UnitsDriver &d, std::mt19937_64 &) { return d.random_batch(); });
	});
}

// The map is free to change between boots: every pair of maps, with cuts.
static uint64_t changing(uint64_t seed)
{
	std::mt19937_64 dice(seed);
	const hz_device_config mapped = units_config(true);
	uint64_t cuts = 0;
	Rig rig(mapped);
	UnitsDriver driver(rig, seed);
	EXPECT_TRUE(rig.boot()) << rig.error;
	driver.sectors.fill();
	for (int round = 0; round < 4 && !testing::Test::HasFailure(); round++) {
		rig.cfg.l2p_kind = dice() % HZ_L2P_KINDS;
		rig.cfg.l2p_cache_bytes = dice() % 2 ? mapped.l2p_cache_bytes : 0;
		nand_policy policy{};
		for (int boot = 0; boot < 3 && !testing::Test::HasFailure(); boot++) {
			policy.power_cut_op = 1 + dice() % 150;
			EXPECT_TRUE(rig.boot(policy)) << rig.error;
			driver.check_recovered();
			while (!testing::Test::HasFailure() && driver.run_batch(driver.random_batch()))
				;
			cuts += lt_load(&rig.media.off);
		}
	}
	return cuts;
}

} // namespace units

struct ChainKind {
	const char *name;
	unsigned seeds; // of each test
	uint64_t (*run)(uint64_t seed);
	const char *ends; // its counter; at least that many in each chain
	uint64_t least;
};
static const ChainKind chains[] = {{"Zones", 15, zones::chain, "cuts", 8},
				   {"Conventional", 3, conventional::chain, "cuts", 8},
				   {"ZonesShutDown", 3, zones::lives, "shutdowns", 4},
				   {"ConventionalShutDown", 1, conventional::lives, "shutdowns", 4},
				   {"Units", 8, units::chain, "cuts", 8},
				   {"UnitsShutDown", 3, units::lives, "shutdowns", 4},
				   {"UnitsChangingMaps", 6, units::changing, "cuts", 8}};

class PowerCutRandom : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(PowerCutRandom, ChainOfCuts)
{
	const ChainKind &kind = chains[std::get<0>(GetParam())];
	const uint64_t rounds = environment("HARTZONE_TEST_ROUNDS", kind.seeds), part = std::get<1>(GetParam());
	const uint64_t first = environment("HARTZONE_TEST_SEED", 1000) + part * std::max<uint64_t>(rounds, 1000);
	uint64_t ends = 0;
	for (uint64_t seed = first; seed < first + rounds && !HasFailure(); seed++) {
		SCOPED_TRACE(testing::Message() << "seed " << seed);
		ends += kind.run(seed);
	}
	std::printf("%s: %lu chains, %lu %s\n", kind.name, rounds, ends, kind.ends);
	EXPECT_GT(ends, kind.least * rounds);
}
INSTANTIATE_TEST_SUITE_P(Kinds, PowerCutRandom, testing::Combine(testing::Range(0, int(std::size(chains))), testing::Range(0, 8)),
			 [](const auto &test) { return chains[std::get<0>(test.param)].name + std::to_string(std::get<1>(test.param)); });
