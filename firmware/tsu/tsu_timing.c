/* How long each phase of a flash operation takes. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "tsu/tsu_timing.h"

#include "lt/arena.h"
#include "nand/nand_checksum.h"
#include "spread.h"

static void fill_transfers(struct tsu_timing *timing, uint64_t bytes_per_s)
{
	for (uint64_t sectors = 0; bytes_per_s && sectors <= TSU_TXN_SECTORS; sectors++)
		timing->transfer_ns[sectors] = (uint32_t)((sectors * HZ_SECTOR_BYTES * 1000000000ull + bytes_per_s / 2) / bytes_per_s);
}

static bool any_sigma(const struct hz_region_sigma *sigma)
{
	uint32_t all = sigma->erase_ns;

	for (unsigned i = 0; i < HZ_PAGE_TYPES; i++)
		all |= sigma->read_ns[i] | sigma->program_ns[i];
	return all != 0;
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
	timing->spreads = any_sigma(&cfg->slc_sigma) || any_sigma(&cfg->normal_sigma);
}

/* Which of its times an operation takes: by page type, or by pass. */
static inline unsigned time_number(const struct tsu_timing *timing, const struct tsu_txn *txn, uint32_t pass, bool normal)
{
	if (txn->op == TSU_PROGRAM && timing->one_shot)
		return pass;
	return normal ? timing->page_type[tsu_page_of(timing, txn)] : 0;
}

static uint64_t configured_ns(const struct tsu_timing *timing, const struct tsu_txn *txn, uint32_t pass)
{
	const struct hz_device_config *cfg = timing->cfg;
	bool normal = tsu_is_normal(timing, txn);
	const struct hz_region_timing *region = normal ? &cfg->normal : &cfg->slc;
	unsigned type = time_number(timing, txn, pass, normal);
	uint64_t ns;

	if (txn->op == TSU_READ)
		ns = region->read_ns[type];
	else if (txn->op == TSU_PROGRAM)
		ns = region->program_ns[type];
	else
		ns = region->erase_ns;
	return ns;
}

static uint64_t sigma_ns(const struct tsu_timing *timing, const struct tsu_txn *txn, uint32_t pass)
{
	bool normal = tsu_is_normal(timing, txn);
	const struct hz_region_sigma *sigma = normal ? &timing->cfg->normal_sigma : &timing->cfg->slc_sigma;
	unsigned type = time_number(timing, txn, pass, normal);

	switch (txn->op) {
	case TSU_READ: return sigma->read_ns[type];
	case TSU_PROGRAM: return sigma->program_ns[type];
	default: return sigma->erase_ns;
	}
}

static uint64_t of_its_die(const struct hz_device_config *cfg, const struct tsu_txn *txn, uint64_t ns)
{
	return cfg->slow_die == txn->addr.die_index + 1u ? ns * cfg->slow_percent / 100 : ns;
}

uint64_t tsu_array_ns(const struct tsu_timing *timing, const struct tsu_txn *txn, uint32_t pass)
{
	return of_its_die(timing->cfg, txn, configured_ns(timing, txn, pass));
}

uint64_t tsu_drawn_ns(const struct tsu_timing *timing, const struct tsu_txn *txn, uint32_t pass, struct tsu_luck *luck)
{
	uint64_t mean_ns = configured_ns(timing, txn, pass), sigma = timing->spreads ? sigma_ns(timing, txn, pass) : 0;

	if (sigma)
		mean_ns = hz_spread_ns(mean_ns, sigma, nand_mix(luck->seed, luck->draws++));
	return of_its_die(timing->cfg, txn, mean_ns);
}

/* Other dice of the same seed have kinds below this one (nand_media.c). */
enum { DICE_SPREAD = 0x80 };

struct tsu_luck tsu_luck_of(const struct tsu_timing *timing, uint32_t die_index)
{
	return (struct tsu_luck){ .seed = nand_mix((uint64_t)timing->cfg->seed << 8 | DICE_SPREAD, die_index) };
}
