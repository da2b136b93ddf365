// FileStack: construction order of the layers.
// SPDX-License-Identifier: BSD-3-Clause
#include "apps/hzfs/stack/file_stack.hpp"

#include "namespaces.h"
#include "session/machine/error.hpp"
#include "session/machine/machine.hpp"

namespace hz::fs {

namespace {

using nlohmann::json;

json json_of(const Counters &counters, const Space &space)
{
	return {{"data_blocks", counters.data_blocks},
		{"node_blocks", counters.node_blocks},
		{"meta_blocks", counters.meta_blocks},
		{"in_place_blocks", counters.in_place_blocks},
		{"slack_blocks", counters.slack_blocks},
		{"over_budget", counters.over_budget},
		{"moved_blocks", counters.moved_blocks},
		{"copied_blocks", counters.copied_blocks},
		{"cleaned_sections", counters.cleaned_sections},
		{"background_sections", counters.background_sections},
		{"rounds", {{"normal", counters.rounds[1]}, {"boosted", counters.rounds[2]}, {"paused", counters.paused_rounds}}},
		{"checkpoints", counters.checkpoints},
		{"syncs", counters.syncs},
		{"used_blocks", space.used},
		{"total_blocks", space.total}};
}

json json_of(const store::TailorCounters &tailor)
{
	return {{"writes", tailor.writes},         {"bytes", tailor.bytes},     {"split", tailor.split},
		{"superpages", tailor.superpages}, {"partial", tailor.partial}, {"most_held_bytes", tailor.most_held_bytes}};
}

} // namespace

FileStack::FileStack(Controller &controller, store::HartzoneDevice &device, const LayerWays &ways)
{
	if (ways.iotailor && !device.shape().zones)
		throw Error("--iotailor makes superpages of what is written to zones, and this device has a block namespace: leave it out");
	hz_shape shape;
	hz_namespace_shape(&controller.machine().config(), ways.nsid - 1, &shape);
	if (ways.iotailor)
		tailored_.emplace(device, shape.superpage_sectors);
	store::ZonedDevice *below = ways.iotailor ? static_cast<store::ZonedDevice *>(&*tailored_) : &device;
	if (ways.page_cache)
		below = &cached_.emplace(*below, ways.page_cache / store::block_bytes);
	layer_.emplace(*below, Options{.in_place = ways.in_place,
				       .slack = ways.slack,
				       .copy_offload = ways.copy_offload,
				       .background = ways.cleaner,
				       .clock = [&device] { return device.now_ns(); }});
}

json FileStack::files() { return json_of(layer_->counters(), layer_->space()); }

json FileStack::iotailor() { return tailored_ ? json_of(tailored_->counters()) : json(); }

json FileStack::page_cache() { return cached_ ? json{{"hits", cached_->counters().hits}, {"misses", cached_->counters().misses}} : json(); }

} // namespace hz::fs
