// Admin commands: identify, features, queue creation and deletion, abort, events, doorbell buffer; legal and illegal.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "geometry.h"
#include "rig.hpp"

namespace hil_test {

constexpr uint16_t bad_namespace = NVME_INVALID_NAMESPACE | NVME_DNR;

struct Admin : testing::Test {
	explicit Admin(const Options &options = {}) : rig(options) { rig.enable(); }
	uint16_t identify(uint8_t cns, uint32_t nsid, uint8_t csi = 0)
	{
		std::memset(rig.at(rig.buffer()), 0xee, 4096);
		nvme_sqe sqe = admin_sqe(NVME_ADMIN_IDENTIFY, cns, uint32_t{csi} << 24, rig.buffer(), nsid);
		return rig.status_of(sqe);
	}
	Cqe get(uint8_t fid, uint32_t select = 0, uint32_t cdw11 = 0)
	{
		return rig.admin(admin_sqe(NVME_ADMIN_GET_FEATURES, select << 8 | fid, cdw11));
	}
	Cqe set(uint8_t fid, uint32_t value, uint32_t nsid = 0) { return rig.set_feature(fid, value, nsid); }
	uint16_t save(uint8_t fid, uint32_t value)
	{
		return rig.status_of(admin_sqe(NVME_ADMIN_SET_FEATURES, NVME_FEAT_SAVE | fid, value));
	}
	void reset()
	{
		rig.set(NVME_REG_CC, 0);
		rig.run();
		rig.enable();
	}
	Rig rig;
};

TEST_F(Admin, EveryUnknownOpcodeIsInvalid)
{
	const uint8_t known[] = {0, 1, 2, 4, 5, 6, 8, 9, 0xa, 0xc, 0xd, 0x14, 0x15, 0x7c, 0x80, 0x84, 0xc0};
	for (unsigned opcode = 0; opcode < 256; opcode++)
		if (!std::count(std::begin(known), std::end(known), opcode)) {
			EXPECT_EQ(rig.status_of(admin_sqe(static_cast<uint8_t>(opcode))), dnr(NVME_INVALID_OPCODE)) << opcode;
		}
}

TEST_F(Admin, FusedAndSglCommandsAreRefused)
{
	for (uint8_t flags : {0x01, 0x02, 0x40, 0x80}) {
		nvme_sqe sqe = admin_sqe(NVME_ADMIN_IDENTIFY, NVME_CNS_CONTROLLER, 0, rig.buffer());
		sqe.flags = flags;
		EXPECT_EQ(rig.status_of(sqe), bad_field);
	}
}

TEST_F(Admin, IdentifyController)
{
	ASSERT_EQ(identify(NVME_CNS_CONTROLLER, 0), 0);
	auto &id = rig.page<nvme_identify_controller>();
	EXPECT_EQ(std::string(id.mn, 8), "Hartzone");
	EXPECT_EQ(id.mn[39], ' ');
	EXPECT_EQ(id.mdts, 7);
	EXPECT_EQ(id.nn, 1u);
	EXPECT_EQ(id.sqes, 0x66);
	EXPECT_EQ(id.cqes, 0x44);
	EXPECT_EQ(id.ver, 0x20000u);
	EXPECT_EQ(id.oacs, NVME_OACS_DBBUF | NVME_OACS_NAMESPACES | NVME_OACS_FORMAT | NVME_OACS_SELF_TEST);
	EXPECT_EQ(id.fna, 0) << "a format is of one namespace or of all, without a key to change";
	EXPECT_EQ(id.vwc, 7);
	EXPECT_EQ(id.vs[NVME_HZ_VS_PROTECTION], 0) << "durable writes are refused, and it says so";
	EXPECT_EQ(id.oaes, 1u << 8 | 1u << 27);
	EXPECT_EQ(std::string(id.subnqn, 4), "nqn.");
}

TEST_F(Admin, IdentifyNamespaces)
{
	hz_shape shape;
	hz_shape_of(&rig.cfg, &shape);
	ASSERT_EQ(identify(NVME_CNS_NAMESPACE, 1), 0);
	EXPECT_EQ(rig.page<nvme_identify_namespace>().nsze, shape.namespace_sectors);
	EXPECT_EQ(rig.page<nvme_identify_namespace>().lbaf[0].lbads, 12);
	ASSERT_EQ(identify(NVME_CNS_CSI_NAMESPACE, 1, NVME_CSI_ZNS), 0);
	auto &zns = rig.page<nvme_zns_identify_namespace>();
	EXPECT_EQ(zns.lbafe[0].zsze, shape.zone_size_sectors);
	EXPECT_EQ(zns.mor, 5u);
	EXPECT_EQ(zns.mar, 7u);
	EXPECT_EQ(identify(NVME_CNS_CSI_NAMESPACE, 1, NVME_CSI_NVM), 0);
	EXPECT_EQ(identify(NVME_CNS_CSI_NAMESPACE, 1, 1), dnr(NVME_INVALID_IOCS));
	EXPECT_EQ(identify(NVME_CNS_INDEPENDENT_NAMESPACE, 1), 0);
	for (uint8_t cns : {NVME_CNS_NAMESPACE, NVME_CNS_DESCRIPTORS, NVME_CNS_CSI_NAMESPACE, NVME_CNS_INDEPENDENT_NAMESPACE})
		for (uint32_t nsid : {0u, 2u, 0xfffffffeu, 0xffffffffu})
			EXPECT_EQ(identify(cns, nsid), cns == NVME_CNS_NAMESPACE && nsid == NVME_NSID_ALL ? 0 : bad_namespace)
				<< int(cns) << " " << nsid;
}

TEST_F(Admin, IdentifyLists)
{
	for (uint8_t cns : {NVME_CNS_ACTIVE_NAMESPACES, NVME_CNS_CSI_ACTIVE_NAMESPACES}) {
		ASSERT_EQ(identify(cns, 0, NVME_CSI_ZNS), 0);
		EXPECT_EQ(rig.page<uint32_t[2]>()[0], 1u);
		EXPECT_EQ(rig.page<uint32_t[2]>()[1], 0u);
		ASSERT_EQ(identify(cns, 1, NVME_CSI_ZNS), 0);
		EXPECT_EQ(rig.page<uint32_t>(), 0u) << "only ids above the given one";
		EXPECT_EQ(identify(cns, 0xfffffffe, NVME_CSI_ZNS), bad_namespace);
		EXPECT_EQ(identify(cns, 0xffffffff, NVME_CSI_ZNS), bad_namespace);
	}
	ASSERT_EQ(identify(NVME_CNS_CSI_ACTIVE_NAMESPACES, 0, NVME_CSI_NVM), 0);
	EXPECT_EQ(rig.page<uint32_t>(), 0u);
	EXPECT_EQ(identify(NVME_CNS_CSI_ACTIVE_NAMESPACES, 0, 3), dnr(NVME_INVALID_IOCS));
	ASSERT_EQ(identify(NVME_CNS_COMMAND_SETS, 0), 0);
	EXPECT_EQ(rig.page<uint64_t>(), 5u);
	EXPECT_EQ(identify(NVME_CNS_CSI_CONTROLLER, 0, NVME_CSI_ZNS), 0);
	EXPECT_EQ(identify(NVME_CNS_CSI_CONTROLLER, 0, NVME_CSI_NVM), 0);
	EXPECT_EQ(identify(NVME_CNS_CSI_CONTROLLER, 0, 1), dnr(NVME_INVALID_IOCS));
	for (unsigned cns : {0x09, 0x0f, 0x14, 0x1d, 0xff})
		EXPECT_EQ(identify(static_cast<uint8_t>(cns), 1), bad_field) << cns;
}

TEST_F(Admin, NamespaceDescriptorsNameTheCommandSet)
{
	ASSERT_EQ(identify(NVME_CNS_DESCRIPTORS, 1), 0);
	const uint8_t *at = rig.at(rig.buffer());
	EXPECT_EQ(at[0], NVME_NIDT_EUI64);
	EXPECT_EQ(at[1], 8);
	EXPECT_EQ(at[12], NVME_NIDT_CSI);
	EXPECT_EQ(at[13], 1);
	EXPECT_EQ(at[16], NVME_CSI_ZNS);
	EXPECT_EQ(at[17], 0);
}

/* A block device: requirements of the base specification on a controller with NVM as its only I/O command set. */
struct BlockAdmin : Admin {
	static Options block()
	{
		Options options;
		options.block = true;
		return options;
	}
	BlockAdmin() : Admin(block()) {}
};

TEST_F(BlockAdmin, NothingNamesTheZonedCommandSet)
{
	ASSERT_EQ(identify(NVME_CNS_DESCRIPTORS, 1), 0);
	EXPECT_EQ(rig.at(rig.buffer())[12], NVME_NIDT_CSI);
	EXPECT_EQ(rig.at(rig.buffer())[16], NVME_CSI_NVM);
	ASSERT_EQ(identify(NVME_CNS_COMMAND_SETS, 0), 0);
	EXPECT_EQ(rig.page<uint64_t>(), 1u << NVME_CSI_NVM);
	for (uint8_t cns : {NVME_CNS_CSI_NAMESPACE, NVME_CNS_CSI_CONTROLLER, NVME_CNS_CSI_ACTIVE_NAMESPACES})
		for (uint8_t csi : {uint8_t(NVME_CSI_ZNS), uint8_t(1), uint8_t(0x7f)})
			EXPECT_EQ(identify(cns, cns == NVME_CNS_CSI_NAMESPACE, csi), dnr(NVME_INVALID_IOCS)) << int(cns) << " " << int(csi);
	ASSERT_EQ(identify(NVME_CNS_CONTROLLER, 0), 0);
	EXPECT_EQ(std::string(rig.page<nvme_identify_controller>().mn, 18), "Hartzone block SSD");
	EXPECT_EQ(rig.page<nvme_identify_controller>().oaes, 1u << 8);
}

TEST_F(BlockAdmin, TheNvmCommandSetHasTheNamespace)
{
	hz_shape shape;
	hz_shape_of(&rig.cfg, &shape);
	ASSERT_EQ(identify(NVME_CNS_NAMESPACE, 1), 0);
	EXPECT_EQ(rig.page<nvme_identify_namespace>().nsze, uint64_t(shape.zones) * shape.zone_capacity_sectors) << "no holes";
	EXPECT_EQ(rig.page<nvme_identify_namespace>().ncap, shape.namespace_sectors);
	EXPECT_EQ(identify(NVME_CNS_CSI_NAMESPACE, 1, NVME_CSI_NVM), 0);
	EXPECT_EQ(identify(NVME_CNS_CSI_NAMESPACE, 2, NVME_CSI_NVM), bad_namespace);
	EXPECT_EQ(identify(NVME_CNS_CSI_CONTROLLER, 0, NVME_CSI_NVM), 0);
	ASSERT_EQ(identify(NVME_CNS_CSI_ACTIVE_NAMESPACES, 0, NVME_CSI_NVM), 0);
	EXPECT_EQ(rig.page<uint32_t[2]>()[0], 1u);
	EXPECT_EQ(rig.page<uint32_t[2]>()[1], 0u);
	EXPECT_EQ(identify(NVME_CNS_INDEPENDENT_NAMESPACE, 1), 0);
}

TEST_F(BlockAdmin, EffectsLogHasNoZonedCommands)
{
	for (uint32_t csi : {uint32_t(NVME_CSI_NVM), uint32_t(NVME_CSI_ZNS)}) {
		nvme_sqe sqe = admin_sqe(NVME_ADMIN_GET_LOG_PAGE, 1023u << 16 | NVME_LOG_EFFECTS, 0, rig.buffer());
		sqe.cdw14 = csi << 24;
		ASSERT_EQ(rig.status_of(sqe), 0);
		const auto &log = rig.page<nvme_effects_log>();
		for (uint8_t opcode : {NVME_IO_ZONE_MGMT_SEND, NVME_IO_ZONE_MGMT_RECV, NVME_IO_ZONE_APPEND})
			EXPECT_EQ(log.iocs[opcode], 0u);
		EXPECT_NE(log.iocs[NVME_IO_WRITE], 0u);
	}
}

TEST_F(Admin, IdentifyPrpFaults)
{
	nvme_sqe sqe = admin_sqe(NVME_ADMIN_IDENTIFY, NVME_CNS_CONTROLLER, 0, rig.buffer() + 1);
	EXPECT_EQ(rig.status_of(sqe), dnr(NVME_PRP_OFFSET_INVALID));
	sqe.prp1 = 4096;
	EXPECT_EQ(rig.status_of(sqe), NVME_DATA_TRANSFER_ERROR);
	sqe.prp1 = rig.buffer() + 2048;
	EXPECT_EQ(rig.status_of(sqe), NVME_DATA_TRANSFER_ERROR) << "two pages, PRP2 is 0";
	sqe.prp2 = rig.buffer() + 8192;
	EXPECT_EQ(rig.status_of(sqe), 0);
}

TEST_F(Admin, Features)
{
	const uint8_t known[] = {1, 2, 4, 5, 6, 7, 8, 9, 0xa, 0xb, 0x19};
	for (unsigned fid = 0; fid < 256; fid++) {
		bool is_known = std::count(std::begin(known), std::end(known), fid);
		EXPECT_EQ(get(static_cast<uint8_t>(fid)).status, is_known ? 0 : bad_field) << fid;
		EXPECT_EQ(get(static_cast<uint8_t>(fid), NVME_FEAT_CAPABILITIES).status, is_known ? 0 : bad_field) << fid;
		if (!is_known) {
			EXPECT_EQ(set(static_cast<uint8_t>(fid), 0).status, bad_field);
		}
	}
	EXPECT_EQ(get(NVME_FEAT_VOLATILE_WRITE_CACHE).dw0, 1u);
	EXPECT_EQ(set(NVME_FEAT_VOLATILE_WRITE_CACHE, 0).status, 0);
	EXPECT_EQ(get(NVME_FEAT_VOLATILE_WRITE_CACHE).dw0, 0u);
	EXPECT_EQ(get(NVME_FEAT_VOLATILE_WRITE_CACHE, NVME_FEAT_DEFAULT).dw0, 1u);
	EXPECT_EQ(get(NVME_FEAT_VOLATILE_WRITE_CACHE, NVME_FEAT_SAVED).dw0, 1u);
	EXPECT_EQ(get(NVME_FEAT_VOLATILE_WRITE_CACHE, NVME_FEAT_CAPABILITIES).dw0, NVME_FEAT_CAP_CHANGEABLE | NVME_FEAT_CAP_SAVEABLE);
	EXPECT_EQ(get(NVME_FEAT_POWER_MANAGEMENT, NVME_FEAT_CAPABILITIES).dw0, uint32_t{NVME_FEAT_CAP_CHANGEABLE});
	EXPECT_EQ(get(NVME_FEAT_VOLATILE_WRITE_CACHE, 4).status, bad_field);
	EXPECT_EQ(set(NVME_FEAT_VOLATILE_WRITE_CACHE, 2).status, bad_field);
	EXPECT_EQ(set(NVME_FEAT_VOLATILE_WRITE_CACHE, 1, 1).status, dnr(NVME_FEATURE_NOT_PER_NAMESPACE));
	EXPECT_EQ(save(NVME_FEAT_POWER_MANAGEMENT, 0), dnr(NVME_FEATURE_NOT_SAVEABLE));
	EXPECT_EQ(save(NVME_FEAT_NUMBER_OF_QUEUES, 1 << 16 | 1), dnr(NVME_FEATURE_NOT_SAVEABLE));
	EXPECT_EQ(save(NVME_FEAT_TEMPERATURE_THRESHOLD, 1), dnr(NVME_FEATURE_NOT_SAVEABLE));
	EXPECT_EQ(set(NVME_FEAT_POWER_MANAGEMENT, 1).status, bad_field) << "there is one power state";
	EXPECT_EQ(set(NVME_FEAT_IOCS_PROFILE, 0).status, 0);
	EXPECT_EQ(set(NVME_FEAT_IOCS_PROFILE, 1).status, bad_field);
	EXPECT_EQ(set(NVME_FEAT_POWER_MANAGEMENT, 0).status, 0);
	EXPECT_EQ(set(NVME_FEAT_POWER_MANAGEMENT, 0x20).status, bad_field) << "a workload hint would change nothing";
	EXPECT_EQ(set(NVME_FEAT_ARBITRATION, 7).status, 0);
	EXPECT_EQ(set(NVME_FEAT_ARBITRATION, 0x03020107).status, 0) << "weights count with weighted round robin";
	EXPECT_EQ(get(NVME_FEAT_ARBITRATION).dw0, 0x03020107u);
	EXPECT_EQ(set(NVME_FEAT_ARBITRATION, 1 << 3).status, bad_field) << "reserved";
}

TEST_F(Admin, SavedValuesAreThoseOfTheNextLives)
{
	EXPECT_EQ(get(NVME_FEAT_ARBITRATION, NVME_FEAT_SAVED).dw0, 0u) << "the default, while none is saved";
	EXPECT_EQ(save(NVME_FEAT_ARBITRATION, 3), 0);
	EXPECT_EQ(save(NVME_FEAT_VOLATILE_WRITE_CACHE, 0), 0);
	EXPECT_EQ(save(NVME_FEAT_ASYNC_EVENT, NVME_WARNING_SPARE), 0);
	EXPECT_EQ(set(NVME_FEAT_ARBITRATION, 5).status, 0);
	EXPECT_EQ(get(NVME_FEAT_ARBITRATION).dw0, 5u);
	EXPECT_EQ(get(NVME_FEAT_ARBITRATION, NVME_FEAT_SAVED).dw0, 3u);
	EXPECT_EQ(get(NVME_FEAT_ARBITRATION, NVME_FEAT_DEFAULT).dw0, 0u);
	EXPECT_EQ(save(NVME_FEAT_ARBITRATION, 8), bad_field);
	EXPECT_EQ(get(NVME_FEAT_ARBITRATION, NVME_FEAT_SAVED).dw0, 3u) << "what is refused is not saved";
	reset();
	EXPECT_EQ(get(NVME_FEAT_ARBITRATION).dw0, 3u);
	EXPECT_EQ(get(NVME_FEAT_VOLATILE_WRITE_CACHE).dw0, 0u);
	EXPECT_EQ(get(NVME_FEAT_WRITE_ATOMICITY).dw0, 0u);
	EXPECT_EQ(rig.fake->controller.saved,
		  1u << NVME_FEAT_ARBITRATION | 1u << NVME_FEAT_VOLATILE_WRITE_CACHE | 1u << NVME_FEAT_ASYNC_EVENT);
}

/* What they do, not only what they say. */
TEST_F(Admin, SavedValuesHaveTheirEffect)
{
	EXPECT_EQ(save(NVME_FEAT_VOLATILE_WRITE_CACHE, 0), 0);
	EXPECT_EQ(save(NVME_FEAT_ASYNC_EVENT, NVME_WARNING_SPARE), 0);
	reset();
	Rig::Queue queue = rig.make_queue(1, 16);
	rig.open(queue);
	EXPECT_EQ(rig.io(queue, io_sqe(NVME_IO_WRITE, 0, 1, rig.buffer())).status, 0);
	EXPECT_EQ(rig.fake->log.back().flags, FTL_FUA);
	rig.close(queue, UINT64_MAX);
	rig.await_event();
	rig.fake->health.spare_percent = 1;
	tell_watch(*rig.fake);
	rig.run();
	auto event = rig.reap_admin();
	ASSERT_TRUE(event);
	EXPECT_EQ(event->dw0 & 0xffff, NVME_AEN_SMART | NVME_AEN_SMART_SPARE << 8u);
	reset();
	rig.await_event();
	event = rig.reap_admin();
	ASSERT_TRUE(event) << "the warning persists, and enabling events reports it";
	EXPECT_EQ(event->dw0 & 0xffff, NVME_AEN_SMART | NVME_AEN_SMART_SPARE << 8u);
}

TEST(InPlace, IsReportedAndHasALogPage)
{
	for (uint32_t sectors : {0u, 40u}) {
		Rig rig({.in_place_sectors = sectors});
		rig.enable();
		ASSERT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_IDENTIFY, NVME_CNS_CONTROLLER, 0, rig.buffer())), 0);
		EXPECT_EQ(rig.page<nvme_identify_controller>().vs[NVME_HZ_VS_IN_PLACE], sectors ? NVME_HZ_IN_PLACE_WRITES : 0);
		rig.fake->in_place = 7;
		rig.fake->reports[0].in_place_sectors = 30;
		rig.fake->reports[0].in_place_refusals = 4;
		rig.fake->reports[0].update_folds = 2;
		rig.fake->reports[0].folded_updates = 9;
		nvme_sqe sqe = admin_sqe(NVME_ADMIN_GET_LOG_PAGE, HZ_LOG_IN_PLACE | (sizeof(hz_log_in_place) / 4 - 1) << 16, 0,
					 rig.buffer());
		sqe.nsid = NVME_NSID_ALL;
		ASSERT_EQ(rig.status_of(sqe), 0);
		const auto page = rig.page<hz_log_in_place>();
		EXPECT_EQ(page.budget_sectors, sectors);
		EXPECT_EQ(page.used_sectors, 7u);
		EXPECT_EQ(page.written_sectors, 30u);
		EXPECT_EQ(page.refused_writes, 4u);
		EXPECT_EQ(page.folds, 2u);
		EXPECT_EQ(page.folded_sectors, 9u);
	}
}

TEST(Protection, WhatTheModesOfferIsReported)
{
	for (uint32_t mode = 0; mode < HZ_PLP_MODES; mode++) {
		Rig rig({.plp_mode = mode});
		rig.enable();
		ASSERT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_IDENTIFY, NVME_CNS_CONTROLLER, 0, rig.buffer())), 0);
		const bool cache = mode != HZ_PLP_FULL;
		EXPECT_EQ(rig.page<nvme_identify_controller>().vs[NVME_HZ_VS_PROTECTION], mode == HZ_PLP_NONE ? 0 : NVME_HZ_DURABLE_WRITES);
		EXPECT_EQ(rig.page<nvme_identify_controller>().vwc & NVME_VWC_PRESENT, cache ? NVME_VWC_PRESENT : 0);
		EXPECT_EQ(rig.set_feature(NVME_FEAT_VOLATILE_WRITE_CACHE, 0).status, cache ? 0 : bad_field);
		EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_GET_FEATURES, NVME_FEAT_VOLATILE_WRITE_CACHE)), cache ? 0 : bad_field);
		EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_GET_FEATURES, NVME_FEAT_ARBITRATION)), 0);
	}
}

TEST_F(Admin, FeaturesThatHaveNothingToActOnAreNotChangeable)
{
	for (uint8_t fid :
	     {NVME_FEAT_TEMPERATURE_THRESHOLD, NVME_FEAT_ERROR_RECOVERY, NVME_FEAT_INTERRUPT_COALESCING, NVME_FEAT_INTERRUPT_VECTOR}) {
		EXPECT_EQ(get(fid, NVME_FEAT_CAPABILITIES).dw0, 0u) << int(fid);
		uint32_t value = get(fid).dw0;
		EXPECT_EQ(get(fid, NVME_FEAT_DEFAULT).dw0, value) << int(fid);
		EXPECT_EQ(set(fid, 1).status, dnr(NVME_FEATURE_NOT_CHANGEABLE)) << int(fid);
		EXPECT_EQ(get(fid).dw0, value) << int(fid);
	}
	EXPECT_EQ(get(NVME_FEAT_TEMPERATURE_THRESHOLD).dw0, 0xffffu) << "over: never";
	EXPECT_EQ(get(NVME_FEAT_TEMPERATURE_THRESHOLD, 0, 1 << 20).dw0, 0u) << "under: never";
	EXPECT_EQ(get(NVME_FEAT_TEMPERATURE_THRESHOLD, 0, 2 << 20).status, bad_field);
	EXPECT_EQ(get(NVME_FEAT_TEMPERATURE_THRESHOLD, 0, 1 << 16).status, bad_field) << "no further sensor";
	EXPECT_EQ(get(NVME_FEAT_INTERRUPT_VECTOR, 0, 64).dw0, 1u << 16 | 64) << "no vector's interrupts are held back";
	EXPECT_EQ(get(NVME_FEAT_INTERRUPT_VECTOR, 0, 65).status, bad_field);
}

TEST_F(Admin, NumberOfQueues)
{
	EXPECT_EQ(set(NVME_FEAT_NUMBER_OF_QUEUES, 0xffff).status, bad_field);
	EXPECT_EQ(set(NVME_FEAT_NUMBER_OF_QUEUES, 0xffff0000).status, bad_field);
	EXPECT_EQ(set(NVME_FEAT_NUMBER_OF_QUEUES, 199 << 16 | 199).dw0, 63u << 16 | 63);
	EXPECT_EQ(set(NVME_FEAT_NUMBER_OF_QUEUES, 1 << 16 | 1).dw0, 1u << 16 | 1);
	EXPECT_EQ(rig.create_cq(3, 16, rig.buffer()), dnr(NVME_QID_INVALID));
	rig.make_queue(1, 16);
	EXPECT_EQ(set(NVME_FEAT_NUMBER_OF_QUEUES, 3 << 16 | 3).status, dnr(NVME_COMMAND_SEQUENCE));
	EXPECT_EQ(get(NVME_FEAT_NUMBER_OF_QUEUES).dw0, 1u << 16 | 1);
}

TEST_F(Admin, CreateQueueFaults)
{
	uint64_t at = rig.buffer();
	EXPECT_EQ(rig.create_cq(0, 16, at), dnr(NVME_QID_INVALID));
	EXPECT_EQ(rig.create_cq(65, 16, at), dnr(NVME_QID_INVALID));
	EXPECT_EQ(rig.create_cq(0xffff, 16, at), dnr(NVME_QID_INVALID));
	EXPECT_EQ(rig.create_cq(1, 1, at), dnr(NVME_QUEUE_SIZE));
	EXPECT_EQ(rig.create_cq(1, 1025, at), dnr(NVME_QUEUE_SIZE));
	EXPECT_EQ(rig.create_cq(1, 65536, at), dnr(NVME_QUEUE_SIZE));
	EXPECT_EQ(rig.create_cq(1, 16, at, 0), bad_field) << "not contiguous";
	EXPECT_EQ(rig.create_cq(1, 16, at + 64), dnr(NVME_PRP_OFFSET_INVALID));
	EXPECT_EQ(rig.create_cq(1, 16, 4096), bad_field);
	EXPECT_EQ(rig.create_cq(1, 16, region_bytes), bad_field);
	EXPECT_EQ(rig.create_cq(1, 1024, region_bytes - 8192), bad_field) << "its end lies outside";
	EXPECT_EQ(rig.create_cq(1, 16, at, 3, 65), dnr(NVME_INTERRUPT_VECTOR));
	EXPECT_EQ(rig.create_sq(1, 16, at, 1), dnr(NVME_CQ_INVALID));
	EXPECT_EQ(rig.create_cq(1, 16, at), 0);
	EXPECT_EQ(rig.create_cq(1, 16, at), dnr(NVME_QID_INVALID)) << "exists";
	EXPECT_EQ(rig.create_sq(1, 16, at, 0), dnr(NVME_QID_INVALID)) << "the admin CQ";
	EXPECT_EQ(rig.create_sq(1, 16, at, 65), dnr(NVME_QID_INVALID));
	EXPECT_EQ(rig.create_sq(1, 16, at, 2), dnr(NVME_CQ_INVALID));
	EXPECT_EQ(rig.create_sq(0, 16, at, 1), dnr(NVME_QID_INVALID));
	EXPECT_EQ(rig.create_sq(65, 16, at, 1), dnr(NVME_QID_INVALID));
	EXPECT_EQ(rig.create_sq(1, 1, at, 1), dnr(NVME_QUEUE_SIZE));
	EXPECT_EQ(rig.create_sq(1, 1025, at, 1), dnr(NVME_QUEUE_SIZE));
	EXPECT_EQ(rig.create_sq(1, 16, at, 1, 0), bad_field);
	EXPECT_EQ(rig.create_sq(1, 16, at + 8, 1), dnr(NVME_PRP_OFFSET_INVALID));
	EXPECT_EQ(rig.create_sq(1, 16, 0, 1), bad_field);
	EXPECT_EQ(rig.create_sq(1, 1024, at, 1), 0);
	EXPECT_EQ(rig.create_sq(1, 16, at, 1), dnr(NVME_QID_INVALID));
}

TEST(AdminEntrySizes, QueuesNeedTheSizesOfIdentify)
{
	Rig rig;
	rig.enable(32, 1 << NVME_CC_IOSQES_SHIFT | 1 << NVME_CC_IOCQES_SHIFT); // 7 and 5
	EXPECT_EQ(rig.create_cq(1, 16, rig.buffer()), dnr(NVME_QUEUE_SIZE));
}

TEST_F(Admin, DeleteQueueFaults)
{
	auto remove = [&](uint8_t opcode, uint32_t id) { return rig.status_of(admin_sqe(opcode, id)); };
	rig.make_queue(1, 16);
	for (uint8_t opcode : {NVME_ADMIN_DELETE_SQ, NVME_ADMIN_DELETE_CQ})
		for (uint32_t id : {0u, 2u, 65u, 0xffffu})
			EXPECT_EQ(remove(opcode, id), dnr(NVME_QID_INVALID)) << id;
	EXPECT_EQ(remove(NVME_ADMIN_DELETE_CQ, 1), dnr(NVME_QUEUE_DELETION));
	EXPECT_EQ(remove(NVME_ADMIN_DELETE_SQ, 1), 0);
	EXPECT_EQ(remove(NVME_ADMIN_DELETE_SQ, 1), dnr(NVME_QID_INVALID));
	EXPECT_EQ(remove(NVME_ADMIN_DELETE_CQ, 1), 0);
	EXPECT_EQ(remove(NVME_ADMIN_DELETE_CQ, 1), dnr(NVME_QID_INVALID));
	rig.make_queue(1, 16);
}

TEST_F(Admin, AllQueuesAtFullDepth)
{
	uint64_t sq = rig.allocate(1024 * 64), cq = rig.allocate(1024 * 16);
	for (unsigned id = 1; id <= 64; id++) {
		ASSERT_EQ(rig.create_cq(id, 1024, cq), 0) << id;
		ASSERT_EQ(rig.create_sq(id, 1024, sq, id), 0) << id;
	}
	for (unsigned id = 1; id <= 64; id++) {
		ASSERT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_DELETE_SQ, id)), 0);
		ASSERT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_DELETE_CQ, id)), 0);
	}
}

// Late answers lie in a ring of 130.
TEST_F(Admin, LateAnswersAreThoseOfTheirCommandsForEver)
{
	for (uint16_t cid = 1000; cid < 1300; cid++) {
		rig.await_event(cid);
		EXPECT_EQ(rig.admin(admin_sqe(NVME_ADMIN_ABORT, static_cast<uint32_t>(cid) << 16)).dw0, 0u);
		auto late = rig.reap_admin();
		ASSERT_TRUE(late) << cid;
		EXPECT_EQ(late->cid, cid);
		EXPECT_EQ(late->status, NVME_ABORT_REQUESTED);
	}
}

TEST_F(Admin, AsyncEventsWaitAreLimitedAndAborted)
{
	for (uint16_t cid = 100; cid < 104; cid++)
		rig.await_event(cid);
	EXPECT_FALSE(rig.reap_admin());
	rig.await_event(104);
	auto fifth = rig.reap_admin();
	ASSERT_TRUE(fifth);
	EXPECT_EQ(fifth->cid, 104);
	EXPECT_EQ(fifth->status, dnr(NVME_ASYNC_LIMIT));
	Cqe abort = rig.admin(admin_sqe(NVME_ADMIN_ABORT, 101u << 16));
	std::vector<Cqe> both{abort, *rig.reap_admin()};
	std::sort(both.begin(), both.end(), [](auto &a, auto &b) { return a.cid < b.cid; });
	EXPECT_EQ(both[1].cid, 101);
	EXPECT_EQ(both[1].status, NVME_ABORT_REQUESTED);
	EXPECT_EQ(both[0].status, 0);
	EXPECT_EQ(both[0].dw0, 0u) << "aborted";
	EXPECT_EQ(rig.admin(admin_sqe(NVME_ADMIN_ABORT, 101u << 16)).dw0, 1u) << "not there any more";
	EXPECT_EQ(rig.admin(admin_sqe(NVME_ADMIN_ABORT, 5)).dw0, 1u);
}

TEST_F(Admin, DoorbellBufferPlace)
{
	auto dbbuf = [&](uint64_t prp1, uint64_t prp2) {
		nvme_sqe sqe = admin_sqe(NVME_ADMIN_DBBUF, 0, 0, prp1);
		sqe.prp2 = prp2;
		return rig.status_of(sqe);
	};
	uint64_t at = rig.buffer();
	EXPECT_EQ(dbbuf(at + 4, at), bad_field);
	EXPECT_EQ(dbbuf(at, at + 4), bad_field);
	EXPECT_EQ(dbbuf(0, at), bad_field);
	EXPECT_EQ(dbbuf(at, region_bytes), bad_field);
	EXPECT_EQ(dbbuf(at, at + 4096), 0);
}

TEST_F(Admin, PhaseWrapsAndHeadFollows)
{
	for (int i = 0; i < 200; i++) {
		nvme_sqe sqe = admin_sqe(NVME_ADMIN_ABORT, 77);
		sqe.cid = static_cast<uint16_t>(1000 + i);
		Cqe cqe = rig.admin(sqe);
		ASSERT_EQ(cqe.cid, 1000 + i);
		ASSERT_EQ(cqe.sq_head, (i + 1) % 32);
		ASSERT_EQ(cqe.sq_id, 0);
	}
}

TEST_F(Admin, FullCompletionQueueStopsTheAdminQueue)
{
	int answered = 0;
	for (int i = 0; i < 31; i++)
		rig.place_admin(admin_sqe(NVME_ADMIN_ABORT, 77));
	rig.ring_admin();
	while (rig.reap_admin(false))
		answered++;
	EXPECT_EQ(answered, 31);
	for (int i = 0; i < 10; i++)
		rig.place_admin(admin_sqe(NVME_ADMIN_ABORT, 77));
	rig.ring_admin();
	EXPECT_FALSE(rig.reap_admin(false)) << "nothing was freed";
	rig.set(NVME_REG_DOORBELLS + 4, 31);
	for (int i = 0; i < 10; i++)
		EXPECT_TRUE(rig.reap_admin(false)) << i;
}

TEST_F(Admin, CompletionRaisesAnInterrupt)
{
	rig.received();
	rig.place_admin(admin_sqe(NVME_ADMIN_ABORT, 77));
	rig.post(NVME_REG_DOORBELLS, 1);
	rig.run();
	auto messages = rig.received();
	ASSERT_EQ(messages.size(), 2u);
	EXPECT_EQ(messages[0].type, HZ_LINK_DONE);
	EXPECT_EQ(messages[1].type, HZ_LINK_IRQ);
}

} // namespace hil_test
