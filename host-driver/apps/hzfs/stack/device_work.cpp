// DeviceWork: sums over the log pages of flash and FTL.
// SPDX-License-Identifier: BSD-3-Clause
#include "apps/hzfs/stack/device_work.hpp"

#include <numeric>

#include "storage/zoned_device.hpp"

namespace hz::fs {

DeviceWork work_of(Controller &controller)
{
	const hz_log_ftl ftl = controller.log_ftl();
	const hz_log_flash flash = controller.log_flash();
	const auto sum = [](const auto &list) { return std::accumulate(std::begin(list), std::end(list), uint64_t(0)); };
	const uint64_t misses = sum(ftl.l2p_misses);
	return {.host_written = ftl.host_write_sectors,
		.programmed = sum(flash.program_sectors),
		.staged = ftl.slc_sectors,
		.collected = ftl.conventional_gc_sectors,
		.map_lookups = sum(ftl.l2p_hits) + misses,
		.map_misses = misses};
}

DeviceWork operator-(const DeviceWork &now, const DeviceWork &before)
{
	return {.host_written = now.host_written - before.host_written,
		.programmed = now.programmed - before.programmed,
		.staged = now.staged - before.staged,
		.collected = now.collected - before.collected,
		.map_lookups = now.map_lookups - before.map_lookups,
		.map_misses = now.map_misses - before.map_misses};
}

nlohmann::json json_of(const DeviceWork &work)
{
	return {{"host_write_bytes", work.host_written * store::block_bytes},
		{"programmed_bytes", work.programmed * store::block_bytes},
		{"slc_bytes", work.staged * store::block_bytes},
		{"collected_bytes", work.collected * store::block_bytes},
		{"map_lookups", work.map_lookups},
		{"map_misses", work.map_misses}};
}

} // namespace hz::fs
