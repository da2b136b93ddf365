// C interface: handles around the C++ session, exceptions turned into return values and one sentence per thread.
#include "hartzone.h"

#include <cstring>
#include <memory>
#include <string>

#include "config/device_config.hpp"
#include "session/controller.hpp"
#include "session/error.hpp"
#include "session/machine.hpp"

struct hartzone_device {
	std::unique_ptr<hz::Machine> machine;
	std::unique_ptr<hz::Controller> controller;
	std::string directory;
};

struct hartzone_queue {
	hartzone_device *device;
	std::unique_ptr<hz::QueuePair> pair;
	uint64_t latency_ns = 0;
};

namespace {

constexpr uint32_t default_blocks = 32;
thread_local std::string last_sentence = "no error";
thread_local std::string status_sentence;

template <class Result, class Action> Result guarded(Result failure, Action action)
{
	try {
		return action();
	} catch (const std::exception &e) {
		last_sentence = e.what();
		return failure;
	}
}

int run(hartzone_queue *queue, const nvme_sqe &sqe, std::span<const std::byte> out, std::span<std::byte> in, uint64_t *result)
{
	return guarded<int>(HARTZONE_ERROR, [&] {
		hz::Completion c = queue->pair->run(sqe, out, in);
		queue->latency_ns = c.latency_ns();
		if (result)
			*result = c.result;
		return int(c.status);
	});
}

int run(hartzone_queue *queue, const nvme_sqe &sqe) { return run(queue, sqe, {}, {}, nullptr); }

bool fits(const hartzone_queue *queue, uint32_t blocks)
{
	if (blocks != 0 && uint64_t(blocks) * HARTZONE_BLOCK_BYTES <= queue->pair->data(0).size())
		return true;
	last_sentence = "a transfer of " + std::to_string(blocks) + " blocks does not fit the queue's buffer";
	return false;
}

std::span<const std::byte> bytes_of(const void *data, uint32_t blocks)
{
	return {static_cast<const std::byte *>(data), size_t(blocks) * HARTZONE_BLOCK_BYTES};
}

hz::MachineOptions machine_options(const hartzone_options *options)
{
	hartzone_options none{};
	const hartzone_options &given = options ? *options : none;
	hz::MachineOptions o;
	o.config = given.device_file ? hz::conf::load_device(given.device_file) : hz::conf::device_defaults();
	if (given.workers > HZ_MAX_WORKERS)
		throw hz::Error("workers: " + std::to_string(given.workers) + " are too many, at most " + std::to_string(HZ_MAX_WORKERS));
	if (given.workers)
		hz::conf::place_roles(o.config, o.config.tsu_count, given.workers);
	if (given.image_file)
		o.nand_image = given.image_file;
	if (given.firmware)
		o.firmware = given.firmware;
	o.virtual_clock = !given.real_clock;
	return o;
}

hartzone_device *make_device(std::unique_ptr<hz::Machine> machine)
{
	auto device = std::make_unique<hartzone_device>();
	device->machine = std::move(machine);
	device->directory = device->machine->run_directory().string();
	device->controller = std::make_unique<hz::Controller>(*device->machine);
	device->controller->enable();
	return device.release();
}

} // namespace

hartzone_device *hartzone_launch(const hartzone_options *options)
{
	return guarded<hartzone_device *>(nullptr, [&] { return make_device(hz::Machine::launch(machine_options(options))); });
}

hartzone_device *hartzone_attach(const char *run_directory)
{
	return guarded<hartzone_device *>(nullptr, [&] { return make_device(hz::Machine::attach(run_directory)); });
}

const char *hartzone_run_directory(const hartzone_device *device) { return device->directory.c_str(); }

int hartzone_close(hartzone_device *device)
{
	if (!device)
		return 0;
	std::unique_ptr<hartzone_device> owner(device);
	return guarded<int>(HARTZONE_ERROR, [&] {
		if (device->machine->qemu_pid() < 0) {
			device->controller->disable();
			return 0;
		}
		device->controller->shutdown();
		device->controller->disconnect();
		const hz::ExitStatus end = device->machine->wait_exit(std::chrono::milliseconds(5000));
		if (end.exited && end.code != 0)
			throw hz::Error(end.reason);
		return 0;
	});
}

void hartzone_kill(hartzone_device *device)
{
	if (device)
		device->machine->kill();
	delete device;
}

int hartzone_get_info(hartzone_device *device, hartzone_info *info)
{
	return guarded<int>(HARTZONE_ERROR, [&] {
		hz::NamespaceInfo ns = device->controller->namespace_info();
		// Identify tells no zone capacity; a zone report would need a queue.
		hz_shape shape;
		hz_shape_of(&device->machine->config(), &shape);
		*info = {.blocks = ns.size_sectors,
			 .zone_blocks = ns.zone_size_sectors,
			 .zone_capacity = ns.zoned ? shape.zone_capacity_sectors : 0,
			 .zones = ns.zones,
			 .max_open = ns.max_open,
			 .max_active = ns.max_active,
			 .max_append = ns.max_append_sectors,
			 .max_transfer = ns.max_transfer_sectors};
		return 0;
	});
}

hartzone_queue *hartzone_queue_open(hartzone_device *device, unsigned id, uint32_t data_blocks)
{
	return guarded<hartzone_queue *>(nullptr, [&] {
		auto queue = std::make_unique<hartzone_queue>();
		queue->device = device;
		hz::QueueOptions o;
		o.depth = 2;
		o.data_bytes = uint64_t(data_blocks ? data_blocks : default_blocks) * HARTZONE_BLOCK_BYTES;
		queue->pair = device->controller->create_queue(id, o);
		return queue.release();
	});
}

int hartzone_queue_close(hartzone_queue *queue)
{
	if (!queue)
		return 0;
	std::unique_ptr<hartzone_queue> owner(queue);
	return guarded<int>(HARTZONE_ERROR, [&] {
		queue->device->controller->delete_queue(std::move(queue->pair));
		return 0;
	});
}

int hartzone_read(hartzone_queue *queue, uint64_t block, uint32_t blocks, void *data)
{
	if (!fits(queue, blocks))
		return HARTZONE_ERROR;
	std::span<std::byte> in(static_cast<std::byte *>(data), size_t(blocks) * HARTZONE_BLOCK_BYTES);
	return run(queue, hz::QueuePair::read(block, blocks), {}, in, nullptr);
}

int hartzone_write(hartzone_queue *queue, uint64_t block, uint32_t blocks, const void *data)
{
	if (!fits(queue, blocks))
		return HARTZONE_ERROR;
	return run(queue, hz::QueuePair::write(block, blocks), bytes_of(data, blocks), {}, nullptr);
}

int hartzone_append(hartzone_queue *queue, uint64_t zone_start, uint32_t blocks, const void *data, uint64_t *block)
{
	if (!fits(queue, blocks))
		return HARTZONE_ERROR;
	return run(queue, hz::QueuePair::append(zone_start, blocks), bytes_of(data, blocks), {}, block);
}

int hartzone_flush(hartzone_queue *queue) { return run(queue, hz::QueuePair::flush()); }
int hartzone_zone_open(hartzone_queue *queue, uint64_t start) { return run(queue, hz::QueuePair::zone_send(start, NVME_ZSA_OPEN)); }
int hartzone_zone_close(hartzone_queue *queue, uint64_t start) { return run(queue, hz::QueuePair::zone_send(start, NVME_ZSA_CLOSE)); }
int hartzone_zone_finish(hartzone_queue *queue, uint64_t start) { return run(queue, hz::QueuePair::zone_send(start, NVME_ZSA_FINISH)); }
int hartzone_zone_reset(hartzone_queue *queue, uint64_t start) { return run(queue, hz::QueuePair::zone_send(start, NVME_ZSA_RESET)); }
int hartzone_reset_all(hartzone_queue *queue) { return run(queue, hz::QueuePair::zone_send(0, NVME_ZSA_RESET, true)); }

int hartzone_report_zone(hartzone_queue *queue, uint64_t zone_start, hartzone_zone *zone)
{
	std::byte data[HARTZONE_BLOCK_BYTES];
	int code = run(queue, hz::QueuePair::zone_report(zone_start, sizeof(data)), {}, data, nullptr);
	if (code)
		return code;
	nvme_zone_descriptor d;
	std::memcpy(&d, data + sizeof(nvme_zone_report), sizeof(d));
	*zone = {d.start, d.capacity, d.write_pointer, static_cast<hartzone_zone_state>(d.state >> 4)};
	return 0;
}

uint64_t hartzone_latency_ns(const hartzone_queue *queue) { return queue->latency_ns; }

const char *hartzone_error_text(int code)
{
	if (code == HARTZONE_ERROR)
		return last_sentence.c_str();
	status_sentence = hz::status_text(static_cast<uint16_t>(code));
	return status_sentence.c_str();
}
