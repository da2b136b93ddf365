/* Plan: from a workload and a device to one source of commands per thread. */
#pragma once

#include "session/controller.hpp"
#include "workload/source.hpp"
#include "workload/spec.hpp"

#include <memory>
#include <vector>

namespace hz::replay {

struct ThreadPlan {
	std::unique_ptr<wl::Source> source;
	unsigned queue_depth = 1;
};

struct Plan {
	std::vector<ThreadPlan> threads;
};

/* Zones are dealt out to the threads in order. Throws wl::WorkloadError when they, or the open zone limit, do not suffice. */
Plan make_plan(const wl::Workload &workload, const NamespaceInfo &device);

} // namespace hz::replay
