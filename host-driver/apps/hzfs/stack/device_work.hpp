// DeviceWork: the device's internal work beyond host commands, from its log pages.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

#include "session/controller.hpp"

namespace hz::fs {

struct DeviceWork { // sectors, but for the last two
	uint64_t host_written = 0, programmed = 0;
	uint64_t staged = 0;    // in SLC
	uint64_t collected = 0; // moved by the collector of conventional sectors
	uint64_t map_lookups = 0, map_misses = 0;
};

// Since its statistics were reset.
DeviceWork work_of(Controller &controller);
DeviceWork operator-(const DeviceWork &now, const DeviceWork &before);
nlohmann::json json_of(const DeviceWork &work);

} // namespace hz::fs
