/* Tables from a linear physical sector address to channel, die, plane, block and sector, without a division. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "nand/flash_addr.h"

#include "device_fields.h"
#include "lt/arena.h"
#include "namespaces.h"

/* floor(value / divisor) for value < 2^30 and divisor < 2^30: the multiplier's error stays below one part in 2^60 / divisor
 * (Granlund and Montgomery, Division by Invariant Integers using Multiplication, 1994). It is 2^63 / divisor, so that 1 has one, too. */
struct reciprocal reciprocal_of(uint32_t divisor) { return (struct reciprocal){ ((uint64_t)1 << 63) / divisor + 1, divisor }; }

struct flash_addr flash_plane(const struct hz_device_config *cfg, uint32_t index)
{
	uint32_t die = index / cfg->planes_per_die;

	return (struct flash_addr){
		.plane_index = (uint16_t)index,
		.channel = (uint16_t)(die / (cfg->chips_per_channel * cfg->dies_per_chip)),
		.die_index = (uint16_t)die,
		.plane = (uint16_t)(index % cfg->planes_per_die),
	};
}

/* The scheme's letters name the digits of the column number, fastest first. */
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
		map->column[column] = flash_plane(
			cfg, ((channel * cfg->chips_per_channel + chip) * cfg->dies_per_chip + die) * cfg->planes_per_die + plane);
	}
}

/* Superblocks of a kind, from `first` on, span `planes` columns each; groups of columns take turns. */
static void place_superblocks(struct flash_map *map, uint16_t stripe, uint32_t first, uint32_t count, uint32_t planes)
{
	uint32_t groups = map->shape.planes / planes;

	for (uint32_t i = 0; i < count; i++)
		map->superblock[first + i] = (struct flash_superblock){ first + i / groups, (uint16_t)(i % groups * planes), stripe };
}

static struct flash_stripe stripe_of(uint32_t unit_sectors, uint32_t planes)
{
	return (struct flash_stripe){ reciprocal_of(unit_sectors), reciprocal_of(planes) };
}

/* The columns of one die last: by plane, as the scheme has them in each of its planes' turns. The others keep their order. */
static void place_columns_around(struct flash_map *map, const struct hz_device_config *cfg, uint32_t die)
{
	uint32_t planes = map->shape.planes, data = 0;
	struct flash_addr *column = &map->column[(die + 1) * planes];

	for (uint32_t i = 0; i < planes; i++) {
		const struct flash_addr *from = &map->column[i];
		bool parity = from->die_index == die;

		column[parity ? planes - cfg->planes_per_die + from->plane : data] = *from;
		data += !parity;
	}
}

/* Parity takes turns on the dies. */
static void place_parity(struct flash_map *map, const struct hz_device_config *cfg)
{
	uint32_t planes = map->shape.planes, dies = planes / cfg->planes_per_die, count = map->shape.normal_superblocks;

	for (uint32_t die = 0; die < dies; die++)
		place_columns_around(map, cfg, die);
	map->stripe[2] = stripe_of(map->shape.unit_sectors, cfg->planes_per_die);
	for (uint32_t i = 0; i < count; i++) {
		struct flash_superblock *data = &map->superblock[map->slc_superblocks + i];

		data->column = (uint16_t)((i % dies + 1) * planes);
		data[count] = (struct flash_superblock){ data->block, (uint16_t)(data->column + map->shape.superblock_planes), 2 };
	}
}

void flash_map_init(struct flash_map *map, struct arena *arena, const struct hz_device_config *cfg)
{
	uint32_t planes, largest, normal;

	hz_shape_of(cfg, &map->shape);
	planes = map->shape.planes;
	largest = map->shape.superblock_sectors;
	if (largest < map->shape.slc_superblock_sectors)
		largest = map->shape.slc_superblock_sectors;
	map->superblock_shift = 0;
	while (1ull << map->superblock_shift < largest)
		map->superblock_shift++;
	map->slc_superblocks = map->shape.slc_superblocks;
	map->stripe[0] = stripe_of(cfg->slc_program_sectors, planes);
	map->stripe[1] = stripe_of(map->shape.unit_sectors, map->shape.superblock_planes);
	map->columns = cfg->rain ? planes * (planes / cfg->planes_per_die + 1) : planes;
	map->column = arena_alloc(arena, map->columns, sizeof(*map->column), "flash map columns");
	normal = map->shape.normal_superblocks;
	map->superblock = arena_alloc_table(arena, map->slc_superblocks + (uint64_t)normal * (cfg->rain ? 2 : 1), sizeof(*map->superblock),
					    "flash map superblocks");
	place_columns(map, cfg);
	place_superblocks(map, 0, 0, map->slc_superblocks, planes);
	place_superblocks(map, 1, map->slc_superblocks, normal, map->shape.superblock_planes + map->shape.parity_planes);
	if (cfg->rain)
		place_parity(map, cfg);
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
	for (uint32_t i = 0; i < map->columns; i++)
		map->column[i] = place_in_device(map->column[i], cfg, device, window);
	for (uint32_t i = 0; i < map->slc_superblocks; i++)
		map->superblock[i].block += window->slc.first;
	for (uint32_t i = 0; i < map->shape.normal_superblocks * (cfg->rain ? 2 : 1); i++)
		map->superblock[map->slc_superblocks + i].block += window->normal.first - map->slc_superblocks;
}
