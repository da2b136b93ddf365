/* The least size of the SLC log. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "slc_log_size.h"

#include "dump_size.h"

/* Upper bound on valid sectors once the programs in flight have ended: less than a flush unit for every zone, sectors written in place,
 * and the tables, in all their copies, current and next. Not only active zones: a READ ONLY zone, or a backing zone that cannot be
 * written any more, keeps its staged sectors. Copies of a complete unit do not count: it is being programmed to its place without any
 * SLC, and then they are invalid. */
static uint64_t slc_most_valid(const struct hz_device_config *cfg, const struct hz_shape *shape)
{
	uint64_t flush = (uint64_t)cfg->flush_unit_planes * shape->unit_sectors;
	uint64_t zones = shape->zones - shape->conventional_zones + shape->backing_zones;
	uint64_t records = shape->zones + shape->backing_zones;
	uint64_t summaries = shape->map_checkpoints + shape->map_directories;
	uint64_t map = cfg->l2p_cache_bytes
			       ? (uint64_t)hz_zones_of_sectors(cfg, shape) * shape->map_pages_per_zone + summaries + HZ_MAP_WRITES
			       : 0;
	uint64_t of_zones = cfg->l2p_kind == HZ_L2P_KIND_ZONE ? hz_zone_map_pages(shape) + HZ_ZONE_LOG_PAGES + 1 : 0;
	uint64_t trims = shape->trim_pages ? shape->trim_pages + cfg->slc_program_sectors : 0;

	return hz_copied_sectors(cfg) + zones * flush + 2 * HZ_ZONE_TABLE_COPIES * (records / HZ_ZONE_RECORDS_PER_PAGE + 1) + map +
	       of_zones + trims;
}

/* The heads, the collector's reserve, and sealed ones, at least one with a unit to gain: moving its valid sectors, packed, takes fewer
 * units than it has. Superblocks reserved for the power-loss dump count twice: those of the last dump may not be released yet. */
uint32_t hz_slc_log_least(const struct hz_device_config *cfg, const struct hz_shape *shape)
{
	uint32_t no_gain = shape->slc_superblock_sectors - cfg->slc_program_sectors + 1;

	return HZ_SLC_HEADS + 1 + (uint32_t)(slc_most_valid(cfg, shape) / no_gain) + 1 + 2 * hz_dump_superblocks(cfg, shape);
}
