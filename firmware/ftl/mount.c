/* Mount as a table of named steps. What it trusts: OOB records, in this order of authority: the newest zone table page says which
 * generation of each zone lives and whether it is finished; the superblock with the longest prefix of whole units of that
 * generation holds the zone; SLC copies continue the prefix sector by sector. */
#include "mount.h"

#include "context.h"

struct mount {
	struct ftl *ftl;
	struct arena *arena;
	struct hz_oob *oob;           /* one unit */
	uint32_t *rows;               /* by column: units programmed in the block at hand */
	bool erasing, bad, used;      /* of the superblock at hand */
	uint32_t erases;              /* of its most worn block */
	uint64_t *table_sequence;     /* by table page */
	uint32_t *beyond;             /* by zone: end of the last staged copy */
	bool *hole, *padded;          /* by zone */
};

static void see_sequence(struct mount *mount, uint64_t sequence)
{
	if (sequence > mount->ftl->mount_sequence)
		mount->ftl->mount_sequence = sequence;
}

/* Block table entries of a superblock, column by column. */
static void look_at_blocks(struct mount *mount, uint32_t superblock, uint32_t unit)
{
	struct ftl *ftl = mount->ftl;

	mount->erasing = mount->bad = mount->used = false;
	mount->erases = 0;
	for (uint32_t c = 0; c < ftl->shape.planes; c++) {
		const struct hz_nand_block *block = tsu_block_now(ftl->tsu, ppa_make(ftl->map, superblock, c * unit));

		mount->rows[c] = block->write_sector / unit;
		mount->used |= block->write_sector != 0;
		mount->erases = block->erase_count > mount->erases ? block->erase_count : mount->erases;
		mount->erasing |= block->flags & HZ_BLOCK_ERASING;
		mount->bad |= (block->flags & (HZ_BLOCK_BAD_FACTORY | HZ_BLOCK_BAD_GROWN)) != 0;
	}
}

/* --- SLC --- */

typedef void slc_visit_fn(struct mount *mount, const struct hz_oob *oob, ppa_t ppa);

static void visit_slc(struct mount *mount, slc_visit_fn *visit)
{
	struct ftl *ftl = mount->ftl;
	struct slc *slc = &ftl->slc;

	for (uint32_t b = 0; b < slc->blocks; b++) {
		look_at_blocks(mount, b, slc->unit_sectors);
		for (uint32_t u = 0; u < slc->units; u++) {
			ppa_t ppa = ppa_make(ftl->map, b, u * slc->unit_sectors);

			if (u / slc->planes >= mount->rows[u % slc->planes])
				continue;
			tsu_read_now(ftl->tsu, ppa, slc->unit_sectors, NULL, 0, mount->oob);
			for (uint32_t i = 0; i < slc->unit_sectors; i++)
				visit(mount, &mount->oob[i], ppa + i);
		}
	}
}

static void visit_table(struct mount *mount, const struct hz_oob *oob, ppa_t ppa)
{
	struct zone_table *table = &mount->ftl->table;
	struct slc_block *block = slc_block_of(mount->ftl, ppa);

	if (oob->kind == HZ_OOB_ERASED || oob->kind == HZ_OOB_PAD)
		return;
	see_sequence(mount, oob->sequence);
	if (block->youngest < oob->sequence)
		block->youngest = block->opened = oob->sequence;
	if (oob->kind != HZ_OOB_ZONE_TABLE || oob->lpa >= table->pages || oob->stream != ZONE_TABLE_VERSION)
		return;
	if (table->page[oob->lpa].ppa != PPA_NONE && oob->sequence <= mount->table_sequence[oob->lpa])
		return;
	table->page[oob->lpa].ppa = ppa;
	mount->table_sequence[oob->lpa] = oob->sequence;
}

static const char *find_zone_table(struct mount *mount)
{
	visit_slc(mount, visit_table);
	return NULL;
}

static const char *load_zone_table(struct mount *mount)
{
	struct zone_table *table = &mount->ftl->table;

	for (uint32_t i = 0; i < table->pages; i++) {
		struct table_page *page = &table->page[i];
		struct sgl image = { &page->image, 0, HZ_SECTOR_BYTES };

		if (page->ppa == PPA_NONE)
			continue;
		if (tsu_read_now(mount->ftl->tsu, page->ppa, 1, &image, 0, NULL) != NAND_OK)
			return "a page of the zone table cannot be read";
		memcpy(&table->record[i * ZONE_RECORDS_PER_PAGE], page->image, HZ_SECTOR_BYTES);
	}
	for (uint32_t z = 0; z < mount->ftl->all_zones; z++)
		mount->ftl->zones[z].generation = table->record[z].generation;
	return NULL;
}

/* --- normal superblocks --- */

/* Written since the zone's last reset? */
static bool alive(const struct mount *mount, const struct zone *zone, const struct hz_oob *oob)
{
	if (zone->backing)
		return oob->sequence > mount->ftl->table.record[zone->index].reset_sequence;
	return oob->generation == zone->generation;
}

/* Addresses of user data: those of the namespace, then those of the backing zones. */
static bool in_zones(const struct ftl *ftl, uint32_t lpa)
{
	return lpa < ftl->all_zones * ftl->shape.zone_size_sectors;
}

/* What a zone has programmed in one piece: [base, …) of it, in a superblock, or the SLC superblock of its patch. */
struct part { uint32_t superblock, base, unit; };

static struct part body_part(const struct ftl *ftl, uint32_t superblock)
{
	return (struct part){ superblock, 0, ftl->unit_sectors };
}

static struct part patch_part(const struct ftl *ftl, uint32_t superblock)
{
	return (struct part){ superblock, ftl->body_sectors, ftl->cfg->slc_program_sectors };
}

/* Whole and of this zone? *data = sectors before padding. */
static bool unit_good(struct mount *mount, const struct zone *zone, const struct part *part, uint32_t offset, uint32_t *data)
{
	struct ftl *ftl = mount->ftl;

	*data = 0;
	if (tsu_read_now(ftl->tsu, ppa_make(ftl->map, part->superblock, offset), part->unit, NULL, 0, mount->oob) != NAND_OK)
		return false;
	for (uint32_t i = 0; i < part->unit; i++) {
		const struct hz_oob *oob = &mount->oob[i];

		if (oob->kind != HZ_OOB_DATA && oob->kind != HZ_OOB_PAD)
			return false;
		if (!alive(mount, zone, oob) || oob->lpa != zone->start + part->base + offset + i)
			return false;
		see_sequence(mount, oob->sequence);
		*data += oob->kind == HZ_OOB_DATA;
	}
	return true;
}

/* Sectors of the zone that the part holds without a gap. Only the last two rows can be torn: a unit is programmed no earlier
 * than the one a row before it has succeeded (flush_unit.c, retire_units and units_program). */
static uint32_t prefix_of(struct mount *mount, const struct zone *zone, const struct part *part, bool *hole, bool *padded)
{
	struct ftl *ftl = mount->ftl;
	uint32_t planes = ftl->shape.planes, row = UINT32_MAX, column = 0, data = 0;
	uint32_t offset;
	bool good = true;

	for (uint32_t c = 0; c < planes; c++)
		row = mount->rows[c] < row ? mount->rows[c] : row;
	row = row > 2 ? row - 2 : 0;
	offset = row * planes * part->unit;
	*padded = *hole = false;
	while (!*padded && mount->rows[column] > row) {
		good = unit_good(mount, zone, part, offset, &data);
		if (!good)
			break;
		*padded = data < part->unit;
		offset += data;
		row += column + 1 == planes;
		column = column + 1 == planes ? 0 : column + 1;
	}
	for (uint32_t c = 0; c < planes && !*padded; c++)
		*hole |= mount->rows[c] > row + (c < column);
	return offset;
}

/* The zone whose data this superblock claims to hold, or NULL. */
static struct zone *zone_claimed(struct mount *mount, const struct part *part)
{
	struct ftl *ftl = mount->ftl;
	const struct hz_oob *oob = &mount->oob[0];
	struct zone *zone;

	tsu_read_now(ftl->tsu, ppa_make(ftl->map, part->superblock, 0), 1, NULL, 0, mount->oob);
	if (oob->kind != HZ_OOB_DATA || !in_zones(ftl, oob->lpa))
		return NULL;
	zone = zone_at(ftl, oob->lpa);
	return oob->lpa == zone->start + part->base && alive(mount, zone, oob) ? zone : NULL;
}

/* The longer prefix wins; of equal ones the one that can be continued. A patch counts if the superblock before it is complete. */
static void consider(struct mount *mount, struct zone *zone, const struct part *part)
{
	bool hole, padded;
	uint32_t prefix = prefix_of(mount, zone, part, &hole, &padded), placed = part->base + prefix;

	if (prefix == 0 || placed < zone->placed || zone->placed < part->base)
		return;
	if (placed == zone->placed && !mount->hole[zone->index])
		return;
	zone->placed = placed;
	*(part->base ? &zone->patch : &zone->superblock) = part->superblock;
	*(part->base ? &zone->bad_patch : &zone->bad_superblock) = mount->bad;
	mount->hole[zone->index] = hole;
	mount->padded[zone->index] = padded;
}

static void scan_pool(struct mount *mount, struct superblocks *sbs, struct part (*part_in)(const struct ftl *ftl, uint32_t superblock))
{
	struct ftl *ftl = mount->ftl;

	for (uint32_t i = 0; i < sbs->count; i++) {
		struct part part = part_in(ftl, sbs->first + i);
		struct zone *zone;

		look_at_blocks(mount, part.superblock, part.unit);
		sbs->info[i].erases = mount->erases;
		sbs->info[i].state = mount->bad ? SB_BAD : mount->used || mount->erasing ? SB_DIRTY : SB_FREE;
		if (!mount->used)
			continue;
		zone = zone_claimed(mount, &part);
		if (zone)
			consider(mount, zone, &part);
	}
}

static const char *scan_superblocks(struct mount *mount)
{
	scan_pool(mount, &mount->ftl->superblocks, body_part);
	scan_pool(mount, &mount->ftl->patches, patch_part);
	return NULL;
}

static void mark_used(struct superblocks *sbs, uint32_t number)
{
	if (number != SUPERBLOCK_NONE)
		sbs->info[number - sbs->first].state = SB_USED;
}

static const char *sort_superblocks(struct mount *mount)
{
	struct ftl *ftl = mount->ftl;

	for (uint32_t z = 0; z < ftl->all_zones; z++) {
		mark_used(&ftl->superblocks, ftl->zones[z].superblock);
		mark_used(&ftl->patches, ftl->zones[z].patch);
	}
	superblocks_sort(ftl);
	return NULL;
}

/* --- staged sectors --- */

static bool fenced(const struct zone_record *record, uint32_t offset, uint64_t sequence)
{
	return offset >= record->fence_offset && sequence <= record->fence_sequence;
}

static void visit_staged(struct mount *mount, const struct hz_oob *oob, ppa_t ppa)
{
	struct ftl *ftl = mount->ftl;
	const struct zone_record *record;
	struct hz_oob other;
	struct zone *zone;
	uint32_t offset;
	ppa_t *present;

	if (oob->kind == HZ_OOB_MAP || oob->kind == HZ_OOB_CHECKPOINT)
		l2p_found(ftl, oob, ppa);
	if (oob->kind != HZ_OOB_DATA || !in_zones(ftl, oob->lpa))
		return;
	zone = zone_at(ftl, oob->lpa);
	offset = (uint32_t)(oob->lpa - zone->start);
	record = &ftl->table.record[zone->index];
	if (!alive(mount, zone, oob) || offset < zone->placed || mount->padded[zone->index] ||
	    record->state == ZONE_RECORD_FINISHED || fenced(record, offset, oob->sequence))
		return;
	if (mount->beyond[zone->index] <= offset)
		mount->beyond[zone->index] = offset + 1;
	if (offset - zone->placed >= ftl->superpage_sectors)
		return;
	present = staged_candidate(zone, offset);
	if (*present != PPA_NONE) {
		tsu_read_now(ftl->tsu, *present, 1, NULL, 0, &other);
		if (other.sequence >= oob->sequence)
			return;
	}
	*present = ppa;
}

static const char *scan_staged(struct mount *mount)
{
	visit_slc(mount, visit_staged);
	return NULL;
}

/* --- zones --- */

static uint8_t state_of(const struct mount *mount, const struct zone *zone)
{
	uint32_t record = mount->ftl->table.record[zone->index].state;

	if (record == ZONE_RECORD_OFFLINE)
		return NVME_ZS_OFFLINE;
	if (record == ZONE_RECORD_READ_ONLY)
		return NVME_ZS_READ_ONLY;
	if (record == ZONE_RECORD_FINISHED || mount->padded[zone->index] || zone->wp == mount->ftl->shape.zone_capacity_sectors)
		return NVME_ZS_FULL;
	return zone->wp ? NVME_ZS_CLOSED : NVME_ZS_EMPTY;
}

/* Staged sectors that continue the placed ones, up to the first gap: from there on the copies are dead. Returns where that is. */
static uint32_t settle_staged(struct mount *mount, struct zone *zone)
{
	struct ftl *ftl = mount->ftl;
	uint32_t most = zone->placed + ftl->superpage_sectors, end = zone->placed;

	while (end < most && *staged_candidate(zone, end) != PPA_NONE) {
		slc_validate(ftl, *staged_candidate(zone, end), 1, (uint32_t)(zone->start + end));
		end++;
	}
	for (uint32_t o = end; o < most; o++)
		*staged_candidate(zone, o) = PPA_NONE;
	return end;
}

static void settle_zone(struct mount *mount, struct zone *zone)
{
	struct ftl *ftl = mount->ftl;
	uint32_t end = settle_staged(mount, zone);

	zone->fence = mount->beyond[zone->index] > end;
	if (!zone->backing)
		l2p_mounted(ftl, zone);
	zone->wp = zone->landed = zone->resident = zone->staged = zone->wp_at_mount = end;
	zone->staged_from = zone->placed;
	zone->landed_slot = end % ftl->superpage_sectors;
	zone->state = state_of(mount, zone);
	zone->relocate = zone->state == NVME_ZS_CLOSED && (mount->hole[zone->index] || (zone_in_patch(zone) ? zone->bad_patch : zone->bad_superblock));
	ftl->budget.active += !zone->backing && zone_is_active(zone->state);
}

static const char *settle_zones(struct mount *mount)
{
	for (uint32_t z = 0; z < mount->ftl->all_zones; z++)
		settle_zone(mount, &mount->ftl->zones[z]);
	for (uint32_t i = 0; i < mount->ftl->table.pages; i++)
		if (mount->ftl->table.page[i].ppa != PPA_NONE)
			slc_validate(mount->ftl, mount->ftl->table.page[i].ppa, 1, slc_table_tag(i));
	lt_store(&mount->ftl->sequence, mount->ftl->mount_sequence + 1);
	return NULL;
}

static const char *find_places(struct mount *mount)
{
	size_t used = mount->arena->used;
	const char *error;

	if (!mount->ftl->page.zones)
		return NULL;
	page_mount(mount->ftl, mount->oob, l2p_page_scan_begin(mount->ftl, mount->arena));
	error = l2p_page_scan_end(mount->ftl);
	mount->arena->used = used;
	return error;
}

/* Partly written SLC superblocks are continued where their planes stand; the rest wait for the collector. */
static const char *open_slc(struct mount *mount)
{
	struct slc *slc = &mount->ftl->slc;

	for (uint32_t b = 0; b < slc->blocks; b++) {
		struct slc_block *block = &slc->block[b];

		look_at_blocks(mount, b, slc->unit_sectors);
		block->doomed = mount->bad;
		block->state = SLC_SEALED;
		if (mount->bad && !block->valid) {
			block->state = SLC_BAD;
		} else if (!mount->used && !mount->erasing) {
			block->state = SLC_FREE;
			slc->free++;
		} else if (!mount->bad && !mount->erasing) {
			slc_resume_head(mount->ftl, b, mount->rows);
		}
	}
	for (uint32_t b = 0; b < slc->blocks; b++)
		slc_appraise(slc, &slc->block[b]);
	return NULL;
}

static const struct { const char *name; const char *(*run)(struct mount *mount); } steps[] = {
	{ "find the newest zone table pages", find_zone_table },
	{ "load zone records", load_zone_table },
	{ "scan superblock heads and tails", scan_superblocks },
	{ "sort superblocks into free, dirty, used", sort_superblocks },
	{ "scan staged sectors", scan_staged },
	{ "settle write pointers and states", settle_zones },
	{ "find the newest place of every conventional sector", find_places },
	{ "continue the SLC log", open_slc },
};

const char *mount_run(struct ftl *ftl, struct arena *arena)
{
	uint32_t unit = ftl->unit_sectors > ftl->cfg->slc_program_sectors ? ftl->unit_sectors : ftl->cfg->slc_program_sectors;
	struct mount mount = {
		.ftl = ftl,
		.arena = arena,
		.oob = arena_alloc(arena, unit, sizeof(struct hz_oob), "mount OOB"),
		.rows = arena_alloc(arena, ftl->shape.planes, sizeof(uint32_t), "mount rows"),
		.table_sequence = arena_alloc(arena, ftl->table.pages, sizeof(uint64_t), "mount table"),
		.beyond = arena_alloc(arena, ftl->all_zones, sizeof(uint32_t), "mount zones"),
		.hole = arena_alloc(arena, ftl->all_zones, sizeof(bool), "mount zones"),
		.padded = arena_alloc(arena, ftl->all_zones, sizeof(bool), "mount zones"),
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		const char *error = steps[i].run(&mount);

		if (error)
			return error;
	}
	return NULL;
}
