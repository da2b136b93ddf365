/* Reads and age of what zones hold, from the block table. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "mount/mount_age.h"

#include "block/superblock.h"
#include "tsu/tsu_mount.h"
#include "zone/zone.h"

static const uint64_t hour_ns = 3600000000000ull;

struct age {
	uint64_t reads, oldest_ns, newest_ns; /* of its first programs; oldest: UINT64_MAX: nothing is programmed */
};

static struct age age_of(struct ftl *ftl, uint32_t superblock)
{
	uint32_t slc = superblock < ftl->superblocks->first, unit = slc ? ftl->cfg->slc_program_sectors : ftl->unit_sectors;
	struct age age = { .oldest_ns = UINT64_MAX };

	for (uint32_t c = 0; c < flash_planes_of(ftl->map, superblock); c++) {
		const struct hz_nand_block *block = tsu_block_now(ftl->tsu, ppa_make(ftl->map, superblock, c * unit));

		age.reads += block->read_count;
		if (block->program_ns && block->program_ns < age.oldest_ns)
			age.oldest_ns = block->program_ns;
		if (block->program_ns > age.newest_ns)
			age.newest_ns = block->program_ns;
	}
	return age;
}

/* As the media do: the clock of the image goes on from the last program. */
static uint64_t now_of(struct ftl *ftl)
{
	uint32_t superblocks = ftl->shape.slc_superblocks + ftl->shape.normal_superblocks;
	uint64_t newest_ns = 0;

	for (uint32_t s = 0; s < superblocks; s++) {
		struct age age = age_of(ftl, s);

		newest_ns = age.newest_ns > newest_ns ? age.newest_ns : newest_ns;
	}
	return newest_ns + ftl->cfg->shelf_hours * hour_ns;
}

static void look_at_part(struct ftl *ftl, struct zone *zone, uint64_t now_ns, bool patch)
{
	uint32_t number = patch ? zone->ext.patch : zone->ext.superblock;
	const struct superblocks *sbs = patch ? ftl->patches : ftl->superblocks;
	uint64_t most_ns = ftl->cfg->refresh_hours * hour_ns;
	struct age age;

	if (number == SUPERBLOCK_NONE)
		return;
	age = age_of(ftl, number);
	lt_preset(&sbs->info[number - sbs->first].reads, age.reads);
	if (ftl->cfg->refresh_reads && age.reads >= ftl->cfg->refresh_reads)
		refresh_due(zone, patch, REFRESH_READS);
	else if (most_ns && age.oldest_ns < now_ns && now_ns - age.oldest_ns >= most_ns)
		refresh_due(zone, patch, REFRESH_AGE);
}

const char *mount_note_due(struct mount *mount)
{
	struct ftl *ftl = mount->ftl;
	uint64_t now_ns;

	if (!ftl->cfg->refresh_reads && !ftl->cfg->refresh_hours)
		return NULL;
	now_ns = now_of(ftl);
	for (uint32_t z = 0; z < ftl->all_zones; z++) {
		look_at_part(ftl, &ftl->zones[z], now_ns, false);
		look_at_part(ftl, &ftl->zones[z], now_ns, true);
	}
	refresh_start(ftl);
	return NULL;
}
