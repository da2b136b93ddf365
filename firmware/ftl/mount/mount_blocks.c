/* Programmed units, current or erased superblocks, ages; and the walk over the SLC log. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "block/superblock.h"
#include "mount/mount_internal.h"
#include "sentence.h"
#include "slc/slc.h"
#include "tsu/tsu_mount.h"
#include "zone/tables.h"
#include "zone/zone.h"

/* Programmed units, and superblocks in use. */

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
	for (uint32_t c = 0; c < flash_blocks_of(ftl->map, superblock); c++) {
		const struct hz_nand_block *block = tsu_block_now(ftl->tsu, flash_block_of(ftl->map, superblock, c, unit));

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

bool mount_alive(const struct mount *mount, const struct zone *zone, const struct hz_oob *oob)
{
	if (zone_is_backing(zone))
		return oob->sequence > mount->ftl->table->record[zone->index].reset_sequence;
	return oob->generation == zone->generation;
}

bool mount_in_zones(const struct ftl *ftl, uint32_t lpa) { return lpa < ftl->all_zones * ftl->shape.zone_size_sectors; }

/* Reads and age of superblocks in use, from the block table. */

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
	uint32_t number = patch ? zone->patch : zone->superblock;
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

/* The walk over the SLC log. */

/* A page of a plane's block: sectors [first, end) of it are programmed. */
struct slc_page {
	uint32_t block, column, first, end;
};

static void read_page(struct mount *mount, ppa_t ppa, uint32_t sectors)
{
	if (mount->whole)
		tsu_read_now(mount->ftl->tsu, ppa, sectors, NULL, 0, mount->oob);
	else
		tsu_records_now(mount->ftl->tsu, ppa, sectors, true, mount->oob);
}

/* True: it is to be visited again. */
static bool visit_page(struct mount *mount, const struct slc_page *page, mount_visit_fn *visit)
{
	bool again = false;

	read_page(mount, slc_sector_at(mount->ftl, page->block, page->column, page->first), page->end - page->first);
	for (uint32_t s = page->first; s < page->end; s++)
		again |= visit(mount, &mount->oob[s - page->first], slc_sector_at(mount->ftl, page->block, page->column, s));
	return again;
}

/* True: some of its pages are to be visited again. */
static bool visit_block(struct mount *mount, uint32_t block, mount_visit_fn *visit, bool marked)
{
	const struct ftl *ftl = mount->ftl;
	const struct slc *slc = ftl->slc;
	uint32_t pages = ftl->shape.slc_pages_per_block;
	bool again = false;

	mount_look_at_blocks(mount, block, slc->unit_sectors);
	for (uint32_t p = 0; mount->used && p < pages; p++)
		for (uint32_t c = 0; c < slc->planes; c++) {
			uint32_t first = p * ftl->page_sectors,
				 end = min_u32(first + ftl->page_sectors, mount->rows[c] * slc->unit_sectors);
			size_t number = ((size_t)block * slc->planes + c) * pages + p;
			struct slc_page page = { block, c, first, end };

			if (first < end && (!marked || mount->again[number]))
				again |= mount->again[number] = visit_page(mount, &page, visit);
		}
	return again;
}

static bool visit_blocks(struct mount *mount, mount_visit_fn *visit, bool marked)
{
	bool again = false;

	for (uint32_t b = 0; b < mount->ftl->slc->blocks; b++)
		again |= visit_block(mount, b, visit, marked);
	return again;
}

void mount_visit_slc(struct mount *mount, mount_visit_fn *visit) { visit_blocks(mount, visit, false); }

bool mount_visit_again(struct mount *mount, mount_visit_fn *visit) { return visit_blocks(mount, visit, true); }
