/* How long each phase of a flash operation takes. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "tsu/tsu_timing.h"

#include "lt/arena.h"

static void fill_transfers(struct tsu_timing *timing, uint64_t bytes_per_s)
{
	for (uint64_t sectors = 0; bytes_per_s && sectors <= TSU_TXN_SECTORS; sectors++)
		timing->transfer_ns[sectors] = (uint32_t)((sectors * HZ_SECTOR_BYTES * 1000000000ull + bytes_per_s / 2) / bytes_per_s);
}

void tsu_timing_init(struct tsu_timing *timing, struct arena *arena, const struct hz_device_config *cfg, const struct hz_shape *shape)
{
	timing->cfg = cfg;
	timing->page_type = arena_alloc(arena, cfg->pages_per_block, 1, "page types");
	for (uint32_t page = 0; page < cfg->pages_per_block; page++)
		timing->page_type[page] = (uint8_t)(page % cfg->cell);
	while (1u << timing->page_shift < shape->page_sectors)
		timing->page_shift++;
	timing->slc_blocks = cfg->slc_blocks_per_plane;
	timing->one_shot = cfg->program_pages > 1;
	timing->passes = cfg->program_passes > 1 ? cfg->program_passes : 1;
	fill_transfers(timing, cfg->channel_bytes_per_s);
}

uint64_t tsu_array_ns(const struct tsu_timing *timing, const struct tsu_txn *txn, uint32_t pass)
{
	const struct hz_device_config *cfg = timing->cfg;
	bool normal = tsu_is_normal(timing, txn);
	const struct hz_region_timing *region = normal ? &cfg->normal : &cfg->slc;
	unsigned type = normal ? timing->page_type[tsu_page_of(timing, txn)] : 0;
	uint64_t ns;

	if (txn->op == TSU_READ)
		ns = region->read_ns[type];
	else if (txn->op == TSU_PROGRAM)
		ns = region->program_ns[timing->one_shot ? pass : type];
	else
		ns = region->erase_ns;
	if (cfg->slow_die == txn->addr.die_index + 1u)
		ns = ns * cfg->slow_percent / 100;
	return ns;
}
