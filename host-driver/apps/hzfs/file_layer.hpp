// FileLayer: named files with random writes, on zones or on a block device, for one program with
// any number of threads.
//
// Written data stay in memory until sync() of the file, which makes its current state durable.
// Effects of sync(), remove() and rename() survive any power cut, of device and host together.
// Names are any text; there are no folders. Data never overwrite older data that the device still
// needs (except with `in_place`), so after a cut each file is as of its last sync, or later. One
// command is under way at a time. Every function may throw DeviceError or NoSpace; the call may
// then have taken effect in part, as after a power cut, and may be repeated.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>

#include "apps/hzfs/cleaner_policy.hpp"
#include "apps/hzfs/file.hpp"
#include "apps/hzfs/main_area.hpp"
#include "apps/hzfs/meta_area.hpp"

namespace hz::fs {

struct Options {
	bool in_place = false;                    // overwrite in place if a sync has only a few blocks
	bool slack = false;                       // block device: when few sections are empty, write into dead blocks of full ones
	uint32_t checkpoint_every = 512;          // inodes, which a mount follows one by one
	uint32_t dirty_blocks = 256;              // in memory, then they are written
	bool copy_offload = false;                // zones: the device itself copies blocks for the cleaner
	std::optional<CleanerKnobs> background{}; // clean in the background, between reads and writes
	std::function<uint64_t()> clock{};        // device time in ns, for its pauses; none: a round is due at each operation
};

struct Counters {
	uint64_t data_blocks = 0, node_blocks = 0, meta_blocks = 0; // blocks written, including the cleaner's
	uint64_t in_place_blocks = 0;                               // among data_blocks
	uint64_t slack_blocks = 0;                                  // part of data_blocks: written to dead blocks of full sections
	uint64_t over_budget = 0;   // syncs that went to the log since the device's budget for writes in place was spent
	uint64_t moved_blocks = 0;  // data blocks moved by the cleaner
	uint64_t copied_blocks = 0; // among those that were moved: by the device itself
	uint64_t cleaned_sections = 0, checkpoints = 0, syncs = 0;
	uint64_t background_sections = 0;                // among those that were cleaned
	uint64_t rounds[phases] = {}, paused_rounds = 0; // of the background cleaner; rounds interrupted by a read
};

struct Space {
	uint64_t total = 0, used = 0; // blocks that files may have, nodes included; that they have
};

class FileLayer {
public:
	using Handle = std::shared_ptr<File>; // goes before the layer does

	// The device has no checkpoint and nothing in its zones, as one that is new.
	static bool is_blank(store::ZonedDevice &device);
	// Write an empty file system, whatever the device holds.
	static void format(store::ZonedDevice &device);
	// Mount. Throws Damaged.
	explicit FileLayer(store::ZonedDevice &device, const Options &options = {});

	Handle open(const std::string &name);              // nullptr: there is none
	Handle create(const std::string &name, Heat heat); // nullptr: there is one
	Handle create_nameless(Heat heat);                 // is gone with its last handle
	// false: no such file. Open handles keep it.
	bool remove(const std::string &name);
	// Replaces a file with the new name; the file is synced.
	bool rename(const std::string &from, const std::string &to);
	std::set<std::string> names();

	void write(File &file, uint64_t offset, std::span<const std::byte> data);
	// As many bytes as the file has there.
	size_t read(const File &file, uint64_t offset, std::span<std::byte> data);
	void resize(File &file, uint64_t size);
	uint64_t size(const File &file);
	void sync(File &file);
	// All files; the next start has nothing to follow.
	void sync_all();

	Counters counters();
	Space space();
	MainArea::States segments(uint32_t segment_blocks);
	Phase phase(); // of the background

private:
	using Lock = std::lock_guard<std::mutex>;

	// file_layer.cpp: names and numbers
	Handle hold(File &file);
	void let_go(File &file);
	File &make(const std::string &name, Heat heat);
	void unname(File &file);
	void end(File &file);
	uint64_t most_blocks() const;
	File *find(const std::string &name) const;
	// file_layer_data.cpp: file contents
	void require_space(const File &file, uint64_t offset, uint64_t bytes) const;
	void grow(File &file, uint64_t size);
	uint64_t &dirty_like(const File &file) { return dirty_[unsigned(file.heat)]; }
	Page &page_of(File &file, uint32_t block, bool overwritten);
	void read_block(const File &file, uint32_t block, std::span<std::byte> data);
	uint32_t row_of(const File &file, uint32_t block, uint32_t most) const;
	void cut_off(File &file, uint64_t size);
	// file_layer_sync.cpp: its way to the device
	void save(File &file);
	void write_back(File &file, store::Safety safety);
	void write_back_all();
	void write_row(File &file, store::Safety safety);
	void place(File &file, uint32_t block, Address at);
	void overwrite(File &file);
	void write_maps(File &file, store::Safety safety);
	void settle(File &file);
	void write_inode(File &file, const std::string &name, uint32_t replaced);
	Address put_in_chain(Inode inode);
	void release_superseded(File &file);
	void checkpoint();
	// file_layer_mount.cpp
	struct ChainEnd {
		uint32_t section, block;
	};
	ChainEnd follow_chain();
	bool take_from_chain(uint32_t section, uint32_t block);
	std::optional<uint32_t> chain_goes_on();
	void require_end(uint32_t section, uint32_t block);
	void load(uint32_t number);
	void load_maps(File &file);
	// file_layer_clean.cpp
	bool make_room(const File *file);
	bool has_room(const File *file) const;
	std::optional<uint32_t> victim() const;
	void clean(uint32_t section);
	void take_for_moving(Address at, std::set<uint32_t> &files);
	void read_taken();
	void copy_taken();
	void empty(uint32_t section, uint32_t first, uint32_t end);
	void cleaned(uint32_t section);
	void background(bool reads);
	void round(Phase phase);
	void save_superseded();

	Options options_;
	std::mutex mutex_;
	MetaArea meta_;
	MainArea main_;
	std::vector<std::unique_ptr<File>> files_; // by number
	std::map<std::string, uint32_t> names_;
	uint64_t used_ = 0, sequence_ = 0;
	uint64_t dirty_[heats] = {}; // pages in memory, by the heat of their files
	uint32_t chain_ = 0;         // inodes since the last checkpoint
	bool chain_unsure_ = false;  // the last inode may be on the device or not
	bool cleaning_ = false;
	std::vector<Address> taken_; // data blocks that the cleaner is about to move
	struct {
		std::optional<uint32_t> section; // that is being emptied, from this block on
		uint32_t block = 0;
		uint64_t due_ns = 0;
		bool read = false; // since it was due last
	} background_;
	Counters counters_;
};

} // namespace hz::fs
