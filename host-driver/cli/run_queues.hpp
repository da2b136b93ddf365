// The queues of a run: one for each of the workload's threads.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "session/nvme/queue_pair.hpp"
#include "workload/spec.hpp"

namespace hz::cli {

// Commands of a queue that the device may hold before they arrive; fewer if the device's machine
// lacks the memory.
unsigned room_ahead(const wl::Workload &workload, const hz_device_config &config, unsigned queue_depth);
uint32_t nsid_of(const wl::Workload &workload, size_t thread);
QueueOptions queue_options(const wl::Workload &workload, const hz_device_config &config, size_t thread);
// Size of the region shared by host and device, with all queues and their data. Throws
// wl::WorkloadError, with the numbers that fit, if they exceed the memory of the device's machine.
uint64_t shared_bytes(const wl::Workload &workload, const hz_device_config &config);

} // namespace hz::cli
