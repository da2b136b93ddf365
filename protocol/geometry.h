/* Shape of a device: every size derived from the configured geometry. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_GEOMETRY_H
#define HZ_PROTOCOL_GEOMETRY_H

#include "device_config.h"
#include "tuple.h"

/* Derived shape, computed once by both sides with the same code. */
struct hz_shape {
	uint32_t planes;            /* all planes of the device = columns of a stripe, and of an SLC superblock */
	uint32_t superblock_planes; /* columns of a normal superblock with data; with those of parity, divides planes */
	uint32_t parity_planes;     /* columns of it with parity (rain): the planes of one die; 0: none */
	uint32_t page_sectors;
	uint32_t unit_sectors; /* normal program unit of one plane: program_pages * page_sectors */
	uint32_t slc_pages_per_block;
	uint32_t superpage_sectors;  /* superblock_planes * unit_sectors */
	uint32_t ring_sectors;       /* places of a write buffer: a superpage, or several if buffers share their memory */
	uint32_t superblock_sectors; /* normal, without parity */
	uint32_t slc_superblock_sectors;
	uint32_t slc_superblocks, normal_superblocks;
	uint32_t zones;
	uint64_t zone_size_sectors, zone_capacity_sectors;
	uint64_t namespace_sectors;  /* zones * zone_size_sectors */
	uint32_t conventional_zones; /* zones 0 … n - 1 */
	uint32_t backing_zones;      /* numbers zones … zones + n - 1, addresses from namespace_sectors on: not visible to the host */
	uint32_t backing_sectors;    /* capacity of one: no more than the superblock of its region holds */
	uint32_t body_superblocks;   /* normal superblocks of all zones, backing ones included, when all are full */
	uint32_t patch_sectors;      /* end of every sequential zone in an SLC superblock reserved for it; 0 = none */
	uint32_t patch_superblocks;  /* the last SLC superblocks, outside the log: one for each zone with a patch, one for each backing
				      * zone in SLC, and the spare ones; 0 = there are no such zones */
	uint32_t map_pages_per_zone; /* table pages of HZ_MAP_PAGE_ENTRIES entries */
	uint32_t map_checkpoints;    /* sectors of checkpoints of the conventional zones' table pages; 0: map in RAM */
	uint32_t map_directories;    /* sectors of the directory of the conventional zones' table pages; 0: directory in RAM */
	uint32_t trim_pages;         /* sectors of trim bits of conventional LBAs */
};

/* Bytes of a sector of data in the device's memory: with protection information, its tuple is behind it. */
static inline uint32_t hz_sector_memory(const struct hz_device_config *cfg)
{
	return HZ_SECTOR_BYTES + (cfg->protection == HZ_PROTECTION_NONE ? 0 : HZ_TUPLE_BYTES);
}

/* Time of that many sectors across a channel, with their command. */
static inline uint64_t hz_channel_ns(const struct hz_device_config *cfg, uint32_t sectors)
{
	uint64_t bytes = (uint64_t)sectors * HZ_SECTOR_BYTES;

	return cfg->command_ns + (cfg->channel_bytes_per_s ? bytes * 1000000000 / cfg->channel_bytes_per_s : 0);
}

#ifdef __cplusplus
extern "C" {
#endif
/* Requires a legal config. */
void hz_shape_of(const struct hz_device_config *cfg, struct hz_shape *shape);
/* The smallest power of two not below value; value is 2^63 at most. */
uint64_t hz_power_of_two_from(uint64_t value);
#ifdef __cplusplus
}
#endif

#endif
