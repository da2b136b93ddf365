// Numbers, texts and CRC-32C.
// SPDX-License-Identifier: BSD-3-Clause
#include "storage/bytes.hpp"

#include <array>

#include "storage/zoned_device.hpp"

namespace hz::store {

namespace {

constexpr std::array<uint32_t, 256> make_crc_table()
{
	std::array<uint32_t, 256> table{};
	for (uint32_t i = 0; i < table.size(); i++) {
		uint32_t value = i;
		for (int bit = 0; bit < 8; bit++)
			value = value >> 1 ^ (value & 1 ? 0x82f63b78u : 0);
		table[i] = value;
	}
	return table;
}
constexpr std::array<uint32_t, 256> crc_table = make_crc_table();

} // namespace

void put_number(Bytes &out, uint64_t value, unsigned width)
{
	for (unsigned i = 0; i < width; i++)
		out.push_back(std::byte(value >> 8 * i));
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
	uint64_t value = 0;
	for (unsigned i = 0; i < width; i++)
		value |= uint64_t(data_[i]) << 8 * i;
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
	uint32_t crc = ~0u;
	for (const std::byte one : data)
		crc = crc_table[(crc ^ uint32_t(one)) & 0xff] ^ crc >> 8;
	return ~crc;
}

} // namespace hz::store
