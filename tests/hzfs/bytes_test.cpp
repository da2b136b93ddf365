// Numbers and texts as bytes, and their checksum against its definition.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "storage/bytes.hpp"
#include "storage/zoned_device.hpp"

namespace hz::store {
namespace {

// Bit by bit, as CRC-32C is defined.
uint32_t defined(std::span<const std::byte> data)
{
	uint32_t crc = ~0u;
	for (const std::byte one : data) {
		crc ^= uint32_t(one);
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
	}
	return ~crc;
}

TEST(Checksum, OfTheUsualNineDigits) { EXPECT_EQ(crc32c(std::as_bytes(std::span("123456789", 9))), 0xe3069283u); }

TEST(Checksum, OfAnyLengthAndPlace)
{
	Bytes bytes;
	for (uint64_t i = 0; i < 8; i++)
		put_number(bytes, (i + 1) * 0x9e3779b97f4a7c15, 8);
	for (size_t from = 0; from < 8; from++)
		for (size_t count = 0; from + count <= bytes.size(); count++) {
			const auto part = std::span(bytes).subspan(from, count);
			ASSERT_EQ(crc32c(part), defined(part)) << from << ", " << count;
		}
}

TEST(Numbers, AreTakenAsTheyWerePut)
{
	Bytes bytes;
	put_number(bytes, 0xab, 1);
	put_number(bytes, 0x12345678, 4);
	put_number(bytes, 0xfedcba9876543210, 8);
	put_text(bytes, "name");
	EXPECT_EQ(bytes[1], std::byte(0x78)) << "the lowest first";
	Reader reader(bytes);
	EXPECT_EQ(reader.number(1), 0xabu);
	EXPECT_EQ(reader.number(4), 0x12345678u);
	EXPECT_EQ(reader.number(8), 0xfedcba9876543210u);
	EXPECT_EQ(reader.text(), "name");
	EXPECT_TRUE(reader.at_end());
	EXPECT_THROW(reader.number(1), Damaged);
	EXPECT_THROW(Reader(std::span(bytes).first(3)).number(4), Damaged);
}

} // namespace
} // namespace hz::store
