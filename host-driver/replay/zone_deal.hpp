/* Deals the zones of a device to the threads of a workload. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "session/controller.hpp"
#include "workload/source.hpp"
#include "workload/spec.hpp"

#include <vector>

namespace hz::replay {

/* The zones [first, first + count) of a device as one share, with its sizes and limits. */
wl::ZoneShare share_of_zones(const NamespaceInfo &device, uint64_t first, uint64_t count);

/* All that are sequential. */
wl::ZoneShare sequential_zones(const NamespaceInfo &device);

/* A share for each thread, from the zones of its area. Threads without a number of zones share the
 * rest. Throws wl::WorkloadError if the zones do not suffice, belong to two threads, or do not
 * exist. */
std::vector<wl::ZoneShare> deal_zones(const wl::Workload &workload, const NamespaceInfo &device);

} // namespace hz::replay
