/* Raw bit errors of a sector. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "nand/nand_errors.h"

#include "spread.h"

#define HOUR_NS 3600000000000ull
#define TRILLION 1000000000000ull
enum { SECTOR_BITS = HZ_SECTOR_BYTES * 8 };

static uint64_t capped_product(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) || product > TRILLION ? TRILLION : product;
}

uint64_t nand_error_rate(const struct hz_device_config *cfg, const struct hz_nand_block *block, uint64_t now_ns)
{
	uint64_t hours = block->program_ns && now_ns > block->program_ns ? (now_ns - block->program_ns) / HOUR_NS : 0;
	uint64_t stress = capped_product(cfg->rber_per_hour, hours) + capped_product(cfg->rber_per_read, block->read_count);
	uint64_t rate = cfg->rber_base + capped_product(cfg->rber_per_erase, block->erase_count) +
			capped_product(stress, block->erase_count + 1ull);

	return rate < TRILLION / 2 ? rate : TRILLION / 2;
}

static uint64_t square_root(uint64_t value)
{
	uint64_t root = 0;

	for (uint64_t bit = 1ull << 31; bit; bit >>= 1)
		if ((root | bit) * (root | bit) <= value)
			root |= bit;
	return root;
}

uint64_t nand_bit_errors(uint64_t rate, uint64_t dice)
{
	uint64_t mean = rate * SECTOR_BITS / (TRILLION / NAND_ERROR_FRACTION);
	int64_t errors = (int64_t)mean + (int64_t)square_root(mean * NAND_ERROR_FRACTION) * hz_bell(dice) / 209;

	return errors > 0 ? (uint64_t)errors : 0;
}

uint32_t nand_tries_for(const struct hz_device_config *cfg, uint64_t errors, bool *lost)
{
	uint64_t most = (uint64_t)cfg->ecc_bits * NAND_ERROR_FRACTION;
	uint32_t tries = 0;

	for (; errors > most && tries < cfg->read_retries; tries++)
		errors = cfg->retry_percent ? errors * cfg->retry_percent / 100 : errors;
	*lost = errors > most;
	return tries;
}
