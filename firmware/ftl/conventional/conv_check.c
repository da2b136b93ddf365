/* Whole-state check of conventional zones: map, places, and flash. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "conventional/conventional.h"

#include "base/context.h"
#include "buffer/staged.h"
#include "map/l2p.h"
#include "lt/bits.h"
#include "places/trims.h"
#include "tsu/tsu_mount.h"

/* False: lost; its record may be known or, if not, is of kind ERASED. */
static bool read_record(const struct zone *zone, uint32_t offset, struct hz_oob *oob)
{
	ppa_t ppa = zone_where(zone, offset);

	if (ppa != PPA_NONE)
		return tsu_read_now(zone->ftl->tsu, ppa, 1, NULL, 0, oob) == NAND_OK;
	oob->kind = HZ_OOB_ERASED;
	return false;
}

static const char *check_mapped(struct ftl *ftl, uint64_t lba, uint32_t place)
{
	const struct zone *zone = zone_of_place(ftl, place);
	uint32_t offset = place_offset(ftl, place);
	struct hz_oob oob;

	if (zone >= ftl->zones + ftl->all_zones || offset >= (zone_failed(zone) ? zone->wp : zone->landed))
		return "a conventional sector is mapped to a place that holds nothing";
	if (zone->places->lba[offset] != lba)
		return "a place does not know the conventional sector that is mapped to it";
	if (!place_valid(ftl, place))
		return "a conventional sector is mapped to an invalid place";
	if (offset >= zone_on_flash(zone) || offset % check_stride(ftl))
		return NULL;
	if (!read_record(zone, offset, &oob) && oob.kind == HZ_OOB_ERASED)
		return NULL; /* lost */
	if (oob.kind != HZ_OOB_DATA || oob.lpa != zone->start + offset || oob.host_lba != lba)
		return "the OOB record of a conventional sector names another LBA";
	return NULL;
}

/* No hart runs. */
static uint64_t valid_bits(const struct place_zone *places, uint32_t capacity)
{
	const lt_word *word = places->bits, *end = word + place_words(capacity);
	uint64_t bits = 0;

	while (word < end) {
		if (end - word >= 4 && !(uint32_t)(lt_peek(word) | lt_peek(word + 1) | lt_peek(word + 2) | lt_peek(word + 3))) {
			word += 4; /* of a large device most are zero */
			continue;
		}
		bits += lt_count_bits((uint32_t)lt_peek(word++));
	}
	return bits;
}

static bool is_of_frontier(const struct hz_device_config *cfg, enum place_stream stream, uint64_t frontier)
{
	return frontier >= frontier_first(cfg, stream) && frontier - frontier_first(cfg, stream) < frontier_count(cfg, stream);
}

static const char *check_backing(struct ftl *ftl, uint32_t number, uint64_t *valid)
{
	const struct zone *zone = &ftl->zones[ftl->zone_count + number];
	const struct backing *info = &ftl->conventional->backing[number];
	uint64_t state = lt_load(&info->state), bits = valid_bits(zone->places, ftl->backing_capacity);

	*valid += bits;
	if (bits != lt_load(&zone->places->valid))
		return "a backing zone's count of valid sectors is wrong";
	if ((state == BACKING_ERASED) != (zone->state == NVME_ZS_EMPTY) && state != BACKING_OPEN)
		return "an erased backing zone is not EMPTY, or an EMPTY one not in the list";
	if (state == BACKING_ERASED && (bits || lt_load(&info->frontier) != FRONTIER_NONE))
		return "an erased backing zone holds valid sectors or has a write frontier";
	if (state == BACKING_SEALED && (zone->buffer || zone_on_flash(zone) != zone->landed))
		return "a sealed backing zone is not durable";
	if (lt_load(&info->frontier) != FRONTIER_NONE && zone->wp && !is_of_frontier(ftl->cfg, zone->stream, lt_load(&info->frontier)))
		return "a backing zone's data are not of its write frontier's stream";
	return state == BACKING_COLLECTING ? "a backing zone is being collected though nothing runs" : NULL;
}

static const char *check_lists(struct ftl *ftl)
{
	const struct conventional *conv = ftl->conventional;
	uint32_t erased = 0;

	for (uint32_t i = 0; i < ftl->shape.backing_zones; i++)
		erased += lt_load(&conv->backing[i].state) == BACKING_ERASED;
	if (erased != lt_load(&conv->free))
		return "the list of erased backing zones is wrong";
	if (lt_load(&conv->losing))
		return "a backing zone that failed has not settled what it lost though nothing runs";
	for (uint32_t i = 0; i < PLACE_FRONTIERS; i++)
		if (conv->waiting[i].head)
			return "a write waits for an erased backing zone though nothing runs";
	if (conv->placement && (conv->placement->waiting.head || conv->placement->updater.head))
		return "a request waits for the update of a reclaim unit handle though nothing runs";
	if (lt_load(&conv->promised))
		return "an erased backing zone is promised though nothing is collected";
	return conv_gc_quiet(ftl) ? NULL : "a conventional collector is busy though nothing runs";
}

/* No dead durable sector is newer than the mapped one, as a full scan would find. A copy in a failed zone does not count: the map has
 * its original again, and both have the same data. */
static const char *check_newest(struct ftl *ftl, const struct zone *zone)
{
	for (uint32_t o = 0; o < zone_on_flash(zone); o += check_stride(ftl)) {
		struct hz_oob oob, other;
		uint32_t place;

		if (place_valid(ftl, place_make(zone->places, o)))
			continue; /* named by the map, or about to be found obsolete */
		read_record(zone, o, &oob);
		if (oob.kind != HZ_OOB_DATA || oob.host_lba >= ftl->conventional_end)
			continue;
		if (zone_failed(zone) && oob.stream == STREAM_COLLECT)
			continue;
		place = l2p_conv_peek(ftl, oob.host_lba);
		if (place == L2P_UNMAPPED && trims_has(ftl, oob.host_lba))
			continue;
		if (place == L2P_UNMAPPED)
			return "a conventional sector is on flash but not mapped";
		if (place_offset(ftl, place) >= zone_on_flash(zone_of_place(ftl, place)))
			continue;
		read_record(zone_of_place(ftl, place), place_offset(ftl, place), &other);
		if (other.kind == HZ_OOB_DATA && (other.host_lba != oob.host_lba || other.sequence < oob.sequence))
			return "a conventional sector is mapped to a place that is not the newest";
	}
	return NULL;
}

/* A table page at a time. */
static const char *check_map(struct ftl *ftl, uint32_t zone, uint64_t *mapped)
{
	struct l2p_sector sector[HZ_MAP_PAGE_ENTRIES];
	uint32_t offset = 0, count;
	const char *error = NULL;

	while (!error && (count = l2p_conv_mapped(ftl, &ftl->zones[zone], &offset, sector)) != 0) {
		*mapped += count;
		for (uint32_t i = 0; !error && i < count; i++)
			error = trims_has(ftl, sector[i].lba) ? "a deallocated sector is mapped"
							      : check_mapped(ftl, sector[i].lba, sector[i].place);
	}
	return error;
}

/* Every mapped LBA has a valid place with that LBA, and there are as many valid places as mapped LBAs: no two share one. */
const char *conv_check(struct ftl *ftl)
{
	const char *error = ftl->shape.backing_zones ? check_lists(ftl) : NULL;
	uint64_t mapped = 0, valid = 0;

	for (uint32_t z = 0; !error && z < ftl->shape.conventional_zones; z++)
		error = check_map(ftl, z, &mapped);
	for (uint32_t i = 0; !error && i < ftl->shape.backing_zones; i++)
		error = check_backing(ftl, i, &valid);
	for (uint32_t i = 0; !error && i < ftl->shape.backing_zones; i++)
		error = check_newest(ftl, backing_zone(ftl, i));
	if (!error && valid != mapped + (ftl->shape.backing_zones ? l2p_conv_stale(ftl) : 0))
		error = "there are more or fewer valid places than mapped conventional sectors";
	return error;
}
