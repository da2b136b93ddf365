/* Zone state machine, construction of zones, and the record of changed zones. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "zone/zone.h"

#include "base/health.h"
#include "lt/arena.h"

/* Zone state machine, and construction of zones. */

bool zone_is_open(uint8_t state) { return state == NVME_ZS_IMPLICIT_OPEN || state == NVME_ZS_EXPLICIT_OPEN; }

bool zone_is_active(uint8_t state) { return zone_is_open(state) || state == NVME_ZS_CLOSED; }

#define TO(state) (1u << NVME_ZS_##state)
/* ZNS 1.1, section 2.1.1.1 and its state figure: for every state, the states that may follow. */
static const uint16_t edges[16] = {
	[NVME_ZS_EMPTY] = TO(IMPLICIT_OPEN) | TO(EXPLICIT_OPEN) | TO(FULL) | TO(READ_ONLY) | TO(OFFLINE),
	[NVME_ZS_IMPLICIT_OPEN] = TO(EMPTY) | TO(EXPLICIT_OPEN) | TO(CLOSED) | TO(FULL) | TO(READ_ONLY) | TO(OFFLINE),
	[NVME_ZS_EXPLICIT_OPEN] = TO(EMPTY) | TO(CLOSED) | TO(FULL) | TO(READ_ONLY) | TO(OFFLINE),
	[NVME_ZS_CLOSED] = TO(EMPTY) | TO(IMPLICIT_OPEN) | TO(EXPLICIT_OPEN) | TO(FULL) | TO(READ_ONLY) | TO(OFFLINE),
	[NVME_ZS_FULL] = TO(EMPTY) | TO(READ_ONLY) | TO(OFFLINE),
	[NVME_ZS_READ_ONLY] = TO(OFFLINE),
};

bool zone_edge_legal(uint8_t from, uint8_t to) { return edges[from & 15] >> to & 1; }

void zone_set_state(struct zone *zone, uint8_t state, uint8_t reserved)
{
	if (!zone_edge_legal(zone->state, state))
		lt_fail("ftl: illegal zone state transition");
	if (zone_is_backing(zone))
		zone->state = state;
	else
		budget_change(zone, state, reserved);
}

/* For every condition, the conditions that may follow. */
static const uint8_t follows[ZONE_CONDITIONS] = {
	[ZONE_SOUND] = 1u << ZONE_BROKEN | 1u << ZONE_FAILED | 1u << ZONE_EMPTIED,
	[ZONE_BROKEN] = 1u << ZONE_SOUND | 1u << ZONE_FAILED | 1u << ZONE_EMPTIED,
	[ZONE_EMPTIED] = 1u << ZONE_SOUND,
};

bool zone_can_become(enum zone_condition from, enum zone_condition to) { return follows[from] >> to & 1; }

void zone_become(struct zone *zone, enum zone_condition condition)
{
	if (zone->condition == condition)
		return;
	if (!zone_can_become(zone->condition, condition))
		lt_fail("ftl: illegal change of a zone's condition");
	zone->condition = condition;
}

/* Sectors of a zone that lie in its normal superblock; the rest is the SLC patch. */
static uint32_t body_of(const struct ftl *ftl, uint32_t index)
{
	if (index >= ftl->zone_count)
		return ftl->cfg->conventional_region == HZ_REGION_SLC ? 0 : BODY_ALL;
	return ftl->shape.patch_sectors ? ftl->shape.superblock_sectors : BODY_ALL;
}

static void zone_init(struct ftl *ftl, struct zone *zone, uint32_t index)
{
	lt_lock_init(&zone->lock, HZ_LC_ZONE, index);
	zone->ftl = ftl;
	zone->index = index;
	zone->start = index * ftl->shape.zone_size_sectors;
	zone->capacity = index < ftl->zone_count ? ftl->capacity : ftl->backing_capacity;
	zone->body = body_of(ftl, index);
	zone->superblock = zone->patch = zone->move.old = SUPERBLOCK_NONE;
	zone->for_superblock.zone = zone->for_buffer.zone = zone->for_space.zone = zone->for_log.zone = zone;
	zone->state = NVME_ZS_EMPTY;
}

void zones_init(struct ftl *ftl, struct arena *arena)
{
	ftl->zones = arena_alloc(arena, ftl->all_zones, sizeof(*ftl->zones), "zones");
	for (uint32_t i = 0; i < ftl->all_zones; i++)
		zone_init(ftl, &ftl->zones[i], i);
}

/* Changed zones: one bit each in shared words, since workers set them and the HIL takes them; then the HIL is notified. */

void zone_changed(struct zone *zone)
{
	struct zone_changes *changes = zone->ftl->changes;

	if (zone_is_backing(zone))
		return;
	lt_or(&changes->map[zone->index >> 6], 1ull << (zone->index & 63));
	watch_tell(zone->ftl);
}

static uint32_t words(const struct ftl *ftl) { return (ftl->zone_count + 63) >> 6; }

uint32_t zone_changes_take(struct ftl *ftl, uint64_t *start, uint32_t most, bool take)
{
	uint32_t found = 0;

	for (uint32_t w = 0; w < words(ftl); w++) {
		lt_word *word = &ftl->changes->map[w];

		for (uint64_t bits = take ? lt_swap(word, 0) : lt_load(word); bits; bits &= bits - 1, found++)
			if (found < most)
				start[found] = ftl->zones[w << 6 | (uint32_t)__builtin_ctzll(bits)].start;
	}
	return found;
}

void zone_changes_init(struct ftl *ftl, struct arena *arena)
{
	ftl->changes = arena_alloc(arena, 1, sizeof(*ftl->changes), "changed zones");
	ftl->changes->map = arena_alloc(arena, words(ftl), sizeof(*ftl->changes->map), "changed zones");
}
