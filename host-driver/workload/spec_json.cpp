/* Workload → JSON, as echoed into result.json. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "workload/spec.hpp"

namespace hz::wl {
namespace {

using nlohmann::json;

const char *word(Pattern p) { return p == Pattern::random ? "random" : "sequential"; }

json thread_json(const ThreadSpec &t)
{
	json blocks = json::array();
	for (const BlockSize &block : t.blocks)
		blocks.push_back({{"size_bytes", block.sectors * 4096}, {"weight", block.weight}});
	json out = {
		{"read_pattern", word(t.read_pattern)},
		{"write_pattern", word(t.write_pattern)},
		{"read_ratio", t.read_ratio},
		{"trim_ratio", t.trim_ratio},
		{"blocks", blocks},
		{"distribution", t.distribution == Distribution::zipf ? "zipf" : "uniform"},
		{"zipf_theta", t.zipf_theta},
		{"queue_depth", t.queue_depth},
		{"think_ns", t.think_ns},
		{"think_distribution", t.think == Think::exponential ? "exponential" : "constant"},
		{"area", t.area == Area::conventional ? "conventional" : "sequential"},
		{"zones", t.zones},
		{"first_zone", t.first_zone == any_zone ? json() : json(t.first_zone)},
		{"zone_step", t.zone_step},
		{"open_zones", t.open_zones},
		{"zone_depth", t.zone_depth},
		{"reset_when_full", t.reset_when_full},
		{"append", t.append},
		{"durable_ratio", t.durable_ratio},
		{"placement", t.placement},
		{"flush_every", t.flush_every},
		{"total_ops", t.total_ops},
		{"total_bytes", t.total_sectors * 4096},
		{"span", t.span},
		{"span_bytes", t.span_sectors * 4096},
		{"prefill", t.prefill},
	};
	if (t.record)
		out["record_bytes"] = t.record;
	if (t.zrwa)
		out["zrwa"] = true;
	if (t.fua)
		out["fua"] = true;
	return out;
}

json trace_json(const TraceSpec &t)
{
	return {
		{"file", t.file},
		{"format", t.format},
		{"time_unit_ns", t.time_unit_ns},
		{"timing", t.timing == Timing::open ? "open" : "closed"},
		{"time_scale", t.time_scale},
		{"threads", t.threads},
		{"queue_depth", t.queue_depth},
		{"split", t.split == Split::automatic ? "auto"
			  : t.split == Split::stream  ? "stream"
						      : "address"},
		{"skip_bad", t.skip_bad},
		{"offsets", t.fit == Fit::refuse ? "refuse" : "wrap"},
		{"preload", t.preload},
		{"max_ops", t.max_ops},
		{"repeat", t.repeat},
		{"order", t.order == Order::streams ? "streams" : "trace"},
		{"think_scale", t.think_scale},
		{"durable", t.durable},
	};
}

void add_arbitration(json &out, const Workload &w)
{
	static const char *const names[] = {"urgent", "high", "medium", "low"};
	const ArbitrationSpec &a = *w.arbitration;

	out["arbitration"] = {
		{"high", a.high}, {"medium", a.medium}, {"low", a.low}, {"burst", a.burst < 7 ? json(1 << a.burst) : json("unlimited")}};
	for (size_t i = 0; i < w.threads.size(); i++)
		out["threads"][i]["priority"] = names[static_cast<uint32_t>(w.threads[i].priority)];
}

} // namespace

json workload_to_json(const Workload &w)
{
	json out = {
		{"name", w.name},
		{"mapping", w.mapping == Mapping::log ? "log" : "direct"},
		{"seed", w.seed},
		{"verify", w.verify},
		{"accept_unreadable", w.accept_unreadable},
		{"shared", w.shared},
		{"prepared", w.keep_prepared ? "kept" : "anew"},
		{"namespaces", w.namespaces},
		{"turnaround_ns", w.turnaround_ns},
	};
	if (w.mapping == Mapping::log) {
		out["over_provisioning"] = w.over_provisioning;
		out["gc_low_zones"] = w.gc_low_zones;
	}
	if (w.tailor)
		out["iotailor"] = {
			{"unit_bytes", w.tailor->unit * 4096}, {"memory_bytes", w.tailor->memory * 4096}, {"hold_ns", w.tailor->hold_ns}};
	if (w.trace) {
		out["trace"] = trace_json(*w.trace);
		return out;
	}
	out["threads"] = json::array();
	for (const ThreadSpec &t : w.threads)
		out["threads"].push_back(thread_json(t));
	if (w.arbitration)
		add_arbitration(out, w);
	return out;
}

} // namespace hz::wl
