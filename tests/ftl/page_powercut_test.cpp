// Power cuts under conventional zones: whatever was durable is there, everything else is old or new.
// SPDX-License-Identifier: BSD-3-Clause
#include "page_model.hpp"

using namespace ftl_rig;

using Body = std::vector<std::vector<PageOp>>;

static PageOp W(uint32_t lba, uint32_t sectors, uint8_t flags = 0) { return {FTL_WRITE, lba, sectors, flags}; }
static const PageOp kFlush{FTL_FLUSH, 0, 0};

// The last body overwrites a device filled before, so that the collector runs.
static const std::vector<std::pair<const char *, Body>> kBodies = {
	{"Overwrites", {{W(0, 9)}, {kFlush}, {W(3, 4, FTL_FUA)}, {W(0, 30), W(200, 3)}, {W(5, 2)}, {kFlush}, {W(4, 3)}}},
	{"Side by side", {{W(0, 40), W(20, 40), W(95, 4)}, {W(10, 5, FTL_FUA), W(11, 5, FTL_FUA)}, {kFlush, W(0, 12)}}},
	{"Collecting", {{W(0, 60), W(100, 60)}, {W(30, 60)}, {kFlush, W(10, 30)}, {W(0, 48, FTL_FUA)}}},
};

// Once more after the crash: go on writing until backing zones are collected, pull the plug, look again.
static void GoOn(PageDriver &driver)
{
	for (int i = 0; i < 4; i++)
		driver.Batch({W(i * 7, 40), W(i * 50, 30, FTL_FUA)});
	driver.Batch({kFlush});
	driver.Batch({W(3, 9)});
	ASSERT_EQ(driver.rig.Check(), "");
	ASSERT_TRUE(driver.rig.Boot()) << driver.rig.error;
	driver.Recovered();
}

static hz_device_config CutConfig(bool mapped)
{
	hz_device_config cfg = mapped ? MappedPageConfig(true) : PageConfig(true);
	cfg.zones = cfg.conventional_zones = 3;
	cfg.blocks_per_plane = cfg.slc_blocks_per_plane + 3 + 5 + 2;
	return cfg;
}

// Returns false when the cut lies beyond the end of the body.
static bool RunCut(const Body &body, bool mapped, bool filled, uint64_t cut, uint32_t before)
{
	Rig rig(CutConfig(mapped));
	nand_policy policy{};
	policy.cut_before = before;
	EXPECT_TRUE(rig.Boot()) << rig.error;
	PageDriver driver(rig, 1);
	if (filled)
		for (int round = 0; round < 3; round++)
			driver.Fill(48);
	driver.Batch({kFlush});
	policy.power_cut_op = cut;
	EXPECT_TRUE(rig.Boot(policy)) << rig.error;
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

class PagePowerCut : public testing::TestWithParam<std::tuple<int, bool>> {};

TEST_P(PagePowerCut, EveryOperation)
{
	const auto &[name, body] = kBodies[std::get<0>(GetParam())];
	bool mapped = std::get<1>(GetParam());
	bool filled = name == std::string("Collecting");
	for (uint32_t before = 0; before < 2; before++) {
		uint64_t cut = 1;
		uint64_t step = filled && (before || mapped) ? 3 : 1;
		for (bool more = true; more; cut += step) {
			SCOPED_TRACE(testing::Message() << name << " cut " << cut << (before ? " before" : " inside"));
			more = RunCut(body, mapped, filled, cut, before);
			ASSERT_FALSE(HasFailure());
		}
		EXPECT_GT(cut, filled ? 60u : 10u) << "the body must do something";
	}
}
INSTANTIATE_TEST_SUITE_P(Bodies, PagePowerCut, testing::Combine(testing::Range(0, int(std::size(kBodies))), testing::Bool()));

class PagePowerCutRandom : public testing::TestWithParam<int> {};

// A stream that the configuration no longer has leaves a zone behind that is partly staged: it is collected like the others.
TEST(PagePowerCut, ALeftZoneIsCollected)
{
	Rig rig(PageConfig(true));
	ASSERT_TRUE(rig.Boot());
	PageDriver driver(rig, 3);
	driver.Fill();
	for (int i = 0; i < 20; i++)
		ASSERT_TRUE(driver.Batch(driver.RandomBatch()));
	ASSERT_TRUE(driver.Batch({W(0, 1, FTL_FUA), W(1, 1), W(0, 3, FTL_FUA)}));
	rig.cfg.conventional_streams = 1;
	ASSERT_TRUE(rig.Boot()) << rig.error;
	driver.Recovered();
	for (int i = 0; i < 60; i++)
		ASSERT_TRUE(driver.Batch(driver.RandomBatch()));
	driver.VerifyAll();
	EXPECT_EQ(rig.Check(), "");
}

// A full device, random overwrites, cut again and again on the same image: most cuts hit a collection.
TEST_P(PagePowerCutRandom, ChainOfCuts)
{
	for (uint64_t seed = GetParam() * 1000; seed < GetParam() * 1000 + 3u; seed++) {
		hz_device_config cfg = seed % 2 ? MappedPageConfig(seed % 3, seed & 4 ? HZ_L2P_LOG_BLOCKING : HZ_L2P_LOG_BACKGROUND)
						: PageConfig(seed % 3);
		std::mt19937_64 dice(seed);
		cfg.conventional_gc = static_cast<uint32_t>(dice() % HZ_GC_POLICIES);
		cfg.conventional_streams = 1 + dice() % 2;
		cfg.conventional_buffers = 1 + dice() % 3;
		cfg.conventional_gc_low = 2 + dice() % 3;
		cfg.flush_unit_planes = dice() % 2 ? 2 : 1;
		cfg.slc_program_sectors = dice() % 2 ? 2 : 1;
		Rig rig(cfg);
		PageDriver driver(rig, seed);
		ASSERT_TRUE(rig.Boot()) << rig.error;
		driver.Fill();
		for (int boot = 0; boot < 12; boot++) {
			nand_policy policy{};
			policy.power_cut_op = 1 + dice() % 200;
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
INSTANTIATE_TEST_SUITE_P(Seeds, PagePowerCutRandom, testing::Range(1, 9));
