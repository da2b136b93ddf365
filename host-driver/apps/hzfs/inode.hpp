// Inode: a version of a file in one block: name, size, and addresses of data and of maps to further
// data.
//
// The newest inode defines a file. An inode is written durably and last, after everything it refers
// to; inodes since the last checkpoint are numbered, so a mount can follow the later ones.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/hzfs/temperature.hpp"
#include "storage/bytes.hpp"

namespace hz::fs {

// A block of the main area, counted from 1; 0: none.
using Address = uint32_t;

inline constexpr size_t direct_blocks = 560, map_blocks = 1018, maps_of_inode = 398;
inline constexpr uint64_t most_file_blocks = direct_blocks + maps_of_inode * map_blocks;
inline constexpr size_t most_name = 200; // bytes

struct Inode {
	uint64_t generation = 0, sequence = 0; // of the preceding checkpoint; of inodes, over all checkpoints
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

// A block of addresses: a map of a file, or a page of the inode table.
struct Pointers {
	uint32_t owner = 0, number = 0; // the file, or 0 for the table; index of the map or page
	std::vector<Address> at{};      // map_blocks of them
};

store::Bytes encode(const Pointers &pointers);
std::optional<Pointers> decode_pointers(std::span<const std::byte> block);

} // namespace hz::fs
