// The budget of memory: the memory charged for each use, and the sentence about an excess.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "lt/arch.h"
#include "main/memory_budget.h"

namespace {

constexpr uint64_t kib = 1024;

struct Budget {
	std::vector<uint8_t> memory = std::vector<uint8_t>(4 << 20);
	arena_ledger ledger{};
	arena mem = arena_of(memory.data(), memory.size(), 0);
	hz_device_config cfg{};
	hz_memory_ledger out{};
	char text[256]{};

	Budget() { mem.ledger = &ledger; }
	std::string charge()
	{
		const char *error = memory_charge(&ledger, &cfg, &out, text, sizeof(text));
		return error ? error : "";
	}
	// State 10 KiB, tables 20 KiB, data 40 KiB, statistics 80 KiB.
	void fill()
	{
		mem.owner = "zones";
		arena_alloc(&mem, 10, kib, "zones");
		mem.owner = "map";
		arena_alloc_table(&mem, 20, kib, "mapping table");
		mem.owner = "write buffers";
		arena_alloc_data(&mem, 40, kib, "write buffer data");
		arena_alloc_model(&mem, 80, kib, "statistics");
	}
};

} // namespace

TEST(MemoryBudget, TablesAndDataLieInDram)
{
	Budget b;
	b.fill();
	EXPECT_EQ(b.charge(), "");
	EXPECT_EQ(b.out.bytes[HZ_MEMORY_SRAM], 10 * kib);
	EXPECT_EQ(b.out.bytes[HZ_MEMORY_DRAM], 60 * kib);
	EXPECT_EQ(b.out.bytes[HZ_MEMORY_MODEL], 80 * kib);
	EXPECT_EQ(b.out.refused, 0u);
	ASSERT_EQ(b.out.lines, 4u);
	EXPECT_STREQ(b.out.line[1].owner, "map");
	EXPECT_STREQ(b.out.line[1].what, "mapping table");
}

TEST(MemoryBudget, ADeviceOfSramOnlyHasEverythingThere)
{
	Budget b;
	b.fill();
	b.cfg.sram_bytes = 70 * kib;
	EXPECT_EQ(b.charge(), "");
	EXPECT_EQ(b.out.bytes[HZ_MEMORY_SRAM], 70 * kib);
	EXPECT_EQ(b.out.bytes[HZ_MEMORY_DRAM], 0u);
	b.cfg.sram_bytes--;
	EXPECT_EQ(b.charge(),
		  "the device needs 70 KiB of SRAM, 1 KiB more than the 70 KiB of memory.sram (most of it: write buffers, write "
		  "buffer data, 40 KiB)");
	EXPECT_EQ(b.out.refused, 1u);
	EXPECT_EQ(b.out.lines, 4u) << "the ledger is there too";
}

TEST(MemoryBudget, EachMemoryHasItsLimit)
{
	Budget b;
	b.fill();
	b.cfg.sram_bytes = 10 * kib;
	b.cfg.dram_bytes = 60 * kib;
	EXPECT_EQ(b.charge(), "");
	b.cfg.sram_bytes = 8 * kib;
	b.cfg.dram_bytes = 50 * kib;
	EXPECT_EQ(b.charge(),
		  "the device needs 10 KiB of SRAM, 2 KiB more than the 8 KiB of memory.sram (most of it: zones, zones, 10 KiB); "
		  "and 60 KiB of DRAM, 10 KiB more than the 50 KiB of memory.dram (most of it: write buffers, write buffer data, "
		  "40 KiB)");
}

// The mount's loans fit into later data memory; the rest is charged.
TEST(MemoryBudget, MountBorrowsTheMemoryOfData)
{
	Budget b;
	b.fill();
	b.mem.owner = "mount";
	EXPECT_NE(arena_borrow(&b.mem, 40, kib, "records"), nullptr);
	EXPECT_EQ(b.charge(), "");
	EXPECT_EQ(b.out.bytes[HZ_MEMORY_LENT], 40 * kib);
	EXPECT_EQ(b.out.bytes[HZ_MEMORY_DRAM], 60 * kib);
	arena_borrow(&b.mem, 3, kib, "records");
	EXPECT_EQ(b.charge(), "");
	EXPECT_EQ(b.out.bytes[HZ_MEMORY_DRAM], 63 * kib);
	EXPECT_STREQ(b.out.line[b.out.lines - 1].what, "more than the memory for data");
}

TEST(MemoryBudget, OneLineForEachOwnerAndName)
{
	Budget b;
	b.mem.owner = "zones";
	for (int i = 0; i < 3; i++)
		arena_alloc(&b.mem, 1, kib, "zones");
	arena_part_is_model(&b.mem, kib, "zones");
	b.mem.owner = "map";
	arena_alloc(&b.mem, 1, kib, "zones");
	EXPECT_EQ(b.charge(), "");
	ASSERT_EQ(b.out.lines, 3u);
	EXPECT_EQ(b.out.line[0].bytes, 2 * kib);
	EXPECT_EQ(b.out.line[1].memory, uint32_t{HZ_MEMORY_MODEL});
	EXPECT_STREQ(b.out.line[2].owner, "map");
}
