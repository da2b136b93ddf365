// Log pages: contents, windows, faults, and the statistics reset.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "rig.hpp"

namespace hil_test {

struct Log : testing::Test {
	Log() { rig.enable(); }
	uint16_t log(uint8_t id, uint32_t bytes, uint64_t offset = 0, uint32_t extra10 = 0, uint32_t cdw14 = 0,
		     uint32_t nsid = NVME_NSID_ALL)
	{
		uint32_t dwords = bytes / 4 - 1;
		nvme_sqe sqe = admin_sqe(NVME_ADMIN_GET_LOG_PAGE, id | dwords << 16 | extra10, dwords >> 16, rig.buffer(), nsid);
		sqe.cdw12 = static_cast<uint32_t>(offset);
		sqe.cdw13 = static_cast<uint32_t>(offset >> 32);
		sqe.cdw14 = cdw14;
		uint64_t list = rig.buffer() + (768 << 10);
		for (unsigned i = 0; i < 128; i++)
			rig.at<uint64_t>(list)[i] = rig.buffer() + 4096 * (i + 1);
		sqe.prp2 = bytes > 8192 ? list : rig.buffer() + 4096;
		std::memset(rig.at(rig.buffer()), 0xee, bytes + 64);
		return rig.status_of(sqe);
	}
	Rig rig;
};

TEST_F(Log, UnknownPagesAndBadWindows)
{
	for (unsigned id : {0x0a, 0x70, 0xbe, 0xc6, 0xff})
		EXPECT_EQ(log(static_cast<uint8_t>(id), 512), dnr(NVME_LOG_PAGE_INVALID)) << id;
	EXPECT_EQ(log(NVME_LOG_SMART, 512, 2), bad_field) << "an offset of whole dwords";
	EXPECT_EQ(log(NVME_LOG_SMART, 512, 516), bad_field) << "behind the page";
	EXPECT_EQ(log(NVME_LOG_SMART, 512, 1ull << 40), bad_field);
	EXPECT_EQ(log(NVME_LOG_SMART, 512, 512), 0) << "at the end: nothing";
	EXPECT_EQ(log(NVME_LOG_SMART, (512 << 10) + 4), bad_field) << "beyond MDTS";
	EXPECT_EQ(log(NVME_LOG_SMART, 512, 0, 0, 1 << 23), bad_field) << "offset type";
	EXPECT_EQ(log(NVME_LOG_SMART, 512, 0, 0, 0, 1), bad_field) << "no page per namespace";
	EXPECT_EQ(log(HZ_LOG_LOCKS, 512, 1 << 30), bad_field);
	EXPECT_EQ(log(NVME_LOG_CHANGED_ZONES, 4096, 4100, 0, 0, 1), bad_field) << "behind the page";
	for (uint32_t nsid : {0u, 2u, NVME_NSID_ALL})
		EXPECT_EQ(log(NVME_LOG_CHANGED_ZONES, 4096, 0, 0, 0, nsid), bad_field) << "a page of the namespace";
}

TEST_F(Log, WindowShowsItsPieceAndZerosBehindThePage)
{
	ASSERT_EQ(log(NVME_LOG_FIRMWARE, 512), 0);
	EXPECT_EQ(rig.page<nvme_firmware_log>().afi, 1);
	EXPECT_EQ(std::string(rig.page<nvme_firmware_log>().frs[0], 8), "1.0     ");
	ASSERT_EQ(log(NVME_LOG_FIRMWARE, 1024, 8), 0);
	EXPECT_EQ(std::string(rig.at<char>(rig.buffer()), 4), "1.0 ");
	EXPECT_EQ(rig.at(rig.buffer())[504], 0);
	EXPECT_EQ(rig.at(rig.buffer())[1023], 0);
	EXPECT_EQ(rig.at(rig.buffer())[1024], 0xee) << "no byte more than asked for";
}

TEST_F(Log, ErrorPageIsNewestFirst)
{
	nvme_sqe bad = admin_sqe(0x55, 0, 0, 0, 9);
	bad.cid = 321;
	rig.status_of(admin_sqe(0x33));
	rig.status_of(bad);
	ASSERT_EQ(log(NVME_LOG_ERROR, 4096), 0);
	auto *entry = rig.at<nvme_error_entry>(rig.buffer());
	EXPECT_EQ(entry[0].error_count, 2u);
	EXPECT_EQ(entry[0].cid, 321);
	EXPECT_EQ(entry[0].nsid, 9u);
	EXPECT_EQ(entry[0].status_field >> 1, dnr(NVME_INVALID_OPCODE));
	EXPECT_EQ(entry[1].error_count, 1u);
	EXPECT_EQ(entry[2].error_count, 0u);
	for (int i = 0; i < 100; i++)
		rig.status_of(admin_sqe(0x33));
	ASSERT_EQ(log(NVME_LOG_ERROR, 4096), 0);
	EXPECT_EQ(entry[0].error_count, 102u);
	EXPECT_EQ(entry[63].error_count, 39u);
}

// A page with parts from all harts: a fault of the command shows when they are there.
TEST_F(Log, AGatheredPageThatCannotBeSentIsAnErrorOfTheAdminQueue)
{
	nvme_sqe beyond = admin_sqe(NVME_ADMIN_GET_LOG_PAGE, HZ_LOG_LOCKS | 127u << 16, 0, rig.buffer(), NVME_NSID_ALL);
	beyond.cid = 77;
	beyond.cdw12 = 1u << 30;
	const uint16_t status = rig.status_of(beyond);
	EXPECT_NE(status, 0);
	ASSERT_EQ(log(NVME_LOG_ERROR, 4096), 0);
	const auto entry = *rig.at<nvme_error_entry>(rig.buffer());
	EXPECT_EQ(entry.error_count, 1u);
	EXPECT_EQ(entry.sqid, 0u);
	EXPECT_EQ(entry.cid, 77u);
	EXPECT_EQ(entry.nsid, NVME_NSID_ALL);
	EXPECT_EQ(entry.status_field >> 1, status);
	EXPECT_EQ(entry.lba, 0u);
}

// Losses found by mount are reported in every way there is, before any command meets them.
TEST(LogDamage, IsAnErrorEntryAMediaErrorAndACriticalWarning)
{
	Options damaged;
	damaged.damage = {3, 4711, 1, 2, 0, 0};
	Rig rig(damaged);
	rig.enable();
	auto read_log = [&](uint8_t id) {
		EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_GET_LOG_PAGE, id | 127u << 16, 0, rig.buffer(), NVME_NSID_ALL)), 0);
	};
	rig.await_event();
	EXPECT_FALSE(rig.reap_admin()) << "events of warnings are asked for";
	EXPECT_EQ(rig.set_feature(NVME_FEAT_ASYNC_EVENT, NVME_WARNING_RELIABILITY).status, 0);
	auto notice = rig.reap_admin();
	ASSERT_TRUE(notice);
	EXPECT_EQ(notice->dw0, NVME_AEN_SMART | NVME_AEN_SMART_RELIABILITY << 8 | NVME_LOG_SMART << 16);
	rig.await_event();
	EXPECT_EQ(rig.set_feature(NVME_FEAT_ASYNC_EVENT, NVME_WARNING_RELIABILITY).status, 0);
	EXPECT_FALSE(rig.reap_admin()) << "masked until the SMART log is read";
	read_log(NVME_LOG_ERROR);
	EXPECT_FALSE(rig.reap_admin()) << "the error log is another type's";
	const auto entry = *rig.at<nvme_error_entry>(rig.buffer());
	EXPECT_EQ(entry.sqid, 0xffff);
	EXPECT_EQ(entry.cid, 0xffff);
	EXPECT_EQ(entry.lba, 4711u);
	EXPECT_EQ(entry.status_field >> 1, NVME_UNRECOVERED_READ);
	rig.place_admin(admin_sqe(NVME_ADMIN_GET_LOG_PAGE, NVME_LOG_SMART | 127u << 16, 0, rig.buffer(), NVME_NSID_ALL));
	rig.ring_admin();
	ASSERT_TRUE(rig.reap_admin());
	EXPECT_TRUE(rig.reap_admin()) << "read: the next one is reported";
	const auto smart = *rig.at<nvme_smart_log>(rig.buffer());
	EXPECT_EQ(smart.critical_warning, NVME_WARNING_RELIABILITY);
	EXPECT_EQ(smart.media_errors[0], 5u);
	EXPECT_EQ(smart.error_entries[0], 1u);
}

TEST(LogDamage, AZoneWhoseRecordCannotBeTrueIsOne)
{
	Options damaged;
	damaged.damage = {.first_lba = 256, .records = 1};
	Rig rig(damaged);
	rig.enable();
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_GET_LOG_PAGE, NVME_LOG_ERROR | 127u << 16, 0, rig.buffer(), NVME_NSID_ALL)), 0);
	EXPECT_EQ(rig.at<nvme_error_entry>(rig.buffer())->lba, 256u);
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_GET_LOG_PAGE, NVME_LOG_SMART | 127u << 16, 0, rig.buffer(), NVME_NSID_ALL)), 0);
	EXPECT_EQ(rig.at<nvme_smart_log>(rig.buffer())->critical_warning, NVME_WARNING_RELIABILITY);
}

TEST_F(Log, SmartCountsHostCommands)
{
	auto queue = rig.make_queue(1, 64);
	rig.open(queue);
	rig.fake->script = [](const ftl_request &req) {
		return req.lba == 99   ? Answer{10, 0, NVME_UNRECOVERED_READ}
		       : req.lba == 97 ? Answer{10, 0, NVME_HZ_MARKED}
		       : req.lba == 98 ? Answer{10, 0, NVME_COMPARE_FAILURE}
				       : Answer{};
	};
	uint64_t prp = rig.buffer();
	for (int i = 0; i < 5; i++)
		rig.io(queue, io_sqe(NVME_IO_READ, 0, 2, prp, prp + 4096));
	rig.io(queue, io_sqe(NVME_IO_WRITE, 0, 1, prp));
	rig.io(queue, io_sqe(NVME_IO_ZONE_APPEND, 0, 1, prp));
	EXPECT_EQ(rig.io(queue, io_sqe(NVME_IO_READ, 99, 1, prp)).status, NVME_UNRECOVERED_READ);
	EXPECT_EQ(rig.io(queue, io_sqe(NVME_IO_VERIFY, 97, 1)).status, dnr(NVME_UNRECOVERED_READ))
		<< "no error of the media: the host's own";
	rig.io(queue, io_sqe(NVME_IO_COMPARE, 0, 2, prp, prp + 4096));
	rig.io(queue, io_sqe(NVME_IO_VERIFY, 0, 128));
	EXPECT_EQ(rig.io(queue, io_sqe(NVME_IO_COMPARE, 98, 1, prp)).status, NVME_COMPARE_FAILURE);
	rig.close(queue, rig.now());
	ASSERT_EQ(log(NVME_LOG_SMART, 512), 0);
	auto &smart = rig.page<nvme_smart_log>();
	EXPECT_EQ(smart.host_reads[0], 6u) << "a compare is one, a verify is not";
	EXPECT_EQ(smart.host_writes[0], 2u);
	EXPECT_EQ(smart.data_units_read[0], 2u) << "1,120 sectors of 512 bytes, in thousands, rounded up";
	EXPECT_EQ(smart.media_errors[0], 1u) << "data that differ are no error of the media";
	EXPECT_EQ(smart.error_entries[0], 3u);
}

TEST_F(Log, SmartRoundsUpToThousandsOf512Bytes)
{
	auto queue = rig.make_queue(1, 64);
	rig.open(queue);
	uint64_t prp = rig.buffer();
	for (uint64_t sectors = 1, before = 0; sectors <= 251; sectors++) { // of 8 such units each
		rig.io(queue, io_sqe(NVME_IO_READ, 0, 1, prp));
		rig.io(queue, io_sqe(NVME_IO_WRITE, 0, 1, prp));
		if (sectors != 1 && sectors % 125 > 1)
			continue;
		ASSERT_EQ(log(NVME_LOG_SMART, 512), 0);
		auto &smart = rig.page<nvme_smart_log>();
		EXPECT_EQ(smart.data_units_read[0], (sectors * 8 + 999) / 1000) << sectors;
		EXPECT_EQ(smart.data_units_written[0], (sectors * 8 + 999) / 1000) << sectors;
		EXPECT_GE(smart.data_units_read[0], before);
		before = smart.data_units_read[0];
	}
	rig.close(queue, rig.now());
}

TEST_F(Log, SmartTellsWearAndSpare)
{
	rig.fake->health = {37, 120};
	ASSERT_EQ(log(NVME_LOG_SMART, 512), 0);
	EXPECT_EQ(rig.page<nvme_smart_log>().available_spare, 37);
	EXPECT_EQ(rig.page<nvme_smart_log>().spare_threshold, 10);
	EXPECT_EQ(rig.page<nvme_smart_log>().percentage_used, 120);
	EXPECT_EQ(rig.page<nvme_smart_log>().critical_warning, 0);
	EXPECT_EQ(rig.page<nvme_smart_log>().temperature[0] | rig.page<nvme_smart_log>().temperature[1], 0) << "not modelled";
}

TEST_F(Log, SpareBelowTheThresholdIsAWarningAndAnEvent)
{
	ASSERT_EQ(rig.set_feature(NVME_FEAT_ASYNC_EVENT, NVME_WARNING_SPARE).status, 0);
	rig.await_event();
	for (uint8_t spare : {10, 9}) {
		rig.fake->health.spare_percent = spare;
		tell_watch(*rig.fake);
		rig.run();
		auto notice = rig.reap_admin();
		ASSERT_EQ(notice.has_value(), spare == 9) << "below, not at it";
		EXPECT_EQ(notice ? notice->dw0 : 0, spare == 9 ? NVME_AEN_SMART | NVME_AEN_SMART_SPARE << 8 | NVME_LOG_SMART << 16 : 0);
		ASSERT_EQ(log(NVME_LOG_SMART, 512), 0);
		EXPECT_EQ(rig.page<nvme_smart_log>().critical_warning, spare == 9 ? NVME_WARNING_SPARE : 0);
	}
	rig.await_event();
	tell_watch(*rig.fake);
	rig.run();
	EXPECT_FALSE(rig.reap_admin()) << "reported once";
}

TEST_F(Log, SmartTellsThePowerHistory)
{
	rig.fake->history = {12, 3, 2 * 3600000000000ull + 1};
	ASSERT_EQ(log(NVME_LOG_SMART, 512), 0);
	EXPECT_EQ(rig.page<nvme_smart_log>().power_cycles[0], 12u);
	EXPECT_EQ(rig.page<nvme_smart_log>().unsafe_shutdowns[0], 3u);
	EXPECT_EQ(rig.page<nvme_smart_log>().power_on_hours[0], 2u);
}

TEST_F(Log, EffectsNameTheCommandsOfEachSet)
{
	constexpr uint32_t change = NVME_EFFECT_SUPPORTED | NVME_EFFECT_LBA_CHANGE | NVME_SCOPE_NAMESPACE;

	ASSERT_EQ(log(NVME_LOG_EFFECTS, 4096), 0);
	EXPECT_EQ(rig.page<nvme_effects_log>().iocs[NVME_IO_WRITE], change);
	EXPECT_EQ(rig.page<nvme_effects_log>().iocs[NVME_IO_WRITE_UNCORRECTABLE], change);
	EXPECT_EQ(rig.page<nvme_effects_log>().iocs[NVME_IO_ZONE_APPEND], 0u);
	constexpr uint32_t manage = NVME_EFFECT_SUPPORTED | NVME_SCOPE_CONTROLLER, attach = manage | NVME_EFFECT_INVENTORY_CHANGE;
	EXPECT_EQ(rig.page<nvme_effects_log>().acs[NVME_ADMIN_IDENTIFY], manage);
	EXPECT_EQ(rig.page<nvme_effects_log>().acs[NVME_ADMIN_NAMESPACE_ATTACHMENT], attach);
	EXPECT_EQ(rig.page<nvme_effects_log>().acs[NVME_ADMIN_NAMESPACE_MANAGEMENT], attach | NVME_EFFECT_LBA_CHANGE) << "deletion";
	ASSERT_EQ(log(NVME_LOG_EFFECTS, 4096, 0, 0, NVME_CSI_ZNS << 24), 0);
	EXPECT_EQ(rig.page<nvme_effects_log>().iocs[NVME_IO_ZONE_APPEND], change);
}

TEST_F(Log, SupportedPagesAndFeatures)
{
	ASSERT_EQ(log(NVME_LOG_SUPPORTED_PAGES, 1024), 0);
	for (unsigned id : {0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x12, 0x13, 0x81, 0xbf, 0xc0, 0xc4, 0xc5})
		EXPECT_EQ(rig.page<nvme_supported_pages>().page[id], 1u) << id;
	for (unsigned id : {0x0a, 0x14, 0xbe, 0xc6, 0xff})
		EXPECT_EQ(rig.page<nvme_supported_pages>().page[id], 0u) << id;
	ASSERT_EQ(log(NVME_LOG_FEATURES, 1024), 0);
	EXPECT_TRUE(rig.page<nvme_features_log>().feature[NVME_FEAT_ARBITRATION] & NVME_EFFECT_SUPPORTED);
	EXPECT_EQ(rig.page<nvme_features_log>().feature[0x0d], 0u);
	ASSERT_EQ(log(NVME_LOG_MI_COMMANDS, 4096), 0);
	EXPECT_EQ(rig.page<nvme_mi_commands_log>().command[0], 0u);
}

struct ZoneNotice : Log {
	static constexpr uint32_t retain = 1 << 15;
	uint16_t configure(uint32_t value) { return rig.set_feature(NVME_FEAT_ASYNC_EVENT, value).status; }
	void change(uint64_t start)
	{
		change_zone(*rig.fake, start);
		rig.run();
	}
	bool notified()
	{
		auto cqe = rig.reap_admin();
		if (!cqe)
			return false;
		EXPECT_EQ(cqe->status, 0);
		EXPECT_EQ(cqe->dw0, NVME_AEN_NOTICE | 0xefu << 8 | 0xbfu << 16);
		EXPECT_EQ(cqe->dw1, 1u) << "the namespace";
		return true;
	}
	const nvme_changed_zones_log &zones(uint32_t extra10 = 0)
	{
		EXPECT_EQ(log(NVME_LOG_CHANGED_ZONES, 4096, 0, extra10, 0, 1), 0);
		return rig.page<nvme_changed_zones_log>();
	}
};

TEST_F(ZoneNotice, IsGivenOnceUntilTheListIsRead)
{
	ASSERT_EQ(configure(NVME_NOTICE_ZONES), 0);
	rig.await_event();
	EXPECT_FALSE(notified()) << "nothing has changed";
	change(512);
	EXPECT_TRUE(notified());
	rig.await_event();
	change(128);
	EXPECT_FALSE(notified()) << "masked until the list is read";
	auto retained = zones(retain);
	EXPECT_EQ(retained.zones, 2u);
	EXPECT_FALSE(notified()) << "read with Retain: still masked";
	auto list = zones();
	EXPECT_EQ(list.zones, 2u);
	EXPECT_EQ(list.start[0], 128u);
	EXPECT_EQ(list.start[1], 512u);
	EXPECT_EQ(list.start[2], 0u);
	EXPECT_FALSE(notified()) << "the list reported both";
	EXPECT_EQ(zones().zones, 0u) << "reading it empties it";
	change(256);
	EXPECT_TRUE(notified());
	EXPECT_EQ(zones().start[0], 256u);
}

TEST_F(ZoneNotice, IsGivenOnlyToWhomAsksForIt)
{
	rig.await_event();
	change(512);
	EXPECT_FALSE(notified());
	ASSERT_EQ(configure(NVME_WARNINGS), 0);
	EXPECT_FALSE(notified());
	ASSERT_EQ(configure(NVME_NOTICE_ZONES), 0);
	EXPECT_TRUE(notified()) << "of what has changed before, too";
}

TEST_F(ZoneNotice, AControllerResetKeepsTheListButNotTheEvent)
{
	ASSERT_EQ(configure(NVME_NOTICE_ZONES), 0);
	rig.set(NVME_REG_CC, 0);
	change(512);
	rig.enable();
	rig.await_event();
	EXPECT_FALSE(notified()) << "the feature is back at its default";
	ASSERT_EQ(configure(NVME_NOTICE_ZONES), 0);
	EXPECT_TRUE(notified());
	EXPECT_EQ(zones().zones, 1u);
}

TEST_F(ZoneNotice, AListThatIsTooLongNamesNone)
{
	for (uint64_t z = 0; z < 511; z++)
		change(z * 128);
	EXPECT_EQ(zones(retain).zones, 511u);
	EXPECT_EQ(zones(retain).start[510], 510 * 128u);
	change(511 * 128);
	EXPECT_EQ(zones().zones, 0xffffu);
	EXPECT_EQ(rig.page<nvme_changed_zones_log>().start[0], 0u);
	EXPECT_EQ(rig.page<nvme_changed_zones_log>().start[510], 0u);
	EXPECT_EQ(zones().zones, 0u);
}

TEST_F(ZoneNotice, ARefusedReadTakesNothing)
{
	change(512);
	EXPECT_EQ(log(NVME_LOG_CHANGED_ZONES, 4096, 4100, 0, 0, 1), bad_field);
	EXPECT_EQ(zones().zones, 1u);
}

TEST(ZoneNoticeOfABlockDevice, IsNotThere)
{
	Options block;
	block.block = true;
	Rig rig(block);
	rig.enable();
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_GET_LOG_PAGE, NVME_LOG_CHANGED_ZONES | 127u << 16, 0, rig.buffer(), 1)),
		  dnr(NVME_LOG_PAGE_INVALID));
	EXPECT_EQ(rig.set_feature(NVME_FEAT_ASYNC_EVENT, NVME_NOTICE_ZONES).status, bad_field);
	EXPECT_EQ(rig.set_feature(NVME_FEAT_ASYNC_EVENT, NVME_NOTICE_NAMESPACES).status, 0) << "the other notice is";
}

TEST_F(Log, HartTimesSumToElapsed)
{
	rig.run_for(5000);
	ASSERT_EQ(log(HZ_LOG_HARTS, sizeof(hz_log_harts)), 0);
	auto &harts = rig.page<hz_log_harts>();
	EXPECT_EQ(harts.harts, rig.cfg.harts);
	EXPECT_EQ(harts.now_ns, rig.now());
	for (unsigned i = 0; i < harts.harts; i++) {
		uint64_t spin = 0;
		for (uint64_t ns : harts.hart[i].spin_ns)
			spin += ns;
		EXPECT_EQ(harts.hart[i].work_ns + spin + harts.hart[i].idle_ns, harts.hart[i].elapsed_ns) << i;
	}
}

TEST_F(Log, LockPageGrowsWithTheLocksAndMayBeReadInPieces)
{
	static lt_lock locks[500];
	for (unsigned i = 0; i < 500; i++) {
		lt_lock_node node;
		locks[i] = lt_lock{};
		lt_lock_init(&locks[i], hil_test::test_lock_class, i);
		lt_lock_acquire(&locks[i], &node);
		lt_lock_release(&locks[i], &node);
	}
	uint32_t bytes = sizeof(hz_log_locks) + 500 * sizeof(hz_lock_entry);
	ASSERT_EQ(log(HZ_LOG_LOCKS, bytes), 0);
	ASSERT_EQ(rig.page<hz_log_locks>().entries, 500u);
	EXPECT_EQ(rig.page<hz_log_locks>().entry_bytes, sizeof(hz_lock_entry));
	std::vector<uint8_t> whole(rig.at(rig.buffer()), rig.at(rig.buffer()) + bytes);
	auto *entry = reinterpret_cast<const hz_lock_entry *>(whole.data() + sizeof(hz_log_locks));
	for (unsigned i = 0; i < 500; i++) {
		ASSERT_EQ(entry[i].index, i);
		ASSERT_EQ(entry[i].acquisitions, 1u);
	}
	for (uint32_t at = 0; at < bytes; at += 1000) {
		ASSERT_EQ(log(HZ_LOG_LOCKS, 1000, at), 0);
		ASSERT_EQ(std::memcmp(rig.at(rig.buffer()), whole.data() + at, std::min(1000u, bytes - at)), 0) << at;
	}
	EXPECT_EQ(log(HZ_LOG_LOCKS, 512, bytes), 0) << "at the end: nothing";
	EXPECT_EQ(log(HZ_LOG_LOCKS, 512, bytes + 4), bad_field) << "behind the page";
}

TEST_F(Log, StatisticsResetMovesTheBaseline)
{
	rig.fake->reports[0].host_read_sectors = 1000;
	rig.fake->reports[0].version = 1;
	ASSERT_EQ(log(HZ_LOG_FTL, sizeof(hz_log_ftl)), 0);
	EXPECT_EQ(rig.page<hz_log_ftl>().host_read_sectors, 1000u);
	ASSERT_EQ(log(HZ_LOG_FLASH, sizeof(hz_log_flash)), 0);
	EXPECT_EQ(rig.page<hz_log_flash>().reads[HZ_CAUSE_HOST], 77u);
	EXPECT_EQ(rig.page<hz_log_flash>().dies, 4u);
	ASSERT_EQ(log(HZ_LOG_ENERGY, sizeof(hz_log_energy)), 0);
	EXPECT_EQ(rig.page<hz_log_energy>().erase_ns[HZ_CELLS_NORMAL], 5u);
	EXPECT_EQ(rig.page<hz_log_energy>().channel_sectors, 78u);
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_HZ_RESET_STATS)), 0);
	rig.fake->reports[0].host_read_sectors = 1500;
	ASSERT_EQ(log(HZ_LOG_FTL, sizeof(hz_log_ftl)), 0);
	EXPECT_EQ(rig.page<hz_log_ftl>().host_read_sectors, 500u);
	EXPECT_EQ(rig.page<hz_log_ftl>().version, 1u);
	ASSERT_EQ(log(HZ_LOG_FLASH, sizeof(hz_log_flash)), 0);
	EXPECT_EQ(rig.page<hz_log_flash>().reads[HZ_CAUSE_HOST], 0u);
	EXPECT_EQ(rig.page<hz_log_flash>().dies, 4u) << "not a counter";
	ASSERT_EQ(log(HZ_LOG_ENERGY, sizeof(hz_log_energy)), 0);
	EXPECT_EQ(rig.page<hz_log_energy>().version, 1u);
	EXPECT_EQ(rig.page<hz_log_energy>().erase_ns[HZ_CELLS_NORMAL], 0u);
	EXPECT_EQ(rig.page<hz_log_energy>().channel_sectors, 0u);
	rig.run_for(700);
	ASSERT_EQ(log(HZ_LOG_HARTS, sizeof(hz_log_harts)), 0);
	for (unsigned i = 0; i < rig.cfg.harts; i++)
		EXPECT_LE(rig.page<hz_log_harts>().hart[i].elapsed_ns, 701u) << "every hart has begun a new account";
}

// As when several processes read logs at once: each round over the harts waits for the one before.
TEST_F(Log, RoundsWaitForEachOther)
{
	const nvme_sqe page = admin_sqe(NVME_ADMIN_GET_LOG_PAGE, HZ_LOG_HARTS | 15 << 16, 0, rig.buffer(), NVME_NSID_ALL);
	for (uint16_t turn = 0; turn < 8; turn++) {
		std::vector<uint16_t> waiting;
		for (unsigned i = 0; i < 30; i++) {
			nvme_sqe sqe = i % 3 ? page : admin_sqe(NVME_ADMIN_HZ_RESET_STATS);
			sqe.cid = static_cast<uint16_t>(100 * turn + 100 + i);
			rig.place_admin(sqe);
			waiting.push_back(sqe.cid);
		}
		rig.ring_admin();
		rig.run();
		for (const uint16_t cid : waiting) {
			const auto cqe = rig.reap_admin();
			ASSERT_TRUE(cqe) << cid;
			EXPECT_EQ(cqe->cid, cid);
			EXPECT_EQ(cqe->status, 0) << cid;
		}
		EXPECT_FALSE(rig.reap_admin());
	}
}

TEST_F(Log, AResetOfTheControllerEndsRoundsThatWait)
{
	for (unsigned i = 0; i < 20; i++)
		rig.place_admin(admin_sqe(NVME_ADMIN_HZ_RESET_STATS));
	rig.ring_admin();
	rig.set(NVME_REG_CC, 0);
	rig.run();
	EXPECT_EQ(rig.get(NVME_REG_CSTS) & NVME_CSTS_RDY, 0u);
	rig.enable();
	EXPECT_FALSE(rig.reap_admin());
	ASSERT_EQ(log(HZ_LOG_HARTS, sizeof(hz_log_harts)), 0);
}

struct Telemetry : testing::Test {
	Telemetry() { rig.enable(); }
	uint16_t read(uint32_t id, uint32_t bytes, uint64_t offset = 0)
	{
		std::memset(rig.at(rig.buffer()), 0xee, bytes);
		const uint32_t dwords = bytes / 4 - 1;
		nvme_sqe sqe = admin_sqe(NVME_ADMIN_GET_LOG_PAGE, (dwords & 0xffff) << 16 | id, dwords >> 16, rig.buffer());
		sqe.cdw12 = static_cast<uint32_t>(offset);
		sqe.prp2 = rig.buffer() + 4096;
		return rig.status_of(sqe);
	}
	nvme_telemetry_header header(uint32_t id = NVME_LOG_TELEMETRY_HOST)
	{
		EXPECT_EQ(read(id, 512), 0);
		return rig.page<nvme_telemetry_header>();
	}
	template <class T> T page_of(uint32_t id)
	{
		T page;
		std::vector<std::byte> all;
		EXPECT_EQ(read(NVME_LOG_TELEMETRY_HOST, 512, 512), 0);
		const auto list = rig.page<hz_log_telemetry>();
		EXPECT_EQ(list.pages, std::size(list.page));
		for (const auto &entry : list.page)
			if (entry.id == id) {
				EXPECT_EQ(entry.bytes, sizeof(T));
				for (uint32_t at = 0; at < sizeof(T); at += 512) {
					EXPECT_EQ(read(NVME_LOG_TELEMETRY_HOST, 512, entry.block * 512 + at), 0);
					all.insert(all.end(), rig.at<std::byte>(rig.buffer()), rig.at<std::byte>(rig.buffer()) + 512);
				}
			}
		std::memcpy(&page, all.data(), sizeof(page));
		return page;
	}
	static constexpr uint32_t create = uint32_t{NVME_LOG_TELEMETRY_HOST} | NVME_TELEMETRY_CREATE;
	Rig rig;
};

TEST_F(Telemetry, NothingUntilAHostAsks)
{
	for (uint32_t id : {NVME_LOG_TELEMETRY_HOST, NVME_LOG_TELEMETRY_CONTROLLER}) {
		const auto head = header(id);
		EXPECT_EQ(head.lpi, id);
		EXPECT_EQ(head.last_block[0] | head.last_block[1] | head.last_block[2], 0);
		EXPECT_EQ(head.last_block4, 0u);
		EXPECT_EQ(head.host_generation | head.controller_available | head.controller_generation, 0);
		EXPECT_EQ(read(id, 512, 512), 0) << "the end";
		EXPECT_EQ(read(id, 512, 1024), bad_field);
	}
}

TEST_F(Telemetry, PagesAsTheyStoodTogether)
{
	rig.fake->reports[0].zone_resets = 5;
	rig.fake->history.power_cycles = 3;
	ASSERT_EQ(read(create, 512), 0);
	const auto head = rig.page<nvme_telemetry_header>();
	EXPECT_EQ(head.host_generation, 1);
	EXPECT_GT(head.last_block[0], 2);
	EXPECT_EQ(head.last_block[1], head.last_block[0] + (sizeof(hz_log_harts) + 511) / 512);
	EXPECT_EQ(head.last_block[2], head.last_block[1]);
	rig.fake->reports[0].zone_resets = 9;
	rig.fake->history.power_cycles = 4;
	EXPECT_EQ(page_of<hz_log_ftl>(HZ_LOG_FTL).zone_resets, 5u);
	EXPECT_EQ(page_of<nvme_smart_log>(NVME_LOG_SMART).power_cycles[0], 3u);
	EXPECT_EQ(page_of<hz_log_flash>(HZ_LOG_FLASH).reads[HZ_CAUSE_HOST], 77u);
	EXPECT_EQ(page_of<hz_log_in_place>(HZ_LOG_IN_PLACE).version, 1u);
	EXPECT_EQ(page_of<hz_log_harts>(HZ_LOG_HARTS).harts, rig.cfg.harts);
	EXPECT_EQ(header().host_generation, 1) << "a read alone creates nothing";
	EXPECT_EQ(read(NVME_LOG_TELEMETRY_HOST, 512, 512 * (head.last_block[2] + 1)), 0) << "the end";
	EXPECT_EQ(read(NVME_LOG_TELEMETRY_HOST, 512, 512 * (head.last_block[2] + 2)), bad_field);
	EXPECT_EQ(header(NVME_LOG_TELEMETRY_CONTROLLER).last_block[2], 0);
	EXPECT_EQ(header(NVME_LOG_TELEMETRY_CONTROLLER).host_generation, 1);
}

TEST_F(Telemetry, StayOverAResetAndTheirNumberGoesRound)
{
	ASSERT_EQ(read(create, 512), 0);
	const auto before = header();
	rig.set(NVME_REG_CC, 0);
	rig.run();
	rig.enable();
	EXPECT_EQ(header().last_block[2], before.last_block[2]);
	rig.fake->controller.telemetry_generation = 255;
	ASSERT_EQ(read(create, 512), 0);
	EXPECT_EQ(rig.page<nvme_telemetry_header>().host_generation, 0);
}

TEST_F(Telemetry, BlocksOnly)
{
	EXPECT_EQ(read(NVME_LOG_TELEMETRY_HOST, 508), bad_field);
	EXPECT_EQ(read(NVME_LOG_TELEMETRY_HOST, 516), bad_field);
	EXPECT_EQ(read(NVME_LOG_TELEMETRY_HOST, 512, 256), bad_field);
	EXPECT_EQ(read(create, 256), bad_field);
	EXPECT_EQ(header().host_generation, 0) << "what is refused creates nothing";
	EXPECT_EQ(read(create, 4096), 0) << "more than there is may be asked for";
}

} // namespace hil_test
