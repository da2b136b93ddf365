// Numbers, texts and CRC-32C.
// SPDX-License-Identifier: BSD-3-Clause
#include "storage/bytes.hpp"

#include "storage/zoned_device.hpp"

namespace hz::store {

namespace {

// of[n][byte]: contribution to the checksum of a byte followed by n bytes ("slicing by 8", Kounavis
// and Berry, 2005).
struct CrcTables {
	uint32_t of[8][256] = {};
	constexpr CrcTables()
	{
		for (uint32_t i = 0; i < 256; i++) {
			of[0][i] = i;
			for (int bit = 0; bit < 8; bit++)
				of[0][i] = of[0][i] >> 1 ^ (of[0][i] & 1 ? 0x82f63b78u : 0);
		}
		for (int n = 1; n < 8; n++)
			for (uint32_t i = 0; i < 256; i++)
				of[n][i] = of[0][of[n - 1][i] & 0xff] ^ of[n - 1][i] >> 8;
	}
};
constexpr CrcTables tables;

} // namespace

void put_number(Bytes &out, uint64_t value, unsigned width)
{
	std::byte bytes[8];
	for (unsigned i = 0; i < 8; i++)
		bytes[i] = std::byte(value >> 8 * i);
	out.insert(out.end(), bytes, bytes + width);
}

void put_text(Bytes &out, std::string_view text)
{
	put_number(out, text.size(), 4);
	const auto *from = reinterpret_cast<const std::byte *>(text.data());
	out.insert(out.end(), from, from + text.size());
}

uint64_t Reader::number(unsigned width)
{
	if (data_.size() < width)
		throw Damaged("a record ends within a number");
	const std::byte *const from = data_.data();
	uint64_t value = 0;
	for (unsigned i = 0; i < width; i++)
		value |= uint64_t(from[i]) << 8 * i;
	data_ = data_.subspan(width);
	return value;
}

std::string Reader::text()
{
	const uint64_t bytes = number(4);
	if (data_.size() < bytes)
		throw Damaged("a record ends within a name");
	const std::string text(reinterpret_cast<const char *>(data_.data()), bytes);
	data_ = data_.subspan(bytes);
	return text;
}

uint32_t crc32c(std::span<const std::byte> data)
{
	const auto &of = tables.of;
	const auto *at = reinterpret_cast<const uint8_t *>(data.data()), *const end = at + data.size();
	uint32_t crc = ~0u;
	for (; end - at >= 8; at += 8)
		crc = of[7][(crc ^ at[0]) & 0xff] ^ of[6][(crc >> 8 ^ at[1]) & 0xff] ^ of[5][(crc >> 16 ^ at[2]) & 0xff] ^
		      of[4][crc >> 24 ^ at[3]] ^ of[3][at[4]] ^ of[2][at[5]] ^ of[1][at[6]] ^ of[0][at[7]];
	for (; at < end; at++)
		crc = of[0][(crc ^ *at) & 0xff] ^ crc >> 8;
	return ~crc;
}

} // namespace hz::store
