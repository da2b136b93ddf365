// Every rule of a device config is refused with its field and value named; legal corners pass; geometry follows.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>

#include "base_config.hpp"
#include "config_check.h"
#include "geometry.h"
#include "dump_size.h"
#include "nand_image.h"
#include "sentence.h"
#include "spread.h"

namespace {

hz_device_config legal_config()
{
	hz_device_config cfg = support::base_config(2, 2, 2);
	support::use_tlc(cfg);
	cfg.blocks_per_plane = 24;
	cfg.slc_blocks_per_plane = 8;
	cfg.channel_bytes_per_s = 1600000000;
	cfg.spare_superblocks = 2;
	cfg.max_open = 4;
	cfg.max_active = 6;
	cfg.flush_unit_planes = 2;
	cfg.harts = 4;
	cfg.worker_count = 2;
	cfg.worker_hart[0] = 2;
	cfg.worker_hart[1] = 3;
	cfg.inflight_requests = 64;
	return cfg;
}

/* Legal, with conventional zones; with the map in flash. */
void make_conventional(hz_device_config &cfg)
{
	cfg.zones = 8;
	cfg.conventional_zones = 4;
	cfg.conventional_spare = 5;
	cfg.conventional_streams = 2;
	cfg.conventional_buffers = 2;
	cfg.conventional_gc_low = 2;
}

void make_handles(hz_device_config &cfg, uint32_t handles)
{
	make_conventional(cfg);
	cfg.namespace_kind = HZ_NS_BLOCK;
	cfg.zones = cfg.conventional_zones = 3;
	cfg.conventional_streams = 1;
	cfg.conventional_spare = 3 + handles;
	cfg.fdp_handles = handles;
}

void make_cached(hz_device_config &cfg)
{
	cfg.l2p_cache_bytes = 12288;
	cfg.l2p_chunk_sectors = 1024;
	cfg.l2p_log_entries = 256;
}

/* Zones of which the last 64 sectors lie in SLC; conventional data in SLC. */
void patch_zones(hz_device_config &cfg)
{
	cfg.zone_capacity_sectors = 1600;
	cfg.slc_blocks_per_plane += 12;
	cfg.blocks_per_plane += 12;
}

void put_in_slc(hz_device_config &cfg)
{
	cfg.conventional_region = HZ_REGION_SLC;
	cfg.slc_blocks_per_plane += 20;
	cfg.blocks_per_plane += 20;
}

struct Rule {
	const char *name, *field, *value;
	std::function<void(hz_device_config &)> breaks;
};

#define SETS(field_, value_) [](hz_device_config &c) { c.field_ = value_; }
const Rule rules[] = {
	{"magic", "magic", "5", SETS(magic, 5)},
	{"version", "version", "9", SETS(version, 9)},
	{"bytes", "bytes", "1", SETS(bytes, 1)},
	{"no_channels", "channels", "0", SETS(channels, 0)},
	{"many_channels", "channels", "65", SETS(channels, 65)},
	{"no_chips", "chips_per_channel", "0", SETS(chips_per_channel, 0)},
	{"no_dies", "dies_per_chip", "0", SETS(dies_per_chip, 0)},
	{"many_planes_of_a_die", "planes_per_die", "17", SETS(planes_per_die, 17)},
	{"one_block", "blocks_per_plane", "1", SETS(blocks_per_plane, 1)},
	{"ppa_too_wide", "blocks_per_plane", "600000", SETS(blocks_per_plane, 600000)},
	{"no_pages", "pages_per_block", "0", SETS(pages_per_block, 0)},
	{"pages_not_units", "pages_per_block", "47", SETS(pages_per_block, 47)},
	{"pages_not_cells", "pages_per_block", "47", [](auto &c) { c.pages_per_block = 47, c.program_pages = 1; }},
	{"page_of_three_sectors", "page_bytes", "12288", SETS(page_bytes, 12288)},
	{"page_of_bytes", "page_bytes", "5000", SETS(page_bytes, 5000)},
	{"unit_too_large", "program_pages", "3", SETS(page_bytes, 131072)},
	{"cell", "cell", "5", SETS(cell, 5)},
	{"all_slc", "slc_blocks_per_plane", "24", SETS(slc_blocks_per_plane, 24)},
	{"small_slc", "slc_blocks_per_plane", "4", SETS(slc_blocks_per_plane, 4)},
	{"slc_unit_in_page", "slc_program_sectors", "3", SETS(slc_program_sectors, 3)},
	{"slc_unit_in_block", "slc_program_sectors", "48", SETS(slc_program_sectors, 48)},
	{"scheme", "plane_scheme", "24", SETS(plane_scheme, 24)},
	{"media_mode", "media_mode", "2", SETS(media_mode, 2)},
	{"erase_time", "normal.erase_ns", "1000000001", SETS(normal.erase_ns, 1000000001)},
	{"read_time", "slc.read_ns", "2000000000", SETS(slc.read_ns[2], 2000000000)},
	{"program_time", "normal.program_ns", "2000000000", SETS(normal.program_ns[3], 2000000000)},
	{"read_sigma", "normal_sigma.read_ns", "16001", SETS(normal_sigma.read_ns[2], 16001)},
	{"program_sigma", "slc_sigma.program_ns", "37501", SETS(slc_sigma.program_ns[0], 37501)},
	{"erase_sigma", "normal_sigma.erase_ns", "500000001", SETS(normal_sigma.erase_ns, 500000001)},
	{"sigma_of_no_time", "slc_sigma.erase_ns", "1", [](auto &c) { c.slc.erase_ns = 0, c.slc_sigma.erase_ns = 1; }},
	{"all_planes", "planes_per_die", "16384", [](auto &c) { c.channels = 64, c.chips_per_channel = 128; }},
	{"spare", "spare_superblocks", "16", SETS(spare_superblocks, 16)},
	{"zones", "zones", "15", SETS(zones, 15)},
	{"capacity", "zone_capacity_sectors", "99999", SETS(zone_capacity_sectors, 99999)},
	{"size_below_capacity", "zone_size_sectors", "1000", SETS(zone_size_sectors, 1000)},
	{"namespace", "zone_size_sectors", "1073741824", SETS(zone_size_sectors, 1 << 30)},
	{"open_over_active", "max_open", "7", SETS(max_open, 7)},
	{"no_buffers", "write_buffers", "0", SETS(write_buffers, 0)},
	{"binding", "buffer_binding", "3", SETS(buffer_binding, 3)},
	{"too_few_buffers", "write_buffers", "2", SETS(buffer_binding, HZ_BIND_PER_ZONE)},
	{"per_zone_without_limit", "max_active", "0", [](auto &c) { c.buffer_binding = HZ_BIND_PER_ZONE, c.max_open = c.max_active = 0; }},
	{"flush_unit", "flush_unit_planes", "3", SETS(flush_unit_planes, 3)},
	{"zone_log", "l2p_zone_log", "171", SETS(l2p_zone_log, 171)},
	{"in_place_of_patched_zones", "in_place_sectors", "64", [](auto &c) { c.in_place_sectors = 64, c.zone_capacity_sectors = 1600; }},
	{"zrwa_of_patched_zones", "zrwa_count", "2", [](auto &c) { c.zrwa_count = 2, c.zrwa_sectors = 8, c.zrwa_flush_sectors = 2, c.zone_capacity_sectors = 1600; }},
	{"zrwa_and_in_place", "zrwa_count", "2", [](auto &c) { c.zrwa_count = 2, c.zrwa_sectors = 8, c.zrwa_flush_sectors = 2, c.in_place_sectors = 8; }},
	{"zrwa_with_tuples", "zrwa_count", "2", [](auto &c) { c.zrwa_count = 2, c.zrwa_sectors = 8, c.zrwa_flush_sectors = 2, c.protection = HZ_PROTECTION_TYPE1; }},
	{"zrwa_granularity", "zrwa_flush_sectors", "3", [](auto &c) { c.zrwa_count = 2, c.zrwa_sectors = 8, c.zrwa_flush_sectors = 3; }},
	{"zrwa_of_nothing", "zrwa_flush_sectors", "2", [](auto &c) { c.zrwa_count = 2, c.zrwa_sectors = 0, c.zrwa_flush_sectors = 2; }},
	{"zrwa_without_granularity", "zrwa_flush_sectors", "0", [](auto &c) { c.zrwa_count = 2, c.zrwa_sectors = 8, c.zrwa_flush_sectors = 0; }},
	{"zrwa_size", "zrwa_sectors", "129", SETS(zrwa_sectors, 129)},
	{"compressed_in_ram", "l2p_compress", "on", SETS(l2p_compress, HZ_ON)},
	{"unlocked_in_flash", "l2p_lookups", "unlocked", [](auto &c) { c.l2p_lookups = HZ_LOOKUPS_UNLOCKED, c.l2p_cache_bytes = 4096; }},
	{"unlocked_zone_map", "l2p_lookups", "unlocked", [](auto &c) { c.l2p_lookups = HZ_LOOKUPS_UNLOCKED, c.l2p_kind = HZ_L2P_KIND_ZONE; }},
	{"directory_in_ram", "l2p_directory", "flash", SETS(l2p_directory, HZ_L2P_DIRECTORY_FLASH)},
	{"map", "l2p_kind", "2", SETS(l2p_kind, 2)},
	{"zone_map_of_patched_zones", "l2p_kind", "zone", [](auto &c) { c.l2p_kind = HZ_L2P_KIND_ZONE, c.zone_capacity_sectors = 1600; }},
	{"zone_map_of_conventional_zones", "l2p_kind", "zone", [](auto &c) { make_conventional(c), c.l2p_kind = HZ_L2P_KIND_ZONE, c.namespace_kind = HZ_NS_BLOCK; }},
	{"zone_map_of_patched_and_conventional_zones", "l2p_kind", "zone", [](auto &c) { make_conventional(c), patch_zones(c), c.l2p_kind = HZ_L2P_KIND_ZONE; }},
	{"zone_map_in_flash", "l2p_kind", "zone", [](auto &c) { c.l2p_kind = HZ_L2P_KIND_ZONE, c.l2p_cache_bytes = 4096; }},
	{"flush", "buffer_flush", "3", SETS(buffer_flush, 3)},
	{"slots", "buffer_slots", "4", SETS(buffer_slots, 4)},
	{"slots_of_nothing", "buffer_slots", "sharded", SETS(buffer_slots, HZ_SLOTS_SHARDED)},
	{"slots_on_capacitors", "buffer_slots", "lock-free",
	 [](auto &c) {
		 c.buffer_slots = HZ_SLOTS_LOCK_FREE, c.plp_mode = HZ_PLP_FULL, c.plp_bytes = 64 << 20, c.buffer_pool_bytes = 128 << 20;
	 }},
	{"superpages_of_patched_zones", "buffer_flush", "superpage",
	 [](auto &c) { c.buffer_flush = HZ_BUFFER_FLUSH_SUPERPAGE, c.zone_capacity_sectors = 1600; }},
	{"superblock", "superblock_planes", "3", SETS(superblock_planes, 3)},
	{"superblock_large", "superblock_planes", "16", SETS(superblock_planes, 16)},
	{"flush_unit_of_superblock", "flush_unit_planes", "4", [](auto &c) { c.superblock_planes = 2, c.flush_unit_planes = 4; }},
	{"patch_beside_part_of_planes", "zone_capacity_sectors", "800",
	 [](auto &c) { c.superblock_planes = 4, c.zone_capacity_sectors = 800; }},
	{"spare_of_part_of_planes", "spare_superblocks", "32", [](auto &c) { c.superblock_planes = 4, c.spare_superblocks = 32; }},
	{"ppa_too_wide_by_parts", "blocks_per_plane", "300000",
	 [](auto &c) { c.superblock_planes = c.flush_unit_planes = 1, c.blocks_per_plane = 300000; }},
	{"flush_unit_large", "flush_unit_planes", "16", SETS(flush_unit_planes, 16)},
	{"no_harts", "harts", "0", SETS(harts, 0)},
	{"many_harts", "harts", "65", SETS(harts, 65)},
	{"hil", "hil_hart", "4", SETS(hil_hart[0], 4)},
	{"no_hil", "hil_count", "0", SETS(hil_count, 0)},
	{"hil_twice", "hil_hart", "1", [](auto &c) { c.hil_count = 2, c.hil_hart[0] = c.hil_hart[1] = 1; }},
	{"completion_beside_hils", "hil_count", "2",
	 [](auto &c) { c.architecture = HZ_ARCH_COMPLETION, c.hil_count = 2, c.hil_hart[1] = 1; }},
	{"completion_on_the_hil", "worker_hart", "0",
	 [](auto &c) { c.architecture = HZ_ARCH_COMPLETION, c.worker_count = 1, c.worker_hart[0] = 0; }},
	{"completion_on_one_hart", "worker_hart", "1",
	 [](auto &c) { c.architecture = HZ_ARCH_COMPLETION, c.worker_count = 2, c.worker_hart[0] = c.worker_hart[1] = 1; }},
	{"completion_without_requests", "inflight_requests", "1",
	 [](auto &c) {
		 c.architecture = HZ_ARCH_COMPLETION, c.worker_count = 2, c.inflight_requests = 1;
		 c.worker_hart[0] = 1, c.worker_hart[1] = 2;
	 }},
	{"hils_without_requests", "inflight_requests", "1", [](auto &c) { c.hil_count = 2, c.hil_hart[1] = 1, c.inflight_requests = 1; }},
	{"no_tsu", "tsu_count", "0", SETS(tsu_count, 0)},
	{"tsu_over_channels", "tsu_count", "3", SETS(tsu_count, 3)},
	{"tsu_hart", "tsu_hart", "9", SETS(tsu_hart[0], 9)},
	{"no_workers", "worker_count", "0", SETS(worker_count, 0)},
	{"worker_hart", "worker_hart", "4", SETS(worker_hart[1], 4)},
	{"no_requests", "inflight_requests", "0", SETS(inflight_requests, 0)},
	{"lock_stats", "lock_stats", "3", SETS(lock_stats, 3)},
	{"program_fail", "program_fail_ppb", "1000000001", SETS(program_fail_ppb, 1000000001)},
	{"factory_bad", "factory_bad_ppb", "1000000001", SETS(factory_bad_ppb, 1000000001)},
	{"retries", "read_retries", "65", SETS(read_retries, 65)},
	{"schedule", "schedule", "3", SETS(schedule, HZ_SCHEDULES)},
	{"cache_read", "cache_read", "2", SETS(cache_read, 2)},
	{"cache_program", "cache_program", "2", SETS(cache_program, 2)},
	{"cache_busy", "cache_busy_ns", "1000000001", SETS(cache_busy_ns, 1000000001)},
	{"interleave", "interleave_sectors", "65", SETS(interleave_sectors, 65)},
	{"passes", "program_passes", "5", SETS(program_passes, 5)},
	{"passes_of_pages", "program_passes", "2", [](auto &c) { c.program_passes = 2, c.program_pages = 1; }},
	{"ecc", "ecc_bits", "32769", SETS(ecc_bits, 32769)},
	{"retry_percent", "retry_percent", "101", SETS(retry_percent, 101)},
	{"shelf", "shelf_hours", "1000001", SETS(shelf_hours, 1000001)},
	{"slow_die", "slow_percent", "0", SETS(slow_die, 1)},
	{"slow_die_number", "slow_die", "5", [](auto &c) { c.slow_die = 5, c.slow_percent = 200; }},
	{"failed_die", "failed_die", "5", SETS(failed_die, 5)},
	{"namespace_kind", "namespace_kind", "2", SETS(namespace_kind, 2)},
	{"conventional_over_zones", "conventional_zones", "15", [](auto &c) { make_conventional(c), c.conventional_zones = 15; }},
	{"no_streams", "conventional_streams", "0", [](auto &c) { make_conventional(c), c.conventional_streams = 0; }},
	{"many_streams", "conventional_streams", "3", SETS(conventional_streams, 3)},
	{"no_conventional_buffers", "conventional_buffers", "0", [](auto &c) { make_conventional(c), c.conventional_buffers = 0; }},
	{"many_conventional_buffers", "conventional_buffers", "49", SETS(conventional_buffers, 49)},
	{"no_frontiers", "conventional_frontiers", "0", [](auto &c) { make_conventional(c), c.conventional_frontiers = 0; }},
	{"many_frontiers", "conventional_frontiers", "17", SETS(conventional_frontiers, 17)},
	{"no_collectors", "conventional_collectors", "0", [](auto &c) { make_conventional(c), c.conventional_collectors = 0; }},
	{"collectors_over_workers", "conventional_collectors", "2",
	 [](auto &c) { make_conventional(c), c.worker_count = 1, c.conventional_collectors = 2; }},
	{"frontiers_over_workers", "conventional_frontiers", "2",
	 [](auto &c) { make_conventional(c), c.worker_count = 1, c.conventional_frontiers = 2; }},
	{"spare_for_frontiers", "conventional_spare", "6",
	 [](auto &c) { make_conventional(c), c.conventional_frontiers = 2, c.conventional_spare = 6; }},
	{"spare_below_collectors", "conventional_spare", "5",
	 [](auto &c) { make_conventional(c), c.conventional_collectors = 2, c.conventional_spare = 5; }},
	{"power_of_less_than_a_die", "power_planes", "1", [](auto &c) { c.planes_per_die = 2, c.power_planes = 1; }},
	{"power_of_less_than_a_die_a_thread", "power_planes", "3",
	 [](auto &c) { c.planes_per_die = 2, c.tsu_count = 2, c.tsu_hart[1] = c.tsu_hart[0], c.power_planes = 3; }},
	{"power_of_many_planes", "power_planes", "133", SETS(power_planes, HZ_MAX_POWER_PLANES + 1)},
	{"power_beside_capacitors", "power_planes", "64", [](auto &c) { c.plp_bytes = 64 << 20, c.power_planes = 64; }},
	{"handles_of_zones", "fdp_handles", "2", [](auto &c) { make_conventional(c), c.conventional_streams = 1, c.fdp_handles = 2; }},
	{"handles_and_streams", "fdp_handles", "2", [](auto &c) { make_handles(c, 2), c.conventional_streams = 2; }},
	{"handles_and_frontiers", "fdp_handles", "2", [](auto &c) { make_handles(c, 2), c.conventional_frontiers = 2; }},
	{"handles_and_cache", "fdp_handles", "2", [](auto &c) { make_handles(c, 2), c.data_cache_bytes = 1 << 20; }},
	{"handles_of_namespaces", "fdp_handles", "2", [](auto &c) { make_handles(c, 2), c.namespaces = 2; }},
	{"spare_for_handles", "conventional_spare", "5", [](auto &c) { make_handles(c, 3), c.conventional_spare = 5; }},
	{"many_handles", "fdp_handles", "9", SETS(fdp_handles, 9)},
	{"conventional_beyond_all", "conventional_zones", "4000000000",
	 [](auto &c) { make_conventional(c), c.conventional_zones = 4000000000; }},
	{"spare_beyond_all", "conventional_spare", "4000000000",
	 [](auto &c) { make_conventional(c), c.zones = 0, c.conventional_spare = 4000000000; }},
	{"no_zone_left", "conventional_spare", "14", [](auto &c) { make_conventional(c), c.zones = 0, c.conventional_spare = 14; }},
	{"spare_for_streams", "conventional_spare", "4", [](auto &c) { make_conventional(c), c.conventional_spare = 4; }},
	{"spare_over_media", "conventional_spare", "9", [](auto &c) { make_conventional(c), c.conventional_spare = 9; }},
	{"patched_conventional_over_media", "conventional_spare", "9",
	 [](auto &c) { make_conventional(c), patch_zones(c), c.conventional_spare = 9; }},
	{"slc_conventional_over_slc", "slc_blocks_per_plane", "8",
	 [](auto &c) { make_conventional(c), c.conventional_region = HZ_REGION_SLC; }},
	{"slc_conventional_beside_the_log", "slc_blocks_per_plane", "21",
	 [](auto &c) { make_conventional(c), put_in_slc(c), c.slc_blocks_per_plane = 21; }},
	{"slc_zones_over_media", "zones", "19", [](auto &c) { make_conventional(c), put_in_slc(c), c.zones = 19; }},
	{"slc_beside_part_of_planes", "conventional_region", "slc",
	 [](auto &c) { make_conventional(c), put_in_slc(c), c.superblock_planes = 4; }},
	{"no_region", "conventional_region", "2", SETS(conventional_region, HZ_REGIONS)},
	{"patches_without_slc", "slc_blocks_per_plane", "8", SETS(zone_capacity_sectors, 1600)},
	{"holes_in_a_block_namespace", "zone_size_sectors", "2048",
	 [](auto &c) { make_conventional(c), c.namespace_kind = HZ_NS_BLOCK, c.zone_size_sectors = 2048; }},
	{"conventional_gc", "conventional_gc", "4", SETS(conventional_gc, HZ_GC_POLICIES)},
	{"gc_low_below", "conventional_gc_low", "1", [](auto &c) { make_conventional(c), c.conventional_gc_low = 1; }},
	{"gc_low_above", "conventional_gc_low", "5", [](auto &c) { make_conventional(c), c.conventional_gc_low = 5; }},
	{"slc_gc", "slc_gc", "3", SETS(slc_gc, HZ_GC_WEAR)},
	{"rain_of_two_dies", "rain", "on", [](auto &c) { c.rain = HZ_ON, c.chips_per_channel = 1; }},
	{"rain_of_many_dies", "rain", "on",
	 [](auto &c) { c.rain = HZ_ON, c.channels = 64, c.chips_per_channel = 4, c.planes_per_die = 1; }},
	{"rain_on_part_of_planes", "rain", "on", [](auto &c) { c.rain = HZ_ON, c.superblock_planes = 4; }},
	{"rain_of_blocks", "rain", "on", [](auto &c) { make_conventional(c), c.rain = HZ_ON, c.namespace_kind = HZ_NS_BLOCK; }},
	{"rain_of_conventional_zones", "rain", "on", [](auto &c) { make_conventional(c), c.rain = HZ_ON; }},
	{"rain_of_namespaces", "rain", "on",
	 [](auto &c) { c.rain = HZ_ON, c.namespaces = 2, c.zones = 2, c.spare_superblocks = 1; }},
	{"rain_without_data", "rain", "on", [](auto &c) { c.rain = HZ_ON, c.media_mode = HZ_MEDIA_TIMING_ONLY; }},
	{"rain_of_tuples", "rain", "on", [](auto &c) { c.rain = HZ_ON, c.protection = HZ_PROTECTION_TYPE1; }},
	{"rain_behind_capacitors", "rain", "on", [](auto &c) { c.rain = HZ_ON, c.plp_mode = HZ_PLP_FULL; }},
	{"rain_of_registers", "rain", "on", [](auto &c) { c.rain = HZ_ON, c.buffer_release = HZ_RELEASE_TRANSFERRED; }},
	{"rain_of_patches", "rain", "on", [](auto &c) { c.rain = HZ_ON, c.zone_capacity_sectors = 1200; }},
	{"flush_unit_with_rain", "flush_unit_planes", "4", [](auto &c) { c.rain = HZ_ON, c.flush_unit_planes = 4; }},
	{"parity_without_rain", "parity_by", "firmware", SETS(parity_by, HZ_BY_FIRMWARE)},
	{"idle", "buffer_idle_ns", "1000000001", SETS(buffer_idle_ns, 1000000001)},
	{"cache", "l2p_cache_bytes", "63", SETS(l2p_cache_bytes, 63)},
	{"large_cache", "l2p_cache_bytes", "67108865", SETS(l2p_cache_bytes, (64 << 20) + 1)},
	{"buckets", "l2p_buckets", "1048577", SETS(l2p_buckets, (1 << 20) + 1)},
	{"large_log", "l2p_log_entries", "4294967295", SETS(l2p_log_entries, UINT32_MAX)},
	{"levels", "l2p_levels", "3", SETS(l2p_levels, HZ_MAP_LEVELS)},
	{"chunk_small", "l2p_chunk_sectors", "2", [](auto &c) { make_cached(c), c.l2p_chunk_sectors = 2; }},
	{"chunk_odd", "l2p_chunk_sectors", "24", [](auto &c) { make_cached(c), c.l2p_chunk_sectors = 24; }},
	{"chunk_large", "l2p_chunk_sectors", "2097152", [](auto &c) { make_cached(c), c.l2p_chunk_sectors = 1 << 21; }},
	{"strategy", "l2p_strategy", "3", SETS(l2p_strategy, HZ_L2P_STRATEGIES)},
	{"eviction", "l2p_eviction", "2", SETS(l2p_eviction, 2)},
	{"prefetch", "l2p_prefetch", "1024", [](auto &c) { make_cached(c), c.l2p_prefetch = 1024; }},
	{"log_entries", "l2p_log_entries", "255", [](auto &c) { make_cached(c), c.l2p_log_entries = 255; }},
	{"log_policy", "l2p_log_policy", "2", SETS(l2p_log_policy, 2)},
	{"data_cache_before_sequential_zones", "data_cache_bytes", "1048576", SETS(data_cache_bytes, 1 << 20)},
	{"data_cache_too_small", "data_cache_bytes", "131072", [](auto &c) { make_conventional(c), c.data_cache_bytes = 1 << 17; }},
	{"data_cache_with_protection", "data_cache_bytes", "1048576",
	 [](auto &c) { make_conventional(c), c.data_cache_bytes = 1 << 20, c.protection = HZ_PROTECTION_TYPE1; }},
	{"data_cache_with_capacitors", "data_cache_bytes", "1048576",
	 [](auto &c) { make_conventional(c), c.data_cache_bytes = 1 << 20, c.plp_mode = HZ_PLP_SELECTIVE; }},
	{"data_cache_eviction", "data_cache_eviction", "2", SETS(data_cache_eviction, HZ_CACHE_EVICTIONS)},
	{"data_cache_dirty_percent", "data_cache_dirty_percent", "101", SETS(data_cache_dirty_percent, 101)},
	{"data_cache_shards", "data_cache_shards", "65", SETS(data_cache_shards, 65)},
};

class BrokenRule : public testing::TestWithParam<Rule> {};

} // namespace

TEST_P(BrokenRule, IsNamedWithItsValue)
{
	hz_device_config cfg = legal_config();
	char text[256];
	ASSERT_EQ(hz_device_config_check(&cfg, text, sizeof text), nullptr) << text;
	GetParam().breaks(cfg);
	const char *error = hz_device_config_check(&cfg, text, sizeof text);
	ASSERT_NE(error, nullptr);
	EXPECT_NE(std::string(error).find(std::string(GetParam().field)), std::string::npos) << error;
	EXPECT_NE(std::string(error).find(std::string(" is ") + GetParam().value + ","), std::string::npos) << error;
	EXPECT_EQ(std::string(error).back(), '.') << error;
	// A short buffer cuts the sentence, never the memory behind it.
	char small[9] = "xxxxxxxx";
	hz_device_config_check(&cfg, small, 8);
	EXPECT_EQ(std::strlen(small), 7u);
}
INSTANTIATE_TEST_SUITE_P(Config, BrokenRule, testing::ValuesIn(rules), [](const auto &rule) { return rule.param.name; });

/* Devices of many kinds, among which every edge of every field is legal somewhere. */
const std::function<void(hz_device_config &)> devices[] = {
	[](auto &) {},
	[](auto &c) { c.clock.dispatch = 4; },
	[](auto &c) { make_conventional(c), make_cached(c); },
	[](auto &c) { make_conventional(c), make_cached(c), c.l2p_shards = 1; },
	[](auto &c) { make_conventional(c), c.namespace_kind = HZ_NS_BLOCK; },
	[](auto &c) { make_handles(c, HZ_MAX_HANDLES), c.fdp_handles = 0; },
	[](auto &c) { make_conventional(c), patch_zones(c); },
	[](auto &c) { make_conventional(c), put_in_slc(c); },
	[](auto &c) { c.slow_die = 1, c.slow_percent = 100; },
	[](auto &c) { c.buffer_binding = HZ_BIND_PER_ZONE, c.write_buffers = 6; },
	/* one plane, one sector a page, one page a unit: all other parts may be many */
	[](auto &c) {
		c.channels = c.chips_per_channel = c.planes_per_die = c.flush_unit_planes = c.program_pages = c.pages_per_block = 1;
		c.page_bytes = 4096, c.cell = HZ_CELL_SLC, c.slc_blocks_per_plane = 20, c.blocks_per_plane = 40;
		c.max_open = c.max_active = 0;
	},
	[](auto &c) { /* enough blocks for the largest numbers of zones, spares and their SLC region */
		      c.channels = c.chips_per_channel = c.planes_per_die = c.flush_unit_planes = 1;
		      c.blocks_per_plane = 1 << 20, c.slc_blocks_per_plane = 1 << 19, c.pages_per_block = 12, c.page_bytes = 4096;
		      c.spare_superblocks = 0;
	},
	[](auto &c) { /* SLC blocks for random write areas */
		      c.channels = c.chips_per_channel = c.planes_per_die = c.flush_unit_planes = 1;
		      c.blocks_per_plane = 1 << 15, c.slc_blocks_per_plane = 1 << 14, c.pages_per_block = 192, c.page_bytes = 4096;
		      c.zrwa_sectors = c.zrwa_flush_sectors = 1;
	},
	[](auto &c) { /* SLC blocks for all that capacitors may keep alive */
		      c.channels = c.chips_per_channel = c.planes_per_die = c.flush_unit_planes = 1;
		      c.blocks_per_plane = 1 << 15, c.slc_blocks_per_plane = 1 << 14, c.pages_per_block = 192, c.page_bytes = 4096;
		      c.buffer_pool_bytes = uint64_t{1} << 32, c.plp_mode = HZ_PLP_FULL;
	},
	[](auto &c) { c.channels = c.chips_per_channel = c.planes_per_die = c.flush_unit_planes = 1; }, /* one plane */
	[](auto &c) { c.page_bytes = 4096, c.program_pages = 1; },
	[](auto &c) { c.slc_blocks_per_plane = 1, c.spare_superblocks = 0; },
	[](auto &c) { c.page_bytes = 65536, c.program_pages = 1; },
	[](auto &c) { c.program_passes = 2; },
	[](auto &c) { /* times with the widest spread */
		      std::fill(std::begin(c.slc.read_ns), std::end(c.slc.read_ns), uint32_t{HZ_MAX_NS});
		      std::fill(std::begin(c.slc.program_ns), std::end(c.slc.program_ns), uint32_t{HZ_MAX_NS});
		      c.slc.erase_ns = HZ_MAX_NS, c.normal = c.slc;
	},
	[](auto &c) { c.superblock_planes = 2; },
	[](auto &c) { c.rain = HZ_ON; },
	[](auto &c) { /* as many dies as there may be */
		      c.channels = 64, c.chips_per_channel = 64, c.planes_per_die = 1, c.flush_unit_planes = 4096, c.slow_percent = 1;
	},
	[](auto &c) { c.harts = 1, c.tsu_hart[0] = c.worker_hart[0] = c.worker_hart[1] = 0; },
	[](auto &c) { c.zones = 1; },
	[](auto &c) {
		c.harts = 64, c.channels = 8;
		std::iota(std::begin(c.hil_hart), std::end(c.hil_hart), uint8_t{0});
	},
};

/* Refused by the limit itself, with its number. */
bool refused_by(const char *error, const hz_field &field, uint64_t value, const char *rule, uint64_t limit)
{
	if (error && field.unit == HZ_UNIT_CHOICE)
		return std::string(error).starts_with(std::string(field.member) + " is " + std::to_string(value) +
						      ", but it must be one of " + field.words[0]);
	return error &&
	       error == std::string(field.member) + " is " + std::to_string(value) + ", but it must " + rule + std::to_string(limit) + ".";
}

TEST(Config, EveryLimitOfTheTableIsTheLastLegalValue)
{
	char text[512];
	for (const hz_field &field : hz_device_fields) {
		if (field.unit == HZ_UNIT_TEXT)
			continue;
		for (unsigned item = 0; item < field.items; item++) {
			SCOPED_TRACE(std::string(field.member) + " item " + std::to_string(item));
			const uint64_t largest = field.item_bytes == 8 ? UINT64_MAX : (uint64_t{1} << 8 * field.item_bytes) - 1;
			hz_device_config cfg = legal_config();
			if (field.least > 0) {
				hz_field_write(&field, &cfg, item, field.least - 1);
				EXPECT_TRUE(refused_by(hz_device_config_check(&cfg, text, sizeof text), field, field.least - 1,
						       "be at least ", field.least))
					<< text;
			}
			if (field.most < largest) {
				hz_field_write(&field, &cfg, item, field.most + 1);
				EXPECT_TRUE(refused_by(hz_device_config_check(&cfg, text, sizeof text), field, field.most + 1,
						       "be at most ", field.most))
					<< text;
			}
			ASSERT_LE(field.most, largest) << "the member can hold it";
		}
	}
}

/* Rules across fields leave every limit reachable: a limit that no device can have is wrong. */
TEST(Config, SomeDeviceHasEveryLimit)
{
	char text[512];
	for (const hz_field &field : hz_device_fields)
		for (const uint64_t edge : {field.least, field.most}) {
			if (field.unit == HZ_UNIT_TEXT || edge == UINT32_MAX || !strcmp(field.member, "zone_capacity_sectors") ||
			    field.unit == HZ_UNIT_GRANULARITY_BY_CLASS)
				continue;
			std::string why;
			bool accepted = false;
			for (const auto &device : devices) {
				hz_device_config cfg = legal_config();
				device(cfg);
				hz_field_write(&field, &cfg, 0, edge);
				const char *error = hz_flash_config_check(&cfg, text, sizeof text);
				accepted = accepted || !error;
				why += error ? std::string("\n  ") + error : "";
			}
			EXPECT_TRUE(accepted) << field.member << " = " << edge << why;
		}
}

/* The largest capacity is stated in bytes: limited by its addresses, and by the machine's room for
 * its image. */
TEST(Config, TheLargestDeviceIsReportedInBytes)
{
	char text[512];
	hz_device_config cfg = legal_config();
	cfg.blocks_per_plane = 600000;
	ASSERT_TRUE(hz_device_config_check(&cfg, text, sizeof text));
	EXPECT_NE(std::string(text).find(" within 4398046511104 bytes."), std::string::npos) << text;
	cfg = legal_config();
	while (hz_nand_image_bytes(&cfg) <= HZ_NAND_IMAGE_MOST) {
		EXPECT_EQ(hz_machine_config_check(&cfg, text, sizeof text), nullptr) << text;
		cfg.blocks_per_plane *= 2, cfg.slc_blocks_per_plane *= 2;
	}
	EXPECT_EQ(hz_device_config_check(&cfg, text, sizeof text), nullptr) << text;
	ASSERT_TRUE(hz_machine_config_check(&cfg, text, sizeof text));
	EXPECT_EQ(
		std::string(text),
		"blocks_per_plane is " + std::to_string(cfg.blocks_per_plane) +
			", but it must keep the NAND image (docs/reference/format.md) within 17179869184 bytes: it would have 34359738368.");
}

TEST(Config, GranularityIsWhatAClassCanHave)
{
	char text[512];
	const auto with = [&](unsigned c, uint32_t value) {
		hz_device_config cfg = legal_config();
		cfg.lock_granularity[c] = value;
		const char *error = hz_device_config_check(&cfg, text, sizeof text);
		return std::string(error ? error : "");
	};
	for (const unsigned c : {HZ_LC_ZONE, HZ_LC_L2P, HZ_LC_BLOCK})
		for (const uint32_t value : {0u, 1u, 2u, 4096u})
			EXPECT_EQ(with(c, value), "");
	for (const unsigned c : {HZ_LC_OPEN, HZ_LC_BUFFER, HZ_LC_SLC}) {
		EXPECT_EQ(with(c, HZ_LOCKS_CLASS), "");
		EXPECT_NE(with(c, 2), "");
	}
	EXPECT_EQ(with(HZ_LC_SLC, 4), "lock_granularity.slc is 4, but it must be fine, class or global: there is one lock of this class.");
	for (const unsigned c : {HZ_LC_GLOBAL, HZ_LC_LINK, HZ_LC_TEST})
		for (const uint32_t value : {1u, 2u, uint32_t{HZ_LOCKS_GLOBAL}})
			EXPECT_NE(with(c, value).find("be 0: no lock of a device is of this class"), std::string::npos) << c << text;
}

TEST(Config, OneLockStandsForAllClassesOrForNone)
{
	char text[512];
	hz_device_config cfg = legal_config();
	support::choose_granularity(cfg, HZ_LOCKS_GLOBAL);
	EXPECT_EQ(hz_device_config_check(&cfg, text, sizeof text), nullptr) << text;
	for (const unsigned c : {HZ_LC_ZONE, HZ_LC_OPEN, HZ_LC_BUFFER, HZ_LC_L2P, HZ_LC_SLC, HZ_LC_BLOCK})
		for (const uint32_t usual : {uint32_t{HZ_LOCKS_FINE}, uint32_t{HZ_LOCKS_CLASS}, uint32_t{HZ_LOCKS_GLOBAL}}) {
			support::choose_granularity(cfg, usual);
			cfg.lock_granularity[c] = usual == HZ_LOCKS_GLOBAL ? HZ_LOCKS_FINE : HZ_LOCKS_GLOBAL;
			const char *error = hz_device_config_check(&cfg, text, sizeof text);
			ASSERT_NE(error, nullptr);
			EXPECT_NE(std::string(error).find("be global with all classes or with none"), std::string::npos) << error;
		}
}

TEST(Config, AnotherTableIsAnotherVersion)
{
	EXPECT_EQ(hz_config_version(), hz_config_version());
	hz_device_config cfg = legal_config();
	char text[256];
	cfg.version++;
	EXPECT_NE(hz_device_config_check(&cfg, text, sizeof text), nullptr);
}

TEST(Config, ShapeOfAnImageIsThatOfTheTable)
{
	// Self-description of an earlier start's image stays at its offset.
	EXPECT_EQ(offsetof(hz_nand_header, channels), 24u);
	EXPECT_EQ(offsetof(hz_nand_header, media_mode), 60u);
	EXPECT_EQ(offsetof(hz_nand_header, namespace_kind), 76u);
	EXPECT_EQ(offsetof(hz_nand_header, zone_size_sectors), 112u);
	unsigned bytes = 0;
	for (const hz_field &field : hz_device_fields)
		bytes += field.shape ? field.item_bytes * field.items : 0;
	EXPECT_EQ(bytes, offsetof(hz_nand_header, zones) - offsetof(hz_nand_header, channels));
}

TEST(Config, ShapeFollowsFromTheGeometry)
{
	hz_device_config cfg = legal_config();
	hz_shape shape;
	hz_shape_of(&cfg, &shape);
	EXPECT_EQ(shape.planes, 8u);
	EXPECT_EQ(shape.page_sectors, 4u);
	EXPECT_EQ(shape.unit_sectors, 12u);
	EXPECT_EQ(shape.slc_pages_per_block, 16u);
	EXPECT_EQ(shape.superpage_sectors, 96u);
	EXPECT_EQ(shape.superblock_sectors, 1536u);
	EXPECT_EQ(shape.slc_superblock_sectors, 512u);
	EXPECT_EQ(shape.normal_superblocks, 16u);
	EXPECT_EQ(shape.zones, 14u);
	EXPECT_EQ(shape.zone_capacity_sectors, 1536u);
	EXPECT_EQ(shape.zone_size_sectors, 2048u);
	EXPECT_EQ(shape.namespace_sectors, 14u * 2048);
}

TEST(Config, SuperblocksOnAPartOfThePlanesAreMoreAndSmaller)
{
	hz_device_config cfg = legal_config();
	hz_shape shape;
	char text[256];
	cfg.superblock_planes = 2;
	EXPECT_EQ(hz_device_config_check(&cfg, text, sizeof text), nullptr) << text;
	hz_shape_of(&cfg, &shape);
	EXPECT_EQ(shape.planes, 8u);
	EXPECT_EQ(shape.superblock_planes, 2u);
	EXPECT_EQ(shape.superpage_sectors, 24u);
	EXPECT_EQ(shape.superblock_sectors, 384u);
	EXPECT_EQ(shape.slc_superblock_sectors, 512u) << "on all planes";
	EXPECT_EQ(shape.normal_superblocks, 64u);
	EXPECT_EQ(shape.zones, 62u);
	EXPECT_EQ(shape.zone_capacity_sectors, 384u);
}

TEST(Config, WithRainADieOfEachSuperblockHasParity)
{
	hz_device_config cfg = legal_config();
	hz_shape shape;
	char text[256];
	cfg.rain = HZ_ON, cfg.parity_by = HZ_BY_FIRMWARE;
	EXPECT_EQ(hz_device_config_check(&cfg, text, sizeof text), nullptr) << text;
	hz_shape_of(&cfg, &shape);
	EXPECT_EQ(shape.planes, 8u);
	EXPECT_EQ(shape.superblock_planes, 6u);
	EXPECT_EQ(shape.parity_planes, 2u);
	EXPECT_EQ(shape.superpage_sectors, 72u);
	EXPECT_EQ(shape.superblock_sectors, 1152u);
	EXPECT_EQ(shape.slc_superblock_sectors, 512u) << "on all dies";
	EXPECT_EQ(shape.normal_superblocks, 16u);
	EXPECT_EQ(shape.zone_size_sectors, 2048u);
}

TEST(Config, ConventionalZonesAndBlockNamespacesHaveTheirShape)
{
	hz_device_config cfg = legal_config();
	hz_shape shape;
	char text[256];
	make_conventional(cfg);
	make_cached(cfg);
	EXPECT_EQ(hz_device_config_check(&cfg, text, sizeof text), nullptr) << text;
	hz_shape_of(&cfg, &shape);
	EXPECT_EQ(shape.conventional_zones, 4u);
	EXPECT_EQ(shape.backing_zones, 9u);
	EXPECT_EQ(shape.zone_size_sectors, 2048u);
	EXPECT_EQ(shape.map_pages_per_zone, 2u);
	cfg.namespace_kind = HZ_NS_BLOCK;
	EXPECT_EQ(hz_device_config_check(&cfg, text, sizeof text), nullptr) << text;
	hz_shape_of(&cfg, &shape);
	EXPECT_EQ(shape.conventional_zones, 8u) << "all of them";
	EXPECT_EQ(shape.backing_zones, 13u);
	EXPECT_EQ(shape.zone_size_sectors, 1536u) << "no hole";
	EXPECT_EQ(shape.namespace_sectors, 8u * 1536);
}

/* Superblocks of 1536 sectors, SLC ones of 512. */
TEST(Config, ConventionalDataLieInSuperblocksOfEitherKind)
{
	hz_device_config cfg = legal_config();
	hz_shape shape;
	char text[256];
	make_conventional(cfg);
	patch_zones(cfg);
	EXPECT_EQ(hz_device_config_check(&cfg, text, sizeof text), nullptr) << text;
	hz_shape_of(&cfg, &shape);
	EXPECT_EQ(shape.backing_sectors, 1536u) << "no patch";
	EXPECT_EQ(shape.backing_zones, 5u + 5) << "4 * 1600 sectors, and the spare ones";
	EXPECT_EQ(shape.body_superblocks, 4u + 10);
	EXPECT_EQ(shape.patch_superblocks, 4u + 2) << "of sequential zones only";
	cfg.zones = 0;
	hz_shape_of(&cfg, &shape);
	EXPECT_EQ(shape.body_superblocks, shape.normal_superblocks - 2) << "as many zones as there is room for";
	put_in_slc(cfg);
	cfg.zones = 8;
	EXPECT_EQ(hz_device_config_check(&cfg, text, sizeof text), nullptr) << text;
	hz_shape_of(&cfg, &shape);
	EXPECT_EQ(shape.backing_sectors, 512u);
	EXPECT_EQ(shape.backing_zones, 13u + 5);
	EXPECT_EQ(shape.body_superblocks, 4u);
	EXPECT_EQ(shape.patch_superblocks, 4u + 18 + 2);
	cfg.zones = 0;
	hz_shape_of(&cfg, &shape);
	EXPECT_EQ(shape.zones, 4 + shape.normal_superblocks - 2) << "conventional ones take none";
}

TEST(Config, ImageHoldsEachPartOnceMoreAndIsAPowerOfTwo)
{
	hz_device_config cfg = legal_config();
	hz_nand_layout layout;
	hz_nand_layout_of(&cfg, &layout);
	const uint64_t blocks = 8 * 24, sectors = blocks * 48 * 4, table = blocks * sizeof(hz_nand_block),
		       oob = sectors * sizeof(hz_nand_oob);
	const uint64_t parts[][2] = {{0, HZ_NAND_HEADER_BYTES},
				     {layout.blocks_offset, table},
				     {layout.blocks_copy_offset, table},
				     {layout.oob_offset, oob},
				     {layout.oob_copy_offset, oob},
				     {layout.data_offset, sectors * 4096},
				     {layout.header_copy_offset, HZ_NAND_HEADER_BYTES}};
	uint64_t end = 0;
	for (const auto &[offset, bytes] : parts) {
		EXPECT_EQ(offset % 4096, 0u);
		EXPECT_GE(offset, end) << "the parts follow one another";
		end = offset + bytes;
	}
	EXPECT_EQ(end, layout.image_bytes) << "the last header is found without knowing the device";
	EXPECT_EQ(hz_nand_image_bytes(&cfg), layout.image_bytes);
	EXPECT_EQ(layout.image_bytes & (layout.image_bytes - 1), 0u);
	EXPECT_LT(layout.image_bytes, 2 * (layout.data_offset + sectors * 4096 + HZ_NAND_HEADER_BYTES));
}

TEST(Config, ImageHasRoomForItsLastHeaderWhateverItsSize)
{
	hz_device_config cfg = legal_config();
	hz_nand_layout layout;
	uint32_t tight = 0;
	for (cfg.page_bytes = 4096; cfg.page_bytes <= 32768; cfg.page_bytes *= 2)
		for (cfg.pages_per_block = 1; cfg.pages_per_block <= 64; cfg.pages_per_block++)
			for (cfg.blocks_per_plane = 1; cfg.blocks_per_plane <= 512; cfg.blocks_per_plane++) {
				hz_nand_layout_of(&cfg, &layout);
				const uint64_t end = layout.data_offset +
						     8ull * cfg.blocks_per_plane * cfg.pages_per_block * cfg.page_bytes;
				ASSERT_LE(end, layout.header_copy_offset) << cfg.blocks_per_plane << " blocks of " << cfg.pages_per_block;
				tight += end + HZ_NAND_HEADER_BYTES > layout.header_copy_offset;
			}
	EXPECT_GT(tight, 0u);
}

// The least number that the sentence names is enough, and one less is not: for all kinds of devices.
TEST(Config, TheLeastSlcRegionIsNamed)
{
	void (*const kinds[])(hz_device_config & cfg) = {
		[](hz_device_config &) {},
		[](hz_device_config &cfg) { cfg.flush_unit_planes = 8; },
		[](hz_device_config &cfg) { make_conventional(cfg); },
		[](hz_device_config &cfg) { make_cached(cfg); },
		[](hz_device_config &cfg) { cfg.zone_capacity_sectors = 1600; },
		[](hz_device_config &cfg) { cfg.blocks_per_plane += 2000; },
		[](hz_device_config &cfg) { cfg.superblock_planes = 2; },
	};
	for (auto *kind : kinds) {
		hz_device_config cfg = legal_config();
		kind(cfg);
		const uint32_t normal = cfg.blocks_per_plane - cfg.slc_blocks_per_plane;
		auto with = [&](uint32_t slc) {
			char text[256];
			cfg.slc_blocks_per_plane = slc;
			cfg.blocks_per_plane = slc + normal;
			const char *error = hz_device_config_check(&cfg, text, sizeof text);
			return std::string(error ? error : "");
		};
		const std::string said = with(1);
		ASSERT_TRUE(said.starts_with("slc_blocks_per_plane is 1, but it must hold ")) << said;
		const uint32_t least = static_cast<uint32_t>(std::stoul(said.substr(said.find("at least ") + 9)));
		EXPECT_EQ(with(least), "");
		EXPECT_NE(with(least - 1), "");
	}
}

/* With a spread as much as without one, if each program took the longest time that may be drawn. */
TEST(Config, CapacitorsLastForTheSlowestPrograms)
{
	for (const uint32_t flush : {HZ_PLP_BALANCED, HZ_PLP_IN_PLACE}) {
		hz_device_config cfg = legal_config();
		hz_shape shape{};
		hz_shape_of(&cfg, &shape);
		cfg.plp_flush = flush;
		cfg.plp_program_mw = 150, cfg.plp_controller_mw = 2000;
		cfg.program_passes = 1;
		cfg.slc.program_ns[0] = 75000, cfg.slc_sigma.program_ns[0] = 9000;
		cfg.normal.program_ns[0] = 700000, cfg.normal_sigma.program_ns[0] = 300000;
		cfg.normal.program_ns[1] = 900000; /* the longest only without a spread */
		const uint64_t energy_pj = hz_dump_energy_pj(&cfg, &shape, 64);
		for (auto &[times, sigma] : {std::pair{&cfg.slc, &cfg.slc_sigma}, std::pair{&cfg.normal, &cfg.normal_sigma}}) {
			times->program_ns[0] += static_cast<uint32_t>(hz_spread_reach_ns(times->program_ns[0], sigma->program_ns[0]));
			sigma->program_ns[0] = 0;
		}
		EXPECT_EQ(hz_dump_energy_pj(&cfg, &shape, 64), energy_pj);
		cfg.slc.program_ns[0]--, cfg.normal.program_ns[0]--;
		EXPECT_LT(hz_dump_energy_pj(&cfg, &shape, 64), energy_pj);
	}
}

TEST(Config, SchemesAreTheTwentyFourOrdersOfFourLetters)
{
	std::string letters = "CDPW";
	uint32_t number = 0;
	do {
		EXPECT_EQ(hz_plane_scheme_name(number++), letters);
	} while (std::next_permutation(letters.begin(), letters.end()));
	EXPECT_EQ(number, 24u);
	EXPECT_EQ(hz_plane_scheme_name(24), nullptr);
}
