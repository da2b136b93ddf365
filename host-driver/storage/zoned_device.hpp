// ZonedDevice: the device interface for file stores; tests implement it in memory.
//
// Zones are counted from the first sequential one; blocks of 4 KiB from the start of their zone. In
// addition there are plain blocks, counted from 0, with random writes: those of the conventional
// zones, or of a block device, which has only these. Used by one thread at a time. A failure throws
// DeviceError, and the zone's state must then be queried again.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

namespace hz::store {

inline constexpr uint64_t block_bytes = 4096;
inline uint64_t blocks_of(uint64_t bytes) { return (bytes + block_bytes - 1) / block_bytes; }

// what() is one sentence.
struct DeviceError : std::runtime_error {
	using std::runtime_error::runtime_error;
};
struct NoSpace : std::runtime_error {
	using std::runtime_error::runtime_error;
};
// The device's content cannot have been written by the store, or acknowledged data are missing.
struct Damaged : std::runtime_error {
	using std::runtime_error::runtime_error;
};

struct DeviceShape {
	uint32_t zones = 0;
	uint64_t capacity = 0;   // blocks of a zone
	uint32_t max_active = 0; // zones that are begun and not full, at once; 0: no limit
	uint64_t plain = 0;      // blocks that are written in any order
};

// `durable`: survives any power cut once the write has ended, with all preceding data of its zone;
// of plain blocks, only the written ones.
enum class Safety : uint8_t { until_flush, durable };

struct ZoneState {
	uint64_t written = 0;  // blocks; a full zone: its capacity
	bool writable = false; // false: dead; its data may still be readable
};

// Blocks of a zone in a row.
struct CopySource {
	uint32_t zone = 0;
	uint64_t block = 0, blocks = 0;
};

class ZonedDevice {
public:
	virtual ~ZonedDevice() = default;
	virtual const DeviceShape &shape() const = 0;
	virtual ZoneState state(uint32_t zone) = 0;
	// At the zone's write pointer, which must equal `block`; whole blocks, any number within
	// the zone's capacity.
	virtual void write(uint32_t zone, uint64_t block, std::span<const std::byte> data, Safety safety) = 0;
	virtual void read(uint32_t zone, uint64_t block, std::span<std::byte> data) = 0;
	virtual void reset(uint32_t zone) = 0;
	// In zones: overwrites whole written blocks in place, within the device's budget. Each is
	// durable when it ends, and written as a whole or not at all; false: the budget is spent,
	// and nothing has changed.
	virtual bool can_overwrite() const { return false; }
	virtual bool overwrite(uint32_t zone, uint64_t block, std::span<const std::byte> data)
	{
		(void)zone, (void)block, (void)data;
		return false;
	}
	// In zones: the device copies blocks itself, to the zone's write pointer, which must equal
	// `block`; durable after a flush. A device without copy refuses all.
	virtual bool can_copy() const { return false; }
	virtual void copy(uint32_t zone, uint64_t block, std::span<const CopySource> from)
	{
		(void)zone, (void)block, (void)from;
		throw DeviceError("the device copies nothing by itself");
	}
	// After a power cut each block is written as a whole or not at all; blocks of a row reach
	// the medium in any order.
	virtual void write_plain(uint64_t block, std::span<const std::byte> data, Safety safety) = 0;
	virtual void read_plain(uint64_t block, std::span<std::byte> data) = 0;
	// They read as zeros afterwards, or, after a power cut, as before.
	virtual void deallocate(uint64_t block, uint64_t blocks) = 0;
	// Everything that was written is durable afterwards.
	virtual void flush() = 0;
};

} // namespace hz::store
