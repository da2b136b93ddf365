/* Mount after a power cut: which zone each superblock holds, and how much of it. What a power cut may have torn is the last program of
 * each block, unless something was programmed later that had to wait for it; anything else that cannot be read is there, and lost. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "mount/mount_superblocks.h"

#include "block/superblock.h"
#include "l2p/l2p.h"
#include "mount/mount_blocks.h"
#include "tsu/tsu_mount.h"
#include "zone/zone.h"

enum unit { UNIT_THERE, UNIT_TORN, UNIT_FOREIGN };

/* Are all records of the unit, as far as they are known, those of this place? *data = sectors before padding, if all are known. */
static enum unit look_at_unit(struct mount *mount, const struct zone *zone, const struct part *part, uint32_t offset, uint32_t *data)
{
	struct ftl *ftl = mount->ftl;
	enum unit unit = UNIT_THERE;
	uint32_t known = 0;

	tsu_read_now(ftl->tsu, ppa_make(ftl->map, part->superblock, offset), part->unit, NULL, 0, mount->oob);
	for (uint32_t i = 0; i < part->unit; i++) {
		const struct hz_oob *oob = &mount->oob[i];

		if (oob->kind == HZ_OOB_ERASED) {
			unit = UNIT_TORN;
			continue;
		}
		if ((oob->kind != HZ_OOB_DATA && oob->kind != HZ_OOB_PAD) || !mount_alive(mount, &zone->ext, oob) ||
		    oob->lpa != zone->ext.start + part->base + offset + i)
			return UNIT_FOREIGN;
		if (ftl->mount_sequence < oob->sequence)
			ftl->mount_sequence = oob->sequence;
		known += oob->kind == HZ_OOB_DATA;
	}
	*data = unit == UNIT_THERE ? known : part->unit;
	return unit;
}

/* Programs of a block follow one another, and a unit is programmed no earlier than the one a row before it, and all before that, have
 * succeeded (flush_unit.c, retire_units and units_program). */
static bool may_be_torn(const struct mount *mount, uint32_t row, uint32_t column)
{
	for (uint32_t c = column; c < mount->planes; c++)
		if (mount->rows[c] > row + 1)
			return false;
	return true;
}

/* How far the part's sectors go without a gap; lost: units of them without all records. */
struct reach {
	uint32_t sectors, lost;
	bool hole, padded;
};

/* Sectors that were in this part when the zone's record was made. */
static uint32_t recorded_in(const struct mount *mount, const struct zone *zone, const struct part *part)
{
	const struct zone_record *record = &mount->ftl->table->record[zone->ext.index];

	if (record->placed <= part->base || part->superblock != (part->patch ? record->patch : record->superblock))
		return 0;
	return record->placed - part->base;
}

/* From the last two rows before the frontier on: what is before has succeeded. What was recorded is there too, though no record may be
 * left of it. */
static struct reach reach_of(struct mount *mount, const struct zone *zone, const struct part *part)
{
	uint32_t planes = mount->planes, row = UINT32_MAX, column = 0, data = 0, recorded = recorded_in(mount, zone, part);
	struct reach reach = { 0, 0, false, false };

	for (uint32_t c = 0; c < planes; c++)
		row = mount->rows[c] < row ? mount->rows[c] : row;
	row = row > 2 ? row - 2 : 0;
	reach.sectors = row * planes * part->unit;
	while (!reach.padded && mount->rows[column] > row) {
		enum unit unit = look_at_unit(mount, zone, part, reach.sectors, &data);

		if (unit == UNIT_FOREIGN || (unit == UNIT_TORN && reach.sectors >= recorded && may_be_torn(mount, row, column)))
			break;
		if (unit == UNIT_TORN && reach.sectors < recorded && recorded < reach.sectors + part->unit)
			data = recorded - reach.sectors; /* the rest was padding */
		reach.lost += unit == UNIT_TORN;
		reach.padded = data < part->unit;
		reach.sectors += data;
		row += column + 1 == planes;
		column = column + 1 == planes ? 0 : column + 1;
	}
	for (uint32_t c = 0; c < planes && !reach.padded; c++)
		reach.hole |= mount->rows[c] > row + (c < column);
	return reach;
}

/* Can the zone have a part of this kind? Its base is known then. */
static bool part_fits(const struct extent *ext, struct part *part)
{
	if (part->patch)
		part->base = ext->body;
	return part->patch ? ext->body != BODY_ALL : ext->body != 0;
}

/* Of what the map's log says that it is all there: it was programmed before the log's page, whose number is known. */
static struct reach reach_of_all(const struct extent *ext, const struct part *part)
{
	return (struct reach){ .sectors = ext->capacity, .padded = ext->capacity % part->unit };
}

/* The zone whose data this superblock claims to hold, or NULL: the first record that is known says it. */
static struct zone *zone_claimed(struct mount *mount, struct part *part)
{
	struct ftl *ftl = mount->ftl;
	uint32_t offset = 0, planes = mount->planes;
	struct hz_oob *oob = &mount->oob[0];
	struct zone *zone;

	for (uint32_t row = 0, column = 0; mount->rows[column] > row; offset += part->unit) {
		tsu_read_now(ftl->tsu, ppa_make(ftl->map, part->superblock, offset), 1, NULL, 0, oob);
		if (oob->kind != HZ_OOB_ERASED)
			break;
		row += column + 1 == planes;
		column = column + 1 == planes ? 0 : column + 1;
	}
	if (oob->kind != HZ_OOB_DATA || !mount_in_zones(ftl, oob->lpa))
		return NULL;
	zone = zone_at(ftl, oob->lpa);
	if (!part_fits(&zone->ext, part) || oob->lpa != zone->ext.start + part->base + offset || !mount_alive(mount, &zone->ext, oob))
		return NULL;
	return zone;
}

/* Of two with equal prefixes: has what was found before lost less, or can it be continued, or is it newer? A newer one has what was written
 * in place, and the zone's record may say so (zone/update_fold.h). */
static bool keeps_found(const struct mount *mount, const struct extent *ext, const struct reach *reach, uint64_t first)
{
	uint32_t lost = mount->lost[ext->index];

	if (lost != reach->lost)
		return lost < reach->lost;
	if (mount->hole[ext->index] != reach->hole)
		return reach->hole;
	return mount->first[ext->index] >= first;
}

/* The longer prefix wins. A patch counts if the superblock before it is complete. */
static void consider(struct mount *mount, struct zone *zone, const struct part *part)
{
	struct extent *ext = &zone->ext;
	uint64_t first = mount->oob[0].sequence;
	bool known = !part->base && l2p_knows(mount->ftl, ext, part->superblock, mount->oob[0].sequence);
	struct reach reach = known ? reach_of_all(ext, part) : reach_of(mount, zone, part);
	uint32_t placed = part->base + reach.sectors;

	if (reach.sectors == 0 || placed < ext->placed || ext->placed < part->base || placed > ext->capacity)
		return;
	if (placed == ext->placed && keeps_found(mount, ext, &reach, first))
		return;
	mount->first[ext->index] = first;
	ext->placed = placed;
	*(part->patch ? &ext->patch : &ext->superblock) = part->superblock;
	*(part->patch ? &ext->bad_patch : &ext->bad_superblock) = mount->bad;
	mount->lost[ext->index] = reach.lost;
	mount->hole[ext->index] = reach.hole;
	mount->padded[ext->index] = reach.padded;
}

/* What is being erased was given up before. */
static void scan_pool(struct mount *mount, struct superblocks *sbs, struct part (*part_in)(const struct ftl *ftl, uint32_t superblock))
{
	struct ftl *ftl = mount->ftl;

	for (uint32_t i = 0; i < sbs->count; i++) {
		struct part part = part_in(ftl, sbs->first + i);
		struct zone *zone;

		mount_look_at_blocks(mount, part.superblock, part.unit);
		if (!mount->used || mount->erasing)
			continue;
		mount->oob[0] = (struct hz_oob){ .kind = HZ_OOB_ERASED };
		zone = zone_claimed(mount, &part);
		if (zone)
			consider(mount, zone, &part);
	}
}

const char *mount_find_superblocks(struct mount *mount)
{
	if (mount->at_rest)
		return NULL;
	scan_pool(mount, mount->ftl->superblocks, mount_body);
	scan_pool(mount, mount->ftl->patches, mount_patch);
	return NULL;
}
