/* Mount of conventional zones. Every sector of a backing zone has its LBA in its OOB record; of several places of an LBA the one with
 * the highest sequence number is current, since sequence numbers are taken when the map changes. With the map in flash, only sectors
 * possibly newer than its table pages are read (flash_log.h). A stream resumes the zone that it was filling, by the frontier in the OOB
 * records. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "conventional/conventional.h"

#include "block/superblock.h"
#include "buffer/staged.h"
#include "map/l2p.h"
#include "places/trims.h"
#include "tsu/tsu_mount.h"

/* Of kind ERASED: nowhere, or lost with its record. */
static void record_at(const struct zone *zone, uint32_t offset, struct hz_oob *oob)
{
	ppa_t ppa = zone_where(zone, offset);

	oob->kind = HZ_OOB_ERASED;
	if (ppa != PPA_NONE)
		tsu_records_now(zone->ftl->tsu, ppa, 1, true, oob);
}

/* Records of placed sectors, a unit or a row: a row page by page, so that all planes read the same page. */
static void read_row(const struct zone *zone, uint32_t offset, uint32_t count, struct hz_oob *oob)
{
	uint32_t unit = zone_program_sectors(zone), sectors = count > unit ? zone->ftl->page_sectors : unit;

	for (uint32_t page = 0; page < unit; page += sectors)
		for (uint32_t at = page; at < count; at += unit)
			tsu_records_now(zone->ftl->tsu, zone_place(zone, offset + at), min_u32(min_u32(sectors, unit - page), count - at),
					true, &oob[at]);
}

/* The zone of a place; NULL if it was erased after the table page was written. */
static struct zone *written_zone_of(struct ftl *ftl, uint32_t place)
{
	struct zone *zone = zone_of_place(ftl, place);

	return zone < ftl->zones + ftl->all_zones && place_offset(ftl, place) < zone->wp ? zone : NULL;
}

/* True if the place holds a newer sector of the same LBA. Sectors that the scan skips are older; later ones are compared then. */
static bool newer_at(struct ftl *ftl, uint32_t place, const struct hz_oob *oob)
{
	const struct zone *zone = written_zone_of(ftl, place);
	struct hz_oob other;

	if (!zone || place_offset(ftl, place) < backing_of(zone)->scanned || place_offset(ftl, place) >= zone->landed)
		return false;
	record_at(zone, place_offset(ftl, place), &other);
	return other.kind == HZ_OOB_DATA && other.host_lba == oob->host_lba && other.sequence > oob->sequence;
}

static void scan_found(struct zone *zone, uint32_t offset, const struct hz_oob *oob)
{
	struct ftl *ftl = zone->ftl;
	uint32_t present, place = place_make(zone->places, offset);

	if (oob->host_lba >= ftl->conventional_end || trims_dead(ftl, oob->host_lba, oob->sequence))
		return;
	present = l2p_conv_peek(ftl, oob->host_lba);
	if (present == place || present == L2P_UNMAPPED || !newer_at(ftl, present, oob))
		l2p_conv_preset(ftl, oob->host_lba, place);
}

/* Start of the next piece, which ends at `end`: a program unit, or a row of them if the whole zone is scanned; or one sector, if it is
 * staged or the last one, most likely older than `since`. */
static uint32_t piece_start(const struct zone *zone, uint32_t end, bool all)
{
	uint32_t unit = all && !zone_in_patch(zone) ? zone->ftl->superpage_sectors : zone_program_sectors(zone);
	uint32_t part = end > zone->placed || (!all && end == zone->landed) ? 1 : end % unit;

	return end - (part ? part : unit);
}

/* A sector with a record. False: it is older than `since`. */
static bool scan_see(struct zone *zone, uint64_t since, uint32_t offset, const struct hz_oob *oob)
{
	if (lt_load(&backing_of(zone)->filled) < oob->sequence)
		lt_store(&backing_of(zone)->filled, oob->sequence);
	zone->stream = oob->stream;
	if (oob->sequence < since)
		return false;
	scan_found(zone, offset, oob);
	return true;
}

/* From the end of the zone down to the first sector with a number below `since`: numbers ascend. False: a record is lost, so `since`
 * cannot end the scan: the sector may be newer, unless the map is complete. With `since` 0 its LBA is unknown for good. */
static bool scan_zone(struct zone *zone, uint64_t since, bool complete, struct hz_oob *oob)
{
	struct ftl *ftl = zone->ftl;
	uint64_t lost = zone->wp - zone->landed;
	bool more = true;

	for (uint32_t end = zone->landed, at; more && end; end = at) {
		at = piece_start(zone, end, !since);
		backing_of(zone)->scanned = at;
		if (end > zone->placed)
			record_at(zone, at, oob);
		else
			read_row(zone, at, end - at, oob);
		for (uint32_t i = end - at; i--;)
			if (oob[i].kind == HZ_OOB_DATA)
				more = scan_see(zone, since, at + i, &oob[i]);
			else
				lost++;
	}
	if (!since)
		ftl->damage.unknown_sectors += lost;
	return !lost || !since || complete;
}

/* Consecutive LBAs, possibly in several backing zones. */
static bool settle_run(struct ftl *ftl, uint64_t lba, uint32_t place, uint32_t count)
{
	for (uint32_t part; count; lba += part, place += part, count -= part) {
		struct zone *zone = written_zone_of(ftl, place);
		uint32_t offset = place_offset(ftl, place), *reverse;

		part = zone ? min_u32(count, zone->wp - offset) : count;
		if (!zone || places_any_valid(zone, offset, part))
			return false;
		places_mark_valid(zone, offset, part);
		reverse = &zone->places->lba[offset];
		for (uint32_t i = 0; i < part; i++)
			reverse[i] = (uint32_t)lba + i;
	}
	return true;
}

/* Validate the map's places. False: a place is empty or mapped twice. */
static bool settle_places(struct ftl *ftl)
{
	uint32_t place, run;

	for (uint32_t z = 0; z < ftl->shape.conventional_zones; z++)
		for (uint32_t o = 0; o < ftl->capacity; o += run) {
			uint64_t lba = ftl->zones[z].start + o;

			run = l2p_conv_run(ftl, lba, ftl->capacity - o, &place);
			if (place != L2P_UNMAPPED && !settle_run(ftl, lba, place, run))
				return false;
		}
	return true;
}

static bool scan_backing(struct ftl *ftl, uint64_t since, bool complete, struct hz_oob *oob)
{
	for (uint32_t i = 0; i < ftl->shape.backing_zones; i++)
		ftl->conventional->backing[i].scanned = ftl->backing_capacity;
	for (uint32_t i = 0; i < ftl->shape.backing_zones; i++)
		if (!scan_zone(backing_zone(ftl, i), since, complete, oob))
			return false;
	return settle_places(ftl);
}

static void forget_all(struct ftl *ftl)
{
	for (uint64_t lba = 0; lba < ftl->conventional_end; lba++)
		if (place_lba_exists(ftl, lba))
			l2p_conv_preset(ftl, lba, L2P_UNMAPPED);
	for (uint32_t i = 0; i < ftl->shape.backing_zones; i++)
		places_forget(ftl, &ftl->places->zone[i]);
}

/* Clear trims of mapped LBAs, written after their deallocation or with a deallocation that the map had missed: the page on flash must
 * not kill them at a later mount. */
static void settle_trims(struct ftl *ftl)
{
	for (uint64_t lba = 0; lt_load(&ftl->trims->used) && lba < ftl->conventional_end; lba++)
		if (trims_has(ftl, lba) && l2p_conv_peek(ftl, lba) != L2P_UNMAPPED)
			trims_forget(ftl, lba);
}

/* The write frontier to resume in the zone. A frontier that the configuration no longer has leaves its zone as it is. */
static uint32_t frontier_in(const struct conventional *conv, const struct zone *zone)
{
	const struct hz_device_config *cfg = zone->ftl->cfg;
	enum place_stream stream = zone->stream;
	uint32_t frontier, end;

	if (zone->state != NVME_ZS_CLOSED || !stream_exists(cfg, stream))
		return FRONTIER_NONE;
	frontier = frontier_first(cfg, stream);
	end = frontier + frontier_count(cfg, stream);
	while (frontier < end && lt_load(&conv->current[frontier]))
		frontier++;
	return frontier < end ? frontier : FRONTIER_NONE;
}

static void sort_zone(struct ftl *ftl, struct zone *zone, uint32_t number)
{
	struct conventional *conv = ftl->conventional;
	struct backing *info = &conv->backing[number];
	uint32_t frontier = frontier_in(conv, zone);

	lt_store(&zone->places->reset_sequence, zone->ftl->table->record[zone->index].reset_sequence);
	lt_store(&zone->places->durable, zone->wp);
	if (zone->state == NVME_ZS_EMPTY) {
		conv_list_erased(ftl, number);
	} else if (zone->state == NVME_ZS_READ_ONLY || zone->state == NVME_ZS_OFFLINE) {
		lt_store(&info->state, BACKING_LOST);
	} else if (frontier != FRONTIER_NONE) {
		lt_store(&info->state, BACKING_OPEN);
		zone->frontier = (uint8_t)frontier;
		lt_store(&info->frontier, frontier);
		lt_store(&conv->current[frontier], number + 1);
	} else {
		lt_store(&info->state, BACKING_SEALED);
		if (*zone_part(zone) != SUPERBLOCK_NONE)
			lt_store(&info->erases, superblock_erases(zone->ftl, *zone_part(zone)));
	}
}

void conv_mount(struct ftl *ftl, struct hz_oob *oob, uint64_t since, bool complete)
{
	if (!since || !scan_backing(ftl, since, complete, oob)) {
		if (since)
			forget_all(ftl);
		scan_backing(ftl, 0, false, oob);
	}
	settle_trims(ftl);
	for (uint32_t i = 0; i < ftl->shape.backing_zones; i++)
		sort_zone(ftl, backing_zone(ftl, i), i);
}
