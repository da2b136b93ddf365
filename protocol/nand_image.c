/* Where the parts of a NAND image lie, computed by the same code on both sides. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "nand_image.h"

#include "geometry.h"

static uint64_t sector_aligned(uint64_t bytes) { return (bytes + HZ_SECTOR_BYTES - 1) & ~(uint64_t)(HZ_SECTOR_BYTES - 1); }

void hz_nand_layout_of(const struct hz_device_config *cfg, struct hz_nand_layout *layout)
{
	uint64_t planes = (uint64_t)cfg->channels * cfg->chips_per_channel * cfg->dies_per_chip * cfg->planes_per_die;
	uint64_t blocks = planes * cfg->blocks_per_plane;
	uint64_t sectors = blocks * cfg->pages_per_block * (cfg->page_bytes / HZ_SECTOR_BYTES), stored, end;

	layout->blocks_offset = HZ_NAND_HEADER_BYTES;
	layout->blocks_copy_offset = sector_aligned(layout->blocks_offset + blocks * sizeof(struct hz_nand_block));
	layout->oob_offset = sector_aligned(layout->blocks_copy_offset + blocks * sizeof(struct hz_nand_block));
	layout->oob_copy_offset = sector_aligned(layout->oob_offset + sectors * sizeof(struct hz_nand_oob));
	layout->data_offset = sector_aligned(layout->oob_copy_offset + sectors * sizeof(struct hz_nand_oob));
	layout->data_blocks = cfg->blocks_per_plane;
	layout->data_sectors = cfg->pages_per_block * (cfg->page_bytes / HZ_SECTOR_BYTES);
	if (cfg->media_mode == HZ_MEDIA_TIMING_ONLY) {
		layout->data_blocks = cfg->slc_blocks_per_plane;
		layout->data_sectors = cfg->pages_per_block / cfg->cell * (cfg->page_bytes / HZ_SECTOR_BYTES);
	}
	stored = planes * layout->data_blocks * layout->data_sectors;
	end = layout->data_offset + stored * HZ_SECTOR_BYTES;
	layout->tuples_offset = cfg->protection == HZ_PROTECTION_NONE ? 0 : end;
	end += layout->tuples_offset ? stored * HZ_TUPLE_BYTES : 0;
	layout->image_bytes = hz_power_of_two_from(end + HZ_NAND_HEADER_BYTES);
	layout->header_copy_offset = layout->image_bytes - HZ_NAND_HEADER_BYTES;
}

uint64_t hz_nand_image_bytes(const struct hz_device_config *cfg)
{
	struct hz_nand_layout layout;

	hz_nand_layout_of(cfg, &layout);
	return layout.image_bytes;
}
