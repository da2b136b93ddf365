/* From a linear physical sector address to channel, die, plane, block and sector, without a division. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "nand/flash_addr.h"

#include "device_fields.h"
#include "lt/arena.h"
#include "namespaces.h"

/* floor(value / divisor) for value < 2^30 and divisor < 2^30: the multiplier's error stays below one part in 2^60 / divisor
 * (Granlund and Montgomery, Division by Invariant Integers using Multiplication, 1994). It is 2^63 / divisor, so that 1 has one, too. */
static struct reciprocal reciprocal_of(uint32_t divisor) { return (struct reciprocal){ ((uint64_t)1 << 63) / divisor + 1, divisor }; }

static uint32_t divide(uint32_t value, const struct reciprocal *by)
{
	return (uint32_t)(((unsigned __int128)((uint64_t)value << 1) * by->multiplier) >> 64);
}

/* Stripe column → flat plane: the scheme's letters name the digits of the column number, fastest first. */
static void place_columns(struct flash_map *map, const struct hz_device_config *cfg)
{
	const char *scheme = hz_plane_scheme_name(cfg->plane_scheme);

	for (uint32_t column = 0; column < map->shape.planes; column++) {
		uint32_t rest = column, channel = 0, chip = 0, die = 0, plane = 0;

		for (unsigned digit = 0; digit < 4; digit++) {
			uint32_t radix, *place;

			switch (scheme[digit]) {
			case 'C':
				radix = cfg->channels;
				place = &channel;
				break;
			case 'W':
				radix = cfg->chips_per_channel;
				place = &chip;
				break;
			case 'D':
				radix = cfg->dies_per_chip;
				place = &die;
				break;
			default:
				radix = cfg->planes_per_die;
				place = &plane;
				break;
			}
			*place = rest % radix;
			rest /= radix;
		}
		map->column_plane[column] =
			(uint16_t)(((channel * cfg->chips_per_channel + chip) * cfg->dies_per_chip + die) * cfg->planes_per_die + plane);
	}
}

static void describe_planes(struct flash_map *map, const struct hz_device_config *cfg)
{
	for (uint32_t index = 0; index < map->shape.planes; index++) {
		uint32_t die = index / cfg->planes_per_die;

		map->place[index] = (struct flash_addr){
			.plane_index = (uint16_t)index,
			.channel = (uint16_t)(die / (cfg->chips_per_channel * cfg->dies_per_chip)),
			.die_index = (uint16_t)die,
			.plane = (uint16_t)(index % cfg->planes_per_die),
		};
	}
}

static struct flash_stripe stripe_of(const struct flash_map *map, uint32_t first, uint32_t unit_sectors, uint32_t planes)
{
	return (struct flash_stripe){ first, first, reciprocal_of(unit_sectors), reciprocal_of(planes),
				      reciprocal_of(map->shape.planes / planes) };
}

void flash_map_init(struct flash_map *map, struct arena *arena, const struct hz_device_config *cfg)
{
	uint32_t planes, largest;

	hz_shape_of(cfg, &map->shape);
	planes = map->shape.planes;
	largest = map->shape.superblock_sectors;
	if (largest < map->shape.slc_superblock_sectors)
		largest = map->shape.slc_superblock_sectors;
	map->superblock_shift = 0;
	while (1ull << map->superblock_shift < largest)
		map->superblock_shift++;
	map->slc_superblocks = map->shape.slc_superblocks;
	map->stripe[0] = stripe_of(map, 0, cfg->slc_program_sectors, planes);
	map->stripe[1] = stripe_of(map, map->slc_superblocks, map->shape.unit_sectors, map->shape.superblock_planes);
	map->column_plane = arena_alloc(arena, planes, sizeof(*map->column_plane), "flash map columns");
	map->place = arena_alloc(arena, planes, sizeof(*map->place), "flash map planes");
	place_columns(map, cfg);
	describe_planes(map, cfg);
}

/* A plane of the window, as the device counts. */
static struct flash_addr place_in_device(struct flash_addr at, const struct hz_device_config *cfg, const struct hz_device_config *device,
					 const struct hz_window *window)
{
	uint32_t die = at.die_index % cfg->dies_per_chip, chip = at.die_index / cfg->dies_per_chip % cfg->chips_per_channel;

	at.channel = (uint16_t)(at.channel + window->channel.first);
	at.plane = (uint16_t)(at.plane + window->plane.first);
	at.die_index = (uint16_t)((at.channel * device->chips_per_channel + chip + window->chip.first) * device->dies_per_chip + die +
				  window->die.first);
	at.plane_index = (uint16_t)(at.die_index * device->planes_per_die + at.plane);
	return at;
}

void flash_map_init_window(struct flash_map *map, struct arena *arena, const struct hz_device_config *cfg,
			   const struct hz_device_config *device, const struct hz_window *window)
{
	flash_map_init(map, arena, cfg);
	for (uint32_t i = 0; i < map->shape.planes; i++)
		map->place[i] = place_in_device(map->place[i], cfg, device, window);
	map->stripe[0].block = window->slc.first;
	map->stripe[1].block = window->normal.first;
}

struct flash_addr flash_addr_of(const struct flash_map *map, ppa_t ppa)
{
	uint32_t superblock = ppa_superblock(map, ppa), offset = ppa_offset(map, ppa);
	const struct flash_stripe *stripe = &map->stripe[superblock >= map->slc_superblocks];
	uint32_t number = superblock - stripe->first, round = divide(number, &stripe->by_groups);
	uint32_t group = number - round * stripe->by_groups.divisor;
	uint32_t unit = divide(offset, &stripe->by_unit), planes = stripe->by_planes.divisor;
	uint32_t row = divide(unit, &stripe->by_planes);
	struct flash_addr addr = map->place[map->column_plane[group * planes + unit - row * planes]];

	addr.block = stripe->block + round;
	addr.sector = row * stripe->by_unit.divisor + (offset - unit * stripe->by_unit.divisor);
	return addr;
}
