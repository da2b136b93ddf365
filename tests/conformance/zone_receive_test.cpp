// Zone Management Receive (ZNS 3.4.2): report, filters, partial reports, short buffers, illegal fields.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include "command_case.hpp"

namespace conform {
namespace zone_receive_test {

auto receive(uint64_t lba, uint64_t bytes, uint32_t cdw13 = 0)
{
	return [=](Bench &b) {
		nvme_sqe sqe = io_command(b, NVME_IO_ZONE_MGMT_RECV, lba);
		sqe.cdw12 = static_cast<uint32_t>(bytes / 4 - 1);
		sqe.cdw13 = cdw13;
		return sqe;
	};
}
constexpr uint32_t filter(uint32_t value) { return value << 8; }
constexpr uint32_t partial = 1u << 16;

const CommandCase cases[] = {
	{"Report", NVME_SUCCESS, receive(0, 4096)},
	{"ReportPartial", NVME_SUCCESS, receive(0, 4096, partial)},
	{"ReportFromInsideAZone", NVME_SUCCESS, receive(5, 4096)},
	{"ReportFromTheLastBlock", NVME_SUCCESS, receive(12 * 128 - 1, 4096)},
	{"ReportBehindTheNamespace", NVME_LBA_OUT_OF_RANGE, receive(12 * 128, 4096)},
	{"ReportFarBehindTheNamespace", NVME_LBA_OUT_OF_RANGE, receive(~0ull, 4096)},
	{"OneDword", NVME_SUCCESS, receive(0, 4)},
	{"HeaderOnly", NVME_SUCCESS, receive(0, 64)},
	{"HalfADescriptor", NVME_SUCCESS, receive(0, 96)},
	{"LargerThanMdts", NVME_INVALID_FIELD, receive(0, HZ_MAX_TRANSFER_SECTORS * 4096ull + 4)},
	{"LargestCount", NVME_INVALID_FIELD, receive(0, 1ull << 34)},
	{"ExtendedWithoutExtensions", NVME_INVALID_FIELD, receive(0, 4096, NVME_ZRA_EXTENDED_REPORT)},
	{"ReservedAction", NVME_INVALID_FIELD, receive(0, 4096, 2)},
	{"LastAction", NVME_INVALID_FIELD, receive(0, 4096, 0xff)},
	{"FilterEmpty", NVME_SUCCESS, receive(0, 4096, filter(NVME_ZRASF_EMPTY))},
	{"FilterOffline", NVME_SUCCESS, receive(0, 4096, filter(NVME_ZRASF_OFFLINE))},
	{"FilterReserved8", NVME_INVALID_FIELD, receive(0, 4096, filter(8))},
	{"FilterAttributes", NVME_SUCCESS, receive(0, 4096, filter(9))},
	{"FilterReserved11", NVME_INVALID_FIELD, receive(0, 4096, filter(0x11))},
	{"FilterLast", NVME_INVALID_FIELD, receive(0, 4096, filter(0xff))},
	{"BufferNotDwordAligned", NVME_PRP_OFFSET_INVALID,
	 [](Bench &b) {
		 nvme_sqe sqe = receive(0, 4096)(b);
		 sqe.prp1 += 1;
		 return sqe;
	 }},
	{"BufferOutside", NVME_DATA_TRANSFER_ERROR,
	 [](Bench &b) {
		 nvme_sqe sqe = receive(0, 4096)(b);
		 sqe.prp1 = 1ull << 40;
		 return sqe;
	 }},
};
class ZoneReceive : public IoCommand {};
TEST_P(ZoneReceive, Status) { check(); }
INSTANTIATE_TEST_SUITE_P(All, ZoneReceive, ::testing::ValuesIn(cases), case_name);

class ZoneReport : public ZonedDevice {
protected:
	struct Report {
		uint64_t zones;
		std::vector<nvme_zone_descriptor> list;
		std::byte behind; // first byte after the buffer
	};
	Report report(uint64_t lba, uint32_t bytes, uint32_t cdw13 = 0)
	{
		Bench &b = bench();
		std::memset(b.at(b.page(0), 8192), 0xa5, 8192);
		EXPECT_EQ(b.raw(receive(lba, bytes, cdw13)(b)).status, NVME_SUCCESS);
		Report r{b.read64(b.page(0)), {}, *b.at(b.page(0) + bytes)};
		for (uint32_t at = 64; at + 64 <= bytes && r.list.size() < r.zones; at += 64) {
			nvme_zone_descriptor d;
			std::memcpy(&d, b.at(b.page(0) + at, 64), 64);
			r.list.push_back(d);
		}
		return r;
	}
	// Zones 0 and 4 implicitly open, 1 explicitly open, 2 closed, 3 full.
	void mix()
	{
		Bench &b = bench();
		const nvme_zone_state states[] = {NVME_ZS_IMPLICIT_OPEN, NVME_ZS_EXPLICIT_OPEN, NVME_ZS_CLOSED, NVME_ZS_FULL,
						  NVME_ZS_IMPLICIT_OPEN};
		for (uint32_t z = 0; z < 5; z++)
			ASSERT_NO_FATAL_FAILURE(b.put(z, states[z]));
	}
};

TEST_F(ZoneReport, DescribesEveryZone)
{
	ASSERT_NO_FATAL_FAILURE(mix());
	auto r = report(0, 4096);
	ASSERT_EQ(r.zones, 12u);
	ASSERT_EQ(r.list.size(), 12u);
	for (uint32_t z = 0; z < 12; z++) {
		EXPECT_EQ(r.list[z].type, 2);
		EXPECT_EQ(r.list[z].start, bench().start(z));
		EXPECT_EQ(r.list[z].capacity, 96u);
		EXPECT_EQ(r.list[z].attributes, 0);
		EXPECT_EQ(r.list[z].state & 15, 0);
		EXPECT_EQ(r.list[z].write_pointer, z == 3 ? UINT64_MAX : bench().start(z) + (z < 5 ? 4 : 0)) << "zone " << z;
	}
}

TEST_F(ZoneReport, StartsWithTheZoneOfTheLba)
{
	for (uint64_t lba : {0ull, 127ull, 128ull, 640ull, 650ull, 1535ull}) {
		auto r = report(lba, 4096);
		EXPECT_EQ(r.zones, 12 - lba / 128);
		EXPECT_EQ(r.list.at(0).start, lba / 128 * 128);
	}
}

TEST_F(ZoneReport, FiltersByState)
{
	ASSERT_NO_FATAL_FAILURE(mix());
	const std::vector<uint64_t> expected[] = {
		{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {5, 6, 7, 8, 9, 10, 11}, {0, 4}, {1}, {2}, {3}, {}, {},
	};
	for (uint32_t f = 0; f < 8; f++) {
		auto r = report(0, 4096, filter(f));
		EXPECT_EQ(r.zones, expected[f].size()) << "filter " << f;
		ASSERT_EQ(r.list.size(), expected[f].size());
		for (size_t i = 0; i < r.list.size(); i++)
			EXPECT_EQ(r.list[i].start, bench().start(static_cast<uint32_t>(expected[f][i]))) << "filter " << f;
	}
	EXPECT_EQ(report(bench().start(1), 4096, filter(NVME_ZRASF_IMPLICIT_OPEN)).zones, 1u) << "from zone 1 on";
	EXPECT_EQ(report(0, 4096, filter(9)).zones, 0u) << "no zone has an attribute";
}

TEST_F(ZoneReport, ShortBuffersCountAllUnlessPartial)
{
	for (uint32_t bytes : {64u, 68u, 124u, 128u, 192u, 252u, 256u}) {
		EXPECT_EQ(report(0, bytes).zones, 12u) << bytes << " bytes";
		EXPECT_EQ(report(0, bytes, partial).zones, (bytes - 64) / 64) << bytes << " bytes, partial";
		EXPECT_EQ(report(0, bytes).behind, std::byte(0xa5)) << bytes << " bytes";
	}
	EXPECT_EQ(report(0, 4096, partial).zones, 12u);
}

TEST_F(ZoneReport, PartialCountsOnlyWhatMatchesAndFits)
{
	ASSERT_NO_FATAL_FAILURE(mix());
	auto r = report(0, 128, partial | filter(NVME_ZRASF_EMPTY));
	EXPECT_EQ(r.zones, 1u);
	EXPECT_EQ(r.list.at(0).start, bench().start(5));
	EXPECT_EQ(report(0, 128, filter(NVME_ZRASF_EMPTY)).zones, 7u);
	EXPECT_EQ(report(bench().start(11), 4096, partial).zones, 1u);
}

TEST_F(ZoneReport, CrossesPagesByPrps)
{
	Bench &b = bench();
	nvme_sqe sqe = receive(0, 64 + 12 * 64)(b);
	sqe.prp1 = b.page(0) + 4096 - 200;
	sqe.prp2 = b.page(7);
	ASSERT_EQ(b.raw(sqe).status, NVME_SUCCESS);
	EXPECT_EQ(b.read64(b.page(0) + 4096 - 200), 12u);
	nvme_zone_descriptor last;
	std::memcpy(&last, b.at(b.page(7) + 64 + 11 * 64 - 200, 64), 64);
	EXPECT_EQ(last.start, b.start(11));
}

} // namespace zone_receive_test
} // namespace conform
