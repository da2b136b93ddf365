// Report: cost of a load, as a table and as JSON.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "storage/queue/hartzone_device.hpp"
#include "apps/rocksdb/load.hpp"
#include "apps/rocksdb/store/zone_table.hpp"

namespace hz::rocks {

struct LoadReport {
	std::string name;
	LoadCount count;
	store::DeviceAccount device;
	store::ZoneTable::Space space;
	uint64_t collected_blocks = 0;
};

nlohmann::json json_of(const LoadReport &report);
std::string table_of(const LoadReport &report);

} // namespace hz::rocks
