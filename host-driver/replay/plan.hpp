/* Plan: from a workload and a device to one source of commands per thread. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "replay/tailor.hpp"
#include "replay/trace_survey.hpp"
#include "session/controller.hpp"
#include "workload/source.hpp"
#include "workload/spec.hpp"

#include <memory>
#include <vector>

namespace hz::replay {

struct ThreadPlan {
	std::unique_ptr<wl::Source> source;
	const Tailor *tailor = nullptr; /* the source, if it is one */
	unsigned queue_depth = 1;
};

struct Plan {
	std::vector<ThreadPlan> threads;
};

/* A namespace, or the usable part of it, with the information of its zone report. */
struct Target {
	NamespaceInfo device;
	bool fresh = true; /* unwritten sectors read as zeros */
};

/* Deals zones, or the sectors of a block namespace, to the threads in order: thread i works on
 * target i modulo their number. survey: of the workload's trace. Throws wl::WorkloadError ("file:
 * key: sentence") if zones or open zones do not suffice, or the workload is for another kind of
 * device. */
Plan make_plan(const wl::Workload &workload, const std::vector<Target> &targets, std::shared_ptr<const TraceSurvey> survey);
/* The same on one. */
Plan make_plan(const wl::Workload &workload, const NamespaceInfo &device, bool fresh = true,
	       std::shared_ptr<const TraceSurvey> survey = {});

} // namespace hz::replay
