// CachedDevice: a wrapper around a device that keeps the blocks last read or written in host memory, as a kernel's page cache does.
//
// Writes go through at once, so what is durable does not change. A read whose blocks are all kept
// sends no command; any other reads all of its blocks from the device.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <list>
#include <unordered_map>

#include "storage/bytes.hpp"
#include "storage/zoned_device.hpp"

namespace hz::store {

struct CacheCounters {
	uint64_t hits = 0, misses = 0; // blocks that were read
};

class CachedDevice : public ZonedDevice {
public:
	// most: blocks that are kept, at least 1.
	CachedDevice(ZonedDevice &device, size_t most) : device_(device), most_(most) {}

	const DeviceShape &shape() const override { return device_.shape(); }
	ZoneState state(uint32_t zone) override { return device_.state(zone); }
	void write(uint32_t zone, uint64_t block, std::span<const std::byte> data, Safety safety) override;
	void read(uint32_t zone, uint64_t block, std::span<std::byte> data) override;
	void reset(uint32_t zone) override;
	void write_plain(uint64_t block, std::span<const std::byte> data, Safety safety) override;
	void read_plain(uint64_t block, std::span<std::byte> data) override;
	void deallocate(uint64_t block, uint64_t blocks) override;
	void flush() override { device_.flush(); }
	bool can_overwrite() const override { return device_.can_overwrite(); }
	bool overwrite(uint32_t zone, uint64_t block, std::span<const std::byte> data) override;
	bool can_copy() const override { return device_.can_copy(); }
	void copy(uint32_t zone, uint64_t block, std::span<const CopySource> from) override;

	const CacheCounters &counters() const { return counters_; }

private:
	struct Block {
		uint64_t key;
		Bytes data;
	};
	using Place = std::list<Block>::iterator;

	bool find(uint64_t key, std::span<std::byte> data);
	void keep(uint64_t key, std::span<const std::byte> data);
	void drop(uint64_t key, uint64_t blocks);

	ZonedDevice &device_;
	size_t most_;
	std::list<Block> blocks_; // most recently used first
	std::unordered_map<uint64_t, Place> places_;
	CacheCounters counters_;
};

} // namespace hz::store
