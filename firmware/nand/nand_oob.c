/* OOB records: of sectors, and of memory kept alive by capacitors. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "nand/nand_oob.h"

#include <string.h>

#include "lt/bulk.h"
#include "nand/nand_checksum.h"

/* The checksum comes last: a killed writer leaves no good record over missing data. */
static void write_copy(struct hz_nand_oob *place, const struct hz_nand_oob *record)
{
	place->checksum = 0;
	nand_crash_order();
	*place = *record;
	place->checksum = 0;
	nand_crash_order();
	place->checksum = record->checksum;
}

HZ_FROZEN void nand_oob_store(struct nand_media *media, uint64_t number, const struct hz_nand_oob *record)
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

HZ_FROZEN bool nand_oob_load(struct nand_media *media, uint64_t number, struct hz_nand_oob *out)
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

/* --- memory kept alive by capacitors --- */

/* Numbers of no sector. */
static uint64_t kept_number(uint32_t place) { return ~(uint64_t)place; }

static uint8_t *kept_memory(const struct nand_media *media, uint32_t place)
{
	return media->kept.data + (size_t)place * media->kept.stride;
}

static uint32_t kept_checksum(const struct nand_media *media, const uint8_t *sector, const struct hz_nand_oob *record)
{
	uint64_t tuple = 0;

	if (media->tuples)
		memcpy(&tuple, sector + HZ_SECTOR_BYTES, sizeof(tuple));
	return nand_data_checksum(sector, tuple, record);
}

void nand_keep(struct nand *nand, uint32_t place, const uint8_t *sector, const struct hz_oob *oob)
{
	struct nand_media *media = (struct nand_media *)nand;
	struct hz_nand_oob *there = &media->kept.record[place], record;

	if (!sector) {
		there->checksum = 0;
		return;
	}
	there->checksum = 0;
	nand_crash_order();
	bulk_copy(kept_memory(media, place), sector, media->kept.stride);
	record = (struct hz_nand_oob){ .sequence = oob->sequence,
				       .kind = oob->kind,
				       .stream = oob->stream,
				       .lpa = oob->lpa,
				       .generation = oob->generation,
				       .flags = oob->flags & HZ_OOB_MARKED };
	record.data_checksum = kept_checksum(media, sector, &record);
	record.checksum = nand_oob_checksum(&record, kept_number(place));
	write_copy(there, &record);
}

uint8_t *nand_kept(struct nand *nand, uint32_t place, struct hz_oob *oob)
{
	struct nand_media *media = (struct nand_media *)nand;
	const struct hz_nand_oob *record = &media->kept.record[place];
	uint8_t *sector = kept_memory(media, place);

	if (!record->checksum || !record_good(record, kept_number(place)) || kept_checksum(media, sector, record) != record->data_checksum)
		return NULL;
	*oob = (struct hz_oob){ .sequence = record->sequence,
				.lpa = record->lpa,
				.generation = record->generation,
				.kind = record->kind,
				.stream = record->stream,
				.flags = record->flags };
	return sector;
}

/* Unwritten parts stay unwritten: the file is sparse. */
void nand_keep_nothing(struct nand *nand)
{
	struct nand_media *media = (struct nand_media *)nand;

	for (uint32_t place = 0; place < media->kept.places; place++)
		if (media->kept.record[place].checksum)
			media->kept.record[place].checksum = 0;
}
