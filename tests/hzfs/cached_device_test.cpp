// CachedDevice: what is read comes from memory exactly if it is kept, and is always what the device has.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "devices.hpp"

namespace hz::fs {
namespace {

using store::block_bytes;
using store::Bytes;
using store::CachedDevice;
using store::Safety;

constexpr size_t cache_blocks = 4;

struct Cached : testing::Test {
	store::MemoryDevice device{{.zones = 3, .capacity = 8, .plain = 16}};
	CachedDevice cached{device, cache_blocks};

	Bytes read(uint32_t zone, uint64_t block, size_t blocks = 1)
	{
		Bytes data(blocks * block_bytes);
		cached.read(zone, block, data);
		return data;
	}
	Bytes read_plain(uint64_t block)
	{
		Bytes data(block_bytes);
		cached.read_plain(block, data);
		return data;
	}
	void expect(uint64_t hits, uint64_t misses)
	{
		EXPECT_EQ(cached.counters().hits, hits);
		EXPECT_EQ(cached.counters().misses, misses);
	}
};

TEST_F(Cached, WhatWasWrittenIsReadFromMemory)
{
	const Bytes data = some_bytes(3 * block_bytes, 1);
	cached.write(1, 0, data, Safety::until_flush);
	EXPECT_EQ(read(1, 0, 3), data);
	cached.write_plain(0, some_bytes(block_bytes, 2), Safety::durable);
	EXPECT_EQ(read_plain(0), some_bytes(block_bytes, 2)) << "block 0 of no zone is another one than block 0 of zone 1";
	expect(4, 0);
}

TEST_F(Cached, TheLeastRecentlyUsedBlockGoesFirst)
{
	for (uint64_t block = 0; block < cache_blocks; block++)
		cached.write(0, block, some_bytes(block_bytes, block), Safety::until_flush);
	read(0, 0);
	cached.write(0, cache_blocks, some_bytes(block_bytes, cache_blocks), Safety::until_flush);
	expect(1, 0);
	EXPECT_EQ(read(0, 1), some_bytes(block_bytes, 1)) << "from the device, and kept again in place of block 2";
	expect(1, 1);
	read(0, 0), read(0, 1);
	expect(3, 1);
	read(0, 2);
	expect(3, 2);
}

TEST_F(Cached, ARowOfWhichABlockIsMissingIsReadWhole)
{
	const Bytes data = some_bytes(6 * block_bytes, 3);
	cached.write(0, 0, data, Safety::until_flush);
	EXPECT_EQ(read(0, 0, 6), data);
	expect(0, 6);
}

TEST_F(Cached, NothingIsKeptOfWhatIsGone)
{
	cached.write(0, 0, some_bytes(2 * block_bytes, 4), Safety::until_flush);
	cached.reset(0);
	cached.write_plain(3, some_bytes(block_bytes, 5), Safety::durable);
	cached.deallocate(3, 1);
	EXPECT_EQ(read_plain(3), Bytes(block_bytes));
	expect(0, 1);
	EXPECT_THROW(read(0, 0), store::DeviceError) << "as the device answers";
}

TEST_F(Cached, ACopyReplacesWhatWasThere)
{
	cached.write(0, 0, some_bytes(block_bytes, 6), Safety::until_flush);
	cached.write(1, 0, some_bytes(block_bytes, 7), Safety::until_flush);
	cached.reset(1);
	const store::CopySource from[] = {{.zone = 0, .block = 0, .blocks = 1}};
	cached.copy(1, 0, from);
	EXPECT_EQ(read(1, 0), some_bytes(block_bytes, 6));
}

TEST_F(Cached, AnOverwriteIsKeptIfTheDeviceTookIt)
{
	device.in_place_budget = 1;
	cached.write(0, 0, some_bytes(block_bytes, 8), Safety::durable);
	EXPECT_TRUE(cached.overwrite(0, 0, some_bytes(block_bytes, 9)));
	EXPECT_FALSE(cached.overwrite(0, 0, some_bytes(block_bytes, 10)));
	EXPECT_EQ(read(0, 0), some_bytes(block_bytes, 9));
	expect(0, 1);
}

TEST_F(Cached, AWriteThatFailsLeavesNothing)
{
	cached.write_plain(0, some_bytes(block_bytes, 11), Safety::durable);
	EXPECT_THROW(cached.write_plain(16, some_bytes(block_bytes, 12), Safety::durable), store::DeviceError);
	EXPECT_THROW(read_plain(16), store::DeviceError);
	EXPECT_EQ(read_plain(0), some_bytes(block_bytes, 11));
}

} // namespace
} // namespace hz::fs
