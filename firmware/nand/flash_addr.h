/* Flash addresses: from the linear physical sector address (PPA) of the FTL to channel, chip, die, plane, block, page, sector.
 *
 * PPA = superblock << superblock_shift | offset. A superblock is the same block index on each plane of a group: consecutive columns of
 * the stripe, in the order of the plane scheme. SLC superblocks come first (block 0 … slc_blocks-1) and span all planes; consecutive
 * normal ones are on different groups: number - slc_blocks = (block - slc_blocks) * groups + group. Within a superblock consecutive
 * program units go round its planes: offset = (row * planes + column in group) * unit_sectors + sector in unit; unit =
 * slc_program_sectors in SLC blocks, program_pages * page_sectors in normal blocks. No division at run time (reciprocal multiply). The
 * map of a namespace counts superblocks, columns and sectors in its window, and yields addresses of the device. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FLASH_ADDR_H
#define FLASH_ADDR_H

#include "device_config.h"
#include "geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t ppa_t;
#define PPA_NONE UINT32_MAX /* the two top bits of a mapping entry are map bits: a PPA is below 2^30 */

struct flash_addr {
	uint16_t plane_index; /* flat: ((channel * chips + chip) * dies + die) * planes + plane */
	uint16_t channel;
	uint16_t die_index; /* flat over the device: (channel * chips + chip) * dies + die */
	uint16_t plane;     /* within its die */
	uint32_t block;     /* within its plane */
	uint32_t sector;    /* within its block: page * page_sectors + sector in page */
};

struct reciprocal {
	uint64_t multiplier;
	uint32_t divisor;
};

/* How the sectors of superblocks of a kind lie on their columns. */
struct flash_stripe {
	struct reciprocal by_unit, by_planes;
};

/* Location of a superblock: its stripe, its first column, and its block in each plane. */
struct flash_superblock {
	uint32_t block;
	uint16_t column;
	uint16_t stripe; /* 0: SLC, 1: normal */
};

struct flash_map {
	struct hz_shape shape;
	uint32_t superblock_shift; /* log2 of the largest superblock's sectors, rounded up */
	uint32_t slc_superblocks;
	struct flash_stripe stripe[2];
	struct flash_superblock *superblock;
	struct flash_addr *column; /* stripe column → its plane by the scheme; block and sector 0 */
};

struct arena;
void flash_map_init(struct flash_map *map, struct arena *arena, const struct hz_device_config *cfg);
/* Of a namespace: cfg is its hz_namespace_config, and its addresses lie in its window of the device. */
struct hz_window;
void flash_map_init_window(struct flash_map *map, struct arena *arena, const struct hz_device_config *cfg,
			   const struct hz_device_config *device, const struct hz_window *window);
/* The plane of that number (flat), at its block and sector 0. */
struct flash_addr flash_plane(const struct hz_device_config *cfg, uint32_t index);
static inline ppa_t ppa_make(const struct flash_map *map, uint32_t superblock, uint32_t offset)
{
	return superblock << map->superblock_shift | offset;
}
static inline uint32_t ppa_superblock(const struct flash_map *map, ppa_t ppa) { return ppa >> map->superblock_shift; }
static inline uint32_t ppa_offset(const struct flash_map *map, ppa_t ppa) { return ppa & ((1u << map->superblock_shift) - 1); }

/* floor(value / divisor); both below 2^30. */
static inline uint32_t reciprocal_divide(uint32_t value, const struct reciprocal *by)
{
	return (uint32_t)(((unsigned __int128)((uint64_t)value << 1) * by->multiplier) >> 64);
}

/* ppa must be inside the device. */
static inline struct flash_addr flash_addr_of(const struct flash_map *map, ppa_t ppa)
{
	const struct flash_superblock *superblock = &map->superblock[ppa_superblock(map, ppa)];
	const struct flash_stripe *stripe = &map->stripe[superblock->stripe];
	uint32_t offset = ppa_offset(map, ppa), unit = reciprocal_divide(offset, &stripe->by_unit);
	uint32_t row = reciprocal_divide(unit, &stripe->by_planes);
	struct flash_addr addr = map->column[superblock->column + unit - row * stripe->by_planes.divisor];

	addr.block = superblock->block;
	addr.sector = row * stripe->by_unit.divisor + (offset - unit * stripe->by_unit.divisor);
	return addr;
}

/* Number of planes of a superblock. */
static inline uint32_t flash_planes_of(const struct flash_map *map, uint32_t superblock)
{
	return map->stripe[superblock >= map->slc_superblocks].by_planes.divisor;
}

#ifdef __cplusplus
}
#endif
#endif
