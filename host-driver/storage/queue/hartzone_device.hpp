// HartzoneDevice: the device of stores, on a queue pair of a running machine; counts and records
// its commands.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "results/digest.hpp"
#include "storage/queue/device_account.hpp"
#include "storage/zoned_device.hpp"
#include "session/controller.hpp"
#include "trace/native_writer.hpp"

namespace hz::store {

// How long the program has computed between two commands: the second one arrives so much later (virtual clock).
class HostCompute {
public:
	virtual ~HostCompute() = default;
	virtual uint64_t before_command() = 0; // ns since the last one ended
	virtual void after_command() = 0;
};

// What a trace says of a command besides the command: the program's thread, and what it waited for.
class RecordMarks {
public:
	virtual ~RecordMarks() = default;
	virtual void mark(trace::Record &record) = 0; // by the thread whose command it is, in the order of the trace
};

class HartzoneDevice : public ZonedDevice {
public:
	// On a namespace. `trace`: takes all commands except zone reports; may be nullptr.
	// `most_transfer`: bytes of a command at most, up to 512 KiB. Throws Error if the namespace
	// does not exist, or keeps no data.
	HartzoneDevice(Controller &controller, uint32_t nsid, trace::NativeWriter *trace, uint64_t most_transfer = 128 << 10);

	const DeviceShape &shape() const override { return shape_; }
	ZoneState state(uint32_t zone) override;
	void write(uint32_t zone, uint64_t block, std::span<const std::byte> data, Safety safety) override;
	void read(uint32_t zone, uint64_t block, std::span<std::byte> data) override;
	void reset(uint32_t zone) override;
	// Not while commands are recorded: a trace has no word for these two.
	bool can_overwrite() const override { return zoned_ && in_place_ && !trace_; }
	bool overwrite(uint32_t zone, uint64_t block, std::span<const std::byte> data) override;
	bool can_copy() const override { return zoned_ && copies_ && !trace_; }
	void copy(uint32_t zone, uint64_t block, std::span<const CopySource> from) override;
	void write_plain(uint64_t block, std::span<const std::byte> data, Safety safety) override;
	void read_plain(uint64_t block, std::span<std::byte> data) override;
	void deallocate(uint64_t block, uint64_t blocks) override;
	void flush() override;

	// Counters since the last call.
	DeviceAccount take_account();
	// Of all commands with their times: equal digests mean equal runs.
	std::string digest() const { return digest_.text(); }
	// When the next command arrives, if it follows at once.
	uint64_t now_ns() const { return queue_->next_arrival_ns(); }
	// Lives as long as the device is used. Without one the program's own work takes no device time.
	void set_compute(HostCompute *compute) { compute_ = compute; }
	// Lives as long as the device is used. Without one all commands are of stream 0, and wait for nothing.
	void set_marks(RecordMarks *marks) { marks_ = marks; }

private:
	struct Spot {
		uint64_t lba, room;   // room: blocks that one command may reach from there
		trace::Record record; // of the operation's place
	};

	Completion run(Command command, const nvme_sqe &sqe, trace::Record record, std::span<const std::byte> out = {},
		       std::span<std::byte> in = {}, uint16_t expected = 0);
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
	bool copies_ = false, in_place_ = false;
	bool protection_ = false; // the device takes durable writes
	DeviceAccount account_;
	res::Digest digest_;
	HostCompute *compute_ = nullptr;
	RecordMarks *marks_ = nullptr;
};

} // namespace hz::store
