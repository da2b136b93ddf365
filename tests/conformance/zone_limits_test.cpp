// Open and active resources (ZNS 2.1.1.4) on a device with 3 open and 5 active zones.
// SPDX-License-Identifier: BSD-3-Clause
#include "command_case.hpp"

namespace conform {
namespace zone_limits_test {

class ZoneLimits : public ZonedDevice {
protected:
	uint16_t open(uint32_t z) { return bench().send(z, NVME_ZSA_OPEN); }
	uint16_t close(uint32_t z) { return bench().send(z, NVME_ZSA_CLOSE); }
	uint16_t write(uint32_t z) { return bench().write(bench().start(z), 1); }
	nvme_zone_state state(uint32_t z) { return bench().state(z); }
	void open_three()
	{
		for (uint32_t z = 0; z < 3; z++)
			ASSERT_EQ(open(z), NVME_SUCCESS);
	}
	// Zones 0 … 4 are CLOSED with a block each.
	void close_five()
	{
		for (uint32_t z = 0; z < 5; z++) {
			ASSERT_EQ(write(z), NVME_SUCCESS);
			ASSERT_EQ(close(z), NVME_SUCCESS);
		}
	}
};

TEST_F(ZoneLimits, FourthExplicitOpenIsOneTooMany)
{
	ASSERT_NO_FATAL_FAILURE(open_three());
	EXPECT_EQ(open(3), NVME_TOO_MANY_OPEN);
	EXPECT_EQ(state(3), NVME_ZS_EMPTY);
}

TEST_F(ZoneLimits, OpeningAnOpenZoneNeedsNoMore)
{
	ASSERT_NO_FATAL_FAILURE(open_three());
	EXPECT_EQ(open(1), NVME_SUCCESS);
	EXPECT_EQ(write(1), NVME_SUCCESS);
}

TEST_F(ZoneLimits, WriteIsRefusedWhenAllOpenZonesAreExplicit)
{
	ASSERT_NO_FATAL_FAILURE(open_three());
	EXPECT_EQ(write(3), NVME_TOO_MANY_OPEN);
	EXPECT_EQ(bench().append(3, 1), NVME_TOO_MANY_OPEN);
	EXPECT_EQ(bench().status(hz::QueuePair::write_zeroes(bench().start(3), 1)), NVME_TOO_MANY_OPEN);
	EXPECT_EQ(state(3), NVME_ZS_EMPTY);
	EXPECT_EQ(bench().filled(3), 0u);
}

TEST_F(ZoneLimits, WriteClosesAnImplicitlyOpenZone)
{
	for (uint32_t z = 0; z < 4; z++)
		ASSERT_EQ(write(z), NVME_SUCCESS);
	EXPECT_EQ(state(0), NVME_ZS_CLOSED) << "the oldest";
	for (uint32_t z = 1; z < 4; z++)
		EXPECT_EQ(state(z), NVME_ZS_IMPLICIT_OPEN) << "zone " << z;
}

TEST_F(ZoneLimits, OpenClosesAnImplicitlyOpenZone)
{
	for (uint32_t z = 0; z < 3; z++)
		ASSERT_EQ(write(z), NVME_SUCCESS);
	EXPECT_EQ(open(3), NVME_SUCCESS);
	EXPECT_EQ(state(0), NVME_ZS_CLOSED);
	EXPECT_EQ(state(3), NVME_ZS_EXPLICIT_OPEN);
}

TEST_F(ZoneLimits, ExplicitlyOpenZonesAreNeverClosedForOthers)
{
	ASSERT_EQ(open(0), NVME_SUCCESS);
	ASSERT_EQ(open(1), NVME_SUCCESS);
	for (uint32_t z = 2; z < 5; z++)
		ASSERT_EQ(write(z), NVME_SUCCESS);
	EXPECT_EQ(state(0), NVME_ZS_EXPLICIT_OPEN);
	EXPECT_EQ(state(1), NVME_ZS_EXPLICIT_OPEN);
	EXPECT_EQ(state(4), NVME_ZS_IMPLICIT_OPEN);
}

TEST_F(ZoneLimits, ClosedZonesCanBeOpenedAgainUpToTheLimit)
{
	ASSERT_NO_FATAL_FAILURE(close_five());
	for (uint32_t z = 0; z < 3; z++)
		EXPECT_EQ(open(z), NVME_SUCCESS);
	EXPECT_EQ(open(3), NVME_TOO_MANY_OPEN);
	EXPECT_EQ(state(3), NVME_ZS_CLOSED);
	EXPECT_EQ(bench().write(bench().start(3) + 1, 1), NVME_TOO_MANY_OPEN);
	EXPECT_EQ(bench().filled(3), 1u);
}

TEST_F(ZoneLimits, SixthActiveZoneIsOneTooMany)
{
	ASSERT_NO_FATAL_FAILURE(close_five());
	EXPECT_EQ(write(5), NVME_TOO_MANY_ACTIVE);
	EXPECT_EQ(bench().append(5, 1), NVME_TOO_MANY_ACTIVE);
	EXPECT_EQ(open(5), NVME_TOO_MANY_ACTIVE);
	EXPECT_EQ(state(5), NVME_ZS_EMPTY);
}

TEST_F(ZoneLimits, ARefusalClosesNoOtherZone)
{
	for (uint32_t z = 0; z < 5; z++)
		ASSERT_EQ(write(z), NVME_SUCCESS);
	ASSERT_EQ(write(5), NVME_TOO_MANY_ACTIVE);
	for (uint32_t z = 2; z < 5; z++)
		EXPECT_EQ(state(z), NVME_ZS_IMPLICIT_OPEN) << "zone " << z;
}

TEST_F(ZoneLimits, FinishOfAnEmptyZoneNeedsNoResources)
{
	ASSERT_NO_FATAL_FAILURE(close_five());
	EXPECT_EQ(bench().send(5, NVME_ZSA_FINISH), NVME_SUCCESS);
	EXPECT_EQ(state(5), NVME_ZS_FULL);
	EXPECT_EQ(write(6), NVME_TOO_MANY_ACTIVE);
}

TEST_F(ZoneLimits, FinishResetAndFillingGiveActiveResourcesBack)
{
	Bench &b = bench();
	ASSERT_NO_FATAL_FAILURE(close_five());
	EXPECT_EQ(b.send(0, NVME_ZSA_FINISH), NVME_SUCCESS);
	EXPECT_EQ(write(5), NVME_SUCCESS);
	EXPECT_EQ(write(6), NVME_TOO_MANY_ACTIVE);
	EXPECT_EQ(b.send(1, NVME_ZSA_RESET), NVME_SUCCESS);
	EXPECT_EQ(write(6), NVME_SUCCESS);
	EXPECT_EQ(write(7), NVME_TOO_MANY_ACTIVE);
	EXPECT_EQ(b.write(b.start(2) + 1, 95), NVME_SUCCESS);
	EXPECT_EQ(state(2), NVME_ZS_FULL);
	EXPECT_EQ(write(7), NVME_SUCCESS);
	EXPECT_EQ(write(8), NVME_TOO_MANY_ACTIVE);
}

TEST_F(ZoneLimits, CloseGivesOpenResourcesBack)
{
	ASSERT_NO_FATAL_FAILURE(open_three());
	ASSERT_EQ(write(0), NVME_SUCCESS);
	EXPECT_EQ(close(0), NVME_SUCCESS);
	EXPECT_EQ(open(3), NVME_SUCCESS);
	EXPECT_EQ(open(0), NVME_TOO_MANY_OPEN);
}

TEST_F(ZoneLimits, OpenAllThatDoNotFitChangesNothing)
{
	ASSERT_NO_FATAL_FAILURE(close_five());
	EXPECT_EQ(bench().send(0, NVME_ZSA_OPEN, true), NVME_TOO_MANY_OPEN);
	for (uint32_t z = 0; z < 5; z++)
		EXPECT_EQ(state(z), NVME_ZS_CLOSED) << "zone " << z;
}

TEST_F(ZoneLimits, WritingAWholeZoneNeedsResourcesToo)
{
	ASSERT_NO_FATAL_FAILURE(close_five());
	EXPECT_EQ(bench().write(bench().start(5), 96), NVME_TOO_MANY_ACTIVE);
	EXPECT_EQ(state(5), NVME_ZS_EMPTY);
}

TEST_F(ZoneLimits, OneHundredZonesInTurnLeakNothing)
{
	Bench &b = bench();
	for (uint32_t i = 0; i < 100; i++) {
		uint32_t z = i % b.zones();
		ASSERT_EQ(i % 3 ? write(z) : open(z), NVME_SUCCESS) << "round " << i;
		ASSERT_EQ(b.send(z, i % 2 ? NVME_ZSA_FINISH : NVME_ZSA_RESET), NVME_SUCCESS) << "round " << i;
		ASSERT_EQ(b.send(z, NVME_ZSA_RESET), NVME_SUCCESS) << "round " << i;
	}
	ASSERT_NO_FATAL_FAILURE(open_three());
	EXPECT_EQ(open(3), NVME_TOO_MANY_OPEN);
}

// Equal limits: the active one is named (ZNS 2.1.1.4.1 b). No limits: every zone may be open.
TEST(ZoneLimitsOfOtherDevices, EqualLimitsNameTheActiveOne)
{
	hz_device_config config = small_config();
	config.max_open = config.max_active = 2;
	Bench b(config);
	EXPECT_EQ(b.send(0, NVME_ZSA_OPEN), NVME_SUCCESS);
	EXPECT_EQ(b.send(1, NVME_ZSA_OPEN), NVME_SUCCESS);
	EXPECT_EQ(b.send(2, NVME_ZSA_OPEN), NVME_TOO_MANY_ACTIVE);
	EXPECT_EQ(b.write(b.start(2), 1), NVME_TOO_MANY_ACTIVE);
}

} // namespace zone_limits_test
} // namespace conform
