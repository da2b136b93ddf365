/* Staged list of a zone: SLC addresses by buffer slot. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "slc/staged.h"

#include "lt/arena.h"

enum { PIECE = 64 }; /* most copies that become invalid under one acquisition of the SLC lock */

ppa_t staged_at(const struct extent *ext, uint32_t offset) { return ext->staged_ppa[extent_slot(ext, offset)]; }

static uint32_t slot_after(const struct ftl *ftl, uint32_t slot) { return slot + 1 == ftl->ring_sectors ? 0 : slot + 1; }

uint32_t staged_read(struct ftl *ftl, const struct extent *ext, uint32_t offset, uint32_t count, ppa_t *ppa)
{
	uint32_t slot = extent_slot(ext, offset), i;

	for (i = 0; i < count && ext->staged_ppa[slot] != PPA_NONE; i++, slot = slot_after(ftl, slot)) {
		ppa[i] = ext->staged_ppa[slot];
		slc_pin(ftl, ppa[i]);
	}
	return i;
}

void staged_put(struct ftl *ftl, struct extent *ext, uint32_t offset, uint32_t count, ppa_t ppa)
{
	uint32_t slot = extent_slot(ext, offset);

	for (uint32_t i = 0; i < count; i++, slot = slot_after(ftl, slot))
		ext->staged_ppa[slot] = ppa + i;
	slc_validate(ftl, ppa, count, (uint32_t)(ext->start + offset));
}

void staged_drop(struct ftl_worker *self, struct extent *ext, uint32_t offset, uint32_t count)
{
	uint32_t slot = extent_slot(ext, offset);
	ppa_t gone[PIECE];

	while (count) {
		uint32_t part = count < PIECE ? count : PIECE, n = 0;

		for (uint32_t i = 0; i < part; i++, slot = slot_after(self->ftl, slot)) {
			if (ext->staged_ppa[slot] != PPA_NONE)
				gone[n++] = ext->staged_ppa[slot];
			ext->staged_ppa[slot] = PPA_NONE;
		}
		if (n)
			slc_invalidate(self, gone, n);
		count -= part;
	}
}

void staged_keep_prefix(struct ftl_worker *self, struct extent *ext)
{
	uint32_t end = ext->placed;

	while (end < ext->landed && staged_at(ext, end) != PPA_NONE)
		end++;
	staged_drop(self, ext, end, ext->landed - end);
	ext->staged_from = ext->placed;
	ext->staged = end;
}

static bool staged_lies_at(struct ftl *ftl, uint32_t lba, ppa_t ppa)
{
	const struct extent *ext = extent_at(ftl, lba);
	uint32_t offset = (uint32_t)(lba - ext->start);

	return offset >= ext->placed && offset < ext->landed && staged_at(ext, offset) == ppa;
}

static void staged_moved(struct ftl *ftl, uint32_t lba, ppa_t from, ppa_t to)
{
	struct extent *ext = extent_at(ftl, lba);
	struct lt_lock_node node;

	lt_lock_acquire(&ext->lock, &node);
	if (staged_lies_at(ftl, lba, from)) {
		ext->staged_ppa[extent_slot(ext, (uint32_t)(lba - ext->start))] = to;
		slc_move(ftl, from, to);
	}
	lt_lock_release(&ext->lock, &node);
}

ppa_t *staged_candidate(struct extent *ext, uint32_t offset) { return &ext->staged_ppa[offset % ext->ftl->ring_sectors]; }

void staged_init(struct ftl *ftl, struct arena *arena)
{
	uint32_t last = (uint32_t)(ftl->all_zones * ftl->shape.zone_size_sectors) - 1;

	for (uint32_t i = 0; i < ftl->all_zones; i++) {
		struct extent *ext = ftl->extent[i];

		ext->staged_ppa = arena_alloc(arena, ftl->ring_sectors, sizeof(ppa_t), "staged lists");
		memset(ext->staged_ppa, 0xff, ftl->ring_sectors * sizeof(ppa_t));
	}
	slc_own(ftl->slc, SLC_OWNS_STAGED,
		(struct slc_owner){ .first = 0, .last = last, .moved = staged_moved, .lies_at = staged_lies_at });
}
