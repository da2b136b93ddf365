// MainArea: sections of equal size that hold files and their nodes, and the logs that fill them, one for each temperature.
//
// A section is a sequential zone, or a stretch of a block device that is written sequentially
// (except with use_slack). Each block of it has an owner or is dead; a wholly dead section is
// reset, unless inodes in it still link the row from the last checkpoint.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "apps/hzfs/meta_area.hpp"

namespace hz::fs {

// Owner of a block: the file, and the block's role: a data block by its index in the file, a map,
// or the inode.
struct Owner {
	static constexpr uint32_t map = 1u << 30, inode = 1u << 31;
	uint32_t file = 0, what = 0; // file 0: dead
	bool operator==(const Owner &) const = default;
};

struct Section {
	uint32_t written = 0, alive = 0; // blocks
	uint32_t durable = 0;            // durable blocks, counted from the start
	bool writable = true;
	bool open = false;    // a log fills it
	bool chained = false; // has inodes since the last checkpoint
	uint64_t touched = 0; // when it was last written, in blocks that all logs had written
};

class MainArea {
public:
	// The geometry comes from the head; the write pointers from the device.
	MainArea(store::ZonedDevice &device, const Head &head);

	uint32_t section_of(Address at) const { return (at - 1) / blocks_; }
	uint32_t block_of(Address at) const { return (at - 1) % blocks_; }
	Address address(uint32_t section, uint32_t block) const { return 1 + section * blocks_ + block; }
	const std::vector<Section> &sections() const { return sections_; }
	uint32_t section_blocks() const { return blocks_; }
	const Owner &owner(Address at) const { return owners_[at - 1]; }
	uint32_t empty() const { return empty_; }
	uint32_t writable() const { return writable_; } // sections
	unsigned logs() const { return unsigned(logs_.size()); }
	uint64_t blocks_written() const { return clock_; }

	// Blocks in a row within a section.
	void read(Address from, std::span<std::byte> data);
	// Blocks that go to the temperature's section: 0: the next ones begin another one.
	uint32_t room(Temperature temperature) const;
	// Writes the part that fits, at least one block, and returns its address; data is the rest.
	// Throws NoSpace if no section is empty.
	struct Row {
		Address from;
		uint32_t blocks;
	};
	Row append(Temperature temperature, std::span<const std::byte> &data, store::Safety safety);
	// The same with blocks on the device, copied by the device itself.
	Row append_copies(Temperature temperature, std::span<const Address> &from);
	// Durable overwrite in place, on a block device or a zone; false: the device's budget for
	// it is spent.
	bool overwrite(Address at, std::span<const std::byte> block);
	// Block device: while at most this number of sections is empty, write into dead blocks of
	// full ones (F2FS's slack space recycling).
	void use_slack(uint32_t empty) { slack_below_ = empty; }
	// Blocks that are dead in full sections, if data go there now; else 0.
	uint64_t slack() const;
	uint64_t slack_written() const { return slack_written_; }
	bool in_place() const { return !zoned_; }
	bool can_overwrite() const { return !zoned_ || device_.can_overwrite(); }
	// Place of the next inode, as in a head.
	uint32_t chain_section() const { return logs_[0].section; }
	uint32_t chain_block() const { return logs_[0].section == no_section ? 0 : sections_[logs_[0].section].written; }

	// Makes all blocks durable that are not.
	void flush();
	bool is_durable(Address at) const { return block_of(at) < sections_[section_of(at)].durable; }

	void own(Address at, const Owner &owner);
	void release(Address at);
	// Inodes before the head are not needed any more.
	void chain_saved();
	// Reset wholly dead sections.
	void reset_dead();

	// Stretches of this number of blocks, by state: free; partly dead; fully alive.
	struct States {
		uint32_t free = 0, dirty = 0, valid = 0;
	};
	States states(uint32_t segment_blocks) const;

	// While mounting: number of blocks of a section that may hold data.
	uint32_t limit(uint32_t section) const { return sections_[section].written; }
	// A block that a file claims; throws Damaged if nothing was written there, or another one has it.
	void adopt(Address at, const Owner &owner);
	// All blocks are adopted; the row of inodes ends at this block.
	void begin(uint32_t chain_section, uint32_t chain_block);

private:
	struct Log {
		uint32_t section = no_section;
	};

	Log &log(Temperature temperature) { return logs_[log_of(temperature, unsigned(logs_.size()))]; }
	const Log &log(Temperature temperature) const { return logs_[log_of(temperature, unsigned(logs_.size()))]; }
	struct Gap {
		uint32_t block = 0, blocks = 0;
	};
	Gap gap() const;
	bool has_slack(uint32_t section) const;
	bool slack_wanted() const { return slack_below_ && empty_ <= *slack_below_; }
	bool open_slack();
	Log *slack_log(Temperature temperature);
	void open(Log &log);
	void close(Log &log);
	void put(uint32_t section, uint32_t block, std::span<const std::byte> data, store::Safety safety);
	template <typename Put> Row put_row(Temperature temperature, size_t wanted, Put put);
	void note_written(uint32_t section, uint32_t block, uint32_t blocks, bool durable);
	void ask_again(Log &log);
	void count();
	unsigned log_after_mount(uint32_t section) const;

	store::ZonedDevice &device_;
	bool zoned_;
	uint64_t first_;
	uint32_t blocks_;
	std::vector<Section> sections_;
	std::vector<Owner> owners_;
	std::vector<Log> logs_;
	uint32_t empty_ = 0, writable_ = 0;
	std::optional<uint32_t> slack_below_;
	Log slack_;                // data of any temperature: a full section with dead blocks,
	uint32_t slack_block_ = 0; // the next one is this block or comes after it
	uint64_t clock_ = 0, slack_written_ = 0;
	bool some_dead_ = false;
};

} // namespace hz::fs
