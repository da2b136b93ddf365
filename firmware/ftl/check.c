/* Whole-state check, and the scrub of a mounted device. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

#include "base/context.h"
#include "block/superblock.h"
#include "buffer/buffer.h"
#include "buffer/staged.h"
#include "cache/data_cache.h"
#include "conventional/conventional.h"
#include "ftl.h"
#include "map/l2p.h"
#include "slc/slc.h"
#include "tsu/tsu_mount.h"
#include "zone/zone.h"

/* Whole-state check: every invariant between zones, map, SLC, superblocks, buffers and budget. Harts idle. */

static const char *check_oob(struct ftl *ftl, const struct zone *zone, uint32_t offset, ppa_t ppa)
{
	struct hz_oob oob;

	if (tsu_read_now(ftl->tsu, ppa, 1, NULL, 0, &oob) != NAND_OK && oob.kind == HZ_OOB_ERASED)
		return NULL; /* lost: a read of it fails */
	if (oob.kind != HZ_OOB_DATA || oob.lpa != zone->start + offset || (!zone_is_backing(zone) && oob.generation != zone->generation))
		return "a mapped sector's OOB record names another LBA or generation";
	return NULL;
}

static const char *check_placed(struct ftl *ftl, const struct zone *zone, uint32_t offset)
{
	return check_oob(ftl, zone, offset, zone_place(zone, offset));
}

static const char *check_staged(struct ftl *ftl, const struct zone *zone, uint32_t offset)
{
	ppa_t ppa = zone_where(zone, offset), known = zone_staged(zone, offset);

	if (known != PPA_NONE && ppa != known)
		return "the map says that a staged sector lies elsewhere";
	if (ppa == PPA_NONE)
		return (zone->buffer && offset >= zone->resident) || zone_failed(zone)
			       ? NULL
			       : "a written sector is neither placed, staged nor buffered";
	if (!slc_in_log(ftl, ppa))
		return "a staged sector lies outside of the SLC log";
	if (*slc_tag_of(ftl, ppa) != zone->start + offset)
		return "an SLC sector does not know the LBA that is staged there";
	return check_oob(ftl, zone, offset, ppa);
}

static const char *check_sectors(struct ftl *ftl, const struct zone *zone)
{
	uint32_t stride = check_stride(ftl);
	const char *error = NULL;

	for (uint32_t o = 0; !error && o < zone->placed; o += stride)
		error = check_placed(ftl, zone, o);
	for (uint32_t o = zone->placed; !error && o < zone->landed; o++)
		error = check_staged(ftl, zone, o);
	return error;
}

static const char *check_staged_list(struct ftl *ftl, const struct zone *zone)
{
	uint32_t listed = 0;

	for (uint32_t slot = 0; zone->staged_ppa && slot < ftl->ring_sectors; slot++)
		listed += zone->staged_ppa[slot] != PPA_NONE;
	for (uint32_t o = zone->placed; o < zone->landed; o++)
		listed -= zone_staged(zone, o) != PPA_NONE;
	return listed ? "a zone's staged list names sectors outside of [placed, landed)" : NULL;
}

static const char *check_sequential(struct ftl *ftl, const struct zone *zone)
{
	const char *error = NULL;

	if (zone->placed > zone->landed || zone->landed > zone->wp || zone->wp > zone->capacity)
		return "a zone's placed, landed and write pointer are out of order";
	if (zone->parked.head || zone->parked_reads.head || zone->turn_taken)
		return "a request waits at a zone though nothing runs";
	if (!zone->writers.head && zone->landed != zone->wp && !zone_failed(zone))
		return "an idle zone has a write pointer beyond its data";
	if (zone->buffer ? zone->resident > zone->landed : zone_on_flash(zone) != zone->landed && !zone_failed(zone))
		return "a zone without a buffer has data that are not durable";
	if (zone->state == NVME_ZS_EMPTY &&
	    (zone->wp || zone->placed || zone->superblock != SUPERBLOCK_NONE || zone->patch != SUPERBLOCK_NONE))
		return "an EMPTY zone holds data";
	if ((zone->placed && zone->body && zone->superblock == SUPERBLOCK_NONE) ||
	    (zone->placed > zone->body && zone->patch == SUPERBLOCK_NONE))
		return "a zone has placed data but no superblock";
	error = check_sectors(ftl, zone);
	if (!error)
		error = check_staged_list(ftl, zone);
	return error ? error : l2p_check(ftl, zone);
}

static const char *check_budget(struct ftl *ftl)
{
	uint32_t open = 0, active = 0, implicit = 0, listed = 0;

	for (uint32_t z = 0; z < ftl->zone_count; z++) {
		open += zone_is_open(ftl->zones[z].state);
		active += zone_is_active(ftl->zones[z].state) || ftl->zones[z].budget.drains;
		implicit += ftl->zones[z].state == NVME_ZS_IMPLICIT_OPEN;
	}
	for (struct zone *zone = ftl->budget->oldest; zone; zone = zone->budget.open_next)
		listed++;
	if (open != ftl->budget->open || active != ftl->budget->active)
		return "the counts of open or active zones are wrong";
	if (open > ftl->budget->max_open || active > ftl->budget->max_active)
		return "more zones are open or active than allowed";
	if (ftl->budget->closing)
		return "a zone is still to be closed";
	return implicit == listed ? NULL : "the list of implicitly opened zones is wrong";
}

static bool tag_points_back(struct ftl *ftl, uint32_t tag, ppa_t ppa)
{
	const struct slc_owner *owner = slc_owner_of(ftl->slc, tag);

	return owner && owner->lies_at(ftl, tag, ppa);
}

static const char *check_slc(struct ftl *ftl)
{
	uint32_t free = 0, usable = 0, worth[SLC_WORTHS] = { 0 };

	for (uint32_t b = 0; b < ftl->slc->blocks; b++) {
		const struct slc_block *block = &ftl->slc->block[b];
		const uint32_t *tag = slc_tag_of(ftl, ppa_make(ftl->map, b, 0));
		uint32_t valid = 0;

		for (uint32_t o = 0; o < ftl->slc->sectors; o++) {
			if (tag[o] == SLC_NONE)
				continue;
			if (!tag_points_back(ftl, tag[o], ppa_make(ftl->map, b, o)))
				return "an SLC sector counts as valid but nothing is mapped to it";
			valid++;
		}
		if (valid != block->valid)
			return "an SLC superblock's count of valid sectors is wrong";
		if (block->state == SLC_FREE && valid)
			return "a free SLC superblock holds valid sectors";
		if ((uint32_t)lt_load(&block->pins) || block->in_flight)
			return "an SLC superblock is pinned or busy though nothing runs";
		if (block->worth != slc_worth_of(ftl->slc, block))
			return "an SLC superblock's worth to the collector is out of date";
		free += block->state == SLC_FREE;
		usable += block->state != SLC_BAD && !block->doomed;
		worth[block->worth]++;
	}
	if (memcmp(worth, ftl->slc->worth, sizeof(worth)))
		return "the counts of SLC superblocks by worth are wrong";
	if (usable != lt_load(&ftl->slc->usable))
		return "the count of SLC superblocks that have not failed is wrong";
	return free == ftl->slc->free ? NULL : "the count of free SLC superblocks is wrong";
}

static uint32_t number_of(const struct zone *zone, bool patch) { return patch ? zone->patch : zone->superblock; }

static const char *check_holders(struct ftl *ftl, const struct superblocks *sbs, bool patch, uint32_t *held)
{
	for (uint32_t z = 0; z < ftl->all_zones; z++) {
		uint32_t number = number_of(&ftl->zones[z], patch);

		if (number == SUPERBLOCK_NONE)
			continue;
		(*held)++;
		if (number < sbs->first || number - sbs->first >= sbs->count || sbs->info[number - sbs->first].state != SB_USED)
			return "a zone's superblock is not marked as used";
		for (uint32_t other = 0; other < z; other++)
			if (number_of(&ftl->zones[other], patch) == number)
				return "two zones share a superblock";
	}
	return NULL;
}

static const char *check_superblocks(struct ftl *ftl, const struct superblocks *sbs, bool patch)
{
	uint32_t used = 0, held = 0, free = 0, dirty = 0, bad = 0;
	const char *error = check_holders(ftl, sbs, patch, &held);

	if (error)
		return error;
	for (uint32_t i = 0; i < sbs->count; i++) {
		used += sbs->info[i].state == SB_USED;
		free += sbs->info[i].state == SB_FREE;
		dirty += sbs->info[i].state == SB_DIRTY;
		bad += sbs->info[i].state == SB_BAD;
	}
	if (used != held)
		return "a superblock is marked as used but no zone has it";
	if (free != sbs->free.count || dirty != sbs->dirty.count || bad != lt_load(&sbs->bad))
		return "the counts of free, dirty or bad superblocks are wrong";
	return sbs->moving ? "a relocation promised a superblock and did not give it back" : NULL;
}

const char *whole_check(struct ftl *ftl)
{
	const char *error = check_budget(ftl);

	if (!error)
		error = l2p_check(ftl, NULL); /* its lists are gone through below */
	for (uint32_t z = 0; !error && z < ftl->shape.conventional_zones; z++)
		error = l2p_check(ftl, &ftl->zones[z]);
	for (uint32_t z = ftl->shape.conventional_zones; !error && z < ftl->all_zones; z++)
		error = check_sequential(ftl, &ftl->zones[z]);
	if (!error)
		error = conv_check(ftl);
	if (!error)
		error = cache_check(ftl);
	if (!error)
		error = updates_check(ftl);
	if (!error)
		error = check_slc(ftl);
	if (!error)
		error = check_superblocks(ftl, ftl->superblocks, false);
	if (!error)
		error = check_superblocks(ftl, ftl->patches, true);
	return error ? error : buffers_check(ftl);
}

/* Scrub of a mounted device. */

struct scrub {
	struct ftl_zone_scrub *out;
	void (*lost)(void *ctx, uint64_t lba);
	void *ctx;
};

static bool read_one(struct ftl *ftl, ppa_t ppa, struct hz_oob *oob) { return tsu_read_now(ftl->tsu, ppa, 1, NULL, 0, oob) == NAND_OK; }

static bool readable(struct ftl *ftl, ppa_t ppa)
{
	struct hz_oob oob;

	return ppa != PPA_NONE && read_one(ftl, ppa, &oob);
}

static void scrub_note(const struct scrub *scrub, uint64_t lba, bool found)
{
	scrub->out->written++;
	if (found)
		return;
	scrub->out->lost++;
	scrub->lost(scrub->ctx, lba);
}

/* By the rules of a read (zone/rebuild.c), from what is on flash: `end` is the offset up to which the parity has the row's units. */
static bool others_readable(struct ftl *ftl, ppa_t ppa, const struct flash_stripe_at *at, uint64_t end)
{
	uint32_t superblock = ppa_superblock(ftl->map, ppa), planes = ftl->shape.superblock_planes;
	const struct flash_addr *column = &ftl->map->column[ftl->map->superblock[superblock].column];
	struct hz_oob oob;

	for (uint32_t c = 0; c < planes; c++) {
		uint32_t offset = (at->row * planes + c) * ftl->unit_sectors + at->sector;

		if (c == at->column || column[c].plane != at->plane)
			continue;
		if (!read_one(ftl, ppa_make(ftl->map, superblock, offset), &oob) || (oob.kind == HZ_OOB_ERASED && offset < end))
			return false;
	}
	return true;
}

/* Sectors in SLC have no parity. */
static bool rebuilt(struct ftl *ftl, const struct zone *zone, ppa_t ppa)
{
	struct flash_stripe_at at;
	struct hz_oob oob;
	uint32_t parity;

	if (!ftl->cfg->rain || ppa == PPA_NONE || slc_holds(ftl->map, ppa))
		return false;
	at = flash_stripe_at(ftl->map, ppa_superblock(ftl->map, ppa), ppa_offset(ftl->map, ppa));
	parity = flash_parity_of(ftl->map, ppa_superblock(ftl->map, ppa));
	return read_one(ftl, ppa_make(ftl->map, parity, (at.row * ftl->shape.parity_planes + at.plane) * ftl->unit_sectors + at.sector),
			&oob) &&
	       oob.kind == HZ_OOB_PARITY && oob.generation == zone->generation && others_readable(ftl, ppa, &at, oob.sequence);
}

static void look_at_sequential(struct ftl *ftl, const struct zone *zone, const struct scrub *scrub)
{
	for (uint32_t o = 0; o < zone->wp; o++) {
		ppa_t updated = updates_peek(ftl, zone->start + o), ppa = updated != PPA_NONE ? updated : zone_where(zone, o);
		bool found = readable(ftl, ppa), again = !found && rebuilt(ftl, zone, ppa);

		scrub->out->rebuilt += again;
		scrub_note(scrub, zone->start + o, found || again);
	}
}

static void look_at_conventional(struct ftl *ftl, const struct zone *zone, const struct scrub *scrub)
{
	for (uint32_t o = 0; o < ftl->capacity; o++) {
		uint32_t place = l2p_conv_peek(ftl, zone->start + o);

		if (place != L2P_UNMAPPED)
			scrub_note(scrub, zone->start + o, readable(ftl, zone_where(zone_of_place(ftl, place), place_offset(ftl, place))));
	}
}

uint32_t ftl_scrub_zones(const struct ftl *ftl) { return ftl->zone_count; }

void ftl_scrub_zone(struct ftl *ftl, uint32_t number, struct ftl_zone_scrub *out, void (*lost)(void *ctx, uint64_t lba), void *ctx)
{
	const struct zone *zone = &ftl->zones[number];
	const struct scrub scrub = { out, lost, ctx };
	bool conventional = is_conventional(ftl, zone->start);

	*out = (struct ftl_zone_scrub){ .state = conventional ? NVME_ZS_NOT_WP : zone->state, .start = zone->start };
	(conventional ? look_at_conventional : look_at_sequential)(ftl, zone, &scrub);
}
