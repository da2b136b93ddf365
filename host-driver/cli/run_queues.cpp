// Queues of a run: depth, room for commands ahead, memory.
// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run_queues.hpp"

#include <algorithm>
#include <string>

#include "session/machine.hpp"
#include "workload/source.hpp"

namespace hz::cli {

namespace {

constexpr uint64_t admin_heap_bytes = 4 << 20;
constexpr uint64_t most_shared_bytes = 8ull << 30; // with the flash it must fit into the machine's 16 GiB for such memory

unsigned depth_of(const wl::Workload &w, size_t thread) { return w.trace ? w.trace->queue_depth : w.threads[thread].queue_depth; }

uint64_t heap_bytes(const wl::Workload &w)
{
	uint64_t bytes = admin_heap_bytes;
	for (size_t i = 0; i < w.thread_count(); i++)
		bytes += layout_of(queue_options(w, i)).bytes;
	return bytes;
}

} // namespace

unsigned room_ahead(unsigned queue_depth) { return std::min<unsigned>(wl::most_ahead, HZ_MAX_QUEUE_DEPTH - 1 - queue_depth); }

uint32_t nsid_of(const wl::Workload &w, size_t thread) { return w.namespaces[thread % w.namespaces.size()]; }

QueueOptions queue_options(const wl::Workload &w, size_t thread)
{
	const unsigned depth = depth_of(w, thread);
	QueueOptions o;
	o.nsid = nsid_of(w, thread);
	o.depth = depth + room_ahead(depth) + 1; // one slot of a ring stays empty
	o.data_bytes = HZ_MAX_TRANSFER_SECTORS * HZ_SECTOR_BYTES;
	o.turnaround_ns = w.turnaround_ns;
	o.writes_zeros = !w.verify;
	return o;
}

uint64_t shared_bytes(const wl::Workload &w)
{
	const uint64_t bytes = shm_bytes_for(heap_bytes(w));
	if (bytes > most_shared_bytes)
		throw wl::WorkloadError(w.file + ": the queues of " + std::to_string(w.thread_count()) + " threads need " +
					std::to_string(bytes >> 30) + " GiB of memory that the host shares with the device, and " +
					std::to_string(most_shared_bytes >> 30) +
					" GiB is the most: use fewer threads or a smaller queue depth");
	return bytes;
}

} // namespace hz::cli
