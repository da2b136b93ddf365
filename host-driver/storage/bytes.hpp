// Little-endian numbers and strings in a byte buffer, and its checksum.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hz::store {

using Bytes = std::vector<std::byte>;

void put_number(Bytes &out, uint64_t value, unsigned width); // width: 1, 4 or 8 bytes
void put_text(Bytes &out, std::string_view text);

// Decodes the output of put_*, in the same order. Throws Damaged at the end of the data.
class Reader {
public:
	explicit Reader(std::span<const std::byte> data) : data_(data) {}
	uint64_t number(unsigned width);
	std::string text();
	bool at_end() const { return data_.empty(); }

private:
	std::span<const std::byte> data_;
};

// CRC-32C (Castagnoli).
uint32_t crc32c(std::span<const std::byte> data);

} // namespace hz::store
