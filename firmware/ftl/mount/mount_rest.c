/* Mount of a device that was at rest: the zones' records say where everything is, and only that is checked against the block table. What
 * of it cannot be read is lost, and stays where it is. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "mount/mount_rest.h"

#include "block/superblock.h"
#include "mount/mount_blocks.h"
#include "zone/zone.h"

static const char *record_broken(struct mount *mount, const struct zone *zone, const char *why)
{
	return mount_damaged(mount, "zone table, record of zone", zone->ext.index, why);
}

static bool in_pool(const struct superblocks *sbs, uint32_t number) { return number >= sbs->first && number - sbs->first < sbs->count; }

/* Are the part's first `sectors` sectors programmed? */
static const char *check_part(struct mount *mount, const struct zone *zone, const struct part *part, uint32_t sectors)
{
	bool hole = false;

	mount_look_at_blocks(mount, part->superblock, part->unit);
	if (mount->erasing)
		return record_broken(mount, zone, "its superblock was erased");
	for (uint32_t c = 0; c < mount->planes; c++) {
		uint32_t rows = mount_rows_for(mount, part, sectors, c);

		if (mount->rows[c] < rows)
			return record_broken(mount, zone, "it has more sectors than its superblock holds");
		hole |= mount->rows[c] > rows;
	}
	mount->hole[zone->ext.index] = hole;
	return NULL;
}

static const char *take_body(struct mount *mount, struct zone *zone, const struct zone_record *record)
{
	struct ftl *ftl = mount->ftl;
	struct part part = mount_body(ftl, record->superblock);
	uint32_t sectors = min_u32(record->placed, zone->ext.body);
	const char *error;

	if (!in_pool(ftl->superblocks, record->superblock))
		return record_broken(mount, zone, "its superblock does not exist");
	error = check_part(mount, zone, &part, sectors);
	zone->ext.superblock = record->superblock;
	zone->ext.bad_superblock = mount->bad;
	return error;
}

static const char *take_patch(struct mount *mount, struct zone *zone, const struct zone_record *record)
{
	struct ftl *ftl = mount->ftl;
	struct part part = mount_patch(ftl, record->patch);
	const char *error;

	part.base = zone->ext.body;
	if (!in_pool(ftl->patches, record->patch))
		return record_broken(mount, zone, "the SLC superblock of its patch does not exist");
	error = check_part(mount, zone, &part, record->placed - part.base);
	zone->ext.patch = record->patch;
	zone->ext.bad_patch = mount->bad;
	return error;
}

/* A zone that will be written on begins at the start of a program unit. */
static bool aligned(const struct extent *ext, const struct zone_record *record)
{
	bool patch = record->placed > ext->body;
	uint32_t unit = patch ? ext->ftl->cfg->slc_program_sectors : ext->ftl->unit_sectors;

	return (record->placed - (patch ? ext->body : 0)) % unit == 0 || record->state != ZONE_RECORD_OPEN ||
	       record->placed == ext->capacity;
}

static const char *take_zone(struct mount *mount, struct zone *zone)
{
	const struct zone_record *record = &mount->ftl->table->record[zone->ext.index];
	const char *error = NULL;

	if (!aligned(&zone->ext, record))
		return record_broken(mount, zone, "it ends inside a program unit");
	if (record->placed && zone->ext.body)
		error = take_body(mount, zone, record);
	if (!error && record->placed > zone->ext.body)
		error = take_patch(mount, zone, record);
	zone->ext.placed = record->placed;
	return error;
}

const char *mount_take_superblocks(struct mount *mount)
{
	const char *error = NULL;

	for (uint32_t z = 0; z < mount->ftl->all_zones && mount->at_rest && !error; z++)
		error = take_zone(mount, &mount->ftl->zones[z]);
	return error;
}
