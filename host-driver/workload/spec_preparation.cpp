/* The part of a workload that determines its preparation. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "workload/spec.hpp"

#include <algorithm>

namespace hz::wl {
namespace {

/* Where the thread writes, how much, and how. */
ThreadSpec preparation_of(const ThreadSpec &t)
{
	ThreadSpec out;
	out.queue_depth = t.queue_depth;
	out.area = t.area;
	out.zones = t.zones;
	out.first_zone = t.first_zone;
	out.zone_step = t.zone_step;
	out.open_zones = t.open_zones;
	out.zone_depth = t.zone_depth;
	out.append = t.append;
	out.record = t.record;
	out.zrwa = t.zrwa;
	out.placement = t.placement;
	out.span = t.span;
	out.span_sectors = t.span_sectors;
	out.prefill = t.prefill;
	return out;
}

} // namespace

bool prepares(const Workload &w)
{
	const auto prefills = [](const ThreadSpec &t) { return t.prefill > 0; };
	return w.trace ? w.trace->preload : std::any_of(w.threads.begin(), w.threads.end(), prefills);
}

Workload preparation_of(const Workload &workload)
{
	Workload out = workload;
	const TraceSpec usual;
	out.name = Workload().name;
	out.file.clear();
	out.ahead = most_ahead;
	out.arbitration.reset();
	for (ThreadSpec &t : out.threads)
		t = preparation_of(t);
	if (!out.trace)
		return out;
	out.trace->time_unit_ns = usual.time_unit_ns;
	out.trace->timing = usual.timing;
	out.trace->time_scale = usual.time_scale;
	out.trace->order = usual.order;
	out.trace->think_scale = usual.think_scale;
	out.trace->durable = usual.durable;
	return out;
}

} // namespace hz::wl
