// TailoredDevice: a wrapper around a device that combines writes to zones into superpages, as
// IOTailor of ZMS does for the file layer.
//
// An incomplete superpage stays in host memory until it is complete, a durable write to its zone, a
// flush, or a copy or an in-place write there; it is not acknowledged as durable before. Reads find
// it. If the device refuses it later, it is kept, and every flush fails.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>

#include "storage/bytes.hpp"
#include "storage/zoned_device.hpp"

namespace hz::store {

struct TailorCounters {
	uint64_t writes = 0, bytes = 0; // to zones
	uint64_t split = 0;             // of them: with a part that left and one that was held
	uint64_t superpages = 0;        // that left whole
	uint64_t partial = 0;           // commands with less
	uint64_t most_held_bytes = 0;
};

class TailoredDevice : public ZonedDevice {
public:
	// unit: blocks of a superpage.
	TailoredDevice(ZonedDevice &device, uint64_t unit) : device_(device), unit_(unit) {}

	const DeviceShape &shape() const override { return device_.shape(); }
	ZoneState state(uint32_t zone) override;
	void write(uint32_t zone, uint64_t block, std::span<const std::byte> data, Safety safety) override;
	void read(uint32_t zone, uint64_t block, std::span<std::byte> data) override;
	void reset(uint32_t zone) override;
	void write_plain(uint64_t block, std::span<const std::byte> data, Safety safety) override
	{
		device_.write_plain(block, data, safety);
	}
	void read_plain(uint64_t block, std::span<std::byte> data) override { device_.read_plain(block, data); }
	void deallocate(uint64_t block, uint64_t blocks) override { device_.deallocate(block, blocks); }
	void flush() override;
	bool can_overwrite() const override { return device_.can_overwrite(); }
	bool overwrite(uint32_t zone, uint64_t block, std::span<const std::byte> data) override;
	bool can_copy() const override { return device_.can_copy(); }
	void copy(uint32_t zone, uint64_t block, std::span<const CopySource> from) override;

	const TailorCounters &counters() const { return counters_; }

private:
	struct Held {
		uint64_t block = 0; // of the zone: begin of the data
		Bytes data;
	};
	void release(uint32_t zone, Safety safety);
	void send_whole(uint32_t zone, Held &held, Safety safety);
	void send(uint32_t zone, Held &held, uint64_t blocks, Safety safety);

	ZonedDevice &device_;
	uint64_t unit_;
	std::map<uint32_t, Held> held_; // by zone; none is empty
	TailorCounters counters_;
};

} // namespace hz::store
