// MetaArea: the checkpoint, in the first plain blocks of the device: the address of each file's
// inode, and the begin of the row of later inodes.
//
// Blocks 0 and 1 are heads; the one with the higher generation is valid. After them come the pages
// of the table, each with two places; a bit in the head selects the newer one. A checkpoint writes
// changed pages to their other places, and then, when those are durable, a head over the older one.
// So the last checkpoint is complete at any moment.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "apps/hzfs/inode.hpp"
#include "storage/zoned_device.hpp"

namespace hz::fs {

inline constexpr uint32_t no_section = UINT32_MAX;

struct Head {
	uint64_t generation = 0;
	uint64_t sequence = 0;               // of the next inode
	uint32_t chain_section = no_section; // its place; no_section: the first block of a new section
	uint32_t chain_block = 0;
	// The main area; fixed when the device is formatted.
	uint64_t first = 0; // plain block at which sections begin on a block device
	uint32_t sections = 0, section_blocks = 0, logs = 0;
	uint32_t pages = 0; // of the table
};

class MetaArea {
public:
	static constexpr uint32_t most_pages = 16384;
	static uint64_t blocks(uint32_t pages) { return 2 + 2 * uint64_t(pages); }

	explicit MetaArea(store::ZonedDevice &device) : device_(device) {}

	// The newest checkpoint's head, if any. Throws Damaged, since an older one would lose
	// acknowledged data.
	std::optional<Head> load_head();
	// Its table. Throws Damaged.
	void load_table();
	// A table without files; to be saved.
	void begin(const Head &head);
	// Durable when it returns. The head's generation is one higher then.
	void save(uint64_t sequence, uint32_t chain_section, uint32_t chain_block);

	const Head &head() const { return head_; }
	uint32_t most_files() const { return head_.pages * uint32_t(map_blocks) - 1; } // numbers 1 to that
	Address inode_of(uint32_t file) const { return table_[file]; }
	void set_inode(uint32_t file, Address inode);

	// Of the newest readable head, if any; throws only DeviceError.
	uint64_t last_generation();

	uint64_t blocks_written() const { return blocks_written_; }

private:
	std::optional<Head> decode(std::span<const std::byte> block, std::vector<bool> &second) const;
	store::Bytes encode_head() const;
	uint64_t place_of(uint32_t page, bool second) const { return 2 + 2 * uint64_t(page) + second; }

	store::ZonedDevice &device_;
	Head head_;
	std::vector<Address> table_;
	std::vector<bool> second_, changed_; // of each page: stored in its second place; differs from the stored copy
	uint64_t blocks_written_ = 0;
};

} // namespace hz::fs
