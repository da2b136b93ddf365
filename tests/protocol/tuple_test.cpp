// CRC-16 of T10 DIF, by the test cases of SBC and the catalogue's check value, and the checks of a tuple.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

#include "nvme.h"
#include "tuple.h"

namespace {

using Bytes = std::vector<uint8_t>;

uint16_t crc(const Bytes &data) { return hz_crc16(0, data.data(), data.size()); }

Bytes counting(uint8_t first, int step)
{
	Bytes data(32);
	for (size_t i = 0; i < data.size(); i++)
		data[i] = static_cast<uint8_t>(first + static_cast<int>(i) * step);
	return data;
}

uint16_t bit_by_bit(const Bytes &data)
{
	uint32_t rest = 0;
	for (uint8_t byte : data)
		for (int bit = 7; bit >= 0; bit--)
			rest = (rest << 1 & 0xffff) ^ ((rest >> 15 ^ (byte >> bit & 1u)) & 1 ? 0x8bb7 : 0);
	return static_cast<uint16_t>(rest);
}

} // namespace

TEST(Crc16, KnownVectors)
{
	Bytes half(32);
	half[0] = half[1] = 0xff;
	EXPECT_EQ(crc({'1', '2', '3', '4', '5', '6', '7', '8', '9'}), 0xd0db);
	EXPECT_EQ(crc(Bytes(32, 0)), 0x0000);
	EXPECT_EQ(crc(Bytes(32, 0xff)), 0xa293);
	EXPECT_EQ(crc(counting(0, 1)), 0x0224);
	EXPECT_EQ(crc(half), 0x21b8);
	EXPECT_EQ(crc(counting(0xff, -1)), 0xa0b7);
}

TEST(Crc16, AnyLengthInAnyPieces)
{
	std::mt19937 dice(1);
	for (int round = 0; round < 200; round++) {
		Bytes data(dice() % 300);
		std::generate(data.begin(), data.end(), [&] { return static_cast<uint8_t>(dice()); });
		const size_t cut = data.empty() ? 0 : dice() % data.size();
		EXPECT_EQ(crc(data), bit_by_bit(data));
		EXPECT_EQ(hz_crc16(hz_crc16(0, data.data(), cut), data.data() + cut, data.size() - cut), crc(data));
	}
}

TEST(Tuple, IsBigEndianAtAnyAlignment)
{
	const uint8_t bytes[] = {0, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0};
	const hz_tuple tuple = hz_tuple_load(bytes + 1);
	EXPECT_EQ(tuple.guard, 0x1234);
	EXPECT_EQ(tuple.application, 0x5678);
	EXPECT_EQ(tuple.reference, 0x9abcdef0u);
	uint8_t back[9]{};
	hz_tuple_store(back + 1, tuple);
	EXPECT_EQ(std::vector(back, back + 9), std::vector(bytes, bytes + 9));
}

TEST(Tuple, ChecksInOrder)
{
	const hz_tuple tuple{1, 2, 3};
	EXPECT_EQ(hz_tuple_check(tuple, {1, 2, 3}, HZ_CHECK_ALL, 0xffff), 0);
	EXPECT_EQ(hz_tuple_check(tuple, {9, 9, 9}, HZ_CHECK_ALL, 0xffff), NVME_GUARD_CHECK);
	EXPECT_EQ(hz_tuple_check(tuple, {1, 9, 9}, HZ_CHECK_ALL, 0xffff), NVME_APPLICATION_CHECK);
	EXPECT_EQ(hz_tuple_check(tuple, {1, 9, 9}, HZ_CHECK_ALL, 0x0004), NVME_REFERENCE_CHECK) << "9 and 2 agree in this bit";
	EXPECT_EQ(hz_tuple_check(tuple, {1, 2, 9}, HZ_CHECK_ALL, 0xffff), NVME_REFERENCE_CHECK);
	EXPECT_EQ(hz_tuple_check(tuple, {9, 9, 9}, 0, 0xffff), 0);
	EXPECT_EQ(hz_tuple_check({1, 0xffff, 3}, {9, 9, 9}, HZ_CHECK_ALL, 0xffff), 0) << "the escape of types 1 and 2";
}
