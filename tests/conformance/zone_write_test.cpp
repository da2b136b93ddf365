// Write, Write Uncorrectable, Write Zeroes and Zone Append against zone states (ZNS 2.1.1.2.1.1, 3.3.7, 3.3.8, 3.3.9, 3.4.1).
// SPDX-License-Identifier: BSD-3-Clause
#include "command_case.hpp"
#include "zone_states.hpp"

namespace conform {
namespace zone_write_test {

// Writing commands on a zone in each state. Zones that were written hold 4 sectors.
struct WriteCase {
	const char *name;
	nvme_zone_state state;
	uint8_t opcode;
	int64_t at; // offset in the zone; append: added to the zone's start
	uint32_t sectors;
	uint16_t status;
	nvme_zone_state after;
	uint64_t filled; // where the state has a write pointer
};
std::ostream &operator<<(std::ostream &out, const WriteCase &c) { return out << c.name; }

constexpr uint8_t write = NVME_IO_WRITE, zeroes = NVME_IO_WRITE_ZEROES, append = NVME_IO_ZONE_APPEND, marks = NVME_IO_WRITE_UNCORRECTABLE;

const WriteCase cases[] = {
	{"WriteEmpty", empty, write, 0, 1, NVME_SUCCESS, implicit, 1},
	{"WriteEmptyNotAtItsStart", empty, write, 1, 1, NVME_ZONE_INVALID_WRITE, empty, 0},
	{"WriteEmptyToItsCapacity", empty, write, 0, 96, NVME_SUCCESS, full, 0},
	{"WriteEmptyOverItsCapacity", empty, write, 0, 97, NVME_ZONE_BOUNDARY, empty, 0},
	{"WriteEmptyOverItsEnd", empty, write, 0, 128, NVME_ZONE_BOUNDARY, empty, 0},
	{"WriteImplicit", implicit, write, 4, 2, NVME_SUCCESS, implicit, 6},
	{"WriteImplicitBefore", implicit, write, 3, 1, NVME_ZONE_INVALID_WRITE, implicit, 4},
	{"WriteImplicitBehind", implicit, write, 5, 1, NVME_ZONE_INVALID_WRITE, implicit, 4},
	{"WriteImplicitAgainFromTheStart", implicit, write, 0, 4, NVME_ZONE_INVALID_WRITE, implicit, 4},
	{"WriteImplicitToItsCapacity", implicit, write, 4, 92, NVME_SUCCESS, full, 0},
	{"WriteImplicitOverItsCapacity", implicit, write, 4, 93, NVME_ZONE_BOUNDARY, implicit, 4},
	{"WriteExplicit", explicit_, write, 4, 2, NVME_SUCCESS, explicit_, 6},
	{"WriteExplicitBehind", explicit_, write, 6, 1, NVME_ZONE_INVALID_WRITE, explicit_, 4},
	{"WriteExplicitToItsCapacity", explicit_, write, 4, 92, NVME_SUCCESS, full, 0},
	{"WriteClosed", closed, write, 4, 1, NVME_SUCCESS, implicit, 5},
	{"WriteClosedBehind", closed, write, 7, 1, NVME_ZONE_INVALID_WRITE, closed, 4},
	{"WriteClosedOverItsCapacity", closed, write, 4, 100, NVME_ZONE_BOUNDARY, closed, 4},
	{"WriteClosedToItsCapacity", closed, write, 4, 92, NVME_SUCCESS, full, 0},
	{"WriteFull", full, write, 4, 1, NVME_ZONE_FULL, full, 0},
	{"WriteFullAtItsStart", full, write, 0, 1, NVME_ZONE_FULL, full, 0},
	{"WriteBehindTheCapacity", empty, write, 100, 1, NVME_ZONE_BOUNDARY, empty, 0},
	{"ZeroesEmpty", empty, zeroes, 0, 3, NVME_SUCCESS, implicit, 3},
	{"ZeroesEmptyNotAtItsStart", empty, zeroes, 2, 3, NVME_ZONE_INVALID_WRITE, empty, 0},
	{"ZeroesWholeZone", empty, zeroes, 0, 96, NVME_SUCCESS, full, 0},
	{"ZeroesOverItsCapacity", empty, zeroes, 0, 97, NVME_ZONE_BOUNDARY, empty, 0},
	{"ZeroesMoreThanMdts", empty, zeroes, 0, 500, NVME_ZONE_BOUNDARY, empty, 0},
	{"ZeroesImplicit", implicit, zeroes, 4, 3, NVME_SUCCESS, implicit, 7},
	{"ZeroesClosed", closed, zeroes, 4, 3, NVME_SUCCESS, implicit, 7},
	{"ZeroesFull", full, zeroes, 0, 1, NVME_ZONE_FULL, full, 0},
	{"MarksEmpty", empty, marks, 0, 3, NVME_SUCCESS, implicit, 3},
	{"MarksEmptyNotAtItsStart", empty, marks, 2, 3, NVME_ZONE_INVALID_WRITE, empty, 0},
	{"MarksWholeZone", empty, marks, 0, 96, NVME_SUCCESS, full, 0},
	{"MarksOverItsCapacity", empty, marks, 0, 97, NVME_ZONE_BOUNDARY, empty, 0},
	{"MarksMoreThanMdts", empty, marks, 0, 500, NVME_ZONE_BOUNDARY, empty, 0},
	{"MarksImplicit", implicit, marks, 4, 3, NVME_SUCCESS, implicit, 7},
	{"MarksImplicitBefore", implicit, marks, 3, 1, NVME_ZONE_INVALID_WRITE, implicit, 4},
	{"MarksExplicit", explicit_, marks, 4, 2, NVME_SUCCESS, explicit_, 6},
	{"MarksClosed", closed, marks, 4, 3, NVME_SUCCESS, implicit, 7},
	{"MarksFull", full, marks, 0, 1, NVME_ZONE_FULL, full, 0},
	{"AppendEmpty", empty, append, 0, 2, NVME_SUCCESS, implicit, 2},
	{"AppendImplicit", implicit, append, 0, 2, NVME_SUCCESS, implicit, 6},
	{"AppendExplicit", explicit_, append, 0, 2, NVME_SUCCESS, explicit_, 6},
	{"AppendClosed", closed, append, 0, 2, NVME_SUCCESS, implicit, 6},
	{"AppendFull", full, append, 0, 1, NVME_ZONE_FULL, full, 0},
	{"AppendNotAtTheZonesStart", implicit, append, 4, 1, NVME_INVALID_FIELD, implicit, 4},
	{"AppendAtTheZonesLastBlock", empty, append, 127, 1, NVME_INVALID_FIELD, empty, 0},
	{"AppendToItsCapacity", implicit, append, 0, 92, NVME_SUCCESS, full, 0},
	{"AppendOverItsCapacity", implicit, append, 0, 93, NVME_ZONE_BOUNDARY, implicit, 4},
	{"AppendWholeZone", empty, append, 0, 96, NVME_SUCCESS, full, 0},
};

class ZoneWrite : public ZonedDevice, public ::testing::WithParamInterface<WriteCase> {};

TEST_P(ZoneWrite, StatusStateAndPointer)
{
	constexpr uint32_t zone = 5;
	const WriteCase &c = GetParam();
	Bench &b = bench();
	if (c.state != empty) {
		ASSERT_NO_FATAL_FAILURE(b.put(zone, c.state));
	}
	nvme_sqe sqe = io_command(b, c.opcode, b.start(zone) + static_cast<uint64_t>(c.at), c.sectors);
	if (c.opcode != zeroes && c.opcode != marks) {
		auto pair = hz::build_prps(b.region(), b.page(0), c.sectors * 4096ull, b.page(290));
		sqe.prp1 = pair.prp1;
		sqe.prp2 = pair.prp2;
	}
	auto result = b.raw(sqe);
	EXPECT_EQ(result.status, c.status);
	if (c.status == NVME_SUCCESS) {
		EXPECT_EQ(result.result, c.opcode == append ? b.start(zone) + (c.state == empty ? 0 : 4) : 0) << "assigned LBA";
	}
	EXPECT_EQ(b.state(zone), c.after);
	EXPECT_EQ(b.zone(zone).write_pointer, c.after == full ? UINT64_MAX : b.start(zone) + c.filled);
	EXPECT_EQ(b.state(zone - 1), empty);
	EXPECT_EQ(b.state(zone + 1), empty);
}
INSTANTIATE_TEST_SUITE_P(All, ZoneWrite, ::testing::ValuesIn(cases), [](const auto &i) { return i.param.name; });

class ZoneAppend : public ZonedDevice {};

TEST_F(ZoneAppend, SeveralAtOnceGetPlacesOfTheirOwn)
{
	Bench &b = bench();
	hz::QueuePair &queue = b.queue();
	std::vector<bool> taken(b.capacity());
	for (int i = 0; i < 32; i++) {
		auto cid = queue.acquire();
		ASSERT_TRUE(cid);
		Bytes data = pattern(0, 3, *cid);
		std::copy(data.begin(), data.end(), queue.data(*cid).begin());
		queue.submit(*cid, hz::QueuePair::append(0, 3), 0);
	}
	std::vector<std::pair<uint64_t, uint16_t>> places;
	hz::QueuePair *only[] = {&queue};
	drain(only, [&](hz::QueuePair &, const hz::Completion &c) {
		EXPECT_EQ(c.status, NVME_SUCCESS);
		EXPECT_EQ(c.result % 3, 0u);
		ASSERT_LT(c.result, b.capacity());
		EXPECT_FALSE(taken[c.result]);
		taken[c.result] = true;
		places.emplace_back(c.result, c.cid);
		queue.release(c.cid);
	});
	EXPECT_EQ(b.state(0), NVME_ZS_FULL);
	Bytes in(3 * 4096);
	for (auto [lba, cid] : places) {
		ASSERT_EQ(b.run(hz::QueuePair::read(lba, 3), {}, &in).status, NVME_SUCCESS);
		EXPECT_TRUE(in == pattern(0, 3, cid)) << "append " << cid << " at " << lba;
	}
}

TEST_F(ZoneAppend, CopiesTellWhereTheyAre)
{
	Bench &b = bench();
	ASSERT_EQ(b.write(0, 10), NVME_SUCCESS);
	for (uint32_t i = 0; i < 3; i++) {
		nvme_sqe sqe = copy(b.start(1), {{i, 3}, {9, 1}})(b);
		sqe.cdw3 = NVME_COPY_APPEND;
		const auto result = b.raw(sqe);
		ASSERT_EQ(result.status, NVME_SUCCESS);
		ASSERT_EQ(result.result, b.start(1) + 4 * i);
		const Bytes all = pattern(0, 10);
		Bytes in(4 * 4096), expected(all.begin() + i * 4096, all.begin() + (i + 3) * 4096);
		expected.insert(expected.end(), all.end() - 4096, all.end());
		ASSERT_EQ(b.run(hz::QueuePair::read(b.start(1) + 4 * i, 4), {}, &in).status, NVME_SUCCESS);
		EXPECT_EQ(in, expected);
	}
}

TEST_F(ZoneAppend, MixesWithWritesAtTheWritePointer)
{
	Bench &b = bench();
	for (uint32_t at = 0; at < 90; at += 10) {
		ASSERT_EQ(b.write(at, 5), NVME_SUCCESS);
		auto result = b.run(hz::QueuePair::append(0, 5), pattern(at + 5, 5));
		ASSERT_EQ(result.status, NVME_SUCCESS);
		ASSERT_EQ(result.result, at + 5);
	}
	Bytes in(90 * 4096);
	ASSERT_EQ(b.run(hz::QueuePair::read(0, 90), {}, &in).status, NVME_SUCCESS);
	for (uint32_t at = 0; at < 90; at += 5)
		EXPECT_TRUE(Bytes(in.begin() + at * 4096, in.begin() + (at + 5) * 4096) == pattern(at, 5)) << "at " << at;
}

} // namespace zone_write_test
} // namespace conform
