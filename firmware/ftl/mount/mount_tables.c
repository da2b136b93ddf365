/* Mount: the newest page of each part of the zone table, and whether its records can be true. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "mount/mount_internal.h"

#include "map/l2p.h"
#include "places/trims.h"
#include "slc/slc.h"
#include "tsu/tsu_mount.h"
#include "tsu/tsu_image.h"
#include "zone/tables.h"
#include "zone/zone.h"

enum { SANE_SEQUENCE_BITS = HZ_OOB_SEQUENCE_BITS - 1 }; /* above any number that will ever be written */

/* --- finding --- */

static void mount_note_age(struct mount *mount, const struct hz_oob *oob, ppa_t ppa)
{
	struct slc_block *block = slc_block_of(mount->ftl, ppa);

	if (mount->ftl->mount_sequence < oob->sequence)
		mount->ftl->mount_sequence = oob->sequence;
	if (block->youngest < oob->sequence)
		block->youngest = block->opened = oob->sequence;
}

/* Keep two readable copies of the highest number, with rain on two dies; the collector, or table_page_spread, may have left more. */
static void note_copy(const struct ftl *ftl, struct table_page *page, struct table_found *found, uint64_t sequence, ppa_t ppa)
{
	if (sequence > found->readable) {
		found->readable = sequence;
		page->ppa[0] = ppa;
		page->ppa[1] = PPA_NONE;
	} else if (sequence == found->readable && (page->ppa[1] == PPA_NONE || zone_table_on_one_die(ftl, page))) {
		page->ppa[1] = ppa;
	}
}

static void note_zone_table(struct mount *mount, const struct hz_oob *oob, ppa_t ppa)
{
	struct zone_table *table = mount->ftl->table;

	if (oob->lpa >= table->pages || oob->stream != ZONE_TABLE_VERSION)
		return;
	if (mount->table[oob->lpa].known < oob->sequence)
		mount->table[oob->lpa].known = oob->sequence;
	if (table->number < oob->generation)
		table->number = oob->generation;
	if (!(oob->flags & HZ_OOB_LOST))
		note_copy(mount->ftl, &table->page[oob->lpa], &mount->table[oob->lpa], oob->sequence, ppa);
}

/* Staged sectors of zones wait until their records are known. */
static bool visit_first(struct mount *mount, const struct hz_oob *oob, ppa_t ppa)
{
	struct ftl *ftl = mount->ftl;

	if (oob->kind == HZ_OOB_ERASED && !mount->erasing)
		mount->slc_lost += flash_addr_of(ftl->map, ppa).sector < tsu_block_now(ftl->tsu, ppa)->ended;
	if (oob->kind == HZ_OOB_ERASED || oob->kind == HZ_OOB_PAD)
		return false;
	mount_note_age(mount, oob, ppa);
	switch (oob->kind) {
	case HZ_OOB_ZONE_TABLE: note_zone_table(mount, oob, ppa); break;
	case HZ_OOB_MAP:
	case HZ_OOB_CHECKPOINT:
	case HZ_OOB_DIRECTORY: l2p_found(ftl, oob, ppa); break;
	case HZ_OOB_TRIM: trims_found(ftl, oob, ppa); break;
	}
	return oob->kind == HZ_OOB_DATA || oob->kind == HZ_OOB_UPDATE || oob->kind == HZ_OOB_WINDOW;
}

static bool copy_readable(struct ftl *ftl, ppa_t ppa)
{
	struct hz_oob oob;

	return ppa == PPA_NONE || tsu_read_now(ftl->tsu, ppa, 1, NULL, 0, &oob) == NAND_OK;
}

static bool all_readable(struct ftl *ftl)
{
	for (uint32_t i = 0; i < ftl->table->pages * ZONE_TABLE_COPIES; i++)
		if (!copy_readable(ftl, ftl->table->page[i / ZONE_TABLE_COPIES].ppa[i % ZONE_TABLE_COPIES]))
			return false;
	for (uint32_t i = 0; i < ftl->shape.trim_pages; i++)
		if (!copy_readable(ftl, ftl->trims->page[i].ppa))
			return false;
	return true;
}

static void forget_found(struct mount *mount)
{
	struct ftl *ftl = mount->ftl;

	mount->slc_lost = 0;
	memset(mount->table, 0, ftl->table->pages * sizeof(*mount->table));
	for (uint32_t i = 0; i < ftl->table->pages * ZONE_TABLE_COPIES; i++)
		ftl->table->page[i / ZONE_TABLE_COPIES].ppa[i % ZONE_TABLE_COPIES] = PPA_NONE;
	for (uint32_t i = 0; i < ftl->shape.trim_pages; i++)
		ftl->trims->page[i].ppa = PPA_NONE;
}

/* The newest pages are found by records alone. If one of these has lost its data, another copy may be the best: then all are read. */
const char *mount_find_tables(struct mount *mount)
{
	mount->ftl->table->number = tsu_clean_mark(mount->ftl->tsu).record;
	mount_visit_slc(mount, visit_first);
	mount->whole = !all_readable(mount->ftl);
	if (mount->whole) {
		forget_found(mount);
		mount_visit_slc(mount, visit_first);
	}
	if (mount->ftl->mount_sequence >> SANE_SEQUENCE_BITS)
		return mount_damaged(mount, "SLC log", UINT32_MAX,
				     "a sector claims to have been written after all others that ever will be");
	return NULL;
}

/* --- loading --- */

/* False for values that no firmware records: a bad state, more sectors than a zone has, a number beyond all that will ever be written. */
static bool record_possible(const struct zone *zone, const struct zone_record *record)
{
	return record->state <= ZONE_RECORD_OFFLINE && record->placed <= record->wp && record->wp <= zone->capacity &&
	       record->finish <= zone->capacity &&
	       !((record->fence_sequence | record->reset_sequence | record->folded) >> SANE_SEQUENCE_BITS);
}

/* The record is not trusted, so the zone's data are unknown: it is OFFLINE. Sectors of a backing zone have their LBAs in OOB records,
 * and the newest of an LBA counts. */
static void write_off(struct zone_record *record, bool backing)
{
	bool known = !(record->reset_sequence >> SANE_SEQUENCE_BITS);

	*record = (struct zone_record){ .generation = record->generation,
					.state = backing ? ZONE_RECORD_READ_ONLY : ZONE_RECORD_OFFLINE,
					.reset_sequence = backing && known ? record->reset_sequence : 0,
					.superblock = SUPERBLOCK_NONE,
					.patch = SUPERBLOCK_NONE,
					.data_before = UINT64_MAX };
}

/* Its copies by readable first. A page must be as of the last record of all zones while nothing has changed since; and once there was
 * such a record there is every page. */
static const char *load_table_page(struct mount *mount, uint32_t index)
{
	struct ftl *ftl = mount->ftl;
	struct table_page *page = &ftl->table->page[index];
	struct table_found *found = &mount->table[index];
	struct sgl image = { &page->image, 0, HZ_SECTOR_BYTES };
	struct hz_oob oob = { .kind = HZ_OOB_ERASED };

	if (found->known > found->readable)
		return mount_damaged(mount, "zone table, page", index, "neither of its two copies can be read");
	if (page->ppa[0] != PPA_NONE && tsu_read_now(ftl->tsu, page->ppa[0], 1, &image, 0, &oob) != NAND_OK)
		return mount_damaged(mount, "zone table, page", index, "it could be read before, but not again");
	if (oob.kind == HZ_OOB_ERASED && tsu_clean_mark(ftl->tsu).record)
		return mount_damaged(mount, "zone table, page", index, "it cannot be found");
	if (oob.kind != HZ_OOB_ERASED && mount->clean && oob.generation != tsu_clean_mark(ftl->tsu).record)
		return mount_damaged(mount, "zone table, page", index, "what was recorded when the device was shut down cannot be found");
	if (oob.kind != HZ_OOB_ERASED)
		memcpy(&ftl->table->record[index * ZONE_RECORDS_PER_PAGE], page->image, HZ_SECTOR_BYTES);
	return NULL;
}

const char *mount_load_records(struct mount *mount)
{
	struct ftl *ftl = mount->ftl;

	for (uint32_t i = 0; i < ftl->table->pages; i++) {
		const char *error = load_table_page(mount, i);

		if (error)
			return error;
	}
	for (uint32_t z = 0; z < ftl->all_zones; z++) {
		mount->doubted[z] = !record_possible(&ftl->zones[z], &ftl->table->record[z]);
		if (mount->doubted[z])
			write_off(&ftl->table->record[z], zone_is_backing(&ftl->zones[z]));
		ftl->zones[z].generation = ftl->table->record[z].generation;
	}
	return NULL;
}
