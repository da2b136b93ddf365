// HartzoneDevice: the device of stores, by a queue pair of a machine that is up; counts and records what is asked of it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "results/histogram.hpp"
#include "storage/zoned_device.hpp"
#include "session/controller.hpp"
#include "trace/native_writer.hpp"

namespace hz::store {

enum class Command : uint8_t { read, write, durable_write, flush, reset, deallocate };
inline constexpr size_t commands = 6;
inline constexpr std::array<std::string_view, commands> command_names = {"read", "write", "durable write", "flush", "reset", "deallocate"};

struct CommandAccount {
	uint64_t bytes = 0;
	res::Histogram latency; // ns; its count is that of the commands
};
struct DeviceAccount {
	std::array<CommandAccount, commands> of;
	uint64_t begin_ns = 0, end_ns = 0; // arrival of the first command, completion of the last
};

class HartzoneDevice : public ZonedDevice {
public:
	// `trace`: takes all commands but reports of zones; may be nullptr.
	HartzoneDevice(Controller &controller, trace::NativeWriter *trace);

	const DeviceShape &shape() const override { return shape_; }
	ZoneState state(uint32_t zone) override;
	void write(uint32_t zone, uint64_t block, std::span<const std::byte> data, Safety safety) override;
	void read(uint32_t zone, uint64_t block, std::span<std::byte> data) override;
	void reset(uint32_t zone) override;
	void write_plain(uint64_t block, std::span<const std::byte> data, Safety safety) override;
	void read_plain(uint64_t block, std::span<std::byte> data) override;
	void deallocate(uint64_t block, uint64_t blocks) override;
	void flush() override;

	// What was counted since the last call.
	DeviceAccount take_account();

private:
	struct Spot {
		uint64_t lba, room;   // room: blocks that one command may reach from there
		trace::Record record; // of the operation's place
	};

	Completion run(Command command, const nvme_sqe &sqe, trace::Record record, std::span<const std::byte> out = {},
		       std::span<std::byte> in = {});
	Spot spot(uint32_t zone, uint64_t block) const;
	Spot plain_spot(uint64_t block) const;
	void write(const Spot &spot, std::span<const std::byte> data, Safety safety);
	void read(const Spot &spot, std::span<std::byte> data);
	template <typename Data, typename Where, typename Move> void in_pieces(Data data, uint64_t block, Where where, Move move) const;
	uint64_t start_of(uint32_t zone) const { return (first_zone_ + zone) * zone_size_; }

	std::unique_ptr<QueuePair> queue_;
	trace::NativeWriter *trace_;
	DeviceShape shape_;
	bool zoned_ = false;
	uint64_t first_zone_ = 0, zone_size_ = 0, transfer_bytes_ = 0;
	bool protection_ = false; // the device takes durable writes
	DeviceAccount account_;
};

} // namespace hz::store
