// Damage to a NAND image in a test's memory: what flips, fades or is overwritten while nobody looks.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "nand/nand_block.h"
#include "nand/nand_checksum.h"
#include "nand/nand_header.h"
#include "nand/nand_oob.h"

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
// What ECC corrected to something else than was written: as good as before, as far as the media know. On a device with tuples.
inline void make_plausible(nand_media &media, uint64_t record)
{
	hz_nand_oob oob = media.oob[record];
	oob.data_checksum = nand_data_checksum(data_of(media, record), *tuple_of(media, record), &oob);
	nand_oob_store(&media, record, &oob);
}
// One bit of the data: the record still says what the sector was. (Data that were never stored: the record's own word for them.)
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

} // namespace rig
