/* Checksums. Of a sector: four lanes of xor, rotate, multiply over 64-bit words. Any changed word changes its lane for certain, since each
 * step is a bijection of the lane. Of records: the same in one lane. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "nand/nand_checksum.h"

#define MULTIPLIER 0x9e3779b97f4a7c15ull /* 2^64 / golden ratio, odd */

static inline uint64_t step(uint64_t lane, uint64_t word)
{
	lane = (lane ^ word) * MULTIPLIER;
	return lane << 29 | lane >> 35;
}

uint64_t nand_mix(uint64_t a, uint64_t b)
{
	uint64_t x = a + (b + 1) * MULTIPLIER;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static uint32_t folded(uint64_t lane) { return (uint32_t)(lane ^ lane >> 32); }

uint32_t nand_data_checksum(const void *data, const struct hz_nand_oob *oob)
{
	uint64_t a = oob->sequence, b = oob->lpa, c = oob->generation, d = (uint64_t)oob->kind << 8 | oob->stream;
	const uint64_t *word = data;

	for (unsigned i = 0; data && i < HZ_SECTOR_BYTES / sizeof(*word); i += 4) {
		a = step(a, word[i]);
		b = step(b, word[i + 1]);
		c = step(c, word[i + 2]);
		d = step(d, word[i + 3]);
	}
	return folded(nand_mix(nand_mix(a, b), nand_mix(c, d)));
}

static uint32_t never_zero(uint32_t checksum) { return checksum ? checksum : 1; }

uint32_t nand_oob_checksum(const struct hz_nand_oob *oob, uint64_t number)
{
	uint64_t lane = step(~number, (uint64_t)oob->sequence << 16 | (uint64_t)oob->kind << 12 | (uint64_t)oob->stream << 8 | oob->flags);

	lane = step(lane, (uint64_t)oob->lpa << 32 | oob->generation);
	return never_zero(folded(nand_mix(lane, oob->data_checksum)));
}

uint32_t nand_block_checksum(const struct hz_nand_block *block, uint32_t number)
{
	uint64_t lane = step(~(uint64_t)number, (uint64_t)block->erase_count << 32 | block->write_sector);

	return never_zero(folded(nand_mix(step(lane, block->flags), block->program_ns)));
}

static uint64_t over(uint64_t lane, const void *record, size_t bytes)
{
	const uint64_t *word = record;

	for (size_t i = 0; i < bytes / sizeof(*word); i++)
		lane = step(lane, word[i]);
	return lane;
}

uint32_t nand_header_checksum(const struct hz_nand_header *header)
{
	struct hz_nand_header record = *header;
	uint64_t lane;

	record.checksum = 0;
	lane = over(0, &record, sizeof(record));
	lane = over(lane, (const uint8_t *)header + HZ_NAND_CONFIG_OFFSET, HZ_NAND_HEADER_BYTES - HZ_NAND_CONFIG_OFFSET);
	return folded(nand_mix(lane, sizeof(record)));
}
