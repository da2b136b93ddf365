// The queues of a run: one for each of the workload's threads.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "session/queue_pair.hpp"
#include "workload/spec.hpp"

namespace hz::cli {

// Commands of a queue that the device may have before they arrive.
unsigned room_ahead(unsigned queue_depth);
uint32_t nsid_of(const wl::Workload &workload, size_t thread);
QueueOptions queue_options(const wl::Workload &workload, size_t thread);
// Of the region that host and device share, with all queues and their data. Throws wl::WorkloadError where they are too many.
uint64_t shared_bytes(const wl::Workload &workload);

} // namespace hz::cli
