// Bench: boot, restart, and the zone helpers that cases are written with.
// SPDX-License-Identifier: BSD-3-Clause
#include "bench.hpp"

#include <algorithm>
#include <cstring>
#include <thread>

#include "config/device_yaml.hpp"
#include "session/machine/error.hpp"

namespace conform {

namespace {

constexpr const char *device = R"(
name: conformance
geometry:
  channels: 2
  chips_per_channel: 1
  dies_per_chip: 1
  planes_per_die: 1
  blocks_per_plane: 23
  pages_per_block: 12
  page_bytes: 16 KiB
  slc_blocks_per_plane: 9
  cell: tlc
  program_pages: 3
  slc_program_sectors: 1
  plane_scheme: CWDP
  media: store
timing:
  slc: {read: 20us, program: 75us, erase: 3.5ms}
  normal: {read: 32us, program: 937.5us, erase: 3.5ms}
  channel_bytes_per_s: 1600 MiB
  command: 200ns
zones:
  count: 12
  spare_superblocks: 2
  max_open: 3
  max_active: 5
buffers:
  count: 6
  binding: first-free
  flush_unit_planes: 1
harts:
  tsus: 1
  workers: 2
  inflight_requests: 64
locks:
  kind: {default: ticket}
  stats: all
)";

std::unique_ptr<Bench> shared_bench;

} // namespace

void open_all(std::span<hz::QueuePair *const> queues)
{
	for (auto *queue : queues)
		if (!queue->is_open())
			queue->open(0);
}

void drain(std::span<hz::QueuePair *const> queues, const Seen &seen)
{
	open_all(queues);
	for (auto *queue : queues)
		queue->promise_nothing_more();
	for (bool busy = true; busy;) {
		busy = false;
		for (auto *queue : queues) {
			for (const auto &c : queue->reap())
				seen(*queue, c);
			queue->promise_nothing_more();
			busy |= queue->outstanding() != 0;
		}
		std::this_thread::yield();
	}
	for (auto *queue : queues)
		queue->close();
}

hz_device_config small_config() { return hz::conf::parse_device(device, "conformance"); }

Bytes pattern(uint64_t lba, uint32_t sectors, uint64_t salt)
{
	Bytes bytes(static_cast<size_t>(sectors) * HZ_SECTOR_BYTES);
	for (size_t i = 0; i < bytes.size() / 8; i++) {
		uint64_t word = (lba + i / 512) << 40 ^ salt << 20 ^ i;
		std::memcpy(&bytes[i * 8], &word, 8);
	}
	return bytes;
}

Bytes placed_pattern(uint64_t lba, uint32_t sectors, uint64_t salt)
{
	Bytes bytes;
	for (uint32_t i = 0; i < sectors; i++) {
		Bytes one = pattern(lba + i, 1, salt);
		bytes.insert(bytes.end(), one.begin(), one.end());
	}
	return bytes;
}

Bench &Bench::shared()
{
	if (shared_bench && !shared_bench->machine_->alive())
		shared_bench.reset();
	if (!shared_bench)
		shared_bench = std::make_unique<Bench>();
	return *shared_bench;
}

void Bench::drop_shared() { shared_bench.reset(); }

Bench::Bench(const hz_device_config &config)
{
	hz::MachineOptions options;
	options.config = config;
	options.shm_bytes = 128 << 20;
	machine_ = hz::Machine::launch(options);
	controller_ = std::make_unique<hz::Controller>(*machine_);
	restart();
	info_ = controller_->namespace_info(*queue_);
	capacity_ = static_cast<uint32_t>(info_.zone_capacity_sectors);
}

void Bench::restart()
{
	queue_.reset();
	controller_->enable();
	queue_ = controller_->create_queue(1, {.depth = 64, .data_bytes = HZ_MAX_TRANSFER_SECTORS * HZ_SECTOR_BYTES});
	scratch_ = controller_->allocate(pages * 4096ull);
	disturbed_ = false;
}

void Bench::reconnect()
{
	queue_.reset();
	controller_.reset();
	controller_ = std::make_unique<hz::Controller>(*machine_);
	disturbed_ = true;
}

void Bench::pristine()
{
	restart();
	reset_zones();
}

void Bench::settle()
{
	if (disturbed_)
		restart();
}

uint64_t Bench::read64(hz::BusAddress bus)
{
	uint64_t value;
	std::memcpy(&value, at(bus, 8), 8);
	return value;
}

void Bench::write64(hz::BusAddress bus, uint64_t value) { std::memcpy(at(bus, 8), &value, 8); }

hz::Completion Bench::raw(const nvme_sqe &sqe)
{
	auto cid = queue_->acquire();
	if (!cid)
		throw hz::Error("the bench's queue is full");
	queue_->submit_raw(*cid, sqe, 0);
	queue_->open(UINT64_MAX);
	hz::Completion result = queue_->wait().front();
	queue_->close();
	queue_->release(*cid);
	return result;
}

hz::Completion Bench::run(const nvme_sqe &sqe, const Bytes &out, Bytes *in)
{
	return queue_->run(sqe, out, in ? std::span<std::byte>(*in) : std::span<std::byte>());
}

Bytes Bench::payload(const nvme_sqe &sqe)
{
	bool writes = sqe.opcode == NVME_IO_WRITE || sqe.opcode == NVME_IO_ZONE_APPEND;
	return writes ? pattern(sqe.cdw10, (sqe.cdw12 & 0xffff) + 1) : Bytes();
}

nvme_zone_descriptor Bench::zone(uint32_t zone)
{
	Bytes report(128);
	auto result = run(hz::QueuePair::zone_report(start(zone), 128), {}, &report);
	if (result.status)
		throw hz::NvmeError("zone report failed: " + hz::status_text(result.status), result.status);
	nvme_zone_descriptor descriptor;
	std::memcpy(&descriptor, &report[sizeof(nvme_zone_report)], sizeof(descriptor));
	return descriptor;
}

nvme_zone_state Bench::state(uint32_t z) { return static_cast<nvme_zone_state>(zone(z).state >> 4); }

uint64_t Bench::filled(uint32_t z) { return zone(z).write_pointer - start(z); }

uint16_t Bench::send(uint32_t zone, nvme_zone_send_action action, bool all)
{
	return status(hz::QueuePair::zone_send(start(zone), action, all));
}

uint16_t Bench::write(uint64_t lba, uint32_t sectors) { return status(hz::QueuePair::write(lba, sectors)); }

void Bench::put(uint32_t zone, nvme_zone_state state)
{
	uint16_t status = 0;
	if (state == NVME_ZS_IMPLICIT_OPEN || state == NVME_ZS_CLOSED || state == NVME_ZS_FULL)
		status = write(start(zone), 4);
	if (state == NVME_ZS_EXPLICIT_OPEN)
		status |= send(zone, NVME_ZSA_OPEN) | write(start(zone), 4);
	if (state == NVME_ZS_CLOSED)
		status |= send(zone, NVME_ZSA_CLOSE);
	if (state == NVME_ZS_FULL)
		status |= send(zone, NVME_ZSA_FINISH);
	ASSERT_EQ(status, NVME_SUCCESS);
	ASSERT_EQ(this->state(zone), state);
}

void Bench::reset_zones()
{
	uint16_t status = send(0, NVME_ZSA_RESET, true);
	ASSERT_EQ(status, NVME_SUCCESS);
}

} // namespace conform
