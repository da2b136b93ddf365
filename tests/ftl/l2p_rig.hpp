// Devices with their map in flash, in all policies, small enough for tests that look at every flash operation.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model.hpp"

namespace ftl_rig {

// One table page per zone of 96 sectors, chunks of 16; a cache of 16 entries and a log flushed every few units.
inline hz_device_config map_config()
{
	hz_device_config cfg = ftl_config();
	cfg.slc_blocks_per_plane = 8;
	cfg.blocks_per_plane = 8 + 10;
	cfg.l2p_cache_bytes = 16 * HZ_MAP_ENTRY_BYTES;
	cfg.l2p_levels = HZ_MAP_ZONE;
	cfg.l2p_chunk_sectors = 16;
	cfg.l2p_log_entries = 256;
	return cfg;
}

// Three table pages per zone of 2304 sectors; chunks of 2048 reach across two of them.
inline hz_device_config wide_map_config()
{
	hz_device_config cfg = map_config();
	cfg.pages_per_block = 288;
	cfg.blocks_per_plane = 8 + 6;
	cfg.l2p_chunk_sectors = 2048;
	return cfg;
}

// Breaks the newest copy of a table page on flash; returns how many it found.
inline uint32_t spoil_table_page(Rig &device, uint32_t page)
{
	uint64_t newest = UINT64_MAX;
	for (uint64_t i = 0; i < rig::count_records(device.media); i++) {
		const hz_nand_oob &oob = device.media.oob[i];
		if (oob.kind == HZ_OOB_MAP && oob.lpa == page && (newest == UINT64_MAX || oob.sequence > device.media.oob[newest].sequence))
			newest = i;
	}
	if (newest != UINT64_MAX)
		rig::flip_data(device.media, newest);
	return newest != UINT64_MAX;
}

inline void choose(hz_device_config &cfg, int strategy, int eviction, int log_policy)
{
	cfg.l2p_strategy = static_cast<uint32_t>(strategy);
	cfg.l2p_eviction = static_cast<uint32_t>(eviction);
	cfg.l2p_log_policy = static_cast<uint32_t>(log_policy);
}

inline std::string choice_name(int strategy, int eviction, int log_policy)
{
	static const char *const strategies[] = {"Bitmap", "Multiple", "Pinned"};
	return std::string(strategies[strategy]) + (eviction ? "Clock" : "Lru") + (log_policy ? "Blocking" : "Background");
}

} // namespace ftl_rig
