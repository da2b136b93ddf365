/* Staged sectors: known addresses by buffer slot; callbacks of the SLC log for staged data. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "buffer/staged.h"

#include "buffer/buffer_internal.h"
#include "map/l2p.h"
#include "lt/arena.h"

enum { STAGED_PIECE = 64 /* most copies invalidated under one acquisition of the SLC lock */ };

/* The map learns of copies when all of a stage are there. */
static bool being_staged(const struct zone *zone, uint32_t offset)
{
	return zone->buffer && zone->buffer->stage.pending && offset >= zone->buffer->stage.from;
}

bool staged_has(const struct zone *zone, uint32_t offset)
{
	if (!zone->staged_ppa)
		return offset < zone->staged;
	return offset < zone->staged_before || (zone_staged(zone, offset) != PPA_NONE && !being_staged(zone, offset));
}

static uint32_t slot_after(const struct ftl *ftl, uint32_t slot) { return slot + 1 == ftl->ring_sectors ? 0 : slot + 1; }

uint32_t staged_read(struct ftl *ftl, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t *ppa)
{
	uint32_t slot = zone_slot(zone, offset), i;

	for (i = 0; i < count && zone->staged_ppa[slot] != PPA_NONE; i++, slot = slot_after(ftl, slot)) {
		ppa[i] = zone->staged_ppa[slot];
		slc_pin(ftl, ppa[i]);
	}
	return i;
}

void staged_put(struct ftl *ftl, struct zone *zone, uint32_t offset, uint32_t count, ppa_t ppa)
{
	uint32_t slot = zone_slot(zone, offset);

	for (uint32_t i = 0; i < count; i++, slot = slot_after(ftl, slot))
		zone->staged_ppa[slot] = ppa + i;
	slc_validate(ftl, ppa, count, (uint32_t)(zone->start + offset));
}

void staged_found(struct zone *zone, uint32_t offset, uint32_t count, const ppa_t *ppa)
{
	uint32_t slot = zone_slot(zone, offset);

	for (uint32_t i = 0; i < count; i++, slot = slot_after(zone->ftl, slot))
		zone->staged_ppa[slot] = ppa[i];
}

/* One change of the map for each run of adjacent copies. */
void staged_map(struct ftl_worker *self, struct zone *zone, uint32_t from, uint32_t to)
{
	uint32_t count;

	for (uint32_t o = from; o < to; o += count) {
		ppa_t ppa = zone_staged(zone, o);

		count = 1;
		if (ppa == PPA_NONE)
			continue;
		while (o + count < to && zone_staged(zone, o + count) == ppa + count)
			count++;
		l2p_stage_run(self, zone, o, count, ppa);
	}
}

void staged_drop(struct ftl_worker *self, struct zone *zone, uint32_t offset, uint32_t count)
{
	uint32_t slot = zone_slot(zone, offset);
	ppa_t gone[STAGED_PIECE];

	while (count && zone->staged_ppa) {
		uint32_t part = count < STAGED_PIECE ? count : STAGED_PIECE, n = 0;

		for (uint32_t i = 0; i < part; i++, slot = slot_after(self->ftl, slot)) {
			if (zone->staged_ppa[slot] != PPA_NONE)
				gone[n++] = zone->staged_ppa[slot];
			zone->staged_ppa[slot] = PPA_NONE;
		}
		if (n)
			slc_invalidate(self, gone, n);
		count -= part;
	}
}

void staged_keep_prefix(struct ftl_worker *self, struct zone *zone)
{
	uint32_t end = zone->placed;

	while (end < zone->landed && staged_has(zone, end))
		end++;
	staged_drop(self, zone, end, zone->landed - end);
	l2p_unstage_run(self, zone, end, zone->landed - end);
	zone->staged_from = zone->placed;
	zone->staged = end;
}

void staged_bind(struct zone *zone, ppa_t *list)
{
	zone->staged_ppa = list;
	zone->staged_before = zone->landed;
}

void staged_unbind(struct zone *zone)
{
	for (uint32_t o = zone->placed; o < zone->landed; o++)
		zone->staged_ppa[zone_slot(zone, o)] = PPA_NONE;
	zone->staged_ppa = NULL;
}

/* --- the collector --- */

static bool staged_lies_at(struct ftl *ftl, uint32_t lba, ppa_t ppa)
{
	const struct zone *zone = zone_at(ftl, lba);
	uint32_t offset = (uint32_t)(lba - zone->start);

	return offset >= zone->placed && offset < zone->landed && zone_where(zone, offset) == ppa;
}

/* Move the sector's address from `from`, where it is valid. Zone's lock held. */
static void follow(struct ftl_worker *self, struct zone *zone, uint32_t offset, ppa_t from, ppa_t to)
{
	if (zone_staged(zone, offset) == from)
		zone->staged_ppa[zone_slot(zone, offset)] = to;
	if (!being_staged(zone, offset))
		l2p_stage_run(self, zone, offset, 1, to);
	slc_move(self->ftl, from, to);
}

static void staged_moved(struct ftl_worker *self, uint32_t lba, ppa_t from, ppa_t to)
{
	struct zone *zone = zone_at(self->ftl, lba);
	struct lt_lock_node node;

	lt_lock_acquire(&zone->lock, &node);
	if (*slc_tag_of(self->ftl, from) == lba) {
		if (zone->condition == ZONE_EMPTIED)
			slc_invalidate(self, &from, 1);
		else
			follow(self, zone, (uint32_t)(lba - zone->start), from, to);
	}
	lt_lock_release(&zone->lock, &node);
}

/* --- mount --- */

enum { MOUNT_LISTS = 32 };

void staged_lists_init(const struct ftl *ftl, struct arena *arena, struct staged_lists *lists)
{
	lists->count = min_u32(MOUNT_LISTS, ftl->all_zones - ftl->shape.conventional_zones);
	lists->used = 0;
	lists->place = arena_borrow(arena, (size_t)lists->count * ftl->ring_sectors, sizeof(ppa_t), "staged lists");
}

bool staged_list(struct staged_lists *lists, struct zone *zone)
{
	uint32_t slots = zone->ftl->ring_sectors;

	if (zone->staged_ppa || lists->used == lists->count)
		return zone->staged_ppa;
	zone->staged_ppa = memset(&lists->place[(size_t)lists->used++ * slots], 0xff, slots * sizeof(ppa_t));
	return true;
}

void staged_lists_return(struct ftl *ftl, struct staged_lists *lists)
{
	lists->used = 0;
	for (uint32_t i = 0; i < ftl->all_zones; i++)
		ftl->zones[i].staged_ppa = NULL;
}

/* --- harts idle --- */

ppa_t zone_where(const struct zone *zone, uint32_t offset)
{
	uint32_t found = L2P_UNMAPPED;

	if (offset < zone->placed)
		return zone_place(zone, offset);
	if (offset >= zone->landed || !staged_has(zone, offset))
		return PPA_NONE;
	found = l2p_staged_peek(zone->ftl, zone, offset);
	return found == L2P_UNMAPPED ? PPA_NONE : found;
}

void staged_init(struct ftl *ftl, struct arena *arena)
{
	uint32_t last = (uint32_t)(ftl->all_zones * ftl->shape.zone_size_sectors) - 1;

	(void)arena;
	slc_own(ftl->slc, SLC_OWNS_STAGED,
		(struct slc_owner){ .first = 0, .last = last, .moved = staged_moved, .lies_at = staged_lies_at });
}
