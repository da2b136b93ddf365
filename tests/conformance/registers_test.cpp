// Controller registers (base spec 3.1.3), enable, reset and shutdown (3.5 to 3.7), and the link's refusals.
// SPDX-License-Identifier: BSD-3-Clause
#include <thread>

#include "admin_ring.hpp"
#include "command_case.hpp"
#include "session/machine/error.hpp"

namespace conform {
namespace registers_test {

constexpr uint32_t sizes = 6u << NVME_CC_IOSQES_SHIFT | 4u << NVME_CC_IOCQES_SHIFT;
constexpr uint32_t csi = NVME_CC_CSS_CSI << NVME_CC_CSS_SHIFT;

class Registers : public Device {
protected:
	hz::Link &link() { return bench().link(); }
	uint32_t csts() { return link().read32(NVME_REG_CSTS); }
};

TEST_F(Registers, CapNamesTheLimits)
{
	uint64_t cap = link().read64(NVME_REG_CAP);
	EXPECT_EQ((cap & 0xffff) + 1, static_cast<uint64_t>(HZ_MAX_QUEUE_DEPTH));
	EXPECT_EQ(cap >> NVME_CAP_CQR & 1, 1u);
	EXPECT_EQ(cap >> NVME_CAP_AMS & 3, 1u);
	EXPECT_EQ(cap >> NVME_CAP_DSTRD & 15, 0u);
	EXPECT_TRUE(cap >> NVME_CAP_CSS & NVME_CAP_CSS_CSI);
	EXPECT_EQ(cap >> NVME_CAP_MPSMIN & 15, 0u);
	EXPECT_GE(cap >> NVME_CAP_MPSMAX & 15, cap >> NVME_CAP_MPSMIN & 15);
	EXPECT_GT(cap >> NVME_CAP_TO & 0xff, 0u);
}

TEST_F(Registers, CapReadsInHalvesToo)
{
	uint64_t cap = link().read64(NVME_REG_CAP);
	EXPECT_EQ(link().read32(NVME_REG_CAP), static_cast<uint32_t>(cap));
	EXPECT_EQ(link().read32(NVME_REG_CAP + 4), static_cast<uint32_t>(cap >> 32));
}

// Base spec 3.1.3.1 and 3.1.3.21: from 2.0 on a controller says how long it needs to become ready.
TEST_F(Registers, ReadyTimeoutIsThere)
{
	EXPECT_EQ(link().read64(NVME_REG_CAP) >> NVME_CAP_CRMS & 3, 1u) << "ready with media, not independent of media";
	EXPECT_GT(link().read32(NVME_REG_CRTO) & 0xffff, 0u);
	EXPECT_EQ(link().read32(NVME_REG_CRTO) >> 16, 0u);
	EXPECT_THROW(link().write32(NVME_REG_CRTO, 1), hz::Error);
}

// An offset outside the map breaks the protocol: the connection ends, the device stays and is idle for the next host.
TEST_F(Registers, ABrokenProtocolEndsTheConnectionOnly)
{
	Bench &b = bench();
	uint64_t pointer = b.zone(0).write_pointer;
	for (uint32_t offset : {0x6cu, 0x200u, 0x1208u, 0xfffffffcu, 0x16u}) {
		EXPECT_THROW(b.link().write32(offset, 1), hz::Error) << offset;
		b.reconnect();
		EXPECT_EQ(b.link().read32(NVME_REG_CSTS), 0u) << "disabled after " << offset;
		b.restart();
		EXPECT_EQ(b.zone(0).write_pointer, pointer);
	}
}

TEST_F(Registers, VersionIsTwo) { EXPECT_EQ(link().read32(NVME_REG_VS), static_cast<uint32_t>(NVME_VERSION_2_0)); }

TEST_F(Registers, InterruptMaskIsSetAndClearedByBits)
{
	link().write32(NVME_REG_INTMS, 0x50);
	EXPECT_EQ(link().read32(NVME_REG_INTMS), 0x50u);
	EXPECT_EQ(link().read32(NVME_REG_INTMC), 0x50u);
	link().write32(NVME_REG_INTMC, 0x10);
	EXPECT_EQ(link().read32(NVME_REG_INTMS), 0x40u);
	link().write32(NVME_REG_INTMC, 0xffffffff);
	EXPECT_EQ(link().read32(NVME_REG_INTMC), 0u);
}

TEST_F(Registers, ReadyControllerShowsItsSettings)
{
	EXPECT_EQ(csts(), static_cast<uint32_t>(NVME_CSTS_RDY));
	EXPECT_EQ(link().read32(NVME_REG_CC), NVME_CC_EN | csi | sizes);
	EXPECT_NE(link().read64(NVME_REG_ASQ), 0u);
	EXPECT_EQ(link().read64(NVME_REG_ASQ) % 4096, 0u);
}

TEST_F(Registers, NoControllerMemoryBuffer)
{
	EXPECT_EQ(link().read32(NVME_REG_CMBLOC), 0u);
	EXPECT_EQ(link().read32(NVME_REG_CMBSZ), 0u);
	EXPECT_EQ(link().read32(NVME_REG_NSSR), 0u);
}

TEST_F(Registers, DisablingClearsReadyAndComesBack)
{
	for (int round = 0; round < 3; round++) {
		bench().controller().disable();
		EXPECT_EQ(csts(), 0u);
		bench().restart();
		EXPECT_EQ(csts(), static_cast<uint32_t>(NVME_CSTS_RDY));
	}
	EXPECT_EQ(bench().write(bench().zone(11).write_pointer, 1), NVME_SUCCESS);
	bench().pristine();
}

TEST_F(Registers, AdminQueuePlaceStaysWhileEnabled)
{
	uint64_t asq = link().read64(NVME_REG_ASQ);
	uint32_t aqa = link().read32(NVME_REG_AQA);
	EXPECT_THROW(link().write64(NVME_REG_ASQ, 0), hz::Error);
	EXPECT_THROW(link().write32(NVME_REG_AQA, 0x00010001), hz::Error);
	EXPECT_EQ(link().read64(NVME_REG_ASQ), asq);
	EXPECT_EQ(link().read32(NVME_REG_AQA), aqa);
}

TEST_F(Registers, AdminQueueOfTwoEntriesWorks)
{
	AdminRing ring(bench(), 2, 2);
	for (int i = 0; i < 9; i++) {
		ring.submit(admin_command(bench(), NVME_ADMIN_IDENTIFY, 0, NVME_CNS_CONTROLLER));
		ring.ring();
		EXPECT_EQ(status_of(ring.reap(1)[0]), NVME_SUCCESS);
	}
}

TEST_F(Registers, AdminQueueOf4096EntriesWorks)
{
	AdminRing ring(bench(), 4096, 4096);
	for (int i = 0; i < 3; i++) {
		for (int n = 0; n < 1500; n++)
			ring.submit(admin_command(bench(), NVME_ADMIN_GET_FEATURES, 0, NVME_FEAT_ARBITRATION));
		ring.ring();
		for (const auto &cqe : ring.reap(1500))
			ASSERT_EQ(status_of(cqe), NVME_SUCCESS);
	}
}

// Settings with which the controller must not become ready; CSTS.CFS tells, and a reset clears it.
struct BadSetting {
	const char *name;
	uint32_t cc, aqa;
	uint64_t asq_offset, acq_offset;
};
class RegistersBadSetting : public Device, public ::testing::WithParamInterface<BadSetting> {};
TEST_P(RegistersBadSetting, IsRefused)
{
	Bench &b = bench();
	auto &link = b.link();
	b.disturb();
	b.controller().disable();
	link.write32(NVME_REG_AQA, GetParam().aqa);
	link.write64(NVME_REG_ASQ, b.page(0) + GetParam().asq_offset);
	link.write64(NVME_REG_ACQ, b.page(200) + GetParam().acq_offset);
	link.write32(NVME_REG_CC, NVME_CC_EN | GetParam().cc);
	EXPECT_EQ(link.read32(NVME_REG_CSTS) & (NVME_CSTS_RDY | NVME_CSTS_CFS), static_cast<uint32_t>(NVME_CSTS_CFS));
	link.write32(NVME_REG_CC, 0);
	EXPECT_EQ(link.read32(NVME_REG_CSTS), 0u);
	b.restart();
	EXPECT_EQ(link.read32(NVME_REG_CSTS), static_cast<uint32_t>(NVME_CSTS_RDY));
}
constexpr uint32_t aqa16 = 15 | 15 << 16;
const BadSetting bad_settings[] = {
	{"ReservedCommandSet", 1u << NVME_CC_CSS_SHIFT | sizes, aqa16, 0, 0},
	{"AdminOnlyIsNotOffered", NVME_CC_CSS_ADMIN << NVME_CC_CSS_SHIFT | sizes, aqa16, 0, 0},
	{"PageSizeTooLarge", csi | 1u << NVME_CC_MPS_SHIFT | sizes, aqa16, 0, 0},
	{"PageSizeLargest", csi | 15u << NVME_CC_MPS_SHIFT | sizes, aqa16, 0, 0},
	{"ReservedArbitration", csi | 2u << NVME_CC_AMS_SHIFT | sizes, aqa16, 0, 0},
	{"VendorArbitration", csi | 7u << NVME_CC_AMS_SHIFT | sizes, aqa16, 0, 0},
	{"AdminSqOfOneEntry", csi | sizes, 0 | 15 << 16, 0, 0},
	{"AdminCqOfOneEntry", csi | sizes, 15, 0, 0},
	{"AdminSqMisplaced", csi | sizes, aqa16, 64, 0},
	{"AdminCqMisplaced", csi | sizes, aqa16, 0, 16},
	{"AdminSqOutside", csi | sizes, aqa16, 1ull << 40, 0},
	{"AdminCqOutside", csi | sizes, aqa16, 0, 1ull << 40},
};
INSTANTIATE_TEST_SUITE_P(All, RegistersBadSetting, ::testing::ValuesIn(bad_settings), [](const auto &i) { return i.param.name; });

TEST_F(Registers, QueueEntrySizesAreCheckedWhenAQueueIsMade)
{
	Bench &b = bench();
	AdminRing ring(b, 16, 16);
	b.link().write32(NVME_REG_CC, NVME_CC_EN | csi); // IOSQES = IOCQES = 0
	ring.submit(admin_command(b, NVME_ADMIN_CREATE_CQ, 0, 1 | 15u << 16, NVME_QUEUE_CONTIGUOUS));
	ring.ring();
	EXPECT_NE(status_of(ring.reap(1)[0]), NVME_SUCCESS);
}

// A register access that the link refuses; nothing has happened afterwards.
struct BadAccess {
	const char *name;
	uint32_t offset;
	unsigned size;
	bool write;
};
class RegistersBadAccess : public Device, public ::testing::WithParamInterface<BadAccess> {};
TEST_P(RegistersBadAccess, IsAnsweredWithAnError)
{
	auto &link = bench().link();
	auto [name, offset, size, write] = GetParam();
	if (write && size == 8)
		EXPECT_THROW(link.write64(offset, ~0ull), hz::Error);
	else if (write)
		EXPECT_THROW(link.write32(offset, ~0u), hz::Error);
	else
		EXPECT_THROW(link.read64(offset), hz::Error);
	EXPECT_EQ(link.read32(NVME_REG_CSTS), static_cast<uint32_t>(NVME_CSTS_RDY));
	EXPECT_EQ(link.read32(NVME_REG_VS), static_cast<uint32_t>(NVME_VERSION_2_0));
}
const BadAccess bad_accesses[] = {
	{"WriteCap", NVME_REG_CAP, 4, true},
	{"WriteWholeCap", NVME_REG_CAP, 8, true},
	{"WriteVersion", NVME_REG_VS, 4, true},
	{"WriteStatus", NVME_REG_CSTS, 4, true},
	{"WriteReserved", 0x18, 4, true},
	{"WriteCmb", NVME_REG_CMBLOC, 4, true},
	{"WriteWideOverMaskAndConfiguration", NVME_REG_INTMC, 8, true},
	{"ReadWideVersion", NVME_REG_VS, 8, false},
	{"ReadWideConfiguration", NVME_REG_INTMC, 8, false},
	{"ReadWideDoorbell", NVME_REG_DOORBELLS, 8, false},
};
INSTANTIATE_TEST_SUITE_P(All, RegistersBadAccess, ::testing::ValuesIn(bad_accesses), [](const auto &i) { return i.param.name; });

class RegistersShutdown : public ZonedDevice {
protected:
	// Shuts down, then comes back by a controller reset (base spec 3.6.1).
	void shut_down(uint32_t how)
	{
		auto &link = bench().link();
		bench().disturb();
		link.write32(NVME_REG_CC, link.read32(NVME_REG_CC) | how << NVME_CC_SHN_SHIFT);
		for (int i = 0; i < 1000 && (link.read32(NVME_REG_CSTS) & NVME_CSTS_SHST_MASK) != NVME_CSTS_SHST_COMPLETE; i++)
			std::this_thread::sleep_for(std::chrono::milliseconds(5));
		EXPECT_EQ(link.read32(NVME_REG_CSTS) & NVME_CSTS_SHST_MASK, static_cast<uint32_t>(NVME_CSTS_SHST_COMPLETE));
		bench().restart();
		EXPECT_EQ(link.read32(NVME_REG_CSTS), static_cast<uint32_t>(NVME_CSTS_RDY));
	}
};

TEST_F(RegistersShutdown, NormalCompletesAndAResetFollows)
{
	ASSERT_EQ(bench().write(0, 5), NVME_SUCCESS);
	shut_down(NVME_CC_SHN_NORMAL);
	EXPECT_EQ(bench().filled(0), 5u);
}

TEST_F(RegistersShutdown, AbruptCompletesToo)
{
	shut_down(NVME_CC_SHN_ABRUPT);
	EXPECT_EQ(bench().write(0, 1), NVME_SUCCESS);
}

// ZNS 2.1.1.3: a completed shutdown puts every zone into its initial state.
TEST_F(RegistersShutdown, ZonesReturnToTheirInitialStates)
{
	Bench &b = bench();
	b.put(0, NVME_ZS_IMPLICIT_OPEN);
	b.put(1, NVME_ZS_EXPLICIT_OPEN);
	ASSERT_EQ(b.send(2, NVME_ZSA_OPEN), NVME_SUCCESS);
	b.put(3, NVME_ZS_FULL);
	shut_down(NVME_CC_SHN_NORMAL);
	EXPECT_EQ(b.state(0), NVME_ZS_CLOSED);
	EXPECT_EQ(b.state(1), NVME_ZS_CLOSED);
	EXPECT_EQ(b.state(2), NVME_ZS_EMPTY) << "opened, never written";
	EXPECT_EQ(b.state(3), NVME_ZS_FULL);
}

TEST_F(RegistersShutdown, AControllerResetKeepsZoneStates)
{
	Bench &b = bench();
	b.put(0, NVME_ZS_IMPLICIT_OPEN);
	b.put(1, NVME_ZS_EXPLICIT_OPEN);
	b.put(2, NVME_ZS_CLOSED);
	b.put(3, NVME_ZS_FULL);
	b.restart();
	EXPECT_EQ(b.state(0), NVME_ZS_IMPLICIT_OPEN);
	EXPECT_EQ(b.state(1), NVME_ZS_EXPLICIT_OPEN);
	EXPECT_EQ(b.state(2), NVME_ZS_CLOSED);
	EXPECT_EQ(b.state(3), NVME_ZS_FULL);
	for (uint32_t zone = 0; zone < 3; zone++)
		EXPECT_EQ(b.filled(zone), 4u) << "zone " << zone;
	Bytes in(4 * 4096);
	for (uint32_t zone = 0; zone < 4; zone++) {
		ASSERT_EQ(b.run(hz::QueuePair::read(b.start(zone), 4), {}, &in).status, NVME_SUCCESS);
		EXPECT_EQ(in, pattern(b.start(zone), 4)) << "zone " << zone;
	}
}

} // namespace registers_test
} // namespace conform
