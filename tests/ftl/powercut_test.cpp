// Power cuts: the same body again and again with the cut at every flash operation, inside it and just before it.
// SPDX-License-Identifier: BSD-3-Clause
#include "model.hpp"

using namespace ftl_rig;

// A body is a list of batches; it is run until power goes, then the device is mounted and compared with the model.
using Body = std::vector<std::vector<Op>>;

static Op W(uint32_t zone, uint32_t sectors, uint8_t flags = 0) { return {FTL_WRITE, zone, sectors, flags}; }
static Op Z(ftl_op op, uint32_t zone) { return {op, zone, 0, 0}; }
static const Op kFlush{FTL_FLUSH, 0, 0, 0};

static const std::vector<std::pair<const char *, Body>> kBodies = {
	{"FlushPartial", {{W(0, 3)}, {kFlush}, {W(0, 5)}, {kFlush}, {W(0, 9)}, {kFlush}, {W(0, 1, FTL_FUA)}}},
	{"TwoZonesOneBuffer", {{W(0, 4), W(2, 3)}, {W(0, 5), W(2, 7)}, {kFlush}, {W(2, 20), W(0, 2)}, {kFlush}}},
	{"FillAndReset",
	 {{W(1, 40)}, {W(1, 56)}, {Z(FTL_ZONE_RESET, 1)}, {W(1, 30, FTL_FUA)}, {Z(FTL_ZONE_RESET, 1)}, {W(1, 7)}, {kFlush}}},
	{"Finish",
	 {{W(3, 8)},
	  {Z(FTL_ZONE_FINISH, 3)},
	  {W(4, 12)},
	  {Z(FTL_ZONE_FINISH, 4)},
	  {Z(FTL_ZONE_FINISH, 5)},
	  {Z(FTL_ZONE_RESET, 3)},
	  {W(3, 5, FTL_FUA)}}},
	{"ManyUnitsInFlight", {{W(0, 64), W(1, 50)}, {kFlush}, {W(0, 30), W(1, 40)}, {kFlush}}},
	{"SmallForced",
	 {{W(0, 1, FTL_FUA), W(0, 1, FTL_FUA), W(0, 1, FTL_FUA)},
	  {W(0, 1, FTL_FUA), W(0, 1, FTL_FUA), W(0, 1, FTL_FUA)},
	  {W(0, 1, FTL_FUA), W(0, 1), W(0, 2, FTL_FUA)}}},
	{"NearTheEnd",
	 {{W(0, 93), W(1, 40)}, {W(0, 2, FTL_FUA)}, {W(0, 1), W(2, 3)}, {W(0, 14)}, {kFlush}, {Z(FTL_ZONE_RESET, 0)}, {W(0, 2, FTL_FUA)}}},
};

// Policies side by side; each body is cut at each of its operations under each of them.
struct Policy {
	const char *name;
	void (*change)(hz_device_config &);
};

static void Patch(hz_device_config &cfg)
{
	cfg.zone_capacity_sectors = 110; // the body "NearTheEnd" crosses the seam at 96
	cfg.zone_size_sectors = 128;
	cfg.slc_blocks_per_plane = 18;
	cfg.blocks_per_plane = 28;
}

static const Policy kPolicies[] = {
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
	{"PatchedIdle", [](hz_device_config &cfg) { Patch(cfg), cfg.buffer_idle_ns = 1; }},
	// One die lags far behind: rows must not run away from it, mount looks at the last two only.
	{"PatchedSlowDie", [](hz_device_config &cfg) { Patch(cfg), cfg.slow_die = 1, cfg.slow_percent = 2000; }},
	{"PatchedSlcPagesFifo",
	 [](hz_device_config &cfg) { Patch(cfg), cfg.slc_program_sectors = 2, cfg.slc_gc = HZ_GC_FIFO, cfg.slc_gc_low = 6; }},
};

// Once more after the crash: go on writing, flush, pull the plug without a cut inside an operation, look again.
static void GoOn(Driver &driver)
{
	std::vector<Op> more;
	for (uint32_t zone = 0; zone < 5; zone++)
		more.push_back(W(zone, 4));
	driver.Batch(more);
	driver.Batch({kFlush});
	for (Op &op : more)
		op.sectors = 1;
	driver.Batch(more);
	ASSERT_EQ(driver.rig.Check(), "");
	ASSERT_TRUE(driver.rig.Boot()) << driver.rig.error;
	driver.Recovered();
}

// Returns false when the cut lies beyond the end of the body.
static bool RunCut(const hz_device_config &cfg, const Body &body, uint64_t cut, uint32_t before)
{
	Rig rig(cfg);
	nand_policy policy{};
	policy.power_cut_op = cut;
	policy.cut_before = before;
	EXPECT_TRUE(rig.Boot(policy)) << rig.error;
	Driver driver(rig, 1);
	bool alive = true;
	for (const auto &batch : body)
		alive = alive && driver.Batch(batch);
	EXPECT_TRUE(rig.Boot()) << rig.error;
	if (!rig.ftl)
		return false;
	driver.Recovered();
	if (!testing::Test::HasFailure())
		GoOn(driver);
	return !alive;
}

class PowerCut : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(PowerCut, EveryOperation)
{
	const auto &[name, body] = kBodies[std::get<0>(GetParam())];
	hz_device_config cfg = Config();
	cfg.slc_blocks_per_plane = 8;
	cfg.blocks_per_plane = 18;
	kPolicies[std::get<1>(GetParam())].change(cfg);
	for (uint32_t before = 0; before < 2; before++) {
		uint64_t cut = 1;
		for (bool more = true; more; cut++) {
			SCOPED_TRACE(testing::Message() << name << " cut " << cut << (before ? " before" : " inside"));
			more = RunCut(cfg, body, cut, before);
			ASSERT_FALSE(HasFailure());
		}
		EXPECT_GT(cut, 8u) << "the body must do something";
	}
}
INSTANTIATE_TEST_SUITE_P(Bodies, PowerCut,
			 testing::Combine(testing::Range(0, int(std::size(kBodies))), testing::Range(0, int(std::size(kPolicies)))),
			 [](const auto &test) {
				 return std::string(kBodies[std::get<0>(test.param)].first) + "_" + kPolicies[std::get<1>(test.param)].name;
			 });

class PowerCutRandom : public testing::TestWithParam<int> {};

// Long random bodies, the device cut again and again on the same image.
TEST_P(PowerCutRandom, ChainOfCuts)
{
	for (uint64_t seed = GetParam() * 1000; seed < GetParam() * 1000 + 15u; seed++) {
		hz_device_config cfg = Config();
		std::mt19937_64 dice(seed);
		cfg.buffer_binding = dice() % 3;
		cfg.write_buffers = cfg.buffer_binding == HZ_BIND_PER_ZONE ? cfg.max_active : 1 + dice() % 3;
		cfg.flush_unit_planes = dice() % 2 ? 2 : 1;
		cfg.slc_program_sectors = dice() % 2 ? 2 : 1;
		cfg.slc_blocks_per_plane = 8;
		cfg.blocks_per_plane = 18;
		if (dice() % 3 == 0)
			Patch(cfg);
		cfg.slc_gc = dice() % 3;
		cfg.slc_gc_low = dice() % 8;
		cfg.buffer_idle_ns = dice() % 2 ? 1 + dice() % 1000000 : 0;
		Rig rig(cfg);
		Driver driver(rig, seed);
		for (int boot = 0; boot < 12; boot++) {
			nand_policy policy{};
			policy.power_cut_op = 1 + dice() % 150;
			policy.cut_before = dice() % 2;
			SCOPED_TRACE(testing::Message() << "seed " << seed << " boot " << boot << " cut " << policy.power_cut_op);
			ASSERT_TRUE(rig.Boot(policy)) << rig.error;
			driver.Recovered();
			ASSERT_FALSE(HasFailure());
			while (driver.Batch(driver.RandomBatch()))
				ASSERT_FALSE(HasFailure());
			ASSERT_FALSE(HasFailure());
		}
	}
}
INSTANTIATE_TEST_SUITE_P(Seeds, PowerCutRandom, testing::Range(1, 9));
