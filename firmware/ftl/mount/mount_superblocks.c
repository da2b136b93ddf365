/* Mount after a power cut: the zone in each superblock, and its end there. A power cut may have torn the last program of each block,
 * unless a later program had to wait for it; any other unreadable sector existed, and is lost. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "mount/mount_internal.h"

#include "block/superblock.h"
#include "map/l2p.h"
#include "tsu/tsu_mount.h"
#include "zone/zone.h"

enum unit { UNIT_THERE, UNIT_TORN, UNIT_FOREIGN };

static bool belongs(struct mount *mount, const struct zone *zone, const struct part *part, uint32_t offset, const struct hz_oob *oob)
{
	if (!mount_alive(mount, zone, oob) || oob->lpa != zone->start + part->base + offset)
		return false;
	if (mount->ftl->mount_sequence < oob->sequence)
		mount->ftl->mount_sequence = oob->sequence;
	return true;
}

/* Do all known records of the unit belong to this place? *data = sectors before padding, if all are known. */
static enum unit judge_unit(struct mount *mount, const struct zone *zone, const struct part *part, uint32_t offset, uint32_t *data)
{
	struct ftl *ftl = mount->ftl;
	enum unit unit = UNIT_THERE;
	uint32_t known = 0;

	tsu_records_now(ftl->tsu, ppa_make(ftl->map, part->superblock, offset), part->unit, false, mount->oob);
	for (uint32_t i = 0; i < part->unit; i++) {
		const struct hz_oob *oob = &mount->oob[i];

		if (oob->kind == HZ_OOB_ERASED) {
			unit = UNIT_TORN;
			continue;
		}
		if ((oob->kind != HZ_OOB_DATA && oob->kind != HZ_OOB_PAD) || !belongs(mount, zone, part, offset + i, oob))
			return UNIT_FOREIGN;
		known += oob->kind == HZ_OOB_DATA;
	}
	*data = unit == UNIT_THERE ? known : part->unit;
	return unit;
}

/* A program writes its last record last: if that is the right one and not of padding, it proves the unit. */
static enum unit look_at_unit(struct mount *mount, const struct zone *zone, const struct part *part, uint32_t offset, uint32_t *data)
{
	struct hz_oob *oob = &mount->oob[0];
	uint32_t last = offset + part->unit - 1;

	tsu_records_now(mount->ftl->tsu, ppa_make(mount->ftl->map, part->superblock, last), 1, true, oob);
	if (oob->kind != HZ_OOB_DATA || !belongs(mount, zone, part, last, oob))
		return judge_unit(mount, zone, part, offset, data);
	*data = part->unit;
	return UNIT_THERE;
}

/* Programs of a block are sequential, and a unit is programmed only after the one a row before it, and all earlier ones, have succeeded
 * (unit.c, place_units and unit_program). */
static bool may_be_torn(const struct mount *mount, uint32_t row, uint32_t column)
{
	for (uint32_t c = column; c < mount->planes; c++)
		if (mount->rows[c] > row + 1)
			return false;
	return true;
}

/* The media know the ended programs: those were acknowledged. */
static bool did_not_end(const struct mount *mount, uint32_t row, uint32_t column)
{
	return row >= mount->done[column] && may_be_torn(mount, row, column);
}

/* How far the part's sectors go without a gap; lost: units of them without all records. */
struct reach {
	uint32_t sectors, lost;
	bool hole, padded;
};

/* Sectors in this part when the zone's record was made. */
static uint32_t recorded_in(const struct mount *mount, const struct zone *zone, const struct part *part)
{
	const struct zone_record *record = &mount->ftl->table->record[zone->index];

	if (record->placed <= part->base || part->superblock != (part->patch ? record->patch : record->superblock))
		return 0;
	return record->placed - part->base;
}

/* The first unit of the superblock that may be torn: all earlier ones have succeeded. */
static uint32_t first_in_doubt(const struct mount *mount)
{
	uint32_t row = UINT32_MAX, column = 0;

	for (uint32_t c = 0; c < mount->planes; c++)
		row = mount->rows[c] < row ? mount->rows[c] : row;
	if (row == 0)
		return 0;
	while (column < mount->planes && !may_be_torn(mount, row - 1, column))
		column++;
	return (row - 1) * mount->planes + column;
}

/* Numbers ascend: among the unread units without doubt the last one has the highest. If its record is lost, use the one before it. */
static void note_number(struct mount *mount, const struct zone *zone, const struct part *part, uint32_t sectors)
{
	bool known = false;

	for (; sectors && !known; sectors -= part->unit) {
		tsu_records_now(mount->ftl->tsu, ppa_make(mount->ftl->map, part->superblock, sectors - part->unit), part->unit, false,
				mount->oob);
		for (uint32_t i = 0; i < part->unit; i++)
			if (mount->oob[i].kind != HZ_OOB_ERASED)
				known |= belongs(mount, zone, part, sectors - part->unit + i, &mount->oob[i]);
	}
}

/* Of a superblock with rain: is the parity of the row programmed? */
static bool parity_there(struct mount *mount, const struct zone *zone, const struct part *part, uint32_t row)
{
	const struct flash_map *map = mount->ftl->map;

	for (uint32_t k = 0; k < map->shape.parity_planes; k++) {
		uint32_t last = (row * map->shape.parity_planes + k + 1) * part->unit - 1;
		struct hz_oob *oob = &mount->oob[0];

		if (mount->rows[mount->planes + k] <= row)
			return false;
		if (mount->done[mount->planes + k] > row)
			continue;
		tsu_records_now(mount->ftl->tsu, ppa_make(map, flash_parity_of(map, part->superblock), last), 1, false, oob);
		if ((oob->kind != HZ_OOB_PARITY && oob->kind != HZ_OOB_PAD) || !mount_alive(mount, zone, oob))
			return false;
	}
	return true;
}

/* The last unit of a row, or of the zone, is placed when the row's parity is programmed, too. */
static bool lacks_parity(struct mount *mount, const struct zone *zone, const struct part *part, uint32_t row, uint32_t column,
			 uint32_t data, uint32_t end)
{
	bool last = column + 1 == mount->planes || data < part->unit || part->base + end >= zone->capacity;

	return mount->ftl->cfg->rain && last && !parity_there(mount, zone, part, row);
}

bool mount_parity_ahead(const struct mount *mount, uint32_t row)
{
	for (uint32_t k = 0; k < mount->ftl->shape.parity_planes; k++)
		if (mount->rows[mount->planes + k] > row)
			return true;
	return false;
}

/* Recorded sectors exist too, even without any record left. */
static struct reach reach_of(struct mount *mount, const struct zone *zone, const struct part *part)
{
	uint32_t planes = mount->planes, first = first_in_doubt(mount), row = first / planes, column = first % planes;
	uint32_t data = 0, recorded = recorded_in(mount, zone, part);
	struct reach reach = { first * part->unit, 0, false, false };
	bool there = false;

	while (!reach.padded && mount->rows[column] > row) {
		enum unit unit = look_at_unit(mount, zone, part, reach.sectors, &data);

		if (unit == UNIT_FOREIGN || (unit == UNIT_TORN && reach.sectors >= recorded && did_not_end(mount, row, column)))
			break;
		if (unit == UNIT_TORN && reach.sectors < recorded && recorded < reach.sectors + part->unit)
			data = recorded - reach.sectors; /* the rest was padding */
		if (unit == UNIT_TORN)                   /* … also beyond the zone's end */
			data = min_u32(data, zone->capacity - part->base - reach.sectors);
		if (reach.sectors + data > recorded && lacks_parity(mount, zone, part, row, column, data, reach.sectors + data))
			break;
		there |= unit == UNIT_THERE;
		reach.lost += unit == UNIT_TORN;
		reach.padded = data < part->unit;
		reach.sectors += data;
		row += column + 1 == planes;
		column = column + 1 == planes ? 0 : column + 1;
	}
	if (!there) /* no unit is in doubt, or the doubtful ones are blank */
		note_number(mount, zone, part, first * part->unit);
	for (uint32_t c = 0; c < planes && !reach.padded; c++)
		reach.hole |= mount->rows[c] > row + (c < column);
	if (mount->ftl->cfg->rain && !reach.padded && reach.sectors < zone->capacity)
		reach.hole |= mount_parity_ahead(mount, row);
	return reach;
}

/* Can the zone have a part of this kind? Its base is known then. */
static bool part_fits(const struct zone *zone, struct part *part)
{
	if (part->patch)
		part->base = zone->body;
	return part->patch ? zone->body != BODY_ALL : zone->body != 0;
}

/* A superblock complete by the map's log: it was programmed before the log's page, so that page's number bounds its own. */
static struct reach reach_of_all(const struct zone *zone, const struct part *part)
{
	return (struct reach){ .sectors = zone->capacity, .padded = zone->capacity % part->unit };
}

/* The record of one sector of each unit, row by row. The first column differs between superblocks, so that all dies have reads. False:
 * none is known. */
static bool first_known(struct mount *mount, const struct part *part, uint32_t sector, uint32_t *offset)
{
	uint32_t planes = mount->planes, begin = part->superblock % planes, column = begin;
	bool more = true;

	for (uint32_t row = 0; more; row++) {
		more = false;
		for (uint32_t i = 0; i < planes; i++, column = column + 1 == planes ? 0 : column + 1) {
			if (mount->rows[column] <= row)
				continue;
			more = true;
			*offset = (row * planes + column) * part->unit + sector;
			tsu_records_now(mount->ftl->tsu, ppa_make(mount->ftl->map, part->superblock, *offset), 1, false, mount->oob);
			if (mount->oob[0].kind != HZ_OOB_ERASED && mount->oob[0].kind != HZ_OOB_PAD)
				return true;
		}
	}
	return false;
}

/* The first known record of data of the present superblock: of the first sectors of its units, or, if those are all lost, of others.
 * False: there is none, or a record of another kind is before it. */
static bool first_record(struct mount *mount, const struct part *part, uint32_t *offset)
{
	for (uint32_t sector = 0; sector < part->unit; sector++)
		if (first_known(mount, part, sector, offset))
			return mount->oob[0].kind == HZ_OOB_DATA;
	for (uint32_t c = 0; c < mount->planes; c++)
		mount->slc_lost += (uint64_t)mount->done[c] * part->unit;
	return false;
}

/* The zone that this superblock claims. */
static struct claim claim_of(struct mount *mount, struct part *part)
{
	const struct claim nobody = { NULL, 0 };
	struct ftl *ftl = mount->ftl;
	const struct hz_oob *oob = &mount->oob[0];
	struct zone *zone;
	uint32_t offset;

	if (!first_record(mount, part, &offset) || !mount_in_zones(ftl, oob->lpa))
		return nobody;
	zone = zone_at(ftl, oob->lpa);
	if (!part_fits(zone, part) || oob->lpa != zone->start + part->base + offset || !mount_alive(mount, zone, oob))
		return nobody;
	return (struct claim){ zone, oob->sequence };
}

/* For two equal prefixes: true if the earlier one has lost less, or can be continued, or is newer. A newer one includes writes in place,
 * and the zone's record may refer to it (zone/update.h). */
static bool keeps_found(const struct mount *mount, const struct zone *zone, const struct reach *reach, uint64_t first)
{
	uint32_t lost = mount->lost[zone->index];

	if (lost != reach->lost)
		return lost < reach->lost;
	if (mount->hole[zone->index] != reach->hole)
		return reach->hole;
	return mount->first[zone->index] >= first;
}

/* The longer prefix wins. A patch counts if the superblock before it is complete. */
static void consider(struct mount *mount, const struct claim *claim, const struct part *part)
{
	struct zone *zone = claim->zone;
	bool known = !part->base && l2p_knows(mount->ftl, zone, part->superblock, claim->sequence);
	struct reach reach = known ? reach_of_all(zone, part) : reach_of(mount, claim->zone, part);
	uint32_t placed = part->base + reach.sectors;

	if (reach.sectors == 0 || placed < zone->placed || zone->placed < part->base || placed > zone->capacity)
		return;
	if (placed == zone->placed && keeps_found(mount, zone, &reach, claim->sequence))
		return;
	mount->first[zone->index] = claim->sequence;
	zone->placed = placed;
	*(part->patch ? &zone->patch : &zone->superblock) = part->superblock;
	*(part->patch ? &zone->bad_patch : &zone->bad_superblock) = mount->bad;
	mount->lost[zone->index] = reach.lost;
	mount->hole[zone->index] = reach.hole;
	mount->padded[zone->index] = reach.padded;
}

typedef struct part part_fn(const struct ftl *ftl, uint32_t superblock);

/* A superblock being erased has been released before. After a clean shutdown the zone table has the owners. */
static void look_at_superblock(struct mount *mount, struct superblock *info, struct part part)
{
	mount_look_at_blocks(mount, part.superblock, part.unit);
	info->erases = mount->erases;
	info->state = mount->bad ? SB_BAD : mount->used || mount->erasing ? SB_DIRTY : SB_FREE;
	if (!mount->clean && mount->used && !mount->erasing)
		mount->claim[part.superblock] = claim_of(mount, &part);
}

static void look_at_superblocks(struct mount *mount, struct superblocks *sbs, part_fn *part_in)
{
	for (uint32_t i = 0; i < sbs->count; i++)
		look_at_superblock(mount, &sbs->info[i], part_in(mount->ftl, sbs->first + i));
}

static void consider_claims(struct mount *mount, const struct superblocks *sbs, part_fn *part_in)
{
	for (uint32_t i = 0; i < sbs->count; i++) {
		struct part part = part_in(mount->ftl, sbs->first + i);
		const struct claim *claim = &mount->claim[part.superblock];

		if (!claim->zone)
			continue;
		mount_look_at_blocks(mount, part.superblock, part.unit);
		part_fits(claim->zone, &part);
		consider(mount, claim, &part);
	}
}

/* Claims come from the zones' records. */
static void claim_for_doubted(struct mount *mount, const struct superblocks *sbs, part_fn *part_in)
{
	for (uint32_t i = 0; i < sbs->count; i++) {
		struct part part = part_in(mount->ftl, sbs->first + i);
		struct claim *claim = &mount->claim[part.superblock];
		bool free = !claim->zone || mount->doubted[claim->zone->index];

		*claim = (struct claim){ NULL, 0 };
		mount_look_at_blocks(mount, part.superblock, part.unit);
		if (free && mount->used && !mount->erasing)
			*claim = claim_of(mount, &part);
		if (claim->zone && !mount->doubted[claim->zone->index])
			claim->zone = NULL;
	}
}

void mount_find_doubted(struct mount *mount)
{
	claim_for_doubted(mount, mount->ftl->superblocks, mount_body);
	claim_for_doubted(mount, mount->ftl->patches, mount_patch);
	consider_claims(mount, mount->ftl->superblocks, mount_body);
	consider_claims(mount, mount->ftl->patches, mount_patch);
}

const char *mount_look_at_superblocks(struct mount *mount)
{
	look_at_superblocks(mount, mount->ftl->superblocks, mount_body);
	look_at_superblocks(mount, mount->ftl->patches, mount_patch);
	return NULL;
}

const char *mount_find_reach(struct mount *mount)
{
	if (mount->clean)
		return NULL;
	consider_claims(mount, mount->ftl->superblocks, mount_body);
	consider_claims(mount, mount->ftl->patches, mount_patch);
	return NULL;
}
