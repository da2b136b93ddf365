/* Staged list of a zone: SLC addresses by buffer slot. */
#include "slc/staged.h"

#include "base/context.h"
#include "zone/write.h"

enum { PIECE = 64 };             /* most copies that become invalid under one acquisition of the SLC lock */

void staged_init(struct ftl *ftl, struct zone *zone, struct arena *arena)
{
	zone->staged_ppa = arena_alloc(arena, ftl->superpage_sectors, sizeof(ppa_t), "staged lists");
	memset(zone->staged_ppa, 0xff, ftl->superpage_sectors * sizeof(ppa_t));
}

ppa_t staged_at(const struct zone *zone, uint32_t offset)
{
	return zone->staged_ppa[slot_at(zone, offset)];
}

static uint32_t slot_after(const struct ftl *ftl, uint32_t slot)
{
	return slot + 1 == ftl->superpage_sectors ? 0 : slot + 1;
}

uint32_t staged_read(struct ftl *ftl, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t *ppa)
{
	uint32_t slot = slot_at(zone, offset), i;

	for (i = 0; i < count && zone->staged_ppa[slot] != PPA_NONE; i++, slot = slot_after(ftl, slot)) {
		ppa[i] = zone->staged_ppa[slot];
		slc_pin(ftl, ppa[i]);
	}
	return i;
}

void staged_put(struct ftl *ftl, struct zone *zone, uint32_t offset, uint32_t count, ppa_t ppa)
{
	uint32_t slot = slot_at(zone, offset);

	for (uint32_t i = 0; i < count; i++, slot = slot_after(ftl, slot))
		zone->staged_ppa[slot] = ppa + i;
	slc_validate(ftl, ppa, count, (uint32_t)(zone->start + offset));
}

void staged_drop(struct ftl_worker *self, struct zone *zone, uint32_t offset, uint32_t count)
{
	uint32_t slot = slot_at(zone, offset);
	ppa_t gone[PIECE];

	while (count) {
		uint32_t part = count < PIECE ? count : PIECE, n = 0;

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

	while (end < zone->landed && staged_at(zone, end) != PPA_NONE)
		end++;
	staged_drop(self, zone, end, zone->landed - end);
	zone->staged_from = zone->placed;
	zone->staged = end;
}

void staged_move(struct ftl *ftl, uint64_t lba, ppa_t from, ppa_t to)
{
	struct zone *zone = zone_at(ftl, lba);
	uint32_t offset = (uint32_t)(lba - zone->start);
	struct lt_lock_node node;

	lt_lock_acquire(&zone->lock, &node);
	if (offset >= zone->placed && offset < zone->landed && staged_at(zone, offset) == from) {
		zone->staged_ppa[slot_at(zone, offset)] = to;
		slc_move(ftl, from, to);
	}
	lt_lock_release(&zone->lock, &node);
}

ppa_t *staged_candidate(struct zone *zone, uint32_t offset)
{
	return &zone->staged_ppa[offset % zone->ftl->superpage_sectors];
}
