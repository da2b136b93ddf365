// Failing operations under conventional zones: a failure costs spare blocks, then over-provisioning, then writability, never data.
// SPDX-License-Identifier: BSD-3-Clause
#include "conventional_model.hpp"

using namespace ftl_rig;

static ConventionalOp w(uint32_t lba, uint32_t sectors, uint8_t flags = 0) { return {FTL_WRITE, lba, sectors, flags}; }
static const ConventionalOp flush_op{FTL_FLUSH, 0, 0};

// In normal superblocks, in those of patched zones, and in SLC.
static hz_device_config three_zones(int layout = 0)
{
	hz_device_config cfg = conventional_config(true);
	cfg.zones = cfg.conventional_zones = 3;
	cfg.blocks_per_plane -= 3;
	if (layout)
		lay_out(cfg, layout == 1, layout == 2);
	return cfg;
}

class ConventionalLayoutFaults : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Layouts, ConventionalLayoutFaults, testing::Range(0, 3));

// Every single operation of a body with collections fails once: nothing is lost, nothing is refused.
TEST_P(ConventionalLayoutFaults, AnyOneOperationMayFail)
{
	const uint64_t step = GetParam() == 2 ? 5 : 1; // in SLC each sector is an operation
	uint64_t operations = 1000;
	for (uint64_t fail = 1; fail <= operations; fail += step) {
		SCOPED_TRACE(testing::Message() << "operation " << fail << " fails");
		Rig rig(three_zones(GetParam()));
		ASSERT_TRUE(rig.boot());
		ConventionalDriver driver(rig, 1);
		for (int round = 0; round < 3; round++)
			driver.fill(48);
		nand_policy policy{};
		policy.fail_op = fail;
		driver.run_batch({flush_op});
		ASSERT_TRUE(rig.boot(policy));
		ASSERT_TRUE(driver.run_batch({w(0, 60), w(100, 60)}));
		ASSERT_TRUE(driver.run_batch({w(30, 60)}));
		ASSERT_TRUE(driver.run_batch({flush_op, w(10, 30)}));
		ASSERT_TRUE(driver.run_batch({w(0, 48, FTL_FUA)}));
		driver.verify_all();
		ASSERT_EQ(rig.check(), "");
		operations = nand_media_operations(&rig.media);
		ASSERT_TRUE(rig.boot()) << rig.error;
		driver.check_recovered();
		ASSERT_FALSE(HasFailure());
	}
	EXPECT_GT(operations, 50u);
}

// One operation fails and a later one is cut: a backing zone's move is cut at each of its steps.
TEST_P(ConventionalLayoutFaults, PowerMayGoWhileABackingZoneMoves)
{
	for (uint64_t fail : {2u, 5u, 9u, 16u})
		for (uint64_t cut = fail + 1; cut < fail + 32; cut++) {
			SCOPED_TRACE(testing::Message() << "operation " << fail << " fails, cut at " << cut);
			Rig rig(three_zones(GetParam()));
			ASSERT_TRUE(rig.boot());
			ConventionalDriver driver(rig, 1);
			driver.fill(48);
			driver.run_batch({flush_op});
			nand_policy policy{};
			policy.fail_op = fail;
			policy.power_cut_op = cut;
			ASSERT_TRUE(rig.boot(policy));
			bool alive = driver.run_batch({w(0, 70), w(50, 20, FTL_FUA)}) && driver.run_batch({w(10, 60)}) &&
				     driver.run_batch({w(3, 30, FTL_FUA)});
			(void)alive;
			ASSERT_TRUE(rig.boot()) << rig.error;
			driver.check_recovered();
			ASSERT_FALSE(HasFailure());
			ASSERT_TRUE(driver.run_batch({w(100, 90)}));
			ASSERT_EQ(rig.check(), "");
		}
}

// Programs and erases fail at random until the spare superblocks are gone and the space shrinks: acknowledged data can be read until then,
// and durable data after that.
TEST(ConventionalFaults, AWornSpaceEndsReadOnlyAndKeepsItsData)
{
	hz_device_config cfg = conventional_config(true);
	cfg.normal.endurance = 3;
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot());
	ConventionalDriver driver(rig, 5);
	driver.writes_may_fail = true;
	for (int i = 0; i < 400 && !driver.refused; i++) {
		driver.run_batch({w(driver.pick_place(), 20)});
		driver.run_batch({flush_op});
		ASSERT_FALSE(HasFailure());
	}
	EXPECT_TRUE(driver.refused);
	driver.verify_all();
	EXPECT_EQ(rig.check(), "");
	ASSERT_TRUE(rig.boot());
	driver.check_recovered();
}

// Programs fail until there is no superblock to move to: a zone is lost with copies in its buffer, and the map has the originals again.
// What the host had not flushed may be lost, too.
TEST(ConventionalFaults, CopiesOfALostZoneGiveWayToTheirOriginals)
{
	uint32_t returned = 0;
	for (uint32_t seed = 1; seed <= 60; seed++) {
		SCOPED_TRACE(seed);
		hz_device_config cfg = three_zones();
		cfg.program_fail_ppb = 10000000;
		cfg.seed = seed;
		cfg.spare_superblocks = 0;
		Rig rig(cfg);
		ASSERT_TRUE(rig.boot()) << rig.error;
		ConventionalDriver driver(rig, seed);
		driver.writes_may_fail = true;
		for (int i = 0; i < 300 && !driver.refused; i++) {
			driver.run_batch({w(driver.pick_place(), 20)});
			if (i % 5 == 0)
				driver.run_batch({flush_op});
			ASSERT_FALSE(HasFailure());
			returned += rig_zones_with_returned_copies(rig.ftl);
		}
		EXPECT_TRUE(driver.refused);
		EXPECT_EQ(rig.check(), "");
		ASSERT_TRUE(rig.boot()) << rig.error;
		driver.check_recovered();
		ASSERT_FALSE(HasFailure());
	}
	EXPECT_GT(returned, 0u);
}
