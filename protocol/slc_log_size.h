/* Requirements of the FTL's SLC log and tables on the SLC region: both sides refuse a device with less. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_SLC_LOG_SIZE_H
#define HZ_PROTOCOL_SLC_LOG_SIZE_H

#include "geometry.h"

enum {
	HZ_SLC_HEADS = 3, /* open superblocks of the SLC log: data, tables, collector */
	HZ_ZONE_RECORDS_PER_PAGE = 64,
	HZ_ZONE_TABLE_COPIES = 2,
	HZ_MAP_WRITES = 16, /* map pages that may be in flight to SLC at a time */
	/* Of a map of zones: log pages, and their capacities. */
	HZ_ZONE_LOG_PAGES = 8,
	HZ_ZONE_ENTRIES_PER_PAGE = 512,
	HZ_ZONE_CHANGE_BYTES = 24,
	HZ_ZONE_CHANGES_PER_PAGE = 170,
};

#ifdef __cplusplus
extern "C" {
#endif
/* Zones with an entry of the map for each sector, from the first one on: all, or with a map of zones the conventional ones. */
static inline uint32_t hz_zones_of_sectors(const struct hz_device_config *cfg, const struct hz_shape *shape)
{
	return (uint32_t)(cfg->l2p_kind == HZ_L2P_KIND_ZONE ? shape->conventional_zones : shape->zones);
}
/* Pages of the table of a map of zones. */
static inline uint32_t hz_zone_map_pages(const struct hz_shape *shape)
{
	return (uint32_t)((shape->zones + HZ_ZONE_ENTRIES_PER_PAGE - 1) / HZ_ZONE_ENTRIES_PER_PAGE);
}
/* Sectors of sequential zones with a copy in SLC that outlives a write: those written in place, or those of random write areas. */
static inline uint64_t hz_copied_sectors(const struct hz_device_config *cfg)
{
	return cfg->in_place_sectors + cfg->zrwa_count * cfg->zrwa_sectors;
}
/* SLC superblocks that the log needs so that no writer waits for ever (firmware/ftl/slc/slc.h). */
uint32_t hz_slc_log_least(const struct hz_device_config *cfg, const struct hz_shape *shape);
#ifdef __cplusplus
}
#endif

#endif
