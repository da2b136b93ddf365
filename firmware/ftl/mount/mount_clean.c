/* Mount after a clean shutdown: the zones' records have every address, and are only checked against the block table. Unreadable sectors
 * are lost, and stay in place. A record that contradicts the block table or another record is in doubt: its zone is searched for as
 * after a power cut. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "block/superblock.h"
#include "mount/mount_internal.h"
#include "zone/zone.h"

/* --- plausible records --- */

/* A zone that can still be written begins at the start of a program unit. */
static bool aligned(const struct zone *zone, const struct zone_record *record)
{
	bool patch = record->placed > zone->body;
	uint32_t unit = patch ? zone->ftl->cfg->slc_program_sectors : zone->ftl->unit_sectors;

	return (record->placed - (patch ? zone->body : 0)) % unit == 0 || record->state != ZONE_RECORD_OPEN ||
	       record->placed == zone->capacity;
}

/* Each superblock is one zone's. Of several none is believed. */
static bool only_holder(struct mount *mount, struct zone *zone, uint32_t superblock)
{
	struct zone *other = mount->claim[superblock].zone;

	mount->claim[superblock].zone = zone;
	if (other)
		mount->doubted[other->index] = true;
	return !other;
}

/* Are the part's first `sectors` sectors programmed? */
static bool programmed(struct mount *mount, const struct part *part, uint32_t sectors)
{
	mount_look_at_blocks(mount, part->superblock, part->unit);
	for (uint32_t c = 0; c < mount->planes; c++)
		if (mount->rows[c] < mount_rows_for(mount, part, sectors, c))
			return false;
	return !mount->erasing;
}

static bool holds(struct mount *mount, struct zone *zone, const struct superblocks *sbs, const struct part *part, uint32_t sectors)
{
	return part->superblock >= sbs->first && part->superblock - sbs->first < sbs->count && only_holder(mount, zone, part->superblock) &&
	       programmed(mount, part, sectors);
}

static uint32_t body_sectors(const struct zone *zone, const struct zone_record *record) { return min_u32(record->placed, zone->body); }

static bool record_true(struct mount *mount, struct zone *zone)
{
	struct ftl *ftl = mount->ftl;
	const struct zone_record *record = &ftl->table->record[zone->index];
	struct part body = mount_body(ftl, record->superblock), patch = mount_patch(ftl, record->patch);
	uint32_t sectors = body_sectors(zone, record);
	bool there = !sectors || holds(mount, zone, ftl->superblocks, &body, sectors);

	if (record->placed > sectors)
		there = holds(mount, zone, ftl->patches, &patch, record->placed - sectors) && there;
	return there && aligned(zone, record);
}

/* --- it is believed --- */

/* Its superblock's block table entries are then in mount. */
static void take_part(struct mount *mount, uint32_t zone, const struct part *part, uint32_t sectors)
{
	mount_look_at_blocks(mount, part->superblock, part->unit);
	mount->hole[zone] = false;
	for (uint32_t c = 0; c < mount->planes; c++)
		mount->hole[zone] |= mount->rows[c] > mount_rows_for(mount, part, sectors, c);
	if (mount->ftl->cfg->rain)
		mount->hole[zone] |= mount_parity_ahead(mount, mount_rows_for(mount, part, sectors, mount->planes - 1));
}

static void take_zone(struct mount *mount, struct zone *zone)
{
	const struct zone_record *record = &mount->ftl->table->record[zone->index];
	struct part body = mount_body(mount->ftl, record->superblock), patch = mount_patch(mount->ftl, record->patch);
	uint32_t sectors = body_sectors(zone, record);

	zone->placed = record->placed;
	if (sectors) {
		take_part(mount, zone->index, &body, sectors);
		zone->superblock = record->superblock;
		zone->bad_superblock = mount->bad;
	}
	if (record->placed > sectors) {
		take_part(mount, zone->index, &patch, record->placed - sectors);
		zone->patch = record->patch;
		zone->bad_patch = mount->bad;
	}
}

const char *mount_take_superblocks(struct mount *mount)
{
	struct ftl *ftl = mount->ftl;
	bool any = false;

	if (!mount->clean)
		return NULL;
	for (uint32_t z = 0; z < ftl->all_zones; z++)
		if (!mount->doubted[z] && !record_true(mount, &ftl->zones[z]))
			mount->doubted[z] = true;
	for (uint32_t z = 0; z < ftl->all_zones; z++) {
		any |= mount->doubted[z];
		if (!mount->doubted[z])
			take_zone(mount, &ftl->zones[z]);
	}
	if (any)
		mount_find_doubted(mount);
	return NULL;
}
