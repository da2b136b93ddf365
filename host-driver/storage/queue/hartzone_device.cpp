// HartzoneDevice: one command at a time, so that under the virtual clock each arrives a turnaround after the one before.
// SPDX-License-Identifier: BSD-3-Clause
#include "storage/queue/hartzone_device.hpp"

#include <algorithm>
#include <cstring>

#include "session/machine/error.hpp"

namespace hz::store {

namespace {

constexpr uint64_t no_end = UINT64_MAX / block_bytes;

uint32_t smaller_limit(uint32_t a, uint32_t b) { return a && b ? std::min(a, b) : std::max(a, b); }

// The one place that makes a write durable at once: with power-loss protection if the device has
// it, else on flash (FUA).
nvme_sqe durable(nvme_sqe sqe, bool protection)
{
	if (protection)
		sqe.cdw3 |= NVME_RW_DURABLE;
	else
		sqe.cdw12 |= NVME_RW_FUA;
	return sqe;
}

ZoneState state_of(const nvme_zone_descriptor &zone)
{
	switch (zone.state >> 4) {
	case NVME_ZS_READ_ONLY:
	case NVME_ZS_OFFLINE: return {zone.capacity, false};
	case NVME_ZS_FULL: return {zone.capacity, true};
	default: return {zone.write_pointer - zone.start, true};
	}
}

} // namespace

HartzoneDevice::HartzoneDevice(Controller &controller, uint32_t nsid, trace::NativeWriter *trace, uint64_t most_transfer) : trace_(trace)
{
	controller.require_attached(nsid);
	if (controller.machine().config().media_mode == HZ_MEDIA_TIMING_ONLY)
		throw Error("this device keeps no data (media: timing-only in its file): files and databases need one with media: store");
	QueueOptions options;
	options.depth = 2;
	options.nsid = nsid;
	options.data_bytes = most_transfer;
	queue_ = controller.create_queue(any_queue, options);
	const NamespaceInfo info = controller.namespace_info(*queue_);
	protection_ = info.durable_writes;
	transfer_bytes_ = std::min<uint64_t>(most_transfer, info.max_transfer_sectors * block_bytes);
	zoned_ = info.zoned;
	copies_ = controller.machine().config().copies;
	in_place_ = info.in_place_writes;
	if (!zoned_) {
		shape_.plain = info.size_sectors;
		return;
	}
	first_zone_ = info.conventional_zones;
	zone_size_ = info.zone_size_sectors;
	shape_ = {.zones = uint32_t(info.zones - first_zone_),
		  .capacity = info.zone_capacity_sectors,
		  .max_active = smaller_limit(info.max_open, info.max_active),
		  .plain = first_zone_ * info.zone_capacity_sectors};
}

Completion HartzoneDevice::run(Command command, const nvme_sqe &sqe, trace::Record record, std::span<const std::byte> out,
			       std::span<std::byte> in, uint16_t expected)
{
	Completion c;
	try {
		c = queue_->run(sqe, out, in, compute_ ? compute_->before_command() : 0);
	} catch (const Error &e) {
		throw DeviceError(e.what());
	}
	if (c.status && c.status == expected)
		return c;
	if (c.status)
		throw DeviceError(std::string(command_names[size_t(command)]) + " of zone " + std::to_string(record.zone) +
				  " failed: " + status_text(c.status));
	if (compute_)
		compute_->after_command();
	CommandAccount &one = account_.of[size_t(command)];
	one.bytes += command == Command::deallocate || command == Command::copy ? record.bytes : std::max(out.size(), in.size());
	one.latency.add(c.latency_ns());
	if (!account_.end_ns)
		account_.begin_ns = c.arrival_ns;
	account_.end_ns = c.completed_ns;
	for (const uint64_t number : {uint64_t(command), uint64_t(record.zone), record.offset, record.bytes, c.arrival_ns, c.completed_ns})
		digest_.u64(number);
	if (trace_) {
		record.time_ns = c.arrival_ns;
		if (marks_)
			marks_->mark(record);
		trace_->put(record);
	}
	return c;
}

ZoneState HartzoneDevice::state(uint32_t zone)
{
	std::array<std::byte, block_bytes> data;
	Completion c;
	try {
		c = queue_->run(QueuePair::zone_report(start_of(zone), uint32_t(data.size())), {}, data);
	} catch (const Error &e) {
		throw DeviceError(e.what());
	}
	if (c.status)
		throw DeviceError("the report of zone " + std::to_string(zone) + " failed: " + status_text(c.status));
	nvme_zone_descriptor descriptor;
	std::memcpy(&descriptor, data.data() + sizeof(nvme_zone_report), sizeof(descriptor));
	return state_of(descriptor);
}

// Position among sequential zones; the trace counts all zones.
HartzoneDevice::Spot HartzoneDevice::spot(uint32_t zone, uint64_t block) const
{
	return {start_of(zone) + block, no_end, {.zoned = true, .zone = zone, .offset = block * block_bytes}};
}

// Conventional zones may have holes behind their capacity.
HartzoneDevice::Spot HartzoneDevice::plain_spot(uint64_t block) const
{
	if (!zoned_)
		return {block, no_end, {.offset = block * block_bytes}};
	const uint64_t lba = block / shape_.capacity * zone_size_ + block % shape_.capacity;
	return {lba, shape_.capacity - block % shape_.capacity, {.offset = lba * block_bytes}};
}

void HartzoneDevice::write(const Spot &spot, std::span<const std::byte> data, Safety safety)
{
	const bool now = safety == Safety::durable;
	const nvme_sqe sqe = QueuePair::write(spot.lba, uint32_t(data.size() / block_bytes));
	trace::Record record = spot.record;
	record.op = trace::Op::write;
	record.bytes = data.size();
	record.durable = now;
	run(now ? Command::durable_write : Command::write, now ? durable(sqe, protection_) : sqe, record, data);
}

void HartzoneDevice::read(const Spot &spot, std::span<std::byte> data)
{
	trace::Record record = spot.record;
	record.op = trace::Op::read;
	record.bytes = data.size();
	run(Command::read, QueuePair::read(spot.lba, uint32_t(data.size() / block_bytes)), record, {}, data);
}

template <typename Data, typename Where, typename Move>
void HartzoneDevice::in_pieces(Data data, uint64_t block, Where where, Move move) const
{
	while (!data.empty()) {
		const Spot at = where(block);
		const size_t bytes = std::min({data.size(), transfer_bytes_, size_t(std::min(at.room * block_bytes, transfer_bytes_))});
		move(at, data.first(bytes));
		data = data.subspan(bytes);
		block += bytes / block_bytes;
	}
}

void HartzoneDevice::write(uint32_t zone, uint64_t block, std::span<const std::byte> data, Safety safety)
{
	in_pieces(
		data, block, [&](uint64_t at) { return spot(zone, at); }, [&](const Spot &at, auto part) { write(at, part, safety); });
}

void HartzoneDevice::read(uint32_t zone, uint64_t block, std::span<std::byte> data)
{
	in_pieces(
		data, block, [&](uint64_t at) { return spot(zone, at); }, [&](const Spot &at, auto part) { read(at, part); });
}

void HartzoneDevice::write_plain(uint64_t block, std::span<const std::byte> data, Safety safety)
{
	in_pieces(
		data, block, [&](uint64_t at) { return plain_spot(at); }, [&](const Spot &at, auto part) { write(at, part, safety); });
}

void HartzoneDevice::read_plain(uint64_t block, std::span<std::byte> data)
{
	in_pieces(
		data, block, [&](uint64_t at) { return plain_spot(at); }, [&](const Spot &at, auto part) { read(at, part); });
}

void HartzoneDevice::deallocate(uint64_t block, uint64_t blocks)
{
	while (blocks) {
		const Spot at = plain_spot(block);
		const uint64_t part = std::min({blocks, at.room, uint64_t(UINT32_MAX)});
		const nvme_dsm_range range{.cattr = 0, .nlb = uint32_t(part), .slba = at.lba};
		trace::Record record = at.record;
		record.op = trace::Op::trim;
		record.bytes = part * block_bytes;
		run(Command::deallocate, QueuePair::deallocate(1), record, std::as_bytes(std::span(&range, 1)));
		block += part;
		blocks -= part;
	}
}

void HartzoneDevice::reset(uint32_t zone)
{
	run(Command::reset, QueuePair::zone_send(start_of(zone), NVME_ZSA_RESET), {.op = trace::Op::reset, .zoned = true, .zone = zone});
}

bool HartzoneDevice::overwrite(uint32_t zone, uint64_t block, std::span<const std::byte> data)
{
	nvme_sqe sqe = QueuePair::write(start_of(zone) + block, uint32_t(data.size() / block_bytes));
	sqe.cdw3 |= NVME_RW_IN_PLACE;
	trace::Record record = spot(zone, block).record;
	record.bytes = data.size();
	return !run(Command::in_place, sqe, record, data, {}, NVME_HZ_IN_PLACE_BUDGET).status;
}

// Splits into commands at their limit of blocks.
void HartzoneDevice::copy(uint32_t zone, uint64_t block, std::span<const CopySource> from)
{
	std::vector<nvme_copy_range> ranges;
	uint64_t blocks = 0;
	const auto send = [&] {
		trace::Record record = spot(zone, block).record;
		record.bytes = blocks * block_bytes;
		run(Command::copy, QueuePair::copy(start_of(zone) + block, uint32_t(ranges.size()), false), record,
		    std::as_bytes(std::span(ranges)));
		block += blocks;
		blocks = 0;
		ranges.clear();
	};
	for (const CopySource &one : from)
		for (uint64_t done = 0; done < one.blocks;) {
			const uint64_t part = std::min<uint64_t>(one.blocks - done, HZ_COPY_SECTORS - blocks);
			nvme_copy_range range{};
			range.slba = start_of(one.zone) + one.block + done;
			range.nlb = uint16_t(part - 1);
			range.eilbrt = uint32_t(range.slba);
			ranges.push_back(range);
			done += part;
			blocks += part;
			if (blocks == HZ_COPY_SECTORS || ranges.size() == HZ_COPY_RANGES)
				send();
		}
	if (blocks)
		send();
}

void HartzoneDevice::flush() { run(Command::flush, QueuePair::flush(), {.op = trace::Op::flush}); }

DeviceAccount HartzoneDevice::take_account()
{
	DeviceAccount taken;
	std::swap(taken, account_);
	return taken;
}

} // namespace hz::store
