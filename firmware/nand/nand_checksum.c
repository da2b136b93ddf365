/* Checksums. Of a sector: four lanes of xor, multiply and rotate over 64-bit words (lanes.h). Of records: the same in one lane. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "nand/nand_checksum.h"

#include "lt/bulk.h"

uint64_t nand_mix(uint64_t a, uint64_t b)
{
	uint64_t x = a + (b + 1) * HZ_LANE_MULTIPLIER;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static uint32_t folded(uint64_t lane) { return (uint32_t)(lane ^ lane >> 32); }

uint32_t nand_data_checksum(const void *data, uint64_t tuple, const struct hz_nand_oob *oob)
{
	struct hz_lanes sum = { { oob->sequence ^ tuple, oob->lpa, oob->generation, (uint64_t)oob->kind << 8 | oob->stream } };

	if (data)
		bulk_lanes(&sum, data, HZ_SECTOR_BYTES);
	return folded(nand_mix(nand_mix(sum.lane[0], sum.lane[1]), nand_mix(sum.lane[2], sum.lane[3])));
}

static uint32_t never_zero(uint32_t checksum) { return checksum ? checksum : 1; }

uint32_t nand_oob_checksum(const struct hz_nand_oob *oob, uint64_t number)
{
	uint64_t lane = hz_lane_step(~number,
				     (uint64_t)oob->sequence << 16 | (uint64_t)oob->kind << 12 | (uint64_t)oob->stream << 8 | oob->flags);

	lane = hz_lane_step(lane, (uint64_t)oob->lpa << 32 | oob->generation);
	return never_zero(folded(nand_mix(lane, oob->data_checksum)));
}

uint32_t nand_block_checksum(const struct hz_nand_block *block, uint32_t number)
{
	uint64_t lane = hz_lane_step(~(uint64_t)number, (uint64_t)block->erase_count << 32 | block->write_sector);

	return never_zero(folded(nand_mix(hz_lane_step(lane, block->flags), block->program_ns)));
}

static uint64_t over(uint64_t lane, const void *record, size_t bytes)
{
	const uint64_t *word = record;

	for (size_t i = 0; i < bytes / sizeof(*word); i++)
		lane = hz_lane_step(lane, word[i]);
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

uint32_t nand_namespaces_checksum(const struct hz_nand_namespaces *record)
{
	struct hz_nand_namespaces copy = *record;

	copy.checksum = 0;
	return never_zero(folded(nand_mix(over(0, &copy, sizeof(copy)), sizeof(copy))));
}

uint32_t nand_controller_checksum(const struct hz_nand_controller *record)
{
	struct hz_nand_controller copy = *record;

	copy.checksum = 0;
	return never_zero(folded(nand_mix(over(0, &copy, sizeof(copy)), sizeof(copy))));
}
