// ZonedDevice: what stores of files ask of a device; the one behind it may be a test's, in memory.
//
// Zones are counted from the first sequential one; blocks of 4 KiB from the start of their zone. Beside them are plain blocks, counted from
// 0, which may be written in any order: those of the conventional zones, or of a block device, which has no others. Used by one thread at a
// time. What fails throws DeviceError, and the zone's state must then be asked for anew.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

namespace hz::store {

inline constexpr uint64_t block_bytes = 4096;
inline uint64_t blocks_of(uint64_t bytes) { return (bytes + block_bytes - 1) / block_bytes; }

// Each says one sentence.
struct DeviceError : std::runtime_error {
	using std::runtime_error::runtime_error;
};
struct NoSpace : std::runtime_error {
	using std::runtime_error::runtime_error;
};
// What the device holds cannot have been written by the store, or is not what it was promised.
struct Damaged : std::runtime_error {
	using std::runtime_error::runtime_error;
};

struct DeviceShape {
	uint32_t zones = 0;
	uint64_t capacity = 0;   // blocks of a zone
	uint32_t max_active = 0; // zones that are begun and not full, at once; 0: no limit
	uint64_t plain = 0;      // blocks that are written in any order
};

// `durable`: is there after any power cut from the moment the write has ended, and all that lies before it in its zone; of plain blocks,
// what was written and no more.
enum class Safety : uint8_t { until_flush, durable };

struct ZoneState {
	uint64_t written = 0;  // blocks; a full zone: its capacity
	bool writable = false; // false: dead; what was written may still be read
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
	// At the zone's write pointer, which `block` must be; whole blocks, within the zone's capacity, of any number.
	virtual void write(uint32_t zone, uint64_t block, std::span<const std::byte> data, Safety safety) = 0;
	virtual void read(uint32_t zone, uint64_t block, std::span<std::byte> data) = 0;
	virtual void reset(uint32_t zone) = 0;
	// Of zones: whole blocks that were written may be written again where they lie, as far as the device has a budget for it. Each is durable
	// when it ends, and written as a whole or not at all; false: the budget is spent, and nothing has changed.
	virtual bool can_overwrite() const { return false; }
	virtual bool overwrite(uint32_t zone, uint64_t block, std::span<const std::byte> data)
	{
		(void)zone, (void)block, (void)data;
		return false;
	}
	// Of zones: the device copies them itself, to the zone's write pointer, which `block` must be; durable after a flush. A device that
	// cannot refuses all.
	virtual bool can_copy() const { return false; }
	virtual void copy(uint32_t zone, uint64_t block, std::span<const CopySource> from)
	{
		(void)zone, (void)block, (void)from;
		throw DeviceError("the device copies nothing by itself");
	}
	// Each block is written as a whole or not at all when the power goes, a row of them in any order.
	virtual void write_plain(uint64_t block, std::span<const std::byte> data, Safety safety) = 0;
	virtual void read_plain(uint64_t block, std::span<std::byte> data) = 0;
	// They read as zeros afterwards, or, after a power cut, as before.
	virtual void deallocate(uint64_t block, uint64_t blocks) = 0;
	// Everything that was written is durable afterwards.
	virtual void flush() = 0;
};

} // namespace hz::store
