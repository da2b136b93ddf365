/* Shape of a device, computed by the same code on both sides. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "geometry.h"

#include <stdbool.h>

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

enum { MOST_BACKING = 1 << 30 };

/* Number of backing zones for that many conventional ones. */
static uint32_t backing_for(const struct hz_device_config *cfg, const struct hz_shape *shape, uint64_t conventional)
{
	uint64_t least = (conventional * shape->zone_capacity_sectors + shape->backing_sectors - 1) / shape->backing_sectors;

	if (!conventional)
		return 0;
	return (uint32_t)(least < MOST_BACKING ? least : MOST_BACKING) + cfg->conventional_spare;
}

/* As many as there are normal superblocks for. */
static uint32_t most_zones(const struct hz_device_config *cfg, const struct hz_shape *shape)
{
	uint32_t normal = shape->normal_superblocks - cfg->spare_superblocks, backing;

	if (cfg->namespace_kind == HZ_NS_BLOCK)
		return (uint32_t)((uint64_t)(normal - cfg->conventional_spare) * shape->backing_sectors / shape->zone_capacity_sectors);
	if (cfg->conventional_region == HZ_REGION_SLC)
		return normal + cfg->conventional_zones;
	backing = cfg->conventional_zones ? backing_for(cfg, shape, cfg->conventional_zones) : cfg->conventional_spare;
	return backing < normal ? cfg->conventional_zones + normal - backing : normal - cfg->conventional_spare;
}

/* A backing zone lies in one superblock, of either kind; a zone of the namespace may go on in an SLC one. */
static void zones_of(const struct hz_device_config *cfg, struct hz_shape *shape)
{
	bool slc = cfg->conventional_region == HZ_REGION_SLC;
	uint32_t superblock = slc ? shape->slc_superblock_sectors : shape->superblock_sectors, sequential;

	shape->backing_sectors = shape->zone_capacity_sectors < superblock ? (uint32_t)shape->zone_capacity_sectors : superblock;
	shape->zones = cfg->zones ? cfg->zones : most_zones(cfg, shape);
	shape->conventional_zones = cfg->namespace_kind == HZ_NS_BLOCK ? shape->zones : cfg->conventional_zones;
	shape->backing_zones = backing_for(cfg, shape, shape->conventional_zones);
	sequential = shape->zones - shape->conventional_zones;
	shape->body_superblocks = sequential + (slc ? 0 : shape->backing_zones);
	shape->patch_superblocks = (shape->patch_sectors ? sequential : 0) + (slc ? shape->backing_zones : 0);
	if (shape->patch_superblocks)
		shape->patch_superblocks += cfg->spare_superblocks;
}

void hz_shape_of(const struct hz_device_config *cfg, struct hz_shape *shape)
{
	shape->planes = cfg->channels * cfg->chips_per_channel * cfg->dies_per_chip * cfg->planes_per_die;
	shape->parity_planes = cfg->rain ? cfg->planes_per_die : 0;
	shape->superblock_planes = (cfg->superblock_planes ? cfg->superblock_planes : shape->planes) - shape->parity_planes;
	shape->page_sectors = cfg->page_bytes / HZ_SECTOR_BYTES;
	shape->unit_sectors = cfg->program_pages * shape->page_sectors;
	shape->slc_pages_per_block = cfg->pages_per_block / cfg->cell;
	shape->superpage_sectors = shape->superblock_planes * shape->unit_sectors;
	shape->superblock_sectors = shape->superblock_planes * cfg->pages_per_block * shape->page_sectors;
	shape->slc_superblock_sectors = shape->planes * shape->slc_pages_per_block * shape->page_sectors;
	shape->slc_superblocks = cfg->slc_blocks_per_plane;
	shape->normal_superblocks = (cfg->blocks_per_plane - cfg->slc_blocks_per_plane) *
				    (shape->planes / (shape->superblock_planes + shape->parity_planes));
	shape->zone_capacity_sectors = cfg->zone_capacity_sectors ? cfg->zone_capacity_sectors : shape->superblock_sectors;
	shape->patch_sectors = shape->zone_capacity_sectors > shape->superblock_sectors
				       ? (uint32_t)(shape->zone_capacity_sectors - shape->superblock_sectors)
				       : 0;
	zones_of(cfg, shape);
	shape->zone_size_sectors = cfg->zone_size_sectors;
	if (!shape->zone_size_sectors) /* a block namespace has no holes between its zones */
		shape->zone_size_sectors = cfg->namespace_kind == HZ_NS_BLOCK ? shape->zone_capacity_sectors
									      : hz_power_of_two_from(shape->zone_capacity_sectors);
	shape->ring_sectors = ring_of(cfg, shape);
	shape->namespace_sectors = shape->zones * shape->zone_size_sectors;
	shape->map_pages_per_zone = (uint32_t)((shape->zone_capacity_sectors + HZ_MAP_PAGE_ENTRIES - 1) / HZ_MAP_PAGE_ENTRIES);
	shape->map_checkpoints = 0;
	if (cfg->l2p_cache_bytes) /* page numbers in RAM have gaps */
		shape->map_checkpoints =
			(uint32_t)((shape->conventional_zones * hz_power_of_two_from(shape->map_pages_per_zone) + HZ_CHECKPOINT_PAGES - 1) /
				   HZ_CHECKPOINT_PAGES);
	shape->map_directories = 0;
	if (cfg->l2p_directory == HZ_L2P_DIRECTORY_FLASH)
		shape->map_directories = (uint32_t)((shape->conventional_zones * shape->map_pages_per_zone + HZ_MAP_PAGE_ENTRIES - 1) /
						    HZ_MAP_PAGE_ENTRIES);
	shape->trim_pages = (uint32_t)((shape->conventional_zones * shape->zone_size_sectors + HZ_TRIM_PAGE_LBAS - 1) / HZ_TRIM_PAGE_LBAS);
}
