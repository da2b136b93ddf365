/* What is programmed where, and whether it lives. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "mount/mount_blocks.h"

#include "sentence.h"
#include "tsu/tsu_mount.h"
#include "zone/zone_table.h"

struct part mount_body(const struct ftl *ftl, uint32_t superblock) { return (struct part){ superblock, 0, ftl->unit_sectors, false }; }

struct part mount_patch(const struct ftl *ftl, uint32_t superblock)
{
	return (struct part){ superblock, 0, ftl->cfg->slc_program_sectors, true };
}

void mount_look_at_blocks(struct mount *mount, uint32_t superblock, uint32_t unit)
{
	struct ftl *ftl = mount->ftl;

	mount->planes = flash_planes_of(ftl->map, superblock);
	mount->erasing = mount->bad = mount->used = false;
	mount->erases = 0;
	for (uint32_t c = 0; c < mount->planes; c++) {
		const struct hz_nand_block *block = tsu_block_now(ftl->tsu, ppa_make(ftl->map, superblock, c * unit));

		mount->rows[c] = block->write_sector / unit;
		mount->done[c] = min_u32(block->ended, block->write_sector) / unit;
		mount->used |= block->write_sector != 0;
		mount->erases = block->erase_count > mount->erases ? block->erase_count : mount->erases;
		mount->erasing |= block->flags & HZ_BLOCK_ERASING;
		mount->bad |= (block->flags & (HZ_BLOCK_BAD_FACTORY | HZ_BLOCK_BAD_GROWN)) != 0;
	}
}

uint32_t mount_rows_for(const struct mount *mount, const struct part *part, uint32_t sectors, uint32_t column)
{
	uint32_t planes = mount->planes, units = (sectors + part->unit - 1) / part->unit;

	return units / planes + (column < units % planes);
}

const char *mount_damaged(struct mount *mount, const char *what, uint32_t number, const char *why)
{
	struct hz_sentence out = { mount->ftl->text, sizeof(mount->ftl->text), 0 };

	hz_say(&out, "The NAND image is damaged: ");
	hz_say(&out, what);
	if (number != UINT32_MAX) {
		hz_say(&out, " ");
		hz_say_number(&out, number);
	}
	hz_say(&out, ": ");
	hz_say(&out, why);
	hz_say(&out, "; hartzone image check tells what can still be read.");
	return mount->ftl->text;
}

bool mount_alive(const struct mount *mount, const struct extent *ext, const struct hz_oob *oob)
{
	if (extent_is_backing(ext))
		return oob->sequence > mount->ftl->table->record[ext->index].reset_sequence;
	return oob->generation == ext->generation;
}

bool mount_in_zones(const struct ftl *ftl, uint32_t lpa) { return lpa < ftl->all_zones * ftl->shape.zone_size_sectors; }
