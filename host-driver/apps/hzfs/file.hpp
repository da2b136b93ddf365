// File: in-memory state of a file: addresses of its blocks, and dirty blocks not yet on the device.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "apps/hzfs/inode.hpp"
#include "storage/zoned_device.hpp"

namespace hz::fs {

struct Page {
	std::array<std::byte, store::block_bytes> data{};
	bool moved = false; // dirty because the cleaner moved it, not because of a write
};

struct File {
	uint32_t number = 0;
	std::string name; // empty: it has none, and ends with its last handle
	Heat heat = Heat::warm;
	uint64_t size = 0;
	std::vector<Address> blocks; // one for each block of the size; 0: a hole
	std::vector<Address> maps;   // of blocks above direct_blocks
	std::set<uint32_t> changed_maps;
	std::map<uint32_t, std::unique_ptr<Page>> dirty;
	Address inode = 0;               // its newest; 0: none yet
	uint64_t saved_size = 0;         // in the saved inode
	bool changed = false;            // the saved inode is out of date
	std::vector<Address> superseded; // places that the newest inode may name, and the next one does not
	std::vector<Address> unsettled;  // the last block of each row written since the newest inode
	unsigned handles = 0;            // open handles

	static size_t maps_for(size_t blocks)
	{
		return blocks <= direct_blocks ? 0 : (blocks - direct_blocks + map_blocks - 1) / map_blocks;
	}
	Address at(uint32_t block) const { return block < blocks.size() ? blocks[block] : 0; }
};

} // namespace hz::fs
