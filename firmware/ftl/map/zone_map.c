/* The map as a table of zones, and its lists of staged sectors. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "map/zone_map.h"

#include "lt/arena.h"
#include "map/l2p.h"
#include "map/l2p_internal.h"
#include "places/places.h"
#include "slc/slc.h"

/* The map as a table of zones. */

static struct zone_place *zone_entry(struct ftl *ftl, const struct zone *zone) { return &ftl->l2p->zone[zone->index]; }

static void zone_map_init(struct ftl *ftl, struct arena *arena)
{
	ftl->l2p->zone = arena_alloc(arena, ftl->zone_count, sizeof(*ftl->l2p->zone), "zone mapping table");
	for (uint32_t z = 0; z < ftl->zone_count; z++)
		ftl->l2p->zone[z].start = PPA_NONE;
	zone_log_init(ftl, arena);
}

static uint32_t zone_read(struct ftl_worker *self, struct ftl_request *req, const struct zone *zone, uint32_t offset, uint32_t count,
			  ppa_t *ppa)
{
	ppa_t first = zone_entry(self->ftl, zone)->start + offset;

	(void)req;
	for (uint32_t i = 0; i < count; i++)
		ppa[i] = first + i;
	return count;
}

/* Mount needs the start of zones, and when they are complete. */
static void zone_map_run(struct ftl_worker *self, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t ppa, bool staged)
{
	struct zone_place place = { .start = ppa - offset, .length = offset + count };

	if (staged)
		zone_staged_placed(self->ftl, zone, place.length);
	zone_log_note(self, zone, place, offset == 0 || place.length == zone->capacity);
}

/* Row by row, for a moving zone: it stays at its old place until the last one. */
static void zone_remap_run(struct ftl_worker *self, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t ppa)
{
	(void)self;
	(void)zone;
	(void)offset;
	(void)count;
	(void)ppa;
}

static void zone_moved(struct ftl_worker *self, const struct zone *zone)
{
	zone_log_note(self, zone, (struct zone_place){ .start = zone_place(zone, 0), .length = zone->placed }, true);
}

static void zone_unmap(struct ftl_worker *self, const struct zone *zone, uint32_t count)
{
	(void)count;
	zone_staged_give(self->ftl, zone);
	zone_log_note(self, zone, (struct zone_place){ .start = PPA_NONE }, true);
}

static bool zone_room(struct ftl_worker *self, struct zone *zone)
{
	(void)self;
	(void)zone;
	return true;
}

static bool zone_settled(struct ftl_worker *self, struct ftl_request *req)
{
	(void)self;
	(void)req;
	return true;
}

static void zone_mounted(struct ftl *ftl, const struct zone *zone)
{
	*zone_entry(ftl, zone) = (struct zone_place){ .start = zone->placed ? zone_place(zone, 0) : PPA_NONE, .length = zone->placed };
}

static const char *zone_map_check(struct ftl *ftl, const struct zone *zone)
{
	const struct zone_place *place = zone ? zone_entry(ftl, zone) : NULL;

	if (!zone)
		return NULL;
	if (place->length != zone->placed)
		return "the zone mapping table knows another number of sectors at their place";
	if (place->start != (zone->placed ? zone_place(zone, 0) : PPA_NONE))
		return "a zone is not where the zone mapping table says";
	return NULL;
}

/* Staged sectors are in lists (below). */
const struct l2p_ops l2p_zone = {
	.init = zone_map_init,
	.read = zone_read,
	.map_run = zone_map_run,
	.remap_run = zone_remap_run,
	.moved = zone_moved,
	.unmap = zone_unmap,
	.room = zone_room,
	.settled = zone_settled,
	.found = zone_log_found,
	.replay = zone_log_replay,
	.knows = zone_log_knows,
	.mounted = zone_mounted,
	.check = zone_map_check,
};

/* The map as a table of zones, next to a map of the sectors of conventional zones (l2p.sectors). Only backing zones use the latter's log. */

static void both_init(struct ftl *ftl, struct arena *arena)
{
	ftl->l2p->sectors->init(ftl, arena);
	zone_map_init(ftl, arena);
}

static bool both_room(struct ftl_worker *self, struct zone *zone)
{
	return !zone_is_backing(zone) || self->ftl->l2p->sectors->room(self, zone);
}

static bool both_settled(struct ftl_worker *self, struct ftl_request *req) { return self->ftl->l2p->sectors->settled(self, req); }

static void both_found(struct ftl *ftl, const struct hz_oob *oob, ppa_t ppa)
{
	zone_log_found(ftl, oob, ppa);
	ftl->l2p->sectors->found(ftl, oob, ppa);
}

static void both_replay(struct ftl *ftl)
{
	zone_log_replay(ftl);
	ftl->l2p->sectors->replay(ftl);
}

static bool both_knows(const struct ftl *ftl, const struct zone *zone, uint32_t superblock, uint64_t sequence)
{
	return !zone_is_backing(zone) && zone_log_knows(ftl, zone, superblock, sequence);
}

static const char *both_check(struct ftl *ftl, const struct zone *zone)
{
	const char *error = zone_map_check(ftl, zone);

	return error || (zone && zone->index >= ftl->l2p->zones) ? error : ftl->l2p->sectors->check(ftl, zone);
}

const struct l2p_ops l2p_both = {
	.init = both_init,
	.read = zone_read,
	.map_run = zone_map_run,
	.remap_run = zone_remap_run,
	.moved = zone_moved,
	.unmap = zone_unmap,
	.room = both_room,
	.settled = both_settled,
	.found = both_found,
	.replay = both_replay,
	.knows = both_knows,
	.mounted = zone_mounted,
	.check = both_check,
};

/* Staged sectors in lists: taken and given back. */

static uint32_t *list_of(const struct zone_staged *staged, const struct zone *zone)
{
	return &staged->of_zone[zone->index - staged->first];
}

static ppa_t *slot_in(const struct ftl *ftl, const struct zone_staged *staged, const struct zone *zone, uint32_t offset)
{
	return &staged->place[(size_t)*list_of(staged, zone) * ftl->ring_sectors + zone_slot(zone, offset)];
}

static bool has_list(const struct zone_staged *staged, const struct zone *zone) { return *list_of(staged, zone) != ZONE_STAGED_NONE; }

/* If one is free. */
static void take_list(struct ftl *ftl, struct zone_staged *staged, const struct zone *zone)
{
	uint32_t *list = list_of(staged, zone);

	*list = l2p_take_bit(staged->taken, staged->words);
	if (*list != ZONE_STAGED_NONE)
		memset(&staged->place[(size_t)*list * ftl->ring_sectors], 0xff, ftl->ring_sectors * sizeof(ppa_t));
}

/* Sectors moved by the collector for a zone without a list give it none: the zone may be unwritable for good. */
void zone_staged_put(struct ftl *ftl, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t ppa)
{
	struct zone_staged *staged = &ftl->l2p->zone_staged;

	if (!has_list(staged, zone) && zone->buffer)
		take_list(ftl, staged, zone);
	for (uint32_t i = 0; has_list(staged, zone) && i < count; i++)
		*slot_in(ftl, staged, zone, offset + i) = ppa + i;
}

uint32_t zone_staged_at(struct ftl *ftl, const struct zone *zone, uint32_t offset)
{
	const struct zone_staged *staged = &ftl->l2p->zone_staged;
	ppa_t known = has_list(staged, zone) ? *slot_in(ftl, staged, zone, offset) : PPA_NONE;

	return known != PPA_NONE ? known : slc_find(ftl, (uint32_t)zone->start + offset) & L2P_ADDRESS_MASK;
}

void zone_staged_read(struct ftl *ftl, const struct zone *zone, uint32_t offset, uint32_t count, uint32_t *ppa)
{
	for (uint32_t i = 0; i < count; i++)
		ppa[i] = zone_staged_at(ftl, zone, offset + i);
}

void zone_staged_give(struct ftl *ftl, const struct zone *zone)
{
	struct zone_staged *staged = &ftl->l2p->zone_staged;
	uint32_t *list = list_of(staged, zone);

	if (!has_list(staged, zone))
		return;
	l2p_give_bit(staged->taken, *list);
	*list = ZONE_STAGED_NONE;
}

void zone_staged_placed(struct ftl *ftl, const struct zone *zone, uint32_t placed)
{
	if (zone->staged <= placed)
		zone_staged_give(ftl, zone);
}

void zone_staged_mounted(struct ftl *ftl, const struct zone *zone)
{
	if (zone->placed < zone->landed)
		take_list(ftl, &ftl->l2p->zone_staged, zone);
	for (uint32_t o = zone->placed; o < zone->landed; o++)
		zone_staged_put(ftl, zone, o, 1, zone_staged(zone, o) & L2P_ADDRESS_MASK);
}

/* Upper bound on zones with staged sectors. Sequential ones: active, and without entries of sectors. Backing ones: one per write frontier,
 * plus full zones that still own a buffer. */
static uint32_t most_active(const struct ftl *ftl)
{
	uint32_t sequential = ftl->zone_count - ftl->l2p->zones, backing = 0;

	if (ftl->shape.backing_zones)
		backing = ftl->cfg->conventional_buffers + frontiers_all(ftl->cfg);
	return (ftl->cfg->max_active ? min_u32(ftl->cfg->max_active, sequential) : sequential) + backing;
}

void zone_staged_init(struct ftl *ftl, struct arena *arena)
{
	struct zone_staged *staged = &ftl->l2p->zone_staged;

	staged->first = ftl->l2p->zones;
	staged->zones = ftl->all_zones - staged->first;
	staged->lists = min_u32(2 * most_active(ftl), staged->zones);
	staged->words = (staged->lists + L2P_WORD_BITS - 1) / L2P_WORD_BITS;
	staged->place = arena_alloc(arena, (size_t)staged->lists * ftl->ring_sectors, sizeof(ppa_t), "staged sectors of zones");
	staged->taken = arena_alloc(arena, staged->words, sizeof(*staged->taken), "staged sectors of zones");
	staged->of_zone = arena_alloc(arena, staged->zones, sizeof(*staged->of_zone), "staged sectors of zones");
	memset(staged->of_zone, 0xff, staged->zones * sizeof(*staged->of_zone));
	for (uint32_t i = staged->lists; i < staged->words * L2P_WORD_BITS; i++)
		lt_preset(&staged->taken[i / L2P_WORD_BITS], lt_load(&staged->taken[i / L2P_WORD_BITS]) | 1ull << i % L2P_WORD_BITS);
}

static bool is_taken(const struct zone_staged *staged, uint32_t list)
{
	return lt_load(&staged->taken[list / L2P_WORD_BITS]) >> list % L2P_WORD_BITS & 1;
}

static const char *check_all(const struct zone_staged *staged)
{
	uint32_t used = 0, held = 0;

	for (uint32_t i = 0; i < staged->lists; i++)
		used += is_taken(staged, i);
	for (uint32_t z = 0; z < staged->zones; z++)
		held += staged->of_zone[z] != ZONE_STAGED_NONE;
	return used == held ? NULL : "a list of staged sectors was lost";
}

const char *zone_staged_check(const struct ftl *ftl, const struct zone *zone)
{
	const struct zone_staged *staged = &ftl->l2p->zone_staged;

	if (!zone)
		return check_all(staged);
	if (!has_list(staged, zone))
		return NULL;
	if (zone->staged <= zone->placed)
		return "a zone without staged sectors has a list of them";
	if (zone_failed(zone))
		return "a zone that can be written no more has a list of staged sectors";
	return is_taken(staged, *list_of(staged, zone)) ? NULL : "a list of staged sectors is in use and free";
}
