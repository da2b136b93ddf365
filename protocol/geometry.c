/* Shape of a device, computed by the same code on both sides. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "geometry.h"

uint64_t hz_power_of_two_from(uint64_t value)
{
	uint64_t power = 1;

	while (power < value)
		power <<= 1;
	return power;
}

enum { MOST_PLACES = 1 << 16 };

/* As much as a zone holds, if all of the memory does not hold less. */
static uint32_t ring_of(const struct hz_device_config *cfg, const struct hz_shape *shape)
{
	uint64_t places = cfg->buffer_pool_bytes / HZ_SECTOR_BYTES, superpage = shape->superpage_sectors;

	if (places > shape->zone_capacity_sectors)
		places = shape->zone_capacity_sectors + superpage - 1;
	if (places > MOST_PLACES)
		places = MOST_PLACES;
	return (uint32_t)(places < superpage ? superpage : places / superpage * superpage);
}

void hz_shape_of(const struct hz_device_config *cfg, struct hz_shape *shape)
{
	shape->planes = cfg->channels * cfg->chips_per_channel * cfg->dies_per_chip * cfg->planes_per_die;
	shape->superblock_planes = cfg->superblock_planes ? cfg->superblock_planes : shape->planes;
	shape->page_sectors = cfg->page_bytes / HZ_SECTOR_BYTES;
	shape->unit_sectors = cfg->program_pages * shape->page_sectors;
	shape->slc_pages_per_block = cfg->pages_per_block / cfg->cell;
	shape->superpage_sectors = shape->superblock_planes * shape->unit_sectors;
	shape->superblock_sectors = shape->superblock_planes * cfg->pages_per_block * shape->page_sectors;
	shape->slc_superblock_sectors = shape->planes * shape->slc_pages_per_block * shape->page_sectors;
	shape->slc_superblocks = cfg->slc_blocks_per_plane;
	shape->normal_superblocks = (cfg->blocks_per_plane - cfg->slc_blocks_per_plane) * (shape->planes / shape->superblock_planes);
	shape->zones = cfg->zones ? cfg->zones : shape->normal_superblocks - cfg->spare_superblocks - cfg->conventional_spare;
	shape->zone_capacity_sectors = cfg->zone_capacity_sectors ? cfg->zone_capacity_sectors : shape->superblock_sectors;
	shape->zone_size_sectors = cfg->zone_size_sectors;
	if (!shape->zone_size_sectors) /* a block namespace has no holes between its zones */
		shape->zone_size_sectors = cfg->namespace_kind == HZ_NS_BLOCK ? shape->zone_capacity_sectors
									      : hz_power_of_two_from(shape->zone_capacity_sectors);
	shape->ring_sectors = ring_of(cfg, shape);
	shape->namespace_sectors = shape->zones * shape->zone_size_sectors;
	shape->conventional_zones = cfg->namespace_kind == HZ_NS_BLOCK ? shape->zones : cfg->conventional_zones;
	shape->backing_zones = shape->conventional_zones ? shape->conventional_zones + cfg->conventional_spare : 0;
	shape->patch_sectors = shape->zone_capacity_sectors > shape->superblock_sectors
				       ? (uint32_t)(shape->zone_capacity_sectors - shape->superblock_sectors)
				       : 0;
	shape->patch_superblocks = shape->patch_sectors ? shape->zones + cfg->spare_superblocks : 0;
	shape->map_pages_per_zone = (uint32_t)((shape->zone_capacity_sectors + HZ_MAP_PAGE_ENTRIES - 1) / HZ_MAP_PAGE_ENTRIES);
	shape->map_checkpoints = 0;
	if (cfg->l2p_cache_bytes) /* page numbers in RAM have gaps */
		shape->map_checkpoints =
			(uint32_t)((shape->conventional_zones * hz_power_of_two_from(shape->map_pages_per_zone) + HZ_CHECKPOINT_PAGES - 1) /
				   HZ_CHECKPOINT_PAGES);
	shape->trim_pages = (uint32_t)((shape->conventional_zones * shape->zone_size_sectors + HZ_TRIM_PAGE_LBAS - 1) / HZ_TRIM_PAGE_LBAS);
}
