// SealedBlock: a block of 4 KiB that begins with a magic number and ends with a checksum.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "storage/bytes.hpp"
#include "storage/zoned_device.hpp"

namespace hz::fs {

inline constexpr size_t seal_bytes = 8;
inline constexpr size_t sealed_room = store::block_bytes - seal_bytes; // for the magic number and the content

// Fills the content up to a block and seals it; it has at most sealed_room bytes.
void seal(store::Bytes &content);
// A reader behind the magic number; nothing: this block does not begin with it, or is not as it was sealed.
std::optional<store::Reader> unseal(std::span<const std::byte> block, uint64_t magic);

} // namespace hz::fs
