// FileStack: the file layer on a device, optionally with IOTailor and a page cache in between; and
// its counters as JSON.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

#include <optional>

#include "apps/hzfs/stack/layer_ways.hpp"
#include "apps/hzfs/file_layer.hpp"
#include "storage/cached_device.hpp"
#include "storage/queue/hartzone_device.hpp"
#include "storage/tailored_device.hpp"

namespace hz::fs {

// Maximum bytes of a command: with IOTailor, a superpage.
inline uint64_t most_transfer(const LayerWays &ways) { return (ways.iotailor ? 512 : 128) << 10; }

class FileStack {
public:
	// The device must be formatted. Throws Error, DeviceError or Damaged.
	FileStack(Controller &controller, store::HartzoneDevice &device, const LayerWays &ways);

	FileLayer &layer() { return *layer_; }
	nlohmann::json files();      // of the layer
	nlohmann::json iotailor();   // null: there is none
	nlohmann::json page_cache(); // null: there is none

private:
	std::optional<store::TailoredDevice> tailored_;
	std::optional<store::CachedDevice> cached_;
	std::optional<FileLayer> layer_;
};

} // namespace hz::fs
