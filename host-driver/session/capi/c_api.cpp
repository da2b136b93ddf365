// C interface: handles around the C++ session, exceptions turned into return values and one sentence per thread.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/capi/c_api.hpp"

#include <algorithm>
#include <cstring>

#include "config/device_yaml.hpp"
#include "config/placement.hpp"
#include "geometry.h"
#include "namespaces.h"
#include "session/capi/c_api_vectors.hpp"
#include "session/machine/error.hpp"

using namespace hz::capi;

namespace {

constexpr uint32_t default_blocks = 32;
thread_local std::string last_sentence = "no error";
thread_local std::string status_sentence;

bool fits(const hartzone_queue *queue, uint32_t blocks)
{
	return guarded(false, [&] {
		require_fit(queue, blocks);
		return true;
	});
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
	auto device = std::make_shared<Device>();
	device->machine = std::move(machine);
	device->directory = device->machine->run_directory().string();
	device->controller = std::make_unique<hz::Controller>(*device->machine);
	if (device->machine->is_ours()) {
		device->controller->enable();
		device->controller->serve();
	}
	return new hartzone_device{std::move(device)};
}

// Queues that are still open have nothing behind them any more.
void end(Device &device)
{
	for (hartzone_queue *queue : device.queues) {
		queue->async.reset();
		queue->pair.reset();
	}
	device.controller.reset();
	device.machine.reset();
}

void shut_down(Device &device)
{
	device.controller->shutdown();
	device.controller->disconnect();
	device.machine->require_exit(std::chrono::milliseconds(60000));
}

} // namespace

namespace hz::capi {

void set_last_sentence(const char *sentence) { last_sentence = sentence; }

QueuePair &pair_of(const hartzone_queue *queue)
{
	if (!queue->pair)
		throw Error("the device of queue " + std::to_string(queue->id) + " has been closed");
	return *queue->pair;
}

void require_fit(const hartzone_queue *queue, uint64_t blocks)
{
	const size_t most = pair_of(queue).data(0).size() / HARTZONE_BLOCK_BYTES;
	if (blocks == 0 || blocks > most)
		throw Error("a transfer of " + std::to_string(blocks) + " blocks is not possible: this queue takes 1 to " +
			    std::to_string(most) + " (data_blocks, when it is opened)");
}

int run(hartzone_queue *queue, const nvme_sqe &sqe, std::span<const std::byte> out, std::span<std::byte> in, uint64_t *result)
{
	return guarded<int>(HARTZONE_ERROR, [&] {
		Completion c = pair_of(queue).run(sqe, out, in);
		queue->latency_ns = c.latency_ns();
		if (result && !c.status)
			*result = c.result;
		return int(c.status);
	});
}

} // namespace hz::capi

hartzone_device *hartzone_launch(const hartzone_options *options)
{
	return guarded<hartzone_device *>(nullptr, [&] { return make_device(hz::Machine::launch(machine_options(options))); });
}

hartzone_device *hartzone_attach(const char *run_directory)
{
	return guarded<hartzone_device *>(nullptr, [&] { return make_device(hz::Machine::attach(run_directory)); });
}

const char *hartzone_run_directory(const hartzone_device *device) { return device->state->directory.c_str(); }

int hartzone_close(hartzone_device *device)
{
	if (!device)
		return 0;
	const std::unique_ptr<hartzone_device> handle(device);
	const int code = guarded<int>(HARTZONE_ERROR, [&] {
		if (device->state->machine->is_ours())
			shut_down(*device->state);
		else
			device->state->controller->leave();
		return 0;
	});
	end(*device->state);
	return code;
}

void hartzone_kill(hartzone_device *device)
{
	if (!device)
		return;
	const std::unique_ptr<hartzone_device> handle(device);
	device->state->machine->kill();
	end(*device->state);
}

int hartzone_get_info(hartzone_device *device, hartzone_info *info) { return hartzone_get_namespace_info(device, 1, info); }

int hartzone_get_namespace_info(hartzone_device *device, uint32_t nsid, hartzone_info *info)
{
	return guarded<int>(HARTZONE_ERROR, [&] {
		hz::NamespaceInfo ns = device->state->controller->namespace_info(nsid);
		// Identify has no zone capacity; a zone report would need a queue.
		hz_shape shape;
		hz_namespace_shape(&device->state->machine->config(), nsid - 1, &shape);
		*info = {.blocks = ns.size_sectors,
			 .zone_blocks = ns.zone_size_sectors,
			 .zone_capacity = ns.zoned ? shape.zone_capacity_sectors : 0,
			 .zones = ns.zones,
			 .max_open = ns.max_open,
			 .max_active = ns.max_active,
			 .max_append = ns.max_append_sectors,
			 .max_transfer = ns.max_transfer_sectors,
			 .durable_writes = ns.durable_writes,
			 .protection = ns.protection,
			 .in_place = ns.in_place_writes ? device->state->controller->log_in_place().budget_sectors : 0};
		return 0;
	});
}

int hartzone_get_in_place(hartzone_device *device, hartzone_in_place *in_place)
{
	return guarded<int>(HARTZONE_ERROR, [&] {
		const hz_log_in_place log = device->state->controller->log_in_place();
		*in_place = {log.budget_sectors, log.used_sectors, log.written_sectors, log.refused_writes, log.folds, log.folded_sectors};
		return 0;
	});
}

int hartzone_get_handles(hartzone_device *device, uint32_t *handles)
{
	return guarded<int>(HARTZONE_ERROR, [&] {
		*handles = device->state->machine->config().fdp_handles;
		return 0;
	});
}

int hartzone_get_zrwa(hartzone_device *device, hartzone_zrwa *zrwa)
{
	return guarded<int>(HARTZONE_ERROR, [&] {
		const hz_device_config &config = device->state->machine->config();
		*zrwa = {};
		if (config.zrwa_count)
			*zrwa = {config.zrwa_count, static_cast<uint32_t>(config.zrwa_sectors),
				 static_cast<uint32_t>(config.zrwa_flush_sectors)};
		return 0;
	});
}

hartzone_queue *hartzone_queue_open(hartzone_device *device, unsigned id, uint32_t data_blocks)
{
	return hartzone_queue_open_deep(device, id, data_blocks, 1);
}

hartzone_queue *hartzone_queue_open_deep(hartzone_device *device, unsigned id, uint32_t data_blocks, unsigned depth)
{
	return hartzone_queue_open_in(device, 1, id, data_blocks, depth);
}

hartzone_queue *hartzone_queue_open_in(hartzone_device *device, uint32_t nsid, unsigned id, uint32_t data_blocks, unsigned depth)
{
	return guarded<hartzone_queue *>(nullptr, [&] {
		auto queue = std::make_unique<hartzone_queue>();
		hz::QueueOptions o;
		if (depth < 1 || depth >= HZ_MAX_QUEUE_DEPTH)
			throw hz::Error("depth: " + std::to_string(depth) + " requests under way are not possible, 1 to " +
					std::to_string(HZ_MAX_QUEUE_DEPTH - 1) + " are");
		if (nsid != 1)
			device->state->controller->require_attached(nsid);
		o.depth = depth + 1;
		o.nsid = nsid;
		o.data_bytes = uint64_t(data_blocks ? data_blocks : default_blocks) * HARTZONE_BLOCK_BYTES;
		queue->device = device->state;
		queue->pair = device->state->controller->create_queue(id, o);
		queue->id = queue->pair->qid();
		device->state->queues.insert(queue.get());
		return queue.release();
	});
}

unsigned hartzone_queue_id(const hartzone_queue *queue) { return queue->id; }

int hartzone_queue_close(hartzone_queue *queue)
{
	if (!queue)
		return 0;
	const std::unique_ptr<hartzone_queue> handle(queue);
	queue->device->queues.erase(queue);
	if (!queue->pair)
		return 0;
	return guarded<int>(HARTZONE_ERROR, [&] {
		if (queue->async)
			queue->async->drain();
		queue->async.reset();
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

int hartzone_compare(hartzone_queue *queue, uint64_t block, uint32_t blocks, const void *data)
{
	if (!fits(queue, blocks))
		return HARTZONE_ERROR;
	return run(queue, hz::QueuePair::compare(block, blocks), bytes_of(data, blocks), {}, nullptr);
}

int hartzone_verify(hartzone_queue *queue, uint64_t block, uint32_t blocks)
{
	return guarded<int>(HARTZONE_ERROR, [&] { return run(queue, verify_of(block, blocks)); });
}

int hartzone_append(hartzone_queue *queue, uint64_t zone_start, uint32_t blocks, const void *data, uint64_t *block)
{
	if (!fits(queue, blocks))
		return HARTZONE_ERROR;
	return run(queue, hz::QueuePair::append(zone_start, blocks), bytes_of(data, blocks), {}, block);
}

int hartzone_flush(hartzone_queue *queue) { return run(queue, hz::QueuePair::flush()); }
uint64_t hartzone_latency_ns(const hartzone_queue *queue) { return queue->latency_ns; }

const char *hartzone_error_text(int code)
{
	constexpr int most = 0x7ff; // SCT << 8 | SC
	if (code == HARTZONE_ERROR)
		return last_sentence.c_str();
	if (code == 0)
		status_sentence = "success";
	else if (code < 0 || code > most)
		status_sentence = std::to_string(code) + " is not a value that this library returns";
	else
		status_sentence = hz::status_text(static_cast<uint16_t>(code));
	return status_sentence.c_str();
}
