/* Flash addresses: from the linear physical sector address (PPA) of the FTL to channel, chip, die, plane, block, page, sector.
 *
 * PPA = superblock << superblock_shift | offset. A superblock is the same block index on each plane of a group: consecutive columns of
 * the stripe, in the order of the plane scheme. SLC superblocks come first (block 0 … slc_blocks-1) and span all planes; consecutive
 * normal ones are on different groups: number - slc_blocks = (block - slc_blocks) * groups + group. Within a superblock consecutive
 * program units go round its planes: offset = (row * planes + column in group) * unit_sectors + sector in unit; unit =
 * slc_program_sectors in SLC blocks, program_pages * page_sectors in normal blocks. No division at run time (reciprocal multiply). The
 * map of a namespace counts superblocks, columns and sectors in its window, and yields addresses of the device.
 *
 * With rain the columns of one die, which changes from superblock to superblock, are not in the stripe of a normal superblock: they are
 * those of its *parity*, which has a superblock number of its own (flash_parity_of). Its column k is plane k of that die, and has in its
 * row r the parity of all units of row r that are on planes k. */
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
	uint16_t stripe; /* 0: SLC, 1: normal, 2: parity of a normal one */
};

struct flash_map {
	struct hz_shape shape;
	uint32_t superblock_shift; /* log2 of the largest superblock's sectors, rounded up */
	uint32_t slc_superblocks;
	struct flash_stripe stripe[3];
	struct flash_superblock *superblock;
	uint32_t columns; /* of the next: of all planes; with rain, then the same again for each die, whose columns are last there */
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

/* divisor: not 0, below 2^30. */
struct reciprocal reciprocal_of(uint32_t divisor);
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

/* The parity of a normal superblock, with rain. */
static inline uint32_t flash_parity_of(const struct flash_map *map, uint32_t superblock)
{
	return superblock + map->shape.normal_superblocks;
}

/* Number of blocks of a superblock: those of its parity, too. */
static inline uint32_t flash_blocks_of(const struct flash_map *map, uint32_t superblock)
{
	return flash_planes_of(map, superblock) + (superblock >= map->slc_superblocks ? map->shape.parity_planes : 0);
}

/* Where the unit with this sector of a normal superblock is: its stripe consists of the units of its row on planes of the same number. */
struct flash_stripe_at {
	uint32_t row, column, sector; /* sector: within the unit */
	uint32_t plane;               /* column of the parity */
};
static inline struct flash_stripe_at flash_stripe_at(const struct flash_map *map, uint32_t superblock, uint32_t offset)
{
	const struct flash_stripe *stripe = &map->stripe[1];
	uint32_t unit = reciprocal_divide(offset, &stripe->by_unit), row = reciprocal_divide(unit, &stripe->by_planes);
	uint32_t column = unit - row * stripe->by_planes.divisor;

	return (struct flash_stripe_at){ row, column, offset - unit * stripe->by_unit.divisor,
					 map->column[map->superblock[superblock].column + column].plane };
}

/* The first sector of block i of it, those of the parity last. unit: sectors of a program. */
static inline ppa_t flash_block_of(const struct flash_map *map, uint32_t superblock, uint32_t i, uint32_t unit)
{
	uint32_t planes = flash_planes_of(map, superblock);

	return i < planes ? ppa_make(map, superblock, i * unit) : ppa_make(map, flash_parity_of(map, superblock), (i - planes) * unit);
}

#ifdef __cplusplus
}
#endif
#endif
