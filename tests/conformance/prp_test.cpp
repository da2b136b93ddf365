// PRPs (base spec 4.1.1): faults, and transfers of many shapes byte for byte.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>
#include <random>

#include "command_case.hpp"

namespace conform {
namespace prp_test {

constexpr unsigned list = 290; // page that holds the list

// A read of `sectors` with PRPs written by the case.
auto read(uint32_t sectors, void (*prps)(Bench &, nvme_sqe &))
{
	return [=](Bench &b) {
		nvme_sqe sqe = io_command(b, NVME_IO_READ, 0, sectors);
		for (unsigned i = 0; i < 512; i++)
			b.write64(b.page(list) + i * 8, b.page(i % 200 + 1));
		prps(b, sqe);
		return sqe;
	};
}

const CommandCase cases[] = {
	{"Prp1NotDwordAligned", NVME_PRP_OFFSET_INVALID, read(1, [](Bench &, nvme_sqe &s) { s.prp1 += 2; })},
	{"Prp1Zero", NVME_DATA_TRANSFER_ERROR, read(1, [](Bench &, nvme_sqe &s) { s.prp1 = 0; })},
	{"Prp1InTheHeader", NVME_DATA_TRANSFER_ERROR, read(1, [](Bench &, nvme_sqe &s) { s.prp1 = HZ_SHM_QUEUES_OFFSET; })},
	{"Prp1BehindTheRegion", NVME_DATA_TRANSFER_ERROR, read(1, [](Bench &b, nvme_sqe &s) { s.prp1 = b.region().bytes(); })},
	{"Prp1AllOnes", NVME_DATA_TRANSFER_ERROR, read(1, [](Bench &, nvme_sqe &s) { s.prp1 = ~0ull << 12; })},
	{"Prp1LastPage", NVME_SUCCESS, read(1, [](Bench &b, nvme_sqe &s) { s.prp1 = b.region().bytes() - 4096; })},
	{"Prp1RunsOffTheLastPage", NVME_DATA_TRANSFER_ERROR,
	 read(1, [](Bench &b, nvme_sqe &s) { s.prp1 = b.region().bytes() - 2048, s.prp2 = b.region().bytes(); })},
	{"Prp2UnusedMayBeAnything", NVME_SUCCESS, read(1, [](Bench &, nvme_sqe &s) { s.prp2 = ~0ull; })},
	{"Prp2WithOffset", NVME_PRP_OFFSET_INVALID, read(2, [](Bench &, nvme_sqe &s) { s.prp2 += 8; })},
	{"Prp2Outside", NVME_DATA_TRANSFER_ERROR, read(2, [](Bench &, nvme_sqe &s) { s.prp2 = 1ull << 40; })},
	{"Prp2NeededByOffset", NVME_SUCCESS, read(1, [](Bench &, nvme_sqe &s) { s.prp1 += 4; })},
	{"Prp2NeededByOffsetOutside", NVME_DATA_TRANSFER_ERROR, read(1, [](Bench &, nvme_sqe &s) { s.prp1 += 4, s.prp2 = 0; })},
	{"List", NVME_SUCCESS, read(3, [](Bench &b, nvme_sqe &s) { s.prp2 = b.page(list); })},
	{"ListNotQwordAligned", NVME_PRP_OFFSET_INVALID, read(3, [](Bench &b, nvme_sqe &s) { s.prp2 = b.page(list) + 4; })},
	{"ListOutside", NVME_DATA_TRANSFER_ERROR, read(3, [](Bench &, nvme_sqe &s) { s.prp2 = 1ull << 40; })},
	{"ListInTheHeader", NVME_DATA_TRANSFER_ERROR, read(3, [](Bench &, nvme_sqe &s) { s.prp2 = 4096; })},
	{"ListEntryWithOffset", NVME_PRP_OFFSET_INVALID,
	 read(3,
	      [](Bench &b, nvme_sqe &s) {
		      s.prp2 = b.page(list);
		      b.write64(b.page(list) + 8, b.page(5) + 512);
	      })},
	{"ListEntryOutside", NVME_DATA_TRANSFER_ERROR,
	 read(3,
	      [](Bench &b, nvme_sqe &s) {
		      s.prp2 = b.page(list);
		      b.write64(b.page(list) + 8, b.region().bytes());
	      })},
	{"ListEntryZero", NVME_DATA_TRANSFER_ERROR,
	 read(128,
	      [](Bench &b, nvme_sqe &s) {
		      s.prp2 = b.page(list);
		      b.write64(b.page(list) + 126 * 8, 0);
	      })},
	{"ListCrossesItsPage", NVME_SUCCESS,
	 read(5,
	      [](Bench &b, nvme_sqe &s) {
		      s.prp2 = b.page(list) + 4096 - 16;
		      b.write64(b.page(list) + 4096 - 8, b.page(list + 1));
		      for (unsigned i = 0; i < 4; i++)
			      b.write64(b.page(list + 1) + i * 8, b.page(10 + i));
	      })},
	{"ListLastEntryIsData", NVME_SUCCESS, read(3, [](Bench &b, nvme_sqe &s) { s.prp2 = b.page(list) + 4096 - 16; })},
	{"ListPointerWithOffset", NVME_PRP_OFFSET_INVALID,
	 read(5,
	      [](Bench &b, nvme_sqe &s) {
		      s.prp2 = b.page(list) + 4096 - 16;
		      b.write64(b.page(list) + 4096 - 8, b.page(list + 1) + 8);
	      })},
	{"ListPointerOutside", NVME_DATA_TRANSFER_ERROR,
	 read(5,
	      [](Bench &b, nvme_sqe &s) {
		      s.prp2 = b.page(list) + 4096 - 16;
		      b.write64(b.page(list) + 4096 - 8, 1ull << 40);
	      })},
};
class Prp : public IoCommand {};
TEST_P(Prp, Status) { check(); }
INSTANTIATE_TEST_SUITE_P(All, Prp, ::testing::ValuesIn(cases), case_name);

// A transfer's shape: length, offset of the first byte in its page, where the list starts, how the pages lie.
struct Shape {
	uint32_t sectors, offset, list_offset;
	enum Order { rising, falling, shuffled } order;
};
std::ostream &operator<<(std::ostream &out, const Shape &s)
{
	return out << s.sectors << " sectors at offset " << s.offset << ", list at " << s.list_offset << ", order " << s.order;
}
class PrpShape : public ZonedDevice, public ::testing::WithParamInterface<Shape> {
protected:
	std::vector<hz::BusAddress> pages(unsigned first)
	{
		std::vector<hz::BusAddress> found;
		for (unsigned i = 0; i <= GetParam().sectors; i++)
			found.push_back(bench().page(first + i));
		if (GetParam().order == Shape::falling)
			std::reverse(found.begin(), found.end());
		if (GetParam().order == Shape::shuffled)
			std::shuffle(found.begin(), found.end(), std::mt19937_64(20261121));
		return found;
	}
	// Copies between the command's bytes and its pages.
	void move(const std::vector<hz::BusAddress> &pages, Bytes &bytes, bool to_pages)
	{
		for (size_t i = 0; i < bytes.size();) {
			size_t at = GetParam().offset + i, room = std::min(bytes.size() - i, 4096 - at % 4096);
			std::byte *in_page = bench().at(pages[at / 4096] + at % 4096, room);
			std::memcpy(to_pages ? in_page : &bytes[i], to_pages ? &bytes[i] : in_page, room);
			i += room;
		}
	}
	uint16_t run(nvme_sqe sqe, const std::vector<hz::BusAddress> &pages)
	{
		const Shape &shape = GetParam();
		auto pair = hz::build_prps(bench().region(), pages, shape.offset, shape.sectors * 4096ull,
					   bench().page(list) + shape.list_offset);
		sqe.prp1 = pair.prp1;
		sqe.prp2 = pair.prp2;
		return bench().raw(sqe).status;
	}
};

TEST_P(PrpShape, WritesAndReadsBack)
{
	const Shape &shape = GetParam();
	auto source = pages(0), target = pages(140);
	Bytes out = pattern(0, shape.sectors, shape.offset + 1), in(out.size());
	uint32_t sectors = std::min(shape.sectors, bench().capacity());
	move(source, out, true);
	std::memset(bench().at(bench().page(140), 140 * 4096ull), 0x5a, 140 * 4096ull);
	nvme_sqe write = io_command(bench(), NVME_IO_WRITE, 0, sectors), read = io_command(bench(), NVME_IO_READ, 0, sectors);
	ASSERT_EQ(run(write, source), NVME_SUCCESS);
	ASSERT_EQ(run(read, target), NVME_SUCCESS);
	move(target, in, false);
	out.resize(sectors * 4096ull);
	in.resize(sectors * 4096ull);
	EXPECT_TRUE(in == out);
	for (uint32_t i = 0; i < shape.offset; i++)
		ASSERT_EQ(*bench().at(target[0] + i), std::byte(0x5a)) << "byte " << i << " before the buffer";
	size_t end = shape.offset + sectors * 4096ull;
	for (size_t i = end; i % 4096; i++)
		ASSERT_EQ(*bench().at(target[i / 4096] + i % 4096), std::byte(0x5a)) << "byte " << i << " behind the buffer";
}

const Shape shapes[] = {
	{1, 0, 0, Shape::rising},         {1, 4, 0, Shape::rising},          {1, 2048, 0, Shape::falling},
	{1, 4092, 0, Shape::rising},      {2, 0, 0, Shape::rising},          {2, 0, 0, Shape::falling},
	{2, 4, 0, Shape::shuffled},       {2, 4092, 8, Shape::falling},      {3, 0, 0, Shape::rising},
	{3, 512, 4088, Shape::falling},   {3, 0, 4080, Shape::shuffled},     {4, 2052, 4072, Shape::shuffled},
	{7, 0, 4088, Shape::falling},     {12, 4, 0, Shape::shuffled},       {16, 4092, 4000, Shape::falling},
	{31, 0, 2048, Shape::shuffled},   {33, 1024, 4064, Shape::shuffled}, {64, 0, 0, Shape::falling},
	{95, 4, 3600, Shape::shuffled},   {96, 0, 4088, Shape::rising},      {96, 2048, 3328, Shape::shuffled},
	{96, 4092, 3320, Shape::falling},
};
INSTANTIATE_TEST_SUITE_P(All, PrpShape, ::testing::ValuesIn(shapes), [](const auto &i) {
	const Shape &s = i.param;
	return std::to_string(s.sectors) + "SectorsAt" + std::to_string(s.offset) + "ListAt" + std::to_string(s.list_offset) + "Order" +
	       std::to_string(s.order);
});

} // namespace prp_test
} // namespace conform
