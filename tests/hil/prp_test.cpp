// PRP parser: every alignment and range rule, against a model that builds lists the way a driver does.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>

extern "C" {
#include "hil/host/host.h"
}
#include "nvme.h"

namespace {

constexpr uint64_t region = 16 << 20, heap_begin = HZ_SHM_HEAP_OFFSET, page = 4096;
constexpr uint16_t bad_offset = NVME_PRP_OFFSET_INVALID | NVME_DNR;

struct Prp : testing::Test {
	Prp() : memory(static_cast<uint8_t *>(std::aligned_alloc(page, region)), std::free), bus{memory.get(), region}
	{
		std::memset(memory.get(), 0, region);
	}
	uint16_t parse(uint64_t prp1, uint64_t prp2, uint32_t bytes) { return prp_parse(&bus, prp1, prp2, bytes, pages, &sgl); }
	void entry(uint64_t at, uint64_t value) { std::memcpy(memory.get() + at, &value, 8); }
	uint64_t bus_of(unsigned i) const { return static_cast<uint64_t>(pages[i] - memory.get()); }

	std::unique_ptr<uint8_t, decltype(&std::free)> memory;
	host_bus bus;
	uint8_t *pages[PRP_MAX_PAGES];
	struct sgl sgl {};
};

TEST_F(Prp, OnePageNeedsOnlyPrp1)
{
	EXPECT_EQ(parse(heap_begin, ~0ull, 4096), 0);
	EXPECT_EQ(bus_of(0), heap_begin);
	EXPECT_EQ(parse(heap_begin + 4092, 1, 4), 0);
	EXPECT_EQ(sgl.offset, 4092u);
	EXPECT_EQ(sgl.bytes, 4u);
}

TEST_F(Prp, TwoPagesUsePrp2AsAPage)
{
	EXPECT_EQ(parse(heap_begin, heap_begin + 8 * page, 8192), 0);
	EXPECT_EQ(bus_of(1), heap_begin + 8 * page);
	EXPECT_EQ(parse(heap_begin + 4, heap_begin + page, 4096), 0) << "an offset makes it two pages";
	EXPECT_EQ(parse(heap_begin + 4, heap_begin + page + 4, 4096), bad_offset);
}

TEST_F(Prp, ThreePagesUseAList)
{
	uint64_t list = heap_begin + 64 * page + 16;
	entry(list, heap_begin + 3 * page);
	entry(list + 8, heap_begin + 2 * page);
	EXPECT_EQ(parse(heap_begin, list, 3 * 4096), 0);
	EXPECT_EQ(bus_of(1), heap_begin + 3 * page);
	EXPECT_EQ(bus_of(2), heap_begin + 2 * page);
}

TEST_F(Prp, LastSlotOfAListPageIsAPageIfItIsTheLastEntryElseAChain)
{
	uint64_t list = heap_begin + 64 * page + page - 16, next = heap_begin + 65 * page;
	entry(list, heap_begin + page);
	entry(list + 8, heap_begin + 2 * page);
	EXPECT_EQ(parse(heap_begin, list, 3 * 4096), 0);
	EXPECT_EQ(bus_of(2), heap_begin + 2 * page);
	entry(list + 8, next);
	entry(next, heap_begin + 3 * page);
	entry(next + 8, heap_begin + 4 * page);
	EXPECT_EQ(parse(heap_begin, list, 4 * 4096), 0);
	EXPECT_EQ(bus_of(2), heap_begin + 3 * page);
	EXPECT_EQ(bus_of(3), heap_begin + 4 * page);
	entry(list + 8, next + 8);
	EXPECT_EQ(parse(heap_begin, list, 4 * 4096), bad_offset) << "a chain points to the start of a page";
}

TEST_F(Prp, ChainToItselfEnds)
{
	uint64_t list = heap_begin + 64 * page;
	for (unsigned i = 0; i < 512; i++)
		entry(list + 8 * i, list);
	EXPECT_EQ(parse(heap_begin, list + page - 8, 128 * 4096), 0);
}

TEST_F(Prp, Alignment)
{
	EXPECT_EQ(parse(heap_begin + 1, 0, 512), bad_offset);
	EXPECT_EQ(parse(heap_begin + 2, 0, 512), bad_offset);
	EXPECT_EQ(parse(heap_begin, heap_begin + 4, 3 * 4096), bad_offset) << "a list is a list of quadwords";
	entry(heap_begin + 64 * page, heap_begin + 512);
	EXPECT_EQ(parse(heap_begin, heap_begin + 64 * page, 3 * 4096), bad_offset) << "only the first page may have an offset";
}

TEST_F(Prp, OutsideTheHeap)
{
	uint64_t bad[] = {0, 4096, heap_begin - page, region, region + page, 1ull << 63, ~4095ull};
	for (uint64_t address : bad) {
		EXPECT_EQ(parse(address, 0, 4096), NVME_DATA_TRANSFER_ERROR) << address;
		EXPECT_EQ(parse(heap_begin, address, 8192), NVME_DATA_TRANSFER_ERROR) << address;
		EXPECT_EQ(parse(heap_begin, address, 12288), NVME_DATA_TRANSFER_ERROR) << address;
		entry(heap_begin + 64 * page, heap_begin);
		entry(heap_begin + 64 * page + 8, address);
		EXPECT_EQ(parse(heap_begin, heap_begin + 64 * page, 12288), NVME_DATA_TRANSFER_ERROR) << address;
	}
	EXPECT_EQ(parse(region - page, 0, 4096), 0) << "the last page is the host's";
}

TEST_F(Prp, RandomListsGiveThePagesTheyWereBuiltFrom)
{
	const uint64_t seed = 7;
	std::mt19937_64 random(seed);
	for (int round = 0; round < 2000; round++) {
		uint32_t bytes = static_cast<uint32_t>(1 + random() % (128 * 4096 / 4)) * 4;
		uint32_t offset = static_cast<uint32_t>(random() % 1024) * 4 * (random() % 2);
		unsigned count = (offset + bytes + 4095) / 4096;
		std::vector<uint64_t> want(count);
		for (auto &address : want)
			address = heap_begin + random() % 1024 * page;
		uint64_t list = heap_begin + 2048 * page + random() % 512 * 8, at = list, next = heap_begin + 2100 * page;
		for (unsigned i = 1; i < count; i++) {
			if ((at & 4095) == 4088 && i + 1 < count) {
				entry(at, next);
				at = next;
				next += page;
			}
			entry(at, want[i]);
			at += 8;
		}
		uint64_t prp2 = count == 2 ? want[1] : list;
		ASSERT_EQ(parse(want[0] + offset, prp2, bytes), 0) << "seed " << seed << " round " << round;
		ASSERT_EQ(sgl.offset, offset);
		ASSERT_EQ(sgl.bytes, bytes);
		for (unsigned i = 0; i < count; i++)
			ASSERT_EQ(bus_of(i), want[i]) << "seed " << seed << " round " << round << " page " << i;
	}
}

} // namespace
