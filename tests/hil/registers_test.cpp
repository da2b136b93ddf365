// Controller registers: constants, access rules, enabling with possible and impossible settings.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "rig.hpp"

namespace hil_test {

TEST(Registers, CapabilitiesNameDepthContiguityAndCommandSets)
{
	Rig rig;
	uint64_t cap = rig.get(NVME_REG_CAP, 8);
	EXPECT_EQ(cap & 0xffff, 1023u);
	EXPECT_EQ(cap >> NVME_CAP_CQR & 1, 1u);
	EXPECT_EQ(cap >> NVME_CAP_AMS & 3, 1u) << "weighted round robin with urgent class, and none of a vendor";
	EXPECT_EQ(cap >> NVME_CAP_DSTRD & 15, 0u);
	EXPECT_EQ(cap >> NVME_CAP_CSS & 0xff, 0x41u);
	EXPECT_EQ(cap >> NVME_CAP_MPSMIN & 0xff, 0u);
	EXPECT_EQ(rig.get(NVME_REG_CAP), cap & 0xffffffff);
	EXPECT_EQ(rig.get(NVME_REG_CAP + 4), cap >> 32);
	EXPECT_EQ(rig.get(NVME_REG_VS), 0x20000u);
	EXPECT_EQ(rig.get(NVME_REG_CMBSZ), 0u);
}

TEST(Registers, AdminPlaceIsWrittenWholeOrByHalves)
{
	Rig rig;
	rig.set(NVME_REG_ASQ, 0x1234567812345000, 8);
	EXPECT_EQ(rig.get(NVME_REG_ASQ, 8), 0x1234567812345000u);
	rig.set(NVME_REG_ACQ, 0x5000);
	rig.set(NVME_REG_ACQ + 4, 0x77);
	EXPECT_EQ(rig.get(NVME_REG_ACQ, 8), 0x7700005000u);
	EXPECT_EQ(rig.get(NVME_REG_ACQ + 4), 0x77u);
	rig.set(NVME_REG_AQA, 0x001f003f);
	EXPECT_EQ(rig.get(NVME_REG_AQA), 0x001f003fu);
}

TEST(Registers, IllegalAccessIsRefusedAndTheConnectionStays)
{
	Rig rig;
	EXPECT_EQ(rig.set(NVME_REG_CAP, 1, 8).type, HZ_LINK_ERROR);
	EXPECT_EQ(rig.set(NVME_REG_VS, 1).type, HZ_LINK_ERROR);
	EXPECT_EQ(rig.set(NVME_REG_CSTS, 1).type, HZ_LINK_ERROR);
	EXPECT_EQ(rig.set(NVME_REG_CC, 1, 8).type, HZ_LINK_ERROR);
	EXPECT_EQ(rig.ask(HZ_LINK_READ, NVME_REG_CC, 8).type, HZ_LINK_ERROR);
	EXPECT_FALSE(rig.closed());
	rig.enable();
	EXPECT_EQ(rig.set(NVME_REG_ASQ, 0, 8).type, HZ_LINK_ERROR);
	EXPECT_EQ(rig.set(NVME_REG_AQA, 0).type, HZ_LINK_ERROR);
}

TEST(Registers, InterruptMaskSetsAndClears)
{
	Rig rig;
	rig.set(NVME_REG_INTMS, 0x5);
	rig.set(NVME_REG_INTMS, 0x2);
	EXPECT_EQ(rig.get(NVME_REG_INTMS), 7u);
	rig.set(NVME_REG_INTMC, 0x4);
	EXPECT_EQ(rig.get(NVME_REG_INTMC), 3u);
}

TEST(Registers, MaskedVectorIsHeldBack)
{
	Rig rig;
	rig.enable();
	rig.set(NVME_REG_INTMS, 1);
	rig.place_admin(admin_sqe(NVME_ADMIN_ABORT));
	rig.ring_admin();
	EXPECT_TRUE(rig.received().empty());
	rig.post(NVME_REG_INTMC, 1);
	rig.run();
	auto messages = rig.received();
	ASSERT_EQ(messages.size(), 2u);
	EXPECT_EQ(messages[1].type, HZ_LINK_IRQ);
	EXPECT_EQ(messages[1].offset, 0u);
}

struct BadEnable {
	const char *what;
	uint32_t cc, aqa;
	uint64_t asq, acq;
	friend void PrintTo(const BadEnable &bad, std::ostream *out) { *out << bad.what; }
};
class RegistersBadEnable : public testing::TestWithParam<BadEnable> {};

TEST_P(RegistersBadEnable, EndsInFatalStatusAndDisableHeals)
{
	Rig rig;
	rig.set(NVME_REG_AQA, GetParam().aqa);
	rig.set(NVME_REG_ASQ, GetParam().asq, 8);
	rig.set(NVME_REG_ACQ, GetParam().acq, 8);
	rig.set(NVME_REG_CC, GetParam().cc);
	EXPECT_EQ(rig.get(NVME_REG_CSTS), uint32_t{NVME_CSTS_CFS});
	rig.set(NVME_REG_CC, 0);
	EXPECT_EQ(rig.get(NVME_REG_CSTS), 0u);
	rig.enable();
}

INSTANTIATE_TEST_SUITE_P(Settings, RegistersBadEnable,
			 testing::Values(BadEnable{"page size", 0x61 | 1 << 7, 0x1f001f, heap, heap + 4096},
					 BadEnable{"arbitration", 0x61 | 2 << 11, 0x1f001f, heap, heap + 4096},
					 BadEnable{"command set", 0x11, 0x1f001f, heap, heap + 4096},
					 BadEnable{"admin only", 0x71, 0x1f001f, heap, heap + 4096},
					 BadEnable{"one SQ slot", 0x61, 0x1f0000, heap, heap + 4096},
					 BadEnable{"one CQ slot", 0x61, 0x00001f, heap, heap + 4096},
					 BadEnable{"SQ unaligned", 0x61, 0x1f001f, heap + 64, heap + 4096},
					 BadEnable{"SQ at an odd address", 0x61, 0x1f001f, heap + 1, heap + 4096},
					 BadEnable{"CQ between two sectors", 0x61, 0x1f001f, heap, heap + 4096 + 2048},
					 BadEnable{"CQ below heap", 0x61, 0x1f001f, heap, 4096},
					 BadEnable{"SQ beyond", 0x61, 0x1f001f, region_bytes, heap},
					 BadEnable{"SQ wraps", 0x61, 0x1f001f, ~4095ull, heap},
					 BadEnable{"CQ end beyond", 0x61, 0xfff001f, heap, region_bytes - 4096}));

TEST(Registers, ReadingCostsNoDeviceTime)
{
	Rig rig;
	uint64_t before = rig.now();
	for (int i = 0; i < 100; i++)
		rig.get(NVME_REG_CSTS);
	EXPECT_EQ(rig.now(), before);
}

} // namespace hil_test
