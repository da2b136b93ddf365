// Damage to a NAND image in a test's memory: bits that flip, fade or are overwritten behind the
// firmware's back.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "nand/nand_block.h"
#include "nand/nand_checksum.h"
#include "nand/nand_header.h"
#include "nand/nand_oob.h"
#include "slc_log_size.h"

namespace rig {

// Number of a sector's OOB record; its data lie at data_of().
inline uint64_t record_of(const nand_media &media, flash_addr addr)
{
	return uint64_t(addr.plane_index * media.nand.cfg->blocks_per_plane + addr.block) * media.oob_per_block + addr.sector;
}
inline uint64_t count_records(const nand_media &media)
{
	return uint64_t(media.nand.map->shape.planes) * media.nand.cfg->blocks_per_plane * media.oob_per_block;
}
inline uint64_t stored_of(const nand_media &media, uint64_t record)
{
	const uint64_t block = record / media.oob_per_block, plane = block / media.nand.cfg->blocks_per_plane;
	const uint64_t in_plane = block % media.nand.cfg->blocks_per_plane, sector = record % media.oob_per_block;

	return (plane * media.data_blocks + in_plane) * media.data_sectors + sector;
}
inline uint8_t *data_of(const nand_media &media, uint64_t record) { return media.data + stored_of(media, record) * HZ_SECTOR_BYTES; }
inline uint64_t *tuple_of(const nand_media &media, uint64_t record) { return media.tuples + stored_of(media, record); }
// Data that ECC miscorrected: valid to the media. On a device with tuples.
inline void make_plausible(nand_media &media, uint64_t record)
{
	hz_nand_oob oob = media.oob[record];
	oob.data_checksum = nand_data_checksum(data_of(media, record), *tuple_of(media, record), &oob);
	nand_oob_store(&media, record, &oob);
}
// One bit of the data: the record still identifies the sector. (For data that were never stored:
// the record's own word for them.)
inline void flip_data(nand_media &media, uint64_t record, uint32_t bit = 12345)
{
	hz_nand_oob oob = media.oob[record];
	if (oob.flags & HZ_OOB_ZERO) {
		oob.data_checksum ^= 1;
		nand_oob_store(&media, record, &oob);
		return;
	}
	data_of(media, record)[bit / 8 % HZ_SECTOR_BYTES] ^= static_cast<uint8_t>(1 << bit % 8);
}
// Both copies of the record: nothing is known of the sector any more, as if its program had been torn.
inline void lose_record(nand_media &media, uint64_t record) { nand_oob_spoil(&media, record); }

// Records of the copies of the newest page 0 of the zone table.
inline std::vector<uint64_t> zone_table_copies(const nand_media &media)
{
	std::vector<uint64_t> copies;
	uint64_t newest = 0;
	for (uint64_t i = 0; i < count_records(media); i++) {
		const hz_nand_oob &oob = media.oob[i];
		if (oob.kind != HZ_OOB_ZONE_TABLE || oob.lpa != 0 || oob.sequence < newest)
			continue;
		if (oob.sequence > newest)
			copies.clear();
		newest = oob.sequence;
		copies.push_back(i);
	}
	return copies;
}
// A record of the zone table, as docs/reference/format.md has it.
struct ZoneRecord {
	uint32_t generation, state, finish, fence_offset;
	uint64_t fence_sequence, reset_sequence;
	uint32_t placed, written, superblock, patch;
	uint64_t data_before, folded;
};
static_assert(sizeof(ZoneRecord) * HZ_ZONE_RECORDS_PER_PAGE == size_t{HZ_SECTOR_BYTES});
inline ZoneRecord *zone_record_in(const nand_media &media, uint64_t copy, uint32_t zone)
{
	return reinterpret_cast<ZoneRecord *>(data_of(media, copy)) + zone;
}
// Another record of a zone in both copies, with the right checksum: as a firmware would have written it.
template <typename F> void forge_zone_record(nand_media &media, uint32_t zone, F change)
{
	for (uint64_t copy : zone_table_copies(media)) {
		hz_nand_oob oob = media.oob[copy];
		change(*zone_record_in(media, copy, zone));
		oob.data_checksum = nand_data_checksum(data_of(media, copy), 0, &oob);
		nand_oob_store(&media, copy, &oob);
	}
}

} // namespace rig
