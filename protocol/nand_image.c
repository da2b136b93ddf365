/* Offsets of the parts of a NAND image, computed by the same code on both sides. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "nand_image.h"

#include "geometry.h"

static uint64_t sector_aligned(uint64_t bytes) { return (bytes + HZ_SECTOR_BYTES - 1) & ~(uint64_t)(HZ_SECTOR_BYTES - 1); }

uint32_t hz_nand_version_of(const struct hz_device_config *cfg)
{
	return HZ_NAND_VERSION + (cfg->protection == HZ_PROTECTION_NONE ? 0 : HZ_NAND_VERSION_TUPLES) +
	       (cfg->plp_bytes ? HZ_NAND_VERSION_KEPT : 0);
}

/* Behind `end`: a place for each 4 KiB of the memory shared by write buffers, and one for the remainder. Returns the end. */
static uint64_t kept_layout(const struct hz_device_config *cfg, struct hz_nand_layout *layout, uint64_t end)
{
	uint64_t bytes = cfg->buffer_pool_bytes / HZ_SECTOR_BYTES * hz_sector_memory(cfg);

	layout->kept_places = 0;
	layout->kept_offset = layout->kept_data_offset = 0;
	if (!cfg->plp_bytes)
		return end;
	layout->kept_places = (uint32_t)(bytes / HZ_SECTOR_BYTES) + 1;
	layout->kept_offset = sector_aligned(end);
	layout->kept_data_offset = sector_aligned(layout->kept_offset + layout->kept_places * sizeof(struct hz_nand_oob));
	return layout->kept_data_offset + (uint64_t)layout->kept_places * hz_sector_memory(cfg);
}

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
	end = kept_layout(cfg, layout, end);
	layout->image_bytes = hz_power_of_two_from(end + HZ_NAND_HEADER_BYTES);
	layout->header_copy_offset = layout->image_bytes - HZ_NAND_HEADER_BYTES;
}

uint64_t hz_nand_image_bytes(const struct hz_device_config *cfg)
{
	struct hz_nand_layout layout;

	hz_nand_layout_of(cfg, &layout);
	return layout.image_bytes;
}
