// Inodes and maps as blocks: encoding round-trips, and every changed bit is detected.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "apps/hzfs/inode.hpp"
#include "storage/zoned_device.hpp"

namespace hz::fs {
namespace {

Inode some_inode()
{
	Inode inode{.generation = 7,
		    .sequence = 1ull << 40,
		    .size = 123456789,
		    .file = 9,
		    .replaced = 8,
		    .heat = Heat::cold,
		    .name = std::string(most_name, 'n')};
	for (uint32_t i = 0; i < direct_blocks; i++)
		inode.direct.push_back(i + 1);
	for (uint32_t i = 0; i < maps_of_inode; i++)
		inode.maps.push_back(1u << 31 | i);
	return inode;
}

TEST(Layout, AnInodeFillsABlock)
{
	const Inode inode = some_inode();
	const store::Bytes block = encode(inode);
	EXPECT_EQ(block.size(), store::block_bytes);
	EXPECT_EQ(decode_inode(block), inode);
	EXPECT_FALSE(decode_pointers(block));
	const Inode end{.file = 3, .removed = true};
	EXPECT_EQ(decode_inode(encode(end)), end);
}

TEST(Layout, PointersFillABlock)
{
	Pointers pointers{.owner = 5, .number = 6, .at = std::vector<Address>(map_blocks, 77)};
	const auto found = decode_pointers(encode(pointers));
	ASSERT_TRUE(found);
	EXPECT_EQ(found->owner, 5u);
	EXPECT_EQ(found->number, 6u);
	EXPECT_EQ(found->at, pointers.at);
	EXPECT_FALSE(decode_inode(encode(pointers)));
}

TEST(Layout, AChangedBitIsSeen)
{
	store::Bytes block = encode(some_inode());
	for (size_t at = 0; at < block.size(); at += 3) {
		block[at] ^= std::byte(1 << at % 8);
		ASSERT_FALSE(decode_inode(block)) << at;
		block[at] ^= std::byte(1 << at % 8);
	}
	EXPECT_TRUE(decode_inode(block));
	EXPECT_FALSE(decode_inode(store::Bytes(store::block_bytes)));
}

} // namespace
} // namespace hz::fs
