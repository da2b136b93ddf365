// FileStack: the file layer on a device, optionally with IOTailor and a page cache in between; its counters as JSON; and sample files,
// which age a device.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

#include <optional>

#include "apps/hzfs/stack/layer_ways.hpp"
#include "apps/hzfs/file_layer.hpp"
#include "storage/cached_device.hpp"
#include "storage/queue/hartzone_device.hpp"
#include "storage/tailored_device.hpp"

namespace hz::fs {

// Maximum bytes of a command: with IOTailor, a superpage.
inline uint64_t most_transfer(const LayerWays &ways) { return (ways.iotailor ? 512 : 128) << 10; }

class FileStack {
public:
	// The device must be formatted. Throws Error, DeviceError or Damaged.
	FileStack(Controller &controller, store::HartzoneDevice &device, const LayerWays &ways);

	FileLayer &layer() { return *layer_; }
	nlohmann::json files();      // of the layer
	nlohmann::json iotailor();   // null: there is none
	nlohmann::json page_cache(); // null: there is none

private:
	std::optional<store::TailoredDevice> tailored_;
	std::optional<store::CachedDevice> cached_;
	std::optional<FileLayer> layer_;
};

// --- sample files: the bytes of a file follow from its name ---

constexpr uint64_t small_bytes = 128 << 10;                             // of a small file
constexpr uint64_t small_blocks = small_bytes / store::block_bytes + 1; // with its inode
constexpr uint64_t small_files = 48;                                    // of a round of age()

// Bytes [offset, offset + bytes) of a file of that name.
store::Bytes sample(const std::string &name, uint64_t offset, uint64_t bytes);
// Writes and syncs a new file. Throws NoSpace, also where there is a file of that name.
void write_sample(FileLayer &layer, const std::string &name, uint64_t bytes, Heat heat);
// Throws Damaged where the file has other bytes.
void read_sample(FileLayer &layer, const std::string &name, uint64_t bytes);

std::string small_name(uint64_t round, uint64_t i);
// Writes the small files 0 to count - 1 of a round, syncs each, and removes every second one.
void make_small_files(FileLayer &layer, uint64_t round, uint64_t count);
// Makes rounds of small files, until they and `reserved` blocks that are written later fill that percentage of the space; 0: none.
// Throws NoSpace where the reserved blocks alone fill it.
void age(FileLayer &layer, uint64_t percent, uint64_t reserved);

} // namespace hz::fs
