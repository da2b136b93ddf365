// Queues of a run: depth, room for commands ahead, memory.
// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run_queues.hpp"

#include <algorithm>
#include <string>

#include "nand_image.h"
#include "session/machine/machine.hpp"
#include "session/machine/qemu_command.hpp"
#include "shm.h"
#include "workload/source.hpp"

namespace hz::cli {

namespace {

constexpr uint64_t admin_heap_bytes = 4 << 20;

unsigned depth_of(const wl::Workload &w, size_t thread) { return w.trace ? w.trace->queue_depth : w.threads[thread].queue_depth; }

unsigned room_for(unsigned ahead, unsigned depth) { return std::min<unsigned>(ahead, HZ_MAX_QUEUE_DEPTH - 1 - depth); }

QueueOptions queue_of(unsigned depth, unsigned ahead)
{
	QueueOptions o;
	o.depth = depth + room_for(ahead, depth) + 1; // one slot of a ring stays empty
	o.data_bytes = HZ_MAX_TRANSFER_SECTORS * HZ_SECTOR_BYTES;
	return o;
}

uint64_t queue_bytes(unsigned depth, unsigned ahead) { return layout_of(queue_of(depth, ahead)).bytes; }

uint64_t bytes_of(const wl::Workload &w, unsigned ahead)
{
	uint64_t heap = admin_heap_bytes;
	for (size_t i = 0; i < w.thread_count(); i++)
		heap += queue_bytes(depth_of(w, i), ahead);
	return shm_bytes_for(heap);
}

uint64_t most_bytes(const hz_device_config &config) { return most_shm_bytes(hz_nand_image_bytes(&config)); }

// Commands ahead cost memory and change no figure, so they give way.
unsigned ahead_of(const wl::Workload &w, const hz_device_config &config)
{
	unsigned ahead = wl::most_ahead;
	while (ahead && bytes_of(w, ahead) > most_bytes(config))
		ahead /= 2;
	return ahead;
}

unsigned most_depth(uint64_t bytes)
{
	unsigned depth = HZ_MAX_QUEUE_DEPTH - 1;
	while (depth && queue_bytes(depth, 0) > bytes)
		depth--;
	return depth;
}

// Threads are counted as if all had the deepest queue.
std::string what_fits(const wl::Workload &w, uint64_t most)
{
	unsigned depth = 0;
	for (size_t i = 0; i < w.thread_count(); i++)
		depth = std::max(depth, depth_of(w, i));
	const uint64_t room = most - HZ_SHM_HEAP_OFFSET - admin_heap_bytes, threads = room / queue_bytes(depth, 0);
	const std::string less = std::to_string(w.thread_count()) + " with a queue depth of at most " +
				 std::to_string(most_depth(room / w.thread_count()));
	if (!threads)
		return less;
	return std::to_string(threads) + " with a queue depth of " + std::to_string(depth) + ", or " + less;
}

} // namespace

unsigned room_ahead(const wl::Workload &w, const hz_device_config &config, unsigned queue_depth)
{
	return room_for(ahead_of(w, config), queue_depth);
}

uint32_t nsid_of(const wl::Workload &w, size_t thread) { return w.namespaces[thread % w.namespaces.size()]; }

QueueOptions queue_options(const wl::Workload &w, const hz_device_config &config, size_t thread)
{
	QueueOptions o = queue_of(depth_of(w, thread), ahead_of(w, config));
	o.nsid = nsid_of(w, thread);
	o.turnaround_ns = w.turnaround_ns;
	o.writes_zeros = !w.verify;
	if (w.arbitration)
		o.priority = nvme_queue_priority(w.threads[thread].priority);
	return o;
}

uint64_t shared_bytes(const wl::Workload &w, const hz_device_config &config)
{
	const uint64_t bytes = bytes_of(w, ahead_of(w, config)), most = most_bytes(config);
	if (bytes > most)
		throw wl::WorkloadError(w.file + ": the queues of " + std::to_string(w.thread_count()) + " threads need " +
					std::to_string(bytes >> 20) +
					" MiB of memory that host and device share; next to this device's flash, an image of " +
					std::to_string(hz_nand_image_bytes(&config) >> 20) + " MiB, the machine has room for " +
					std::to_string(most >> 20) + " MiB; threads that fit: " + what_fits(w, most));
	return bytes;
}

} // namespace hz::cli
