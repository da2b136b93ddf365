/* Flash and energy for protected data. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "dump_size.h"

#include "spread.h"

/* A zone's data end anywhere: its last program may hold one sector of it. */
static uint64_t programs_for(const struct hz_device_config *cfg, uint64_t sectors)
{
	uint64_t unit = cfg->slc_program_sectors;

	return (sectors + unit - 1) / unit + cfg->write_buffers + cfg->plp_failures;
}

/* With its spread: the capacitors must last however slow each program happens to be. */
static uint64_t slowest(uint32_t ns, uint32_t sigma_ns) { return sigma_ns ? ns + hz_spread_reach_ns(ns, sigma_ns) : ns; }

static uint64_t longest(const uint32_t *ns, const uint32_t *sigma_ns, unsigned count)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < count; i++)
		if (slowest(ns[i], sigma_ns[i]) > most)
			most = slowest(ns[i], sigma_ns[i]);
	return most;
}

static uint64_t transfer_ns(const struct hz_device_config *cfg, uint64_t sectors)
{
	return sectors * HZ_SECTOR_BYTES * 1000000000ull / cfg->channel_bytes_per_s + 1 + cfg->command_ns;
}

/* Time and energy of one program of the kept region, of a slow die too. */
struct dump_cost {
	uint64_t program_ns, transfer_ns, busy_ns; /* busy: the longest running operation of a die */
};

static struct dump_cost cost_of(const struct hz_device_config *cfg, const struct hz_shape *shape)
{
	uint64_t percent = cfg->slow_die && cfg->slow_percent > 100 ? cfg->slow_percent : 100;
	uint64_t slc = slowest(cfg->slc.program_ns[0], cfg->slc_sigma.program_ns[0]);
	uint64_t normal = longest(cfg->normal.program_ns, cfg->normal_sigma.program_ns, HZ_PAGE_TYPES), unit = cfg->slc_program_sectors;

	if (cfg->plp_flush == HZ_PLP_IN_PLACE) { /* a whole unit in all passes, which takes longer than one SLC program */
		unit = shape->unit_sectors > unit ? shape->unit_sectors : unit;
		slc = slc > normal * cfg->program_passes ? slc : normal * cfg->program_passes;
	}
	return (struct dump_cost){
		.program_ns = slc * percent / 100,
		.transfer_ns = transfer_ns(cfg, unit) * (cfg->plp_flush == HZ_PLP_IN_PLACE ? cfg->program_passes : 1),
		.busy_ns = (slc > normal ? slc : normal) * percent / 100,
	};
}

/* Balanced: the rows of all planes, each after the transfers of its channel. In place: all of it one after another, on one die. */
uint64_t hz_dump_energy_pj(const struct hz_device_config *cfg, const struct hz_shape *shape, uint32_t sectors)
{
	struct dump_cost cost = cost_of(cfg, shape);
	uint64_t programs = programs_for(cfg, sectors), in_row = cfg->plp_flush == HZ_PLP_IN_PLACE ? 1 : shape->planes;
	uint64_t rows = (programs + in_row - 1) / in_row + 1, transfers = in_row > 1 ? shape->planes / cfg->channels : 1;
	uint64_t time_ns = cost.busy_ns + rows * (cost.program_ns + transfers * cost.transfer_ns);

	return time_ns * cfg->plp_controller_mw + shape->planes * cost.busy_ns * cfg->plp_program_mw +
	       programs * (cost.program_ns * cfg->plp_program_mw + cost.transfer_ns * cfg->plp_transfer_mw);
}

uint32_t hz_dump_sectors(const struct hz_device_config *cfg, const struct hz_shape *shape)
{
	uint32_t least = 0, most = (uint32_t)(cfg->plp_bytes / HZ_SECTOR_BYTES);

	if (!cfg->plp_energy_uj || hz_dump_energy_pj(cfg, shape, most) <= cfg->plp_energy_uj * 1000000ull)
		return most;
	while (least + 1 < most) { /* `most` are too many; `least` are known to fit, unless 0 */
		uint32_t middle = least + (most - least) / 2;

		if (hz_dump_energy_pj(cfg, shape, middle) <= cfg->plp_energy_uj * 1000000ull)
			least = middle;
		else
			most = middle;
	}
	return least;
}

/* Each plane has a block more than its share: dies that become free late get fewer programs than others, and a failing block takes none. */
uint32_t hz_dump_superblocks(const struct hz_device_config *cfg, const struct hz_shape *shape)
{
	uint64_t sectors = programs_for(cfg, hz_dump_sectors(cfg, shape)) * cfg->slc_program_sectors;

	if (!cfg->plp_bytes)
		return 0;
	return (uint32_t)((sectors + shape->slc_superblock_sectors - 1) / shape->slc_superblock_sectors) + 1;
}
