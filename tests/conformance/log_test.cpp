// Get Log Page (base spec 5.16).
// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include "command_case.hpp"

namespace conform {
namespace log_test {

auto page(uint32_t lid, uint64_t dwords, uint64_t offset = 0, uint32_t nsid = NVME_NSID_ALL, uint32_t cdw14 = 0)
{
	return [=](Bench &b) {
		uint32_t numd = static_cast<uint32_t>(dwords - 1);
		nvme_sqe sqe = admin_command(b, NVME_ADMIN_GET_LOG_PAGE, nsid, lid | numd << 16, numd >> 16);
		sqe.prp2 = b.page(1);
		sqe.cdw12 = static_cast<uint32_t>(offset);
		sqe.cdw13 = static_cast<uint32_t>(offset >> 32);
		sqe.cdw14 = cdw14;
		return sqe;
	};
}

std::function<nvme_sqe(Bench &)> endurance_group(uint32_t group)
{
	return [=](Bench &b) {
		nvme_sqe sqe = page(NVME_LOG_ENDURANCE_GROUP, 128)(b);
		sqe.cdw11 |= group << 16;
		return sqe;
	};
}

const CommandCase cases[] = {
	{"Error", NVME_SUCCESS, page(NVME_LOG_ERROR, 1024)},
	{"ErrorOneEntry", NVME_SUCCESS, page(NVME_LOG_ERROR, 16)},
	{"Smart", NVME_SUCCESS, page(NVME_LOG_SMART, 128)},
	{"SmartOfNamespaceZero", NVME_SUCCESS, page(NVME_LOG_SMART, 128, 0, 0)},
	{"SmartPerNamespaceIsNotOffered", NVME_INVALID_FIELD, page(NVME_LOG_SMART, 128, 0, 1)},
	{"EnduranceGroup", NVME_SUCCESS, endurance_group(1)},
	{"EnduranceGroupZero", NVME_INVALID_FIELD, endurance_group(0)},
	{"EnduranceGroupTwo", NVME_INVALID_FIELD, endurance_group(2)},
	{"Firmware", NVME_SUCCESS, page(NVME_LOG_FIRMWARE, 128)},
	{"EffectsNvm", NVME_SUCCESS, page(NVME_LOG_EFFECTS, 1024)},
	{"EffectsZoned", NVME_SUCCESS, page(NVME_LOG_EFFECTS, 1024, 0, NVME_NSID_ALL, NVME_CSI_ZNS << 24)},
	{"SupportedPages", NVME_SUCCESS, page(0x00, 256)},
	{"ManagementCommands", NVME_SUCCESS, page(0x13, 1024)},
	{"Harts", NVME_SUCCESS, page(HZ_LOG_HARTS, 16)},
	{"Flash", NVME_SUCCESS, page(HZ_LOG_FLASH, 16)},
	{"Locks", NVME_SUCCESS, page(HZ_LOG_LOCKS, 16)},
	{"Ftl", NVME_SUCCESS, page(HZ_LOG_FTL, 16)},
	{"FtlOfNamespaceOne", NVME_SUCCESS, page(HZ_LOG_FTL, 16, 0, 1)},
	{"FtlOfNoNamespace", NVME_INVALID_FIELD, page(HZ_LOG_FTL, 16, 0, 2)},
	{"FlashOfANamespace", NVME_INVALID_FIELD, page(HZ_LOG_FLASH, 16, 0, 1)},
	{"OneDword", NVME_SUCCESS, page(NVME_LOG_SMART, 1)},
	{"MoreThanThePage", NVME_SUCCESS, page(NVME_LOG_SMART, 1024)},
	{"OffsetInside", NVME_SUCCESS, page(NVME_LOG_SMART, 1, 508)},
	{"OffsetAtTheEnd", NVME_SUCCESS, page(NVME_LOG_SMART, 1, 512)},
	{"OffsetBeyondTheEnd", NVME_INVALID_FIELD, page(NVME_LOG_SMART, 1, 516)},
	{"OffsetFarBeyondTheEnd", NVME_INVALID_FIELD, page(NVME_LOG_SMART, 1, 1ull << 62)},
	{"OffsetBeyondTheLocks", NVME_INVALID_FIELD, page(HZ_LOG_LOCKS, 1, 1ull << 62)},
	{"OffsetNotDwordAligned", NVME_INVALID_FIELD, page(NVME_LOG_SMART, 1, 2)},
	{"OffsetByIndexIsNotOffered", NVME_INVALID_FIELD, page(NVME_LOG_SMART, 1, 0, NVME_NSID_ALL, 1u << 23)},
	{"LargerThanMdts", NVME_INVALID_FIELD, page(NVME_LOG_SMART, HZ_MAX_TRANSFER_SECTORS * 1024ull + 1)},
	{"NumdUpperOnly", NVME_INVALID_FIELD, page(NVME_LOG_SMART, 0xffff0001ull)},
	{"ErrorOfANamespace", NVME_INVALID_FIELD, page(NVME_LOG_ERROR, 16, 0, 1)},
	{"ErrorOfNamespaceTwo", NVME_INVALID_FIELD, page(NVME_LOG_ERROR, 16, 0, 2)},
	{"SupportedFeatures", NVME_SUCCESS, page(0x12, 256)},
	{"ChangedNamespaces", NVME_SUCCESS, page(0x04, 1024)},
	{"ChangedNamespacesOfNamespaceZero", NVME_SUCCESS, page(0x04, 1024, 0, 0)},
	{"ChangedNamespacesOfANamespace", NVME_INVALID_FIELD, page(0x04, 1024, 0, 1)},
	{"ChangedNamespacesBeyondTheEnd", NVME_INVALID_FIELD, page(0x04, 1, 4100)},
	{"TelemetryOfTheHost", NVME_SUCCESS, page(NVME_LOG_TELEMETRY_HOST, 128)},
	{"TelemetryCreated", NVME_SUCCESS, page(uint32_t{NVME_LOG_TELEMETRY_HOST} | NVME_TELEMETRY_CREATE, 128)},
	{"TelemetryOfTheController", NVME_SUCCESS, page(NVME_LOG_TELEMETRY_CONTROLLER, 128)},
	{"TelemetryOfHalfABlock", NVME_INVALID_FIELD, page(NVME_LOG_TELEMETRY_HOST, 64)},
	{"Sanitize", NVME_SUCCESS, page(NVME_LOG_SANITIZE, 128)},
	{"SelfTest", NVME_SUCCESS, page(NVME_LOG_SELF_TEST, sizeof(nvme_self_test_log) / 4)},
	{"ChangedZones", NVME_SUCCESS, page(NVME_LOG_CHANGED_ZONES, 1024, 0, 1)},
	{"ChangedZonesOfNoNamespace", NVME_INVALID_FIELD, page(NVME_LOG_CHANGED_ZONES, 1024, 0, 0)},
	{"ChangedZonesOfAllNamespaces", NVME_INVALID_FIELD, page(NVME_LOG_CHANGED_ZONES, 1024, 0, NVME_NSID_ALL)},
	{"InPlace", NVME_SUCCESS, page(HZ_LOG_IN_PLACE, 14)},
	{"Energy", NVME_SUCCESS, page(HZ_LOG_ENERGY, 28)},
	{"VendorPageAfterTheLast", NVME_LOG_PAGE_INVALID, page(0xc6, 16)},
	{"LastPage", NVME_LOG_PAGE_INVALID, page(0xff, 16)},
};
class LogPages : public AdminCommand {};
TEST_P(LogPages, Status) { check(); }
INSTANTIATE_TEST_SUITE_P(Lid, LogPages, ::testing::ValuesIn(cases), case_name);

class LogContent : public ZonedDevice {};

TEST_F(LogContent, ErrorLogNamesTheLastFailure)
{
	Bench &b = bench();
	ASSERT_EQ(b.write(5, 1), NVME_ZONE_INVALID_WRITE);
	auto data = b.controller().log_page(NVME_LOG_ERROR, 64);
	nvme_error_entry entry;
	std::memcpy(&entry, data.data(), sizeof(entry));
	EXPECT_GT(entry.error_count, 0u);
	EXPECT_EQ(entry.sqid, 1);
	EXPECT_EQ(entry.status_field >> 1 & 0x7ff, NVME_ZONE_INVALID_WRITE);
	EXPECT_EQ(entry.lba, 5u);
	EXPECT_EQ(entry.nsid, 1u);
}

TEST_F(LogContent, ErrorCountGrowsByOne)
{
	Bench &b = bench();
	auto count = [&] {
		auto data = b.controller().log_page(NVME_LOG_SMART, 512);
		uint64_t value;
		std::memcpy(&value, &data[176], 8);
		return value;
	};
	uint64_t before = count();
	ASSERT_EQ(b.write(5, 1), NVME_ZONE_INVALID_WRITE);
	EXPECT_EQ(count(), before + 1);
}

TEST_F(LogContent, SmartCountsHostCommands)
{
	Bench &b = bench();
	auto smart = [&] {
		auto data = b.controller().log_page(NVME_LOG_SMART, 512);
		nvme_smart_log log;
		std::memcpy(&log, data.data(), sizeof(log));
		return log;
	};
	auto before = smart();
	ASSERT_EQ(b.write(0, 8), NVME_SUCCESS);
	ASSERT_EQ(b.append(0, 8), NVME_SUCCESS);
	ASSERT_EQ(b.status(hz::QueuePair::read(0, 16)), NVME_SUCCESS);
	auto after = smart();
	EXPECT_EQ(after.host_writes[0], before.host_writes[0] + 2);
	EXPECT_EQ(after.host_reads[0], before.host_reads[0] + 1);
	EXPECT_EQ(after.critical_warning, 0);
}

TEST_F(LogContent, TheEnduranceGroupIsAllFlash)
{
	Bench &b = bench();
	ASSERT_EQ(b.write(0, 12), NVME_SUCCESS);
	ASSERT_EQ(b.status(hz::QueuePair::flush()), NVME_SUCCESS);
	ASSERT_EQ(b.controller().admin(endurance_group(1)(b)).status, NVME_SUCCESS);
	nvme_endurance_log log;
	std::memcpy(&log, b.at(b.page(0)), sizeof(log));
	const hz::NamespaceInfo info = b.controller().namespace_info();
	EXPECT_EQ(log.capacity[0], info.size_sectors * 4096);
	EXPECT_EQ(log.unallocated[0], 0u);
	EXPECT_EQ(log.written[0], 1u) << "rounded up";
	EXPECT_EQ(log.media_written[0], 1u);
	EXPECT_GE(log.host_writes[0], 1u);
	EXPECT_EQ(log.available_spare, 100);
}

// A program unit has 12 sectors; the filler is counted apart from the data.
TEST_F(LogContent, FillerOfAFinishedZoneIsCounted)
{
	Bench &b = bench();
	auto before = b.controller().log_flash();
	ASSERT_EQ(b.write(0, 4), NVME_SUCCESS);
	ASSERT_EQ(b.send(0, NVME_ZSA_FINISH), NVME_SUCCESS);
	auto after = b.controller().log_flash();
	EXPECT_EQ(after.program_sectors[HZ_CAUSE_PAD], before.program_sectors[HZ_CAUSE_PAD] + 8);
	EXPECT_EQ(after.program_sectors[HZ_CAUSE_HOST], before.program_sectors[HZ_CAUSE_HOST] + 4);
}

TEST_F(LogContent, PiecesAreTheWholePage)
{
	Bench &b = bench();
	for (uint8_t lid : {NVME_LOG_FIRMWARE, NVME_LOG_EFFECTS}) {
		uint32_t bytes = lid == NVME_LOG_EFFECTS ? 4096 : 512;
		auto whole = b.controller().log_page(lid, bytes);
		for (uint32_t at = 0; at < bytes; at += bytes / 4) {
			auto piece = b.controller().log_page(lid, bytes / 4, at);
			EXPECT_EQ(std::memcmp(piece.data(), &whole[at], bytes / 4), 0) << "page " << int(lid) << " at " << at;
		}
	}
}

TEST_F(LogContent, EffectsNameTheCommandsThatAreThere)
{
	nvme_sqe sqe = page(NVME_LOG_EFFECTS, 1024, 0, NVME_NSID_ALL, NVME_CSI_ZNS << 24)(bench());
	ASSERT_EQ(bench().controller().admin(sqe).status, NVME_SUCCESS);
	nvme_effects_log log;
	std::memcpy(&log, bench().at(bench().page(0)), sizeof(log));
	for (unsigned opcode = 0; opcode < 256; opcode++) {
		nvme_sqe io = io_command(bench(), static_cast<uint8_t>(opcode));
		io.nsid = 0;
		bool unknown = bench().raw(io).status == NVME_INVALID_OPCODE;
		EXPECT_EQ(log.iocs[opcode] & 1u, unknown ? 0u : 1u) << "I/O opcode " << opcode;
	}
}

TEST_F(LogContent, SupportedPagesAreThoseThatCanBeRead)
{
	auto data = bench().controller().log_page(0x00, 1024);
	for (uint32_t lid = 0; lid < 256; lid++) {
		uint32_t nsid = lid == NVME_LOG_CHANGED_ZONES ? 1 : NVME_NSID_ALL;
		const bool blocks = lid == NVME_LOG_TELEMETRY_HOST || lid == NVME_LOG_TELEMETRY_CONTROLLER;
		nvme_sqe sqe = page(lid, blocks ? NVME_TELEMETRY_BLOCK / 4 : 1, 0, nsid)(bench());
		sqe.cdw11 |= lid == NVME_LOG_ENDURANCE_GROUP ? 1 << 16 : 0;
		bool can = bench().controller().admin(sqe).status == NVME_SUCCESS;
		EXPECT_EQ(static_cast<unsigned>(data[lid * 4]) & 1, can ? 1u : 0u) << "page " << lid;
	}
}

TEST_F(LogContent, SupportedFeaturesAreThoseThatCanBeRead)
{
	auto data = bench().controller().log_page(0x12, 1024);
	for (uint32_t fid = 0; fid < 256; fid++) {
		bool can = bench().controller().admin(admin_command(bench(), NVME_ADMIN_GET_FEATURES, 0, fid)).status == NVME_SUCCESS;
		EXPECT_EQ(static_cast<unsigned>(data[fid * 4]) & 1, can ? 1u : 0u) << "feature " << fid;
	}
}

} // namespace log_test
} // namespace conform
