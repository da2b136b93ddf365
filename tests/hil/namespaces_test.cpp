// Namespaces: their list, the routing of their commands, and the notices to the host.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <set>

#include "namespaces.h"
#include "rig.hpp"

namespace hil_test {

struct Namespaces : testing::Test {
	explicit Namespaces(const Options &o = options()) : rig(o) { rig.enable(); }
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
	std::vector<uint32_t> cancelled, flushed;
	for (const Submitted &s : rig.fake->log)
		if (s.op == FTL_CANCEL)
			cancelled.push_back(s.number);
	EXPECT_EQ(cancelled, (std::vector<uint32_t>{0, 1, 2}));
	rig.enable();
	rig.set(NVME_REG_CC, cc_ready | NVME_CC_SHN_NORMAL << NVME_CC_SHN_SHIFT);
	rig.run();
	for (const Submitted &s : rig.fake->log)
		if (s.op == FTL_FLUSH && s.flags & FTL_CLEAN)
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

TEST_F(Namespaces, CountersOfTheFtlAreOfOneOrOfAll)
{
	const auto counters = [this](uint32_t nsid) {
		const uint32_t dwords = sizeof(hz_log_ftl) / 4 - 1;
		EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_GET_LOG_PAGE, HZ_LOG_FTL | dwords << 16, 0, rig.buffer(), nsid)), 0) << nsid;
		return rig.page<hz_log_ftl>();
	};
	for (uint32_t i = 0; i < 3; i++) {
		rig.fake->reports[i].version = 1;
		rig.fake->reports[i].host_read_sectors = 100 << i;
		rig.fake->reports[i].cache_waits = 7 + i;
	}
	EXPECT_EQ(counters(0).host_read_sectors, 700u);
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_HZ_RESET_STATS)), 0);
	rig.fake->reports[1].host_read_sectors += 5;
	rig.fake->reports[2].host_read_sectors += 11;
	rig.fake->reports[2].cache_waits += 2;
	for (uint32_t nsid = 1; nsid <= 3; nsid++) {
		EXPECT_EQ(counters(nsid).host_read_sectors, (nsid == 2 ? 5u : nsid == 3 ? 11u : 0u)) << nsid;
		EXPECT_EQ(counters(nsid).cache_waits, nsid == 3 ? 2u : 0u) << "the last of the record";
		EXPECT_EQ(counters(nsid).version, 1u);
	}
	for (uint32_t nsid : {0u, NVME_NSID_ALL}) {
		EXPECT_EQ(counters(nsid).host_read_sectors, 16u);
		EXPECT_EQ(counters(nsid).cache_waits, 2u);
		EXPECT_EQ(counters(nsid).version, 1u);
	}
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_GET_LOG_PAGE, HZ_LOG_FTL | 15 << 16, 0, rig.buffer(), 4)), bad_field);
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_GET_LOG_PAGE, HZ_LOG_FLASH | 15 << 16, 0, rig.buffer(), 1)), bad_field);
}

// --- Namespace Management and Attachment ---

struct Wish {
	uint64_t sectors = 0, capacity = 0;
	uint16_t set = 0, group = 0;
	uint8_t format = 0, protection = 0, sharing = 0;
};

struct Management : Namespaces {
	explicit Management(const Options &o = options()) : Namespaces(o) {}
	uint64_t zone() { return sectors(1) / 16; }
	nvme_sqe create_sqe(Wish wish, uint8_t csi = NVME_CSI_ZNS, uint32_t nsid = 0)
	{
		nvme_identify_namespace id{};
		id.nsze = wish.sectors;
		id.ncap = wish.capacity ? wish.capacity : wish.sectors;
		id.nvmsetid = wish.set;
		id.endgid = wish.group;
		id.flbas = wish.format;
		id.dps = wish.protection;
		id.nmic = wish.sharing;
		std::memcpy(rig.at<uint8_t>(rig.buffer()), &id, sizeof(id));
		return admin_sqe(NVME_ADMIN_NAMESPACE_MANAGEMENT, 0, uint32_t(csi) << 24, rig.buffer(), nsid);
	}
	Cqe create(Wish wish) { return rig.admin(create_sqe(wish)); }
	uint16_t remove(uint32_t nsid) { return rig.status_of(admin_sqe(NVME_ADMIN_NAMESPACE_MANAGEMENT, 1, 0, 0, nsid)); }
	uint16_t attach(uint32_t nsid, bool on, uint16_t controller = 1, uint16_t count = 1)
	{
		nvme_controller_list list{};
		list.count = count;
		list.id[0] = controller;
		std::memcpy(rig.at<uint8_t>(rig.buffer()), &list, sizeof(list));
		return rig.status_of(admin_sqe(NVME_ADMIN_NAMESPACE_ATTACHMENT, !on, 0, rig.buffer(), nsid));
	}
	uint32_t state(uint32_t nsid) { return rig.fake->records[nsid - 1].state; }
};

TEST_F(Management, DetachedIsInactiveAndStillThere)
{
	Rig::Queue queue = rig.make_queue(1, 16);
	rig.open(queue);
	ASSERT_EQ(attach(2, false), 0);
	EXPECT_EQ(state(2), uint32_t(HZ_NAMESPACE_DETACHED));
	EXPECT_EQ(rig.io(queue, read(2)).status, bad_field);
	EXPECT_EQ(rig.io(queue, read(1)).status, 0);
	EXPECT_EQ(list(NVME_CNS_ACTIVE_NAMESPACES), (std::vector<uint32_t>{1, 3}));
	EXPECT_EQ(list(NVME_CNS_ALLOCATED_NAMESPACES), (std::vector<uint32_t>{1, 2, 3}));
	ASSERT_EQ(identify(NVME_CNS_NAMESPACE, 2), 0);
	EXPECT_EQ(rig.page<nvme_identify_namespace>().nsze, 0u);
	ASSERT_EQ(identify(NVME_CNS_ALLOCATED_NAMESPACE, 2), 0);
	EXPECT_EQ(rig.page<nvme_identify_namespace>().nsze, sectors(2));
	EXPECT_EQ(identify(NVME_CNS_DESCRIPTORS, 2), bad_field);
	ASSERT_EQ(identify(NVME_CNS_ATTACHED_CONTROLLERS, 2), 0);
	EXPECT_EQ(rig.page<nvme_controller_list>().count, 0u);
	EXPECT_EQ(attach(2, false), dnr(NVME_NAMESPACE_NOT_ATTACHED));
	ASSERT_EQ(attach(2, true), 0);
	EXPECT_EQ(attach(2, true), dnr(NVME_NAMESPACE_ATTACHED));
	EXPECT_EQ(rig.io(queue, read(2)).status, 0);
}

TEST_F(Management, AttachmentChecksWhatItIsGiven)
{
	EXPECT_EQ(attach(0, true), dnr(NVME_INVALID_NAMESPACE));
	EXPECT_EQ(attach(4, true), dnr(NVME_INVALID_NAMESPACE));
	EXPECT_EQ(attach(NVME_NSID_ALL, true), dnr(NVME_INVALID_NAMESPACE));
	EXPECT_EQ(attach(1, false, 2), dnr(NVME_CONTROLLER_LIST));
	EXPECT_EQ(attach(1, false, 1, 0), dnr(NVME_CONTROLLER_LIST));
	EXPECT_EQ(attach(1, false, 1, 2), dnr(NVME_CONTROLLER_LIST));
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_NAMESPACE_ATTACHMENT, 2, 0, rig.buffer(), 1)), bad_field);
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_NAMESPACE_ATTACHMENT, 1, 0, rig.buffer() + 1, 1)), dnr(NVME_PRP_OFFSET_INVALID));
	EXPECT_EQ(list(NVME_CNS_ACTIVE_NAMESPACES), (std::vector<uint32_t>{1, 2, 3}));
}

TEST_F(Management, DeletionEndsCommandsAndGivesEverythingBack)
{
	Rig::Queue queue = rig.make_queue(1, 16);
	rig.open(queue);
	rig.fake->script = [](const ftl_request &req) { return Answer{.service_ns = req.life ? 40000000u : 1000u}; };
	rig.place(queue, read(2), rig.now());
	rig.place(queue, read(3), rig.now());
	rig.publish(queue);
	rig.run_for(100000);
	const size_t before = rig.fake->log.size();
	ASSERT_EQ(remove(2), 0);
	EXPECT_EQ(state(2), uint32_t(HZ_NAMESPACE_FREE));
	std::vector<int> ops;
	for (size_t i = before; i < rig.fake->log.size(); i++) {
		EXPECT_EQ(rig.fake->log[i].number, 1u);
		ops.push_back(rig.fake->log[i].op);
	}
	EXPECT_EQ(ops, (std::vector<int>{FTL_CANCEL, FTL_ZONE_RESET, FTL_ZONE_OFFLINE, FTL_FLUSH}));
	EXPECT_EQ(list(NVME_CNS_ALLOCATED_NAMESPACES), (std::vector<uint32_t>{1, 3}));
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_NAMESPACE_MANAGEMENT, 1, 0, 0, 2)), bad_field);
	EXPECT_EQ(attach(2, true), bad_field);
}

TEST_F(Management, DeletingAllLeavesNone)
{
	ASSERT_EQ(attach(3, false), 0);
	ASSERT_EQ(remove(NVME_NSID_ALL), 0);
	EXPECT_EQ(list(NVME_CNS_ALLOCATED_NAMESPACES), (std::vector<uint32_t>{}));
	for (uint32_t nsid = 1; nsid <= 3; nsid++)
		EXPECT_EQ(state(nsid), uint32_t(HZ_NAMESPACE_FREE));
	EXPECT_EQ(remove(NVME_NSID_ALL), 0) << "there is none";
	EXPECT_EQ(remove(0), dnr(NVME_INVALID_NAMESPACE));
	EXPECT_EQ(remove(4), dnr(NVME_INVALID_NAMESPACE));
	ASSERT_EQ(identify(NVME_CNS_CONTROLLER, 0), 0);
	uint64_t total, unallocated;
	std::memcpy(&total, rig.page<nvme_identify_controller>().tnvmcap, sizeof(total));
	std::memcpy(&unallocated, rig.page<nvme_identify_controller>().unvmcap, sizeof(unallocated));
	EXPECT_EQ(unallocated, total);
}

TEST_F(Management, CreationTakesAFreePlaceOfTheSet)
{
	Rig::Queue queue = rig.make_queue(1, 16);
	rig.open(queue);
	ASSERT_EQ(identify(NVME_CNS_CSI_NAMESPACE, 1, NVME_CSI_ZNS << 24), 0);
	const uint64_t zone = rig.page<nvme_zns_identify_namespace>().lbafe[0].zsze;
	ASSERT_EQ(remove(2), 0);
	ASSERT_EQ(remove(3), 0);
	const Cqe cqe = create({.sectors = 2 * zone, .set = 3});
	ASSERT_EQ(cqe.status, 0);
	EXPECT_EQ(cqe.dw0, 3u);
	EXPECT_EQ(rig.io(queue, read(3)).status, bad_field) << "not attached";
	ASSERT_EQ(attach(3, true), 0);
	EXPECT_EQ(rig.io(queue, read(3, 2 * zone - 1)).status, 0);
	EXPECT_EQ(rig.io(queue, read(3, 2 * zone)).status, dnr(NVME_LBA_OUT_OF_RANGE));
	ASSERT_EQ(identify(NVME_CNS_NAMESPACE, 3), 0);
	EXPECT_EQ(rig.page<nvme_identify_namespace>().nsze, 2 * zone);
	EXPECT_EQ(rig.page<nvme_identify_namespace>().eui64[6], 1) << "another name than the one before";
	EXPECT_EQ(create({.sectors = zone, .set = 3}).status, dnr(NVME_NAMESPACE_ID_UNAVAILABLE));
	EXPECT_EQ(create({.sectors = sectors(2) + zone}).status, dnr(NVME_NAMESPACE_CAPACITY));
	EXPECT_EQ(create({.sectors = sectors(2)}).dw0, 2u);
	EXPECT_EQ(create({.sectors = zone}).status, dnr(NVME_NAMESPACE_ID_UNAVAILABLE));
}

TEST_F(Management, CreationChecksTheWish)
{
	ASSERT_EQ(remove(1), 0);
	const uint64_t all = sectors(1);
	EXPECT_EQ(create({.sectors = 0}).status, bad_field);
	EXPECT_EQ(create({.sectors = all - 1}).status, bad_field) << "not whole zones";
	EXPECT_EQ(create({.sectors = all, .capacity = all - 1}).status, dnr(NVME_THIN_PROVISIONING));
	EXPECT_EQ(create({.sectors = all, .capacity = all + 1}).status, bad_field);
	EXPECT_EQ(create({.sectors = all, .set = 4}).status, bad_field);
	EXPECT_EQ(create({.sectors = all, .group = 2}).status, bad_field);
	EXPECT_EQ(create({.sectors = all, .format = 1}).status, dnr(NVME_INVALID_FORMAT));
	EXPECT_EQ(create({.sectors = all, .protection = 1}).status, dnr(NVME_INVALID_FORMAT));
	EXPECT_EQ(create({.sectors = all, .sharing = 1}).status, bad_field);
	EXPECT_EQ(rig.status_of(create_sqe({.sectors = all}, NVME_CSI_NVM)), dnr(NVME_IOCS_NOT_SUPPORTED));
	EXPECT_EQ(rig.status_of(create_sqe({.sectors = all}, NVME_CSI_ZNS, 1)), bad_field);
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_NAMESPACE_MANAGEMENT, 2, 0, rig.buffer(), 1)), bad_field);
	EXPECT_EQ(create({.sectors = all}).dw0, 1u);
}

// --- Changed Attached Namespace List and its notice ---

struct ChangeNotice : Management {
	static constexpr uint32_t retain = 1 << 15;
	void ask_for_notices(uint32_t notices = NVME_NOTICE_NAMESPACES)
	{
		EXPECT_EQ(rig.set_feature(NVME_FEAT_ASYNC_EVENT, notices).status, 0);
		rig.await_event(70);
	}
	bool notified()
	{
		auto cqe = rig.reap_admin();
		if (!cqe)
			return false;
		EXPECT_EQ(cqe->status, 0);
		EXPECT_EQ(cqe->dw0, 2u | 0u << 8 | 4u << 16);
		EXPECT_EQ(cqe->dw1, 0u);
		return true;
	}
	uint16_t read_page(uint32_t extra10 = 0, uint32_t nsid = NVME_NSID_ALL, uint64_t offset = 0)
	{
		nvme_sqe sqe = admin_sqe(NVME_ADMIN_GET_LOG_PAGE, NVME_LOG_CHANGED_NAMESPACES | extra10 | 1023 << 16, 0, rig.buffer(),
					 nsid);
		sqe.cdw12 = uint32_t(offset);
		return rig.status_of(sqe);
	}
	std::vector<uint32_t> changed(uint32_t extra10 = 0)
	{
		EXPECT_EQ(read_page(extra10), 0);
		const uint32_t *first = &rig.page<uint32_t>();
		return {first, std::find(first, first + 1024, 0u)};
	}
};
using Nsids = std::vector<uint32_t>;

TEST_F(ChangeNotice, AttachAndDetachAreReportedOnceUntilTheListIsRead)
{
	ask_for_notices();
	EXPECT_FALSE(notified()) << "nothing has changed";
	ASSERT_EQ(attach(3, false), 0);
	EXPECT_TRUE(notified());
	rig.await_event(71);
	ASSERT_EQ(attach(2, false), 0);
	ASSERT_EQ(attach(2, true), 0);
	EXPECT_FALSE(notified()) << "masked until the list is read";
	EXPECT_EQ(changed(retain), (Nsids{2, 3}));
	EXPECT_FALSE(notified()) << "read with Retain: still masked";
	EXPECT_EQ(changed(), (Nsids{2, 3}));
	EXPECT_FALSE(notified()) << "the list reported all";
	EXPECT_EQ(changed(), Nsids{}) << "reading it empties it";
	ASSERT_EQ(attach(3, true), 0);
	EXPECT_TRUE(notified());
	EXPECT_EQ(changed(), Nsids{3});
	EXPECT_EQ(attach(3, true), dnr(NVME_NAMESPACE_ATTACHED));
	EXPECT_EQ(changed(), Nsids{}) << "what was refused is no change";
}

TEST_F(ChangeNotice, ADeletionIsListedAndNotReported)
{
	ask_for_notices();
	ASSERT_EQ(remove(2), 0);
	EXPECT_FALSE(notified()) << "the controller was asked for it";
	EXPECT_EQ(changed(), Nsids{2});
	ASSERT_EQ(create({.sectors = sectors(2)}).dw0, 2u);
	EXPECT_FALSE(notified());
	EXPECT_EQ(changed(), Nsids{}) << "created, and not yet attached";
	ASSERT_EQ(remove(2), 0);
	EXPECT_EQ(changed(), Nsids{}) << "was not attached";
	ASSERT_EQ(remove(NVME_NSID_ALL), 0);
	EXPECT_FALSE(notified());
	EXPECT_EQ(changed(), (Nsids{1, 3}));
}

TEST_F(ChangeNotice, IsGivenOnlyToWhomAsksForIt)
{
	ask_for_notices(NVME_NOTICE_ZONES);
	ASSERT_EQ(attach(1, false), 0);
	EXPECT_FALSE(notified());
	EXPECT_EQ(rig.set_feature(NVME_FEAT_ASYNC_EVENT, NVME_NOTICE_NAMESPACES).status, 0);
	EXPECT_FALSE(notified()) << "of what comes from then on";
	EXPECT_EQ(changed(), Nsids{1}) << "listed all the same";
	ASSERT_EQ(attach(1, true), 0);
	EXPECT_TRUE(notified());
}

// A type of events is masked until the log page of the reported one is read; the other kind of notice waits for it.
TEST_F(ChangeNotice, TheOtherNoticeIsMaskedByIt)
{
	ask_for_notices(NVME_NOTICE_NAMESPACES | NVME_NOTICE_ZONES);
	ASSERT_EQ(attach(3, false), 0);
	EXPECT_TRUE(notified());
	rig.await_event(71);
	change_zone(*rig.fake, 64, 1);
	rig.run();
	EXPECT_FALSE(notified());
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_GET_LOG_PAGE, NVME_LOG_CHANGED_ZONES | 1023 << 16, 0, rig.buffer(), 1)), 0);
	EXPECT_FALSE(notified()) << "another namespace's zones, and not the list of namespaces";
	EXPECT_EQ(changed(), Nsids{3});
	auto cqe = rig.reap_admin();
	ASSERT_TRUE(cqe);
	EXPECT_EQ(cqe->dw0, 2u | 0xef << 8 | 0xbfu << 16);
	EXPECT_EQ(cqe->dw1, 2u);
	rig.await_event(72);
	ASSERT_EQ(attach(3, true), 0);
	EXPECT_FALSE(notified()) << "masked by the zones";
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_GET_LOG_PAGE, NVME_LOG_CHANGED_ZONES | 1023 << 16, 0, rig.buffer(), 2)), 0);
	EXPECT_TRUE(notified());
}

TEST_F(ChangeNotice, AControllerResetKeepsTheListButNotTheEvent)
{
	ask_for_notices();
	ASSERT_EQ(attach(3, false), 0);
	EXPECT_TRUE(notified());
	rig.set(NVME_REG_CC, 0);
	rig.run();
	rig.enable();
	ask_for_notices();
	EXPECT_FALSE(notified());
	EXPECT_EQ(changed(), Nsids{3});
}

TEST_F(ChangeNotice, ThePageIsOfTheController)
{
	ASSERT_EQ(attach(3, false), 0);
	EXPECT_EQ(read_page(0, 1), bad_field);
	EXPECT_EQ(read_page(0, NVME_NSID_ALL, 4100), bad_field);
	EXPECT_EQ(changed(), Nsids{3}) << "a refused read takes nothing";
	EXPECT_EQ(read_page(0, 0), 0);
}

// Power failed in a deletion: the place is free, and its old data go away first.
TEST_F(Management, CreationFinishesADeletion)
{
	rig.fake->script = [](const ftl_request &req) { return Answer{.status = uint16_t(req.op == FTL_FLUSH ? NVME_WRITE_FAULT : 0)}; };
	EXPECT_EQ(remove(2), NVME_WRITE_FAULT);
	EXPECT_EQ(state(2), uint32_t(HZ_NAMESPACE_DELETED));
	EXPECT_EQ(list(NVME_CNS_ALLOCATED_NAMESPACES), (std::vector<uint32_t>{1, 3}));
	rig.fake->script = [](const ftl_request &) { return Answer{}; };
	const size_t before = rig.fake->log.size();
	EXPECT_EQ(create({.sectors = sectors(2)}).dw0, 2u);
	EXPECT_EQ(rig.fake->log.size(), before + 4);
	EXPECT_EQ(state(2), uint32_t(HZ_NAMESPACE_DETACHED));
}

struct Format : Management {
	explicit Format(const Options &o = options()) : Management(o) {}
	uint16_t format(uint32_t nsid, uint32_t cdw10 = 0) { return rig.status_of(admin_sqe(NVME_ADMIN_FORMAT_NVM, cdw10, 0, 0, nsid)); }
	std::vector<int> ops(size_t from)
	{
		std::vector<int> all;
		for (size_t i = from; i < rig.fake->log.size(); i++)
			all.push_back(rig.fake->log[i].op);
		return all;
	}
	const std::vector<int> wipe{FTL_CANCEL, FTL_ZONE_RESET, FTL_ZONE_OFFLINE, FTL_FLUSH};
};

/* With commands under way, in a device whose time runs by itself. */
struct FormatMeanwhile : Format {
	static Options real_time()
	{
		Options o = options();
		o.virtual_clock = false;
		return o;
	}
	FormatMeanwhile() : Format(real_time()) {}
	void send(Rig::Queue &queue, std::initializer_list<uint32_t> nsids)
	{
		for (uint32_t nsid : nsids)
			rig.place(queue, read(nsid));
		rig.post(NVME_REG_DOORBELLS + 8 * queue.id, queue.submitted);
		rig.run_for(100000);
	}
	std::multiset<uint16_t> seen(Rig::Queue &queue)
	{
		std::multiset<uint16_t> all;
		while (auto cqe = rig.peek(queue))
			all.insert(cqe->status);
		return all;
	}
};

TEST_F(FormatMeanwhile, EndsCommandsAndReleasesEverything)
{
	Rig::Queue queue = rig.make_queue(1, 16);
	rig.open(queue);
	rig.fake->script = [](const ftl_request &req) { return Answer{.service_ns = req.life ? 40000000u : 1000u}; };
	send(queue, {2});
	const size_t before = rig.fake->log.size();
	ASSERT_EQ(before, 1u);
	rig.place_admin(admin_sqe(NVME_ADMIN_FORMAT_NVM, 0, 0, 0, 2));
	rig.post_admin();
	rig.run_for(1000000);
	EXPECT_EQ(seen(queue), std::multiset<uint16_t>{NVME_ABORT_REQUESTED});
	auto done = rig.reap_admin();
	ASSERT_TRUE(done);
	EXPECT_EQ(done->status, 0);
	EXPECT_EQ(ops(before), wipe);
	for (size_t i = before; i < rig.fake->log.size(); i++)
		EXPECT_EQ(rig.fake->log[i].number, 1u);
	EXPECT_EQ(state(2), uint32_t(HZ_NAMESPACE_ATTACHED));
	EXPECT_EQ(list(NVME_CNS_ACTIVE_NAMESPACES), (std::vector<uint32_t>{1, 2, 3}));
	EXPECT_EQ(rig.fake->records[1].created, 0u) << "it is the same namespace";
}

TEST_F(Format, OfAllIsOfTheAttachedOnes)
{
	ASSERT_EQ(attach(2, false), 0);
	const size_t before = rig.fake->log.size();
	ASSERT_EQ(format(NVME_NSID_ALL), 0);
	ASSERT_EQ(rig.fake->log.size(), before + 8);
	EXPECT_EQ(rig.fake->log[before].number, 0u);
	EXPECT_EQ(rig.fake->log[before + 4].number, 2u);
	EXPECT_EQ(state(2), uint32_t(HZ_NAMESPACE_DETACHED));
	ASSERT_EQ(attach(1, false), 0);
	ASSERT_EQ(attach(3, false), 0);
	EXPECT_EQ(format(NVME_NSID_ALL), 0) << "there is none";
	EXPECT_EQ(rig.fake->log.size(), before + 8);
}

TEST_F(Format, OtherFormsAreRefused)
{
	const size_t before = rig.fake->log.size();
	EXPECT_EQ(format(1, NVME_FORMAT_CRYPTO << NVME_FORMAT_SES), bad_field);
	EXPECT_EQ(format(1, 7 << NVME_FORMAT_SES), bad_field);
	EXPECT_EQ(format(1, 1 << NVME_FORMAT_LBAFL), dnr(NVME_INVALID_FORMAT));
	EXPECT_EQ(format(1, 1 << NVME_FORMAT_LBAFU), dnr(NVME_INVALID_FORMAT));
	EXPECT_EQ(format(1, 1 << NVME_FORMAT_PI), dnr(NVME_INVALID_FORMAT)) << "no metadata to keep it in";
	EXPECT_EQ(format(0), dnr(NVME_INVALID_NAMESPACE));
	EXPECT_EQ(format(4), dnr(NVME_INVALID_NAMESPACE));
	ASSERT_EQ(attach(2, false), 0);
	EXPECT_EQ(format(2), bad_field) << "detached";
	EXPECT_EQ(rig.fake->log.size(), before);
	EXPECT_EQ(format(1, 1 << NVME_FORMAT_MSET | 1 << NVME_FORMAT_PIL), 0) << "not applicable without metadata";
}

/* Behind everything else; of each namespace by itself. */
TEST_F(Format, ErasesUserDataIfItIsAskedTo)
{
	const size_t before = rig.fake->log.size();
	std::vector<int> erasing = wipe, both;
	erasing.push_back(FTL_ERASE);
	both = erasing;
	both.insert(both.end(), erasing.begin(), erasing.end());
	ASSERT_EQ(format(2, NVME_FORMAT_USER_DATA << NVME_FORMAT_SES), 0);
	EXPECT_EQ(ops(before), erasing);
	EXPECT_EQ(rig.fake->log.back().number, 1u);
	EXPECT_EQ(state(2), uint32_t(HZ_NAMESPACE_ATTACHED));
	ASSERT_EQ(attach(2, false), 0);
	ASSERT_EQ(format(NVME_NSID_ALL, NVME_FORMAT_USER_DATA << NVME_FORMAT_SES), 0);
	EXPECT_EQ(ops(before + erasing.size()), both);
}

/* … and a start completes it as such, also one whose erase has failed. */
TEST_F(Format, AnInterruptedEraseIsCompletedAsOne)
{
	rig.fake->script = [](const ftl_request &req) { return Answer{.status = uint16_t(req.op == FTL_ERASE ? NVME_WRITE_FAULT : 0)}; };
	EXPECT_EQ(format(3, NVME_FORMAT_USER_DATA << NVME_FORMAT_SES), NVME_WRITE_FAULT);
	EXPECT_EQ(state(3), uint32_t(HZ_NAMESPACE_ERASING));
	Rig::Queue queue = rig.make_queue(1, 16);
	rig.open(queue);
	EXPECT_EQ(rig.io(queue, read(3)).status, NVME_FORMAT_IN_PROGRESS);
	rig.fake->script = [](const ftl_request &) { return Answer{}; };
	rig.set(NVME_REG_CC, 0);
	rig.run();
	const size_t before = rig.fake->log.size();
	rig.enable();
	EXPECT_EQ(list(NVME_CNS_ACTIVE_NAMESPACES), (std::vector<uint32_t>{1, 2, 3}));
	std::vector<int> erasing = wipe;
	erasing.push_back(FTL_ERASE);
	EXPECT_EQ(ops(before), erasing);
	EXPECT_EQ(state(3), uint32_t(HZ_NAMESPACE_ATTACHED));
}

/* Commands that come meanwhile end with a status of their own; other namespaces are served. */
TEST_F(FormatMeanwhile, CommandsOfItAreRefused)
{
	Rig::Queue queue = rig.make_queue(1, 16);
	rig.open(queue);
	rig.fake->script = [](const ftl_request &req) { return Answer{.service_ns = req.life ? 1000u : 1000000u}; };
	rig.place_admin(admin_sqe(NVME_ADMIN_FORMAT_NVM, 0, 0, 0, 2));
	rig.post_admin();
	rig.run_for(100000);
	EXPECT_EQ(state(2), uint32_t(HZ_NAMESPACE_FORMATTING));
	send(queue, {2, 1});
	EXPECT_EQ(seen(queue), (std::multiset<uint16_t>{0, NVME_FORMAT_IN_PROGRESS}));
	EXPECT_FALSE(rig.reap_admin()) << "it goes on";
	rig.run_for(10000000);
	auto done = rig.reap_admin();
	ASSERT_TRUE(done);
	EXPECT_EQ(done->status, 0);
	EXPECT_EQ(state(2), uint32_t(HZ_NAMESPACE_ATTACHED));
}

/* A failure leaves it without data that can be reached, until a format succeeds. */
TEST_F(Format, AFailedOneMustBeRepeated)
{
	rig.fake->script = [](const ftl_request &req) { return Answer{.status = uint16_t(req.op == FTL_FLUSH ? NVME_WRITE_FAULT : 0)}; };
	EXPECT_EQ(format(2), NVME_WRITE_FAULT);
	EXPECT_EQ(state(2), uint32_t(HZ_NAMESPACE_FORMATTING));
	rig.fake->script = [](const ftl_request &) { return Answer{}; };
	Rig::Queue queue = rig.make_queue(1, 16);
	rig.open(queue);
	EXPECT_EQ(rig.io(queue, read(2)).status, NVME_FORMAT_IN_PROGRESS);
	EXPECT_EQ(list(NVME_CNS_ACTIVE_NAMESPACES), (std::vector<uint32_t>{1, 2, 3}));
	ASSERT_EQ(format(2), 0);
	EXPECT_EQ(rig.io(queue, read(2)).status, 0);
}

/* As after a power cut: what the image says, and a controller that is enabled. */
TEST_F(Format, AnInterruptedOneIsCompletedFirst)
{
	rig.fake->script = [](const ftl_request &req) { return Answer{.status = uint16_t(req.op == FTL_FLUSH ? NVME_WRITE_FAULT : 0)}; };
	EXPECT_EQ(format(3), NVME_WRITE_FAULT);
	EXPECT_EQ(format(1), NVME_WRITE_FAULT);
	rig.fake->script = [](const ftl_request &) { return Answer{}; };
	rig.set(NVME_REG_CC, 0);
	rig.run();
	const size_t before = rig.fake->log.size();
	rig.enable();
	EXPECT_EQ(list(NVME_CNS_ACTIVE_NAMESPACES), (std::vector<uint32_t>{1, 2, 3})) << "answered behind the formats";
	ASSERT_EQ(rig.fake->log.size(), before + 8);
	EXPECT_EQ(rig.fake->log[before].number, 0u);
	EXPECT_EQ(rig.fake->log[before + 4].number, 2u);
	for (uint32_t nsid = 1; nsid <= 3; nsid++)
		EXPECT_EQ(state(nsid), uint32_t(HZ_NAMESPACE_ATTACHED));
	Rig::Queue queue = rig.make_queue(1, 16);
	rig.open(queue);
	EXPECT_EQ(rig.io(queue, read(3)).status, 0);
}

// The device completes a deletion once begun; a shutdown waits for it.
TEST_F(Management, AShutdownWaitsForADeletion)
{
	rig.fake->script = [](const ftl_request &) { return Answer{.service_ns = 1000000}; };
	rig.place_admin(admin_sqe(NVME_ADMIN_NAMESPACE_MANAGEMENT, 1, 0, 0, 2));
	rig.ring_admin();
	rig.set(NVME_REG_CC, cc_ready | NVME_CC_SHN_NORMAL << NVME_CC_SHN_SHIFT);
	for (int i = 0; i < 20; i++)
		rig.run();
	EXPECT_EQ(rig.get(NVME_REG_CSTS) & NVME_CSTS_SHST_MASK, unsigned(NVME_CSTS_SHST_COMPLETE));
	EXPECT_EQ(state(2), uint32_t(HZ_NAMESPACE_FREE));
	bool flushed = false;
	for (const Submitted &s : rig.fake->log) {
		flushed |= (s.flags & FTL_CLEAN) != 0;
		EXPECT_FALSE(flushed && s.op == FTL_ZONE_RESET) << "after the device came to rest";
	}
}

} // namespace hil_test
