// Failing operations under conventional zones: a failure costs spare blocks, then over-provisioning, then writability, never data.
// SPDX-License-Identifier: BSD-3-Clause
#include "conventional_model.hpp"

using namespace ftl_rig;

static ConventionalOp W(uint32_t lba, uint32_t sectors, uint8_t flags = 0) { return {FTL_WRITE, lba, sectors, flags}; }
static const ConventionalOp kFlush{FTL_FLUSH, 0, 0};

// Every single operation of a body that collects fails once: nothing is lost, nothing is refused.
TEST(ConventionalFaults, AnyOneOperationMayFail)
{
	uint64_t operations = 1000;
	for (uint64_t fail = 1; fail <= operations; fail++) {
		SCOPED_TRACE(testing::Message() << "operation " << fail << " fails");
		hz_device_config cfg = PageConfig(true);
		cfg.zones = cfg.conventional_zones = 3;
		cfg.blocks_per_plane -= 3;
		Rig rig(cfg);
		ASSERT_TRUE(rig.Boot());
		ConventionalDriver driver(rig, 1);
		for (int round = 0; round < 3; round++)
			driver.Fill(48);
		nand_policy policy{};
		policy.fail_op = fail;
		driver.Batch({kFlush});
		ASSERT_TRUE(rig.Boot(policy));
		ASSERT_TRUE(driver.Batch({W(0, 60), W(100, 60)}));
		ASSERT_TRUE(driver.Batch({W(30, 60)}));
		ASSERT_TRUE(driver.Batch({kFlush, W(10, 30)}));
		ASSERT_TRUE(driver.Batch({W(0, 48, FTL_FUA)}));
		driver.VerifyAll();
		ASSERT_EQ(rig.Check(), "");
		operations = nand_media_operations(&rig.media);
		ASSERT_TRUE(rig.Boot()) << rig.error;
		driver.Recovered();
		ASSERT_FALSE(HasFailure());
	}
	EXPECT_GT(operations, 60u);
}

// One operation fails and a later one is cut: a backing zone's move is cut at each of its steps.
TEST(ConventionalFaults, PowerMayGoWhileABackingZoneMoves)
{
	for (uint64_t fail : {2u, 5u, 9u, 16u})
		for (uint64_t cut = fail + 1; cut < fail + 32; cut++) {
			SCOPED_TRACE(testing::Message() << "operation " << fail << " fails, cut at " << cut);
			hz_device_config cfg = PageConfig(true);
			cfg.zones = cfg.conventional_zones = 3;
			cfg.blocks_per_plane -= 3;
			Rig rig(cfg);
			ASSERT_TRUE(rig.Boot());
			ConventionalDriver driver(rig, 1);
			driver.Fill(48);
			driver.Batch({kFlush});
			nand_policy policy{};
			policy.fail_op = fail;
			policy.power_cut_op = cut;
			ASSERT_TRUE(rig.Boot(policy));
			bool alive = driver.Batch({W(0, 70), W(50, 20, FTL_FUA)}) && driver.Batch({W(10, 60)}) &&
				     driver.Batch({W(3, 30, FTL_FUA)});
			(void)alive;
			ASSERT_TRUE(rig.Boot()) << rig.error;
			driver.Recovered();
			ASSERT_FALSE(HasFailure());
			ASSERT_TRUE(driver.Batch({W(100, 90)}));
			ASSERT_EQ(rig.Check(), "");
		}
}

// Programs and erases fail at random until the spare superblocks are gone and the space shrinks: what was acknowledged can be read until
// then, and what is durable after that.
TEST(ConventionalFaults, AWornSpaceEndsReadOnlyAndKeepsItsData)
{
	hz_device_config cfg = PageConfig(true);
	cfg.normal.endurance = 3;
	Rig rig(cfg);
	ASSERT_TRUE(rig.Boot());
	ConventionalDriver driver(rig, 5);
	driver.writes_may_fail = true;
	for (int i = 0; i < 400 && !driver.refused; i++) {
		driver.Batch({W(driver.Where(), 20)});
		driver.Batch({kFlush});
		ASSERT_FALSE(HasFailure());
	}
	EXPECT_TRUE(driver.refused);
	driver.VerifyAll();
	EXPECT_EQ(rig.Check(), "");
	ASSERT_TRUE(rig.Boot());
	driver.Recovered();
}
