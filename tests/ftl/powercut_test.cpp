// Power cuts: the same body again and again with the cut at every flash operation, inside it and just before it; and chains of cuts on one
// image. Sequential zones and conventional ones are cut by the same code, each with a model of its own.
// SPDX-License-Identifier: BSD-3-Clause
#include "model.hpp"
#include "conventional_model.hpp"

using namespace ftl_rig;

// What is cut. Its run boots a device, does the same thing each time until power goes, mounts again, and compares with the model; false:
// the cut lay beyond the end.
struct Subject {
	std::string name;
	uint64_t operations; // that it has at least
	uint64_t step[2];    // between cuts: inside an operation, before one
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

// The batches until power goes; then the device is mounted and compared, and goes on. False when power did not go.
template <typename Driver, typename Body> bool CutIn(Driver &driver, const Body &body, void (*go_on)(Driver &))
{
	bool alive = true;
	for (const auto &batch : body)
		alive = alive && driver.Batch(batch);
	EXPECT_TRUE(driver.rig.Boot()) << driver.rig.error;
	if (!driver.rig.ftl)
		return false;
	driver.Recovered();
	if (!testing::Test::HasFailure())
		go_on(driver);
	return !alive;
}

// Pulls the plug without a cut inside an operation, and looks again.
template <typename Driver> void Replug(Driver &driver)
{
	ASSERT_EQ(driver.rig.Check(), "");
	ASSERT_TRUE(driver.rig.Boot()) << driver.rig.error;
	driver.Recovered();
}

// Random batches, the device cut again and again on the same image, at one of its next `most` operations.
template <typename Driver> void ChainOfCuts(Driver &driver, std::mt19937_64 &dice, uint64_t most)
{
	for (int boot = 0; boot < 12; boot++) {
		nand_policy policy{};
		policy.power_cut_op = 1 + dice() % most;
		policy.cut_before = dice() % 2;
		SCOPED_TRACE(testing::Message() << "boot " << boot << " cut " << policy.power_cut_op);
		ASSERT_TRUE(driver.rig.Boot(policy)) << driver.rig.error;
		driver.Recovered();
		ASSERT_FALSE(testing::Test::HasFailure());
		while (driver.Batch(driver.RandomBatch()))
			ASSERT_FALSE(testing::Test::HasFailure());
		ASSERT_FALSE(testing::Test::HasFailure());
	}
}

namespace zones {

static Op W(uint32_t zone, uint32_t sectors, uint8_t flags = 0) { return {FTL_WRITE, zone, sectors, flags}; }
static Op Z(ftl_op op, uint32_t zone) { return {op, zone, 0, 0}; }
static const Op kFlush{FTL_FLUSH, 0, 0, 0};

using Body = std::vector<std::vector<Op>>;

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

// Once more after the crash: write, flush, write.
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
	Replug(driver);
}

static hz_device_config CutConfig(const Policy &policy)
{
	hz_device_config cfg = Config();
	cfg.slc_blocks_per_plane = 8;
	cfg.blocks_per_plane = 18;
	policy.change(cfg);
	return cfg;
}

static bool RunCut(const Policy &changed, const Body &body, const nand_policy &policy)
{
	Rig rig(CutConfig(changed));
	EXPECT_TRUE(rig.Boot(policy)) << rig.error;
	Driver driver(rig, 1);
	return CutIn(driver, body, GoOn);
}

static std::vector<Subject> Subjects()
{
	std::vector<Subject> all;
	for (const auto &[name, body] : kBodies)
		for (const Policy &policy : kPolicies)
			all.push_back({std::string(name) + "_" + policy.name, 8, {1, 1}, [&body = body, &policy](const nand_policy &cut) {
					       return RunCut(policy, body, cut);
				       }});
	return all;
}
INSTANTIATE_TEST_SUITE_P(Zones, PowerCut, testing::ValuesIn(Subjects()), [](const auto &test) { return test.param.name; });

static hz_device_config RandomConfig(std::mt19937_64 &dice)
{
	hz_device_config cfg = Config();
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
	return cfg;
}

static void Chain(uint64_t seed)
{
	std::mt19937_64 dice(seed);
	Rig rig(RandomConfig(dice));
	Driver driver(rig, seed);
	ChainOfCuts(driver, dice, 150);
}

} // namespace zones

namespace conventional {

using Body = std::vector<std::vector<ConventionalOp>>;

static ConventionalOp W(uint32_t lba, uint32_t sectors, uint8_t flags = 0) { return {FTL_WRITE, lba, sectors, flags}; }
static const ConventionalOp kFlush{FTL_FLUSH, 0, 0};

// The last body overwrites a device filled before, so that the collector runs.
static const std::vector<std::pair<const char *, Body>> kBodies = {
	{"Overwrites", {{W(0, 9)}, {kFlush}, {W(3, 4, FTL_FUA)}, {W(0, 30), W(200, 3)}, {W(5, 2)}, {kFlush}, {W(4, 3)}}},
	{"SideBySide", {{W(0, 40), W(20, 40), W(95, 4)}, {W(10, 5, FTL_FUA), W(11, 5, FTL_FUA)}, {kFlush, W(0, 12)}}},
	{"Collecting", {{W(0, 60), W(100, 60)}, {W(30, 60)}, {kFlush, W(10, 30)}, {W(0, 48, FTL_FUA)}}},
};

// Once more after the crash: write until backing zones are collected.
static void GoOn(ConventionalDriver &driver)
{
	for (int i = 0; i < 4; i++)
		driver.Batch({W(i * 7, 40), W(i * 50, 30, FTL_FUA)});
	driver.Batch({kFlush});
	driver.Batch({W(3, 9)});
	Replug(driver);
}

static hz_device_config CutConfig(bool mapped)
{
	hz_device_config cfg = mapped ? MappedPageConfig(true) : PageConfig(true);
	cfg.zones = cfg.conventional_zones = 3;
	cfg.blocks_per_plane = cfg.slc_blocks_per_plane + 3 + 5 + 2;
	return cfg;
}

static bool RunCut(const Body &body, bool mapped, bool filled, const nand_policy &policy)
{
	Rig rig(CutConfig(mapped));
	EXPECT_TRUE(rig.Boot()) << rig.error;
	ConventionalDriver driver(rig, 1);
	if (filled)
		for (int round = 0; round < 3; round++)
			driver.Fill(48);
	driver.Batch({kFlush});
	EXPECT_TRUE(rig.Boot(policy)) << rig.error;
	return CutIn(driver, body, GoOn);
}

static std::vector<Subject> Subjects()
{
	std::vector<Subject> all;
	for (const auto &[name, body] : kBodies)
		for (bool mapped : {false, true}) {
			bool filled = name == std::string("Collecting");
			all.push_back(
				{name + std::string(mapped ? "_Mapped" : "_Flat"),
				 filled ? 60u : 10u,
				 {filled && mapped ? 3u : 1u, filled ? 3u : 1u},
				 [&body = body, mapped, filled](const nand_policy &cut) { return RunCut(body, mapped, filled, cut); }});
		}
	return all;
}
INSTANTIATE_TEST_SUITE_P(Conventional, PowerCut, testing::ValuesIn(Subjects()), [](const auto &test) { return test.param.name; });

static hz_device_config RandomConfig(uint64_t seed, std::mt19937_64 &dice)
{
	hz_device_config cfg = seed % 2 ? MappedPageConfig(seed % 3, seed & 4 ? HZ_L2P_LOG_BLOCKING : HZ_L2P_LOG_BACKGROUND)
					: PageConfig(seed % 3);
	cfg.conventional_gc = static_cast<uint32_t>(dice() % HZ_GC_POLICIES);
	cfg.conventional_streams = 1 + dice() % 2;
	cfg.conventional_buffers = 1 + dice() % 3;
	cfg.conventional_gc_low = 2 + dice() % 3;
	cfg.flush_unit_planes = dice() % 2 ? 2 : 1;
	cfg.slc_program_sectors = dice() % 2 ? 2 : 1;
	return cfg;
}

// A full device: most cuts hit a collection.
static void Chain(uint64_t seed)
{
	std::mt19937_64 dice(seed);
	Rig rig(RandomConfig(seed, dice));
	ConventionalDriver driver(rig, seed);
	ASSERT_TRUE(rig.Boot()) << rig.error;
	driver.Fill();
	ChainOfCuts(driver, dice, 200);
}

} // namespace conventional

struct ChainKind {
	const char *name;
	unsigned seeds; // of each test
	void (*run)(uint64_t seed);
};
static const ChainKind kChains[] = {{"Zones", 15, zones::Chain}, {"Conventional", 3, conventional::Chain}};

class PowerCutRandom : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(PowerCutRandom, ChainOfCuts)
{
	const ChainKind &kind = kChains[std::get<0>(GetParam())];
	uint64_t first = std::get<1>(GetParam()) * 1000;
	for (uint64_t seed = first; seed < first + kind.seeds && !HasFailure(); seed++) {
		SCOPED_TRACE(testing::Message() << "seed " << seed);
		kind.run(seed);
	}
}
INSTANTIATE_TEST_SUITE_P(Kinds, PowerCutRandom, testing::Combine(testing::Range(0, int(std::size(kChains))), testing::Range(1, 9)),
			 [](const auto &test) { return kChains[std::get<0>(test.param)].name + std::to_string(std::get<1>(test.param)); });
