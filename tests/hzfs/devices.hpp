// Devices in memory that hzfs is tested on: zones for six, four and two logs, and a block device.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "apps/hzfs/file_layer.hpp"
#include "memory_device.hpp"
#include "storage/cached_device.hpp"
#include "storage/tailored_device.hpp"

namespace hz::fs {

struct Bed {
	std::string name;
	store::DeviceShape shape;
	Options options;
	uint64_t in_place_budget = 0;
	uint64_t superpage = 0; // blocks of an IOTailor superpage; 0: none
	size_t cached = 0;      // blocks of the page cache; 0: none
};

// Always at work, a small stretch at a time.
inline constexpr CleanerKnobs eager = {.no_gc = 1.0, .boost = 0.4, .valid = 0.95, .window = 1, .segment_blocks = 4};

inline const Bed beds[] = {
	{"zones", {.zones = 30, .capacity = 8, .max_active = 6, .plain = 16}, {.checkpoint_every = 12, .dirty_blocks = 12}},
	{"few_zones", {.zones = 8, .capacity = 44, .max_active = 4, .plain = 8}, {.checkpoint_every = 16, .dirty_blocks = 20}},
	{"zones_background",
	 {.zones = 30, .capacity = 8, .max_active = 6, .plain = 16},
	 {.checkpoint_every = 12, .dirty_blocks = 12, .background = eager}},
	{"zones_copies",
	 {.zones = 30, .capacity = 8, .max_active = 6, .plain = 16},
	 {.checkpoint_every = 12, .dirty_blocks = 12, .copy_offload = true, .background = eager}},
	{"zones_tailored",
	 {.zones = 30, .capacity = 8, .max_active = 6, .plain = 16},
	 {.checkpoint_every = 12, .dirty_blocks = 12, .copy_offload = true, .background = eager},
	 0,
	 3},
	{"zones_cached",
	 {.zones = 30, .capacity = 8, .max_active = 6, .plain = 16},
	 {.in_place = true, .checkpoint_every = 12, .dirty_blocks = 12, .copy_offload = true, .background = eager},
	 2,
	 3,
	 24},
	{"zones_in_place",
	 {.zones = 30, .capacity = 8, .max_active = 6, .plain = 16},
	 {.in_place = true, .checkpoint_every = 12, .dirty_blocks = 12},
	 2},
	{"block", {.plain = 244}, {.checkpoint_every = 12, .dirty_blocks = 12}},
	{"block_in_place", {.plain = 244}, {.in_place = true, .checkpoint_every = 12, .dirty_blocks = 12}},
	{"block_slack", {.plain = 244}, {.slack = true, .checkpoint_every = 12, .dirty_blocks = 12}},
	{"block_cached", {.plain = 244}, {.slack = true, .checkpoint_every = 12, .dirty_blocks = 12}, 0, 0, 24},
};
inline void PrintTo(const Bed &bed, std::ostream *out) { *out << bed.name; }

// Exists while a program runs: its contents are lost with it.
class Below {
public:
	Below(store::ZonedDevice &device, const Bed &bed)
		: device_(device), tailored_(device, std::max<uint64_t>(bed.superpage, 1)),
		  cached_(bed.superpage ? tailored_ : device, std::max<size_t>(bed.cached, 1)), is_tailored_(bed.superpage),
		  is_cached_(bed.cached)
	{
	}
	operator store::ZonedDevice &() { return is_cached_ ? cached_ : is_tailored_ ? tailored_ : device_; }
	const store::TailorCounters &counters() const { return tailored_.counters(); }
	const store::CacheCounters &cache() const { return cached_.counters(); }

private:
	store::ZonedDevice &device_;
	store::TailoredDevice tailored_;
	store::CachedDevice cached_;
	bool is_tailored_, is_cached_;
};

inline store::Bytes some_bytes(size_t count, uint64_t seed)
{
	store::Bytes bytes(count);
	for (size_t i = 0; i < count; i++)
		bytes[i] = std::byte((i + seed) * 2654435761u >> 13);
	return bytes;
}

inline store::Bytes content_of(FileLayer &layer, const std::string &name)
{
	const FileLayer::Handle file = layer.open(name);
	store::Bytes bytes(file ? layer.size(*file) : 0);
	if (file) {
		EXPECT_EQ(layer.read(*file, 0, bytes), bytes.size());
	}
	return bytes;
}

} // namespace hz::fs
