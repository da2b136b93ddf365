// Inode: a version of a file, in one block: its name, its size, and where its data and the maps to further data lie.
//
// A file is what its newest inode says. An inode is written durably and last, when all that it names is durable; since the last checkpoint
// inodes are counted, so those that were written later are found again one behind the other.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/hzfs/temperature.hpp"
#include "storage/bytes.hpp"

namespace hz::fs {

// A block of the main area, counted from 1; 0: nowhere.
using Address = uint32_t;

inline constexpr size_t direct_blocks = 560, map_blocks = 1018, maps_of_inode = 398;
inline constexpr uint64_t most_file_blocks = direct_blocks + maps_of_inode * map_blocks;
inline constexpr size_t most_name = 200; // bytes

struct Inode {
	uint64_t generation = 0, sequence = 0; // of the checkpoint before it; of inodes, over all checkpoints
	uint64_t size = 0;
	uint32_t file = 0;     // number of the file, from 1 on
	uint32_t replaced = 0; // another file that is no more since this version; 0: none
	bool removed = false;  // this is the file's end
	Heat heat = Heat::warm;
	std::string name{};
	std::vector<Address> direct{}, maps{}; // without trailing zeros
	bool operator==(const Inode &) const = default;
};

store::Bytes encode(const Inode &inode);
// Nothing: the block holds no inode.
std::optional<Inode> decode_inode(std::span<const std::byte> block);

// A block full of addresses: a map of a file, or a page of the table of inodes.
struct Pointers {
	uint32_t owner = 0, number = 0; // the file, or 0 for the table; which of its maps or pages
	std::vector<Address> at{};      // map_blocks of them
};

store::Bytes encode(const Pointers &pointers);
std::optional<Pointers> decode_pointers(std::span<const std::byte> block);

} // namespace hz::fs
