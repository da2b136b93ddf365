// SealedBlock: the checksum covers all before it.
// SPDX-License-Identifier: BSD-3-Clause
#include "apps/hzfs/sealed_block.hpp"

namespace hz::fs {

void seal(store::Bytes &content)
{
	content.resize(sealed_room);
	store::put_number(content, store::crc32c(content), seal_bytes);
}

std::optional<store::Reader> unseal(std::span<const std::byte> block, uint64_t magic)
{
	store::Reader content(block.first(sealed_room)), end(block.subspan(sealed_room));
	if (content.number(8) != magic || end.number(seal_bytes) != store::crc32c(block.first(sealed_room)))
		return std::nullopt;
	return content;
}

} // namespace hz::fs
