// FileStack: construction order of the layers.
// SPDX-License-Identifier: BSD-3-Clause
#include "apps/hzfs/stack/file_stack.hpp"

#include <algorithm>
#include <span>

#include "namespaces.h"
#include "session/machine/error.hpp"
#include "session/machine/machine.hpp"
#include "storage/bytes.hpp"

namespace hz::fs {

namespace {

using nlohmann::json;

constexpr uint64_t piece_bytes = 512 << 10; // of a sample file that is written or read at once

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

// --- sample files ---

store::Bytes sample(const std::string &name, uint64_t offset, uint64_t bytes)
{
	store::Bytes out(bytes);
	const uint64_t seed = store::crc32c(std::as_bytes(std::span(name)));
	for (uint64_t i = 0; i < bytes; i++)
		out[i] = std::byte(((offset + i) * 2654435761u + seed) >> 13);
	return out;
}

void write_sample(FileLayer &layer, const std::string &name, uint64_t bytes, Heat heat)
{
	const FileLayer::Handle file = layer.create(name, heat);
	if (!file)
		throw store::NoSpace("there is a file " + name + " already: begin with an empty device");
	for (uint64_t offset = 0; offset < bytes; offset += piece_bytes)
		layer.write(*file, offset, sample(name, offset, std::min(piece_bytes, bytes - offset)));
	layer.sync(*file);
}

void read_sample(FileLayer &layer, const std::string &name, uint64_t bytes)
{
	const FileLayer::Handle file = layer.open(name);
	for (uint64_t offset = 0; offset < bytes; offset += piece_bytes) {
		store::Bytes data(std::min(piece_bytes, bytes - offset));
		layer.read(*file, offset, data);
		if (data != sample(name, offset, data.size()))
			throw store::Damaged("the file " + name + " is not what was written");
	}
}

std::string small_name(uint64_t round, uint64_t i) { return "small-" + std::to_string(round) + "-" + std::to_string(i); }

void make_small_files(FileLayer &layer, uint64_t round, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		write_sample(layer, small_name(round, i), small_bytes, Heat::warm);
	for (uint64_t i = 1; i < count; i += 2)
		layer.remove(small_name(round, i));
}

// The last rounds are smaller, so that the files which they remove again fit too.
void age(FileLayer &layer, uint64_t percent, uint64_t reserved)
{
	const uint64_t total = layer.space().total, wanted = total * percent / 100;
	if (percent && reserved >= wanted)
		throw store::NoSpace("--aged " + std::to_string(percent) + ": what is written then needs " + std::to_string(reserved) +
				     " of " + std::to_string(total) + " blocks alone: age more, or write less");
	for (uint64_t round = 1; layer.space().used + reserved < wanted; round++) {
		const uint64_t used = layer.space().used, some = std::min(wanted - reserved - used, (total - used) / 4) / small_blocks;
		make_small_files(layer, round, std::clamp(2 * some, uint64_t(1), small_files));
	}
}

} // namespace hz::fs
