// Identify (base spec 5.17, ZNS 4.1.5): every CNS, and the errors of invalid ones.
// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cstring>

#include "command_case.hpp"

namespace conform {
namespace identify_test {

auto identify(uint32_t cns, uint32_t nsid = 0, uint32_t csi = 0)
{
	return [=](Bench &b) { return admin_command(b, NVME_ADMIN_IDENTIFY, nsid, cns, csi << 24); };
}

auto identify_at(uint64_t prp1_offset, unsigned prp2_page, uint64_t prp2_offset)
{
	return [=](Bench &b) {
		nvme_sqe sqe = admin_command(b, NVME_ADMIN_IDENTIFY, 0, NVME_CNS_CONTROLLER);
		sqe.prp1 = b.page(0) + prp1_offset;
		sqe.prp2 = b.page(prp2_page) + prp2_offset;
		return sqe;
	};
}

const CommandCase cases[] = {
	{"Namespace", NVME_SUCCESS, identify(NVME_CNS_NAMESPACE, 1)},
	{"NamespaceZero", NVME_INVALID_NAMESPACE, identify(NVME_CNS_NAMESPACE, 0)},
	{"NamespaceBeyondTheLast", NVME_INVALID_NAMESPACE, identify(NVME_CNS_NAMESPACE, 2)},
	{"NamespaceBroadcast", NVME_SUCCESS, identify(NVME_CNS_NAMESPACE, NVME_NSID_ALL)},
	{"Controller", NVME_SUCCESS, identify(NVME_CNS_CONTROLLER)},
	{"ActiveList", NVME_SUCCESS, identify(NVME_CNS_ACTIVE_NAMESPACES)},
	{"ActiveListAfterTheLast", NVME_SUCCESS, identify(NVME_CNS_ACTIVE_NAMESPACES, 1)},
	{"ActiveListFromFffffffd", NVME_SUCCESS, identify(NVME_CNS_ACTIVE_NAMESPACES, 0xfffffffd)},
	{"ActiveListFromFffffffe", NVME_INVALID_NAMESPACE, identify(NVME_CNS_ACTIVE_NAMESPACES, 0xfffffffe)},
	{"ActiveListFromFfffffff", NVME_INVALID_NAMESPACE, identify(NVME_CNS_ACTIVE_NAMESPACES, 0xffffffff)},
	{"Descriptors", NVME_SUCCESS, identify(NVME_CNS_DESCRIPTORS, 1)},
	{"DescriptorsOfNone", NVME_INVALID_NAMESPACE, identify(NVME_CNS_DESCRIPTORS, 0)},
	{"DescriptorsOfAll", NVME_INVALID_NAMESPACE, identify(NVME_CNS_DESCRIPTORS, NVME_NSID_ALL)},
	{"ZonedNamespace", NVME_SUCCESS, identify(NVME_CNS_CSI_NAMESPACE, 1, NVME_CSI_ZNS)},
	{"ZonedNamespaceTwo", NVME_INVALID_NAMESPACE, identify(NVME_CNS_CSI_NAMESPACE, 2, NVME_CSI_ZNS)},
	{"NvmNamespace", NVME_SUCCESS, identify(NVME_CNS_CSI_NAMESPACE, 1, NVME_CSI_NVM)},
	{"KeyValueNamespace", NVME_INVALID_IOCS, identify(NVME_CNS_CSI_NAMESPACE, 1, 1)},
	{"ZonedController", NVME_SUCCESS, identify(NVME_CNS_CSI_CONTROLLER, 0, NVME_CSI_ZNS)},
	{"NvmController", NVME_SUCCESS, identify(NVME_CNS_CSI_CONTROLLER, 0, NVME_CSI_NVM)},
	{"KeyValueController", NVME_INVALID_IOCS, identify(NVME_CNS_CSI_CONTROLLER, 0, 1)},
	{"ReservedCommandSetController", NVME_INVALID_IOCS, identify(NVME_CNS_CSI_CONTROLLER, 0, 0x7f)},
	{"ZonedActiveList", NVME_SUCCESS, identify(NVME_CNS_CSI_ACTIVE_NAMESPACES, 0, NVME_CSI_ZNS)},
	{"ZonedActiveListFromFfffffff", NVME_INVALID_NAMESPACE, identify(NVME_CNS_CSI_ACTIVE_NAMESPACES, 0xffffffff, NVME_CSI_ZNS)},
	{"KeyValueActiveList", NVME_INVALID_IOCS, identify(NVME_CNS_CSI_ACTIVE_NAMESPACES, 0, 1)},
	{"IndependentNamespace", NVME_SUCCESS, identify(NVME_CNS_INDEPENDENT_NAMESPACE, 1)},
	{"IndependentNamespaceZero", NVME_INVALID_NAMESPACE, identify(NVME_CNS_INDEPENDENT_NAMESPACE, 0)},
	{"CommandSetCombinations", NVME_SUCCESS, identify(NVME_CNS_COMMAND_SETS)},
	{"NvmSetList", NVME_SUCCESS, identify(NVME_CNS_NVM_SETS)},
	{"AllocatedList", NVME_SUCCESS, identify(NVME_CNS_ALLOCATED_NAMESPACES)},
	{"Allocated", NVME_SUCCESS, identify(NVME_CNS_ALLOCATED_NAMESPACE, 1)},
	{"AllocatedNone", NVME_INVALID_NAMESPACE, identify(NVME_CNS_ALLOCATED_NAMESPACE, 2)},
	{"ControllerList", NVME_SUCCESS, identify(NVME_CNS_CONTROLLERS)},
	{"AttachedControllerList", NVME_SUCCESS, identify(NVME_CNS_ATTACHED_CONTROLLERS, 1)},
	{"ReservedCns", NVME_INVALID_FIELD, identify(0x1f)},
	{"VendorCns", NVME_INVALID_FIELD, identify(0xff)},
	{"BufferOverTwoPages", NVME_SUCCESS, identify_at(2048, 1, 0)},
	{"BufferNotDwordAligned", NVME_PRP_OFFSET_INVALID, identify_at(2, 1, 0)},
	{"SecondPageWithOffset", NVME_PRP_OFFSET_INVALID, identify_at(2048, 1, 8)},
	{"BufferOutsideHostMemory", NVME_DATA_TRANSFER_ERROR,
	 [](Bench &b) {
		 nvme_sqe sqe = admin_command(b, NVME_ADMIN_IDENTIFY, 0, NVME_CNS_CONTROLLER);
		 sqe.prp1 = b.region().bytes();
		 return sqe;
	 }},
};

class Identify : public AdminCommand {};
TEST_P(Identify, Status) { check(); }
INSTANTIATE_TEST_SUITE_P(Cns, Identify, ::testing::ValuesIn(cases), case_name);

template <class Structure> Structure structure(Bench &b, uint8_t cns, uint32_t nsid, uint8_t csi = 0)
{
	Structure value;
	auto data = b.controller().identify(cns, nsid, csi);
	std::memcpy(&value, data.data(), sizeof(value));
	return value;
}

class IdentifyData : public Device {};

TEST_F(IdentifyData, ControllerSaysWhatTheDeviceDoes)
{
	auto id = structure<nvme_identify_controller>(bench(), NVME_CNS_CONTROLLER, 0);
	EXPECT_EQ(1u << id.mdts, static_cast<unsigned>(HZ_MAX_TRANSFER_SECTORS));
	EXPECT_EQ(id.ver, static_cast<uint32_t>(NVME_VERSION_2_0));
	EXPECT_EQ(id.sqes, 0x66);
	EXPECT_EQ(id.cqes, 0x44);
	EXPECT_EQ(id.nn, 1u);
	EXPECT_EQ(id.cntrltype, 1);
	EXPECT_EQ(id.fuses, 0);
	EXPECT_EQ(id.sgls, 0u);
	EXPECT_TRUE(id.oacs & NVME_OACS_DBBUF);
	EXPECT_EQ(id.oncs, NVME_ONCS_COMPARE | NVME_ONCS_WRITE_UNCORRECTABLE | NVME_ONCS_DATASET_MANAGEMENT | NVME_ONCS_WRITE_ZEROES |
				   NVME_ONCS_SELECT | NVME_ONCS_VERIFY | NVME_ONCS_COPY);
	EXPECT_EQ(id.ocfs, NVME_OCFS_FORMAT_0);
	EXPECT_EQ(id.vs[NVME_HZ_VS_COPY], NVME_HZ_COPY_APPENDS);
	EXPECT_EQ(id.vwc, NVME_VWC_PRESENT | NVME_VWC_FLUSH_ALL);
	EXPECT_EQ(std::string(id.subnqn).substr(0, 4), "nqn.");
	for (char c : id.sn)
		EXPECT_TRUE(c >= 0x20 && c < 0x7f) << "serial number is ASCII, space padded";
	EXPECT_EQ(id.sn[19], ' ');
}

TEST_F(IdentifyData, AVerifyIsNoLongerThanARead)
{
	auto id = structure<nvme_nvm_identify_controller>(bench(), NVME_CNS_CSI_CONTROLLER, 0, NVME_CSI_NVM);
	EXPECT_EQ(1u << id.vsl, static_cast<unsigned>(HZ_MAX_TRANSFER_SECTORS));
	EXPECT_EQ(id.wzsl, 0) << "zeros are not limited";
}

TEST_F(IdentifyData, NamespaceHasTheSizeOfItsZones)
{
	auto id = structure<nvme_identify_namespace>(bench(), NVME_CNS_NAMESPACE, 1);
	EXPECT_EQ(id.nsze, bench().zones() * bench().zone_size());
	EXPECT_GE(id.nsze, id.ncap);
	EXPECT_GE(id.ncap, id.nuse);
	EXPECT_EQ(id.lbaf[id.flbas & 15].lbads, HZ_SECTOR_SHIFT);
	EXPECT_EQ(id.lbaf[0].ms, 0);
	EXPECT_EQ(id.dpc, 0);
}

TEST_F(IdentifyData, ZonedNamespaceHasTheConfiguredLimits)
{
	auto id = structure<nvme_zns_identify_namespace>(bench(), NVME_CNS_CSI_NAMESPACE, 1, NVME_CSI_ZNS);
	EXPECT_EQ(id.mor, 2u) << "0's based";
	EXPECT_EQ(id.mar, 4u) << "0's based";
	EXPECT_EQ(id.lbafe[0].zsze, bench().zone_size());
	EXPECT_EQ(id.lbafe[0].zdes, 0);
	EXPECT_EQ(id.ozcs & 1, NVME_ZNS_OZCS_READ_ACROSS);
}

TEST_F(IdentifyData, DescriptorsNameTheZonedCommandSet)
{
	auto data = bench().controller().identify(NVME_CNS_DESCRIPTORS, 1);
	bool id = false, csi = false;
	size_t at = 0;
	while (at + 4 < data.size() && data[at + 1] != std::byte(0)) {
		auto type = static_cast<uint8_t>(data[at]), bytes = static_cast<uint8_t>(data[at + 1]);
		id |= type >= NVME_NIDT_EUI64 && type <= NVME_NIDT_UUID && bytes == (type == NVME_NIDT_EUI64 ? 8 : 16);
		csi |= type == NVME_NIDT_CSI && bytes == 1 && data[at + 4] == std::byte(NVME_CSI_ZNS);
		at += 4 + bytes;
	}
	EXPECT_TRUE(id) << "at least one of EUI64, NGUID and UUID (base spec 5.17.2.3)";
	EXPECT_TRUE(csi) << "CAP.CSS bit 6 asks for the command set";
}

TEST_F(IdentifyData, ActiveListsNameNamespaceOneOnce)
{
	for (uint8_t cns : {NVME_CNS_ACTIVE_NAMESPACES, NVME_CNS_CSI_ACTIVE_NAMESPACES}) {
		uint8_t csi = cns == NVME_CNS_ACTIVE_NAMESPACES ? 0 : NVME_CSI_ZNS;
		auto list = structure<std::array<uint32_t, 1024>>(bench(), cns, 0, csi);
		EXPECT_EQ(list[0], 1u);
		EXPECT_EQ(list[1], 0u);
	}
	auto nvm = structure<std::array<uint32_t, 1024>>(bench(), NVME_CNS_CSI_ACTIVE_NAMESPACES, 0, NVME_CSI_NVM);
	EXPECT_EQ(nvm[0], 0u) << "the zoned namespace is not of the NVM command set";
	auto after = structure<std::array<uint32_t, 1024>>(bench(), NVME_CNS_ACTIVE_NAMESPACES, 1);
	EXPECT_EQ(after[0], 0u);
}

TEST_F(IdentifyData, CommandSetCombinationHasZoned)
{
	auto combinations = structure<std::array<uint64_t, 512>>(bench(), NVME_CNS_COMMAND_SETS, 0);
	EXPECT_TRUE(combinations[0] >> NVME_CSI_ZNS & 1);
	EXPECT_TRUE(combinations[0] >> NVME_CSI_NVM & 1);
	EXPECT_EQ(combinations[1], 0u);
}

TEST_F(IdentifyData, FillsExactlyItsPage)
{
	Bench &b = bench();
	std::memset(b.at(b.page(0), 3 * 4096), 0xa5, 3 * 4096);
	nvme_sqe sqe = admin_command(b, NVME_ADMIN_IDENTIFY, 0, NVME_CNS_CONTROLLER);
	sqe.prp1 = b.page(0) + 2048;
	sqe.prp2 = b.page(1);
	ASSERT_EQ(b.controller().admin(sqe).status, NVME_SUCCESS);
	EXPECT_EQ(*b.at(b.page(0) + 2047), std::byte(0xa5));
	EXPECT_EQ(*b.at(b.page(1) + 2048), std::byte(0xa5));
	auto whole = b.controller().identify(NVME_CNS_CONTROLLER);
	EXPECT_EQ(std::memcmp(b.at(b.page(0) + 2048, 4096), whole.data(), 4096), 0);
}

} // namespace identify_test
} // namespace conform
