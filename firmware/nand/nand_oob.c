/* OOB records. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "nand/nand_oob.h"

#include <string.h>

#include "nand/nand_checksum.h"

/* The checksum comes last: a killed writer leaves no good record over anything that is not there. */
static void write_copy(struct hz_nand_oob *place, const struct hz_nand_oob *record)
{
	place->checksum = 0;
	nand_crash_order();
	*place = *record;
	place->checksum = 0;
	nand_crash_order();
	place->checksum = record->checksum;
}

void nand_oob_store(struct nand_media *media, uint64_t number, const struct hz_nand_oob *record)
{
	struct hz_nand_oob whole = *record;

	whole.checksum = nand_oob_checksum(record, number);
	write_copy(&media->oob[number], &whole);
	write_copy(&media->oob_copy[number], &whole);
}

static bool record_good(const struct hz_nand_oob *record, uint64_t number)
{
	return record->checksum == nand_oob_checksum(record, number) && record->kind != HZ_OOB_ERASED && record->kind < HZ_OOB_KINDS;
}

bool nand_oob_load(struct nand_media *media, uint64_t number, struct hz_nand_oob *out)
{
	*out = media->oob[number];
	if (record_good(out, number))
		return true;
	*out = media->oob_copy[number];
	if (!record_good(out, number))
		return false;
	write_copy(&media->oob[number], out);
	lt_add(&media->repaired, 1);
	return true;
}

void nand_oob_erase(struct nand_media *media, uint64_t number, uint32_t count)
{
	memset(&media->oob[number], 0, count * sizeof(*media->oob));
	memset(&media->oob_copy[number], 0, count * sizeof(*media->oob));
}

void nand_oob_spoil(struct nand_media *media, uint64_t number)
{
	media->oob[number].checksum ^= UINT32_MAX;
	media->oob_copy[number].checksum ^= UINT32_MAX;
}
