// Namespaces: which there are, where their commands go, and what the host is told of each.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "namespaces.h"
#include "rig.hpp"

namespace hil_test {

struct Namespaces : testing::Test {
	Namespaces() : rig(options()) { rig.enable(); }
	static Options options()
	{
		Options o;
		o.namespaces = 3;
		return o;
	}
	uint16_t identify(uint8_t cns, uint32_t nsid, uint32_t cdw11 = 0, uint32_t cdw10 = 0)
	{
		return rig.status_of(admin_sqe(NVME_ADMIN_IDENTIFY, cns | cdw10, cdw11, rig.buffer(), nsid));
	}
	std::vector<uint32_t> list(uint8_t cns, uint32_t above = 0)
	{
		EXPECT_EQ(identify(cns, above), 0);
		const uint32_t *first = &rig.page<uint32_t>();
		return {first, std::find(first, first + 1024, 0u)};
	}
	nvme_sqe read(uint32_t nsid, uint64_t lba = 0)
	{
		nvme_sqe sqe = io_sqe(NVME_IO_READ, lba, 1, rig.buffer());
		sqe.nsid = nsid;
		return sqe;
	}
	nvme_sqe flush(uint32_t nsid)
	{
		nvme_sqe sqe{};
		sqe.nsid = nsid;
		return sqe;
	}
	uint64_t sectors(uint32_t nsid)
	{
		hz_shape shape;
		hz_namespace_shape(&rig.cfg, nsid - 1, &shape);
		return shape.namespace_sectors;
	}

	Rig rig;
};

TEST_F(Namespaces, CommandsGoToTheirOwn)
{
	Rig::Queue queue = rig.make_queue(1, 16);
	rig.open(queue);
	for (uint32_t nsid = 1; nsid <= 3; nsid++) {
		EXPECT_EQ(rig.io(queue, read(nsid, sectors(nsid) - 1)).status, 0);
		EXPECT_EQ(rig.fake->log.back().number, nsid - 1);
		EXPECT_EQ(rig.io(queue, read(nsid, sectors(nsid))).status, dnr(NVME_LBA_OUT_OF_RANGE));
	}
	for (uint32_t nsid : {0u, 4u, 17u, NVME_NSID_ALL})
		EXPECT_EQ(rig.io(queue, read(nsid)).status, dnr(NVME_INVALID_NAMESPACE)) << nsid;
	EXPECT_EQ(rig.io(queue, flush(2)).status, 0);
	EXPECT_EQ(rig.fake->log.back().number, 1u);
}

TEST_F(Namespaces, AFlushOfAllReachesEach)
{
	Rig::Queue queue = rig.make_queue(1, 16);
	rig.open(queue);
	const size_t before = rig.fake->log.size();
	EXPECT_EQ(rig.io(queue, flush(NVME_NSID_ALL)).status, 0);
	ASSERT_EQ(rig.fake->log.size(), before + 3);
	for (uint32_t i = 0; i < 3; i++) {
		EXPECT_EQ(rig.fake->log[before + i].number, i);
		EXPECT_EQ(rig.fake->log[before + i].op, FTL_FLUSH);
	}
	rig.fake->script = [this](const ftl_request &) {
		return Answer{1000, 0, uint16_t(rig.fake->log.back().number == 1 ? NVME_WRITE_FAULT : 0)};
	};
	EXPECT_EQ(rig.io(queue, flush(NVME_NSID_ALL)).status, NVME_WRITE_FAULT) << "the first that fails ends it";
	rig.fake->script = [](const ftl_request &) { return Answer{}; };
	EXPECT_EQ(rig.io(queue, read(1)).status, 0) << "the command is as it was";
}

TEST_F(Namespaces, ShutdownAndResetReachEach)
{
	rig.set(NVME_REG_CC, 0);
	rig.run();
	std::vector<uint32_t> abandoned, flushed;
	for (const Submitted &s : rig.fake->log)
		if (s.op == FTL_ABANDON)
			abandoned.push_back(s.number);
	EXPECT_EQ(abandoned, (std::vector<uint32_t>{0, 1, 2}));
	rig.enable();
	rig.set(NVME_REG_CC, cc_ready | NVME_CC_SHN_NORMAL << NVME_CC_SHN_SHIFT);
	rig.run();
	for (const Submitted &s : rig.fake->log)
		if (s.op == FTL_FLUSH && s.flags & FTL_AT_REST)
			flushed.push_back(s.number);
	EXPECT_EQ(flushed, (std::vector<uint32_t>{0, 1, 2}));
	EXPECT_EQ(rig.get(NVME_REG_CSTS) & NVME_CSTS_SHST_MASK, unsigned(NVME_CSTS_SHST_COMPLETE));
}

TEST_F(Namespaces, IdentifyListsThem)
{
	EXPECT_EQ(list(NVME_CNS_ACTIVE_NAMESPACES), (std::vector<uint32_t>{1, 2, 3}));
	EXPECT_EQ(list(NVME_CNS_ACTIVE_NAMESPACES, 2), (std::vector<uint32_t>{3}));
	EXPECT_EQ(list(NVME_CNS_ALLOCATED_NAMESPACES, 1), (std::vector<uint32_t>{2, 3}));
	EXPECT_EQ(list(NVME_CNS_ALLOCATED_NAMESPACES, 3), (std::vector<uint32_t>{}));
	ASSERT_EQ(identify(NVME_CNS_CSI_ACTIVE_NAMESPACES, 1, NVME_CSI_ZNS << 24), 0);
	EXPECT_EQ(rig.page<uint32_t>(), 2u);
	ASSERT_EQ(identify(NVME_CNS_CONTROLLER, 0), 0);
	EXPECT_EQ(rig.page<nvme_identify_controller>().nn, 3u);
	EXPECT_EQ(rig.page<nvme_identify_controller>().nsetidmax, 3u);
}

TEST_F(Namespaces, IdentifyTellsThemApart)
{
	std::set<uint8_t> names;
	for (uint32_t nsid = 1; nsid <= 3; nsid++) {
		ASSERT_EQ(identify(NVME_CNS_NAMESPACE, nsid), 0);
		const auto &id = rig.page<nvme_identify_namespace>();
		EXPECT_EQ(id.nsze, sectors(nsid));
		EXPECT_EQ(id.nvmsetid, nsid);
		EXPECT_EQ(id.endgid, 1u);
		names.insert(id.eui64[7]);
		ASSERT_EQ(identify(NVME_CNS_INDEPENDENT_NAMESPACE, nsid), 0);
		EXPECT_EQ(rig.page<nvme_independent_namespace>().nvmsetid, nsid);
		EXPECT_EQ(identify(NVME_CNS_DESCRIPTORS, nsid), 0);
		ASSERT_EQ(identify(NVME_CNS_CSI_NAMESPACE, nsid, NVME_CSI_ZNS << 24), 0);
		EXPECT_GT(rig.page<nvme_zns_identify_namespace>().lbafe[0].zsze, 0u);
	}
	EXPECT_EQ(names.size(), 3u);
	for (uint8_t cns : {NVME_CNS_NAMESPACE, NVME_CNS_DESCRIPTORS, NVME_CNS_CSI_NAMESPACE, NVME_CNS_INDEPENDENT_NAMESPACE,
			    NVME_CNS_ALLOCATED_NAMESPACE, NVME_CNS_CSI_ALLOCATED_NAMESPACE, NVME_CNS_ATTACHED_CONTROLLERS})
		EXPECT_EQ(identify(cns, 4), dnr(NVME_INVALID_NAMESPACE)) << int(cns);
}

TEST_F(Namespaces, IdentifyListsSetsAndControllers)
{
	ASSERT_EQ(identify(NVME_CNS_NVM_SETS, 0, 2), 0);
	const auto &sets = rig.page<nvme_nvm_sets>();
	EXPECT_EQ(sets.count, 2);
	EXPECT_EQ(sets.set[0].nvmsetid, 2u);
	EXPECT_EQ(sets.set[1].nvmsetid, 3u);
	uint64_t bytes;
	std::memcpy(&bytes, sets.set[0].capacity, sizeof(bytes));
	EXPECT_EQ(bytes, sectors(2) * 4096);
	ASSERT_EQ(identify(NVME_CNS_CONTROLLERS, 0), 0);
	EXPECT_EQ(rig.page<nvme_controller_list>().count, 1u);
	EXPECT_EQ(rig.page<nvme_controller_list>().id[0], 1u);
	ASSERT_EQ(identify(NVME_CNS_ATTACHED_CONTROLLERS, 2, 0, 2 << 16), 0);
	EXPECT_EQ(rig.page<nvme_controller_list>().count, 0u) << "from controller 2 on";
}

TEST_F(Namespaces, ChangedZonesAreOfANamespace)
{
	ASSERT_EQ(rig.set_feature(NVME_FEAT_ASYNC_EVENT, NVME_NOTICE_ZONES).status, 0);
	change_zone(*rig.fake, 64, 1);
	change_zone(*rig.fake, 128, 2);
	rig.run();
	rig.await_event(70);
	auto cqe = rig.reap_admin();
	ASSERT_TRUE(cqe);
	EXPECT_EQ(cqe->dw0, 2u | 0xef << 8 | uint32_t(NVME_LOG_CHANGED_ZONES) << 16);
	EXPECT_EQ(cqe->dw1, 2u);
	rig.await_event(71);
	EXPECT_FALSE(rig.reap_admin()) << "masked";
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_GET_LOG_PAGE, NVME_LOG_CHANGED_ZONES | 1023 << 16, 0, rig.buffer(), 2)), 0);
	EXPECT_EQ(rig.page<nvme_changed_zones_log>().zones, 1u);
	EXPECT_EQ(rig.page<nvme_changed_zones_log>().start[0], 64u);
	cqe = rig.reap_admin();
	ASSERT_TRUE(cqe);
	EXPECT_EQ(cqe->dw1, 3u) << "the other namespace's";
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_GET_LOG_PAGE, NVME_LOG_CHANGED_ZONES | 1023 << 16, 0, rig.buffer(), 4)), bad_field);
}

} // namespace hil_test
