// The boot-time allocator: aligned, zeroed, bounded, with a message that names the failed
// allocation.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "lt/arch.h"
#include "lt/arena.h"

namespace {

TEST(Arena, AlignsByAddressAndZeroes)
{
	alignas(64) uint8_t memory[1024];
	arena mem = arena_of(memory + 3, sizeof(memory) - 3, 0);

	memset(memory, 0xff, sizeof(memory));
	for (int i = 0; i < 4; i++) {
		auto *p = static_cast<uint8_t *>(arena_alloc(&mem, 5, 7, "bytes"));
		EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % LT_CACHE_LINE, 0u);
		EXPECT_EQ(std::count(p, p + 35, 0), 35);
	}
}

TEST(Arena, SaysWhatWasMissing)
{
	alignas(64) uint8_t memory[256];
	arena mem = arena_of(memory, sizeof(memory), 0);

	arena_alloc(&mem, 1, 100, "first");
	EXPECT_DEATH(arena_alloc(&mem, 3, 50, "second"), "out of memory for second: wanted 3 x 50 bytes, left 156");
	EXPECT_DEATH(arena_alloc(&mem, SIZE_MAX / 2, 50, "huge"), "out of memory for huge");
	EXPECT_NE(arena_alloc(&mem, 128, 1, "fits exactly"), nullptr);
}

// Of 1,000 bytes 7 x 9 are used, the rest of the line is skipped, and so on: the gaps belong to no
// allocation.
TEST(Arena, LeavesPiecesApart)
{
	alignas(64) uint8_t memory[1000];
	arena mem = arena_of(memory, sizeof(memory), LT_CACHE_LINE);

	auto *first = static_cast<uint8_t *>(arena_alloc(&mem, 7, 9, "first")),
	     *second = static_cast<uint8_t *>(arena_alloc(&mem, 64, 1, "second"));
	EXPECT_EQ(second - first, 2 * LT_CACHE_LINE);
	EXPECT_DEATH(arena_alloc(&mem, 1000 - 256 - 63, 1, "third"), "out of memory for third");
	EXPECT_NE(arena_alloc(&mem, 1000 - 256 - 64, 1, "third"), nullptr);
#if defined(HZ_SANITIZED_ADDRESSES)
	EXPECT_DEATH(*static_cast<volatile uint8_t *>(first + 63) = 1, "use-after-poison");
#endif
	lt_guard(memory, sizeof(memory), 0);
}

// Loans come from the other end, and are free again afterwards.
TEST(Arena, LendsFromItsEnd)
{
	alignas(64) uint8_t memory[1024];
	arena mem = arena_of(memory, sizeof(memory), 0);

	auto *kept = static_cast<uint8_t *>(arena_alloc(&mem, 1, 100, "kept"));
	auto *lent = static_cast<uint8_t *>(arena_borrow(&mem, 1, 600, "lent"));
	EXPECT_GE(lent, kept + 100);
	EXPECT_LE(lent + 600, memory + sizeof(memory));
	EXPECT_EQ(std::count(lent, lent + 600, 0), 600);
	EXPECT_DEATH(arena_alloc(&mem, 1, 300, "third"), "out of memory for third");
	EXPECT_DEATH(arena_borrow(&mem, 1, 300, "third"), "out of memory for third");
	arena_return_all(&mem);
	EXPECT_EQ(mem.lent, 0u);
	EXPECT_EQ(arena_borrow(&mem, 14, 64, "all but two lines"), memory + 128) << "nothing of it is lent any more";
	arena_return_all(&mem);
	EXPECT_NE(arena_alloc(&mem, 1, 800, "third"), nullptr);
}

// Known zeros are not written again; other memory, behind loans, is cleared.
TEST(Arena, BlankMemoryIsLeftAlone)
{
	alignas(64) uint8_t memory[1024] = {};
	arena mem = arena_of_blank(memory, sizeof(memory));

	memory[10] = memory[970] = 7; // a wrong claim, which makes writes visible
	EXPECT_EQ(static_cast<uint8_t *>(arena_alloc(&mem, 1, 64, "kept"))[10], 7);
	EXPECT_EQ(static_cast<uint8_t *>(arena_borrow(&mem, 1, 128, "lent"))[970 - 896], 7);
	arena_return_all(&mem);
	EXPECT_EQ(static_cast<uint8_t *>(arena_borrow(&mem, 1, 64, "lent"))[970 - 960], 0) << "it was lent before";
	memset(memory + 512, 9, 384);
	arena_borrow_raw(&mem, 1, 448, "lent");
	arena_return_all(&mem);
	auto *rest = static_cast<uint8_t *>(arena_alloc_table(&mem, 1, 896, "the rest"));
	EXPECT_EQ(std::count(rest, rest + 896, 0), 896);
}

// In each kind of it.
TEST(Arena, BlankMemoryEndsWithTheFirstByteThatIsNot)
{
	alignas(64) uint8_t memory[256];
	arena mem = arena_of_blank(memory, sizeof(memory));

	memset(memory, 5, sizeof(memory)); // another lie
	mem.blank = 191;
	EXPECT_EQ(static_cast<uint8_t *>(arena_alloc_data(&mem, 1, 64, "data"))[0], 5);
	EXPECT_EQ(static_cast<uint8_t *>(arena_alloc_model(&mem, 1, 64, "model"))[0], 5);
	EXPECT_EQ(static_cast<uint8_t *>(arena_alloc(&mem, 1, 64, "state"))[0], 0);
	EXPECT_EQ(static_cast<uint8_t *>(arena_alloc_table(&mem, 1, 64, "table"))[0], 0);
}

size_t bytes_of(const arena_ledger &books, const char *owner, const char *what, arena_use use)
{
	for (uint32_t i = 0; i < books.count; i++)
		if (!strcmp(books.line[i].owner, owner) && !strcmp(books.line[i].what, what) && books.line[i].use == use)
			return books.line[i].bytes;
	return 0;
}

TEST(Arena, KeepsBooksOfWhoHasWhat)
{
	alignas(64) uint8_t memory[4096];
	arena mem = arena_of(memory, sizeof(memory), 0);
	arena_ledger books = {};

	mem.ledger = &books;
	arena_alloc(&mem, 2, 50, "nobody's");
	mem.owner = "ftl";
	arena_alloc(&mem, 3, 100, "zones");
	arena_part_is_model(&mem, 40, "zones");
	arena_alloc(&mem, 1, 10, "zones");
	arena_alloc_table(&mem, 4, 8, "map");
	arena_alloc_data(&mem, 1, 512, "buffers");
	arena_alloc_raw(&mem, 1, 256, "buffers");
	arena_alloc_model(&mem, 1, 64, "statistics");
	arena_borrow(&mem, 1, 128, "scan");
	arena_return_all(&mem);
	EXPECT_EQ(bytes_of(books, "", "nobody's", ARENA_STATE), 100u);
	EXPECT_EQ(bytes_of(books, "ftl", "zones", ARENA_STATE), 270u);
	EXPECT_EQ(bytes_of(books, "ftl", "zones", ARENA_MODEL), 40u);
	EXPECT_EQ(bytes_of(books, "ftl", "map", ARENA_TABLE), 32u);
	EXPECT_EQ(bytes_of(books, "ftl", "buffers", ARENA_DATA), 768u);
	EXPECT_EQ(bytes_of(books, "ftl", "statistics", ARENA_MODEL), 64u);
	EXPECT_EQ(bytes_of(books, "ftl", "scan", ARENA_LOAN), 128u) << "what mount needed is shown though it has been given back";
	EXPECT_EQ(books.count, 7u) << "one line for what has the same owner, name and use";
}

} // namespace
