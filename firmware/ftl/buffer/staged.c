/* Staged sectors: known addresses by buffer slot; callbacks of the SLC log for staged data. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "buffer/staged.h"

#include "buffer/buffer_internal.h"
#include "map/l2p.h"
#include "lt/arena.h"

enum { STAGED_PIECE = 64 /* most copies invalidated under one acquisition of the SLC lock */ };

/* The map learns of copies when all of a stage are there. */
static bool being_staged(const struct extent *ext, uint32_t offset)
{
	return ext->buffer && ext->buffer->stage.pending && offset >= ext->buffer->stage.from;
}

bool staged_has(const struct extent *ext, uint32_t offset)
{
	if (!ext->staged_ppa)
		return offset < ext->staged;
	return offset < ext->staged_before || (extent_staged(ext, offset) != PPA_NONE && !being_staged(ext, offset));
}

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

void staged_found(struct extent *ext, uint32_t offset, uint32_t count, const ppa_t *ppa)
{
	uint32_t slot = extent_slot(ext, offset);

	for (uint32_t i = 0; i < count; i++, slot = slot_after(ext->ftl, slot))
		ext->staged_ppa[slot] = ppa[i];
}

/* One change of the map for each run of adjacent copies. */
void staged_map(struct ftl_worker *self, struct extent *ext, uint32_t from, uint32_t to)
{
	uint32_t count;

	for (uint32_t o = from; o < to; o += count) {
		ppa_t ppa = extent_staged(ext, o);

		count = 1;
		if (ppa == PPA_NONE)
			continue;
		while (o + count < to && extent_staged(ext, o + count) == ppa + count)
			count++;
		l2p_stage_run(self, ext, o, count, ppa);
	}
}

void staged_drop(struct ftl_worker *self, struct extent *ext, uint32_t offset, uint32_t count)
{
	uint32_t slot = extent_slot(ext, offset);
	ppa_t gone[STAGED_PIECE];

	while (count && ext->staged_ppa) {
		uint32_t part = count < STAGED_PIECE ? count : STAGED_PIECE, n = 0;

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

	while (end < ext->landed && staged_has(ext, end))
		end++;
	staged_drop(self, ext, end, ext->landed - end);
	l2p_unstage_run(self, ext, end, ext->landed - end);
	ext->staged_from = ext->placed;
	ext->staged = end;
}

void staged_bind(struct extent *ext, ppa_t *list)
{
	ext->staged_ppa = list;
	ext->staged_before = ext->landed;
}

void staged_unbind(struct extent *ext)
{
	for (uint32_t o = ext->placed; o < ext->landed; o++)
		ext->staged_ppa[extent_slot(ext, o)] = PPA_NONE;
	ext->staged_ppa = NULL;
}

/* --- the collector --- */

static bool staged_lies_at(struct ftl *ftl, uint32_t lba, ppa_t ppa)
{
	const struct extent *ext = extent_at(ftl, lba);
	uint32_t offset = (uint32_t)(lba - ext->start);

	return offset >= ext->placed && offset < ext->landed && extent_where(ext, offset) == ppa;
}

/* Move the sector's address from `from`, where it is valid. Zone's lock held. */
static void follow(struct ftl_worker *self, struct extent *ext, uint32_t offset, ppa_t from, ppa_t to)
{
	if (extent_staged(ext, offset) == from)
		ext->staged_ppa[extent_slot(ext, offset)] = to;
	if (!being_staged(ext, offset))
		l2p_stage_run(self, ext, offset, 1, to);
	slc_move(self->ftl, from, to);
}

static void staged_moved(struct ftl_worker *self, uint32_t lba, ppa_t from, ppa_t to)
{
	struct extent *ext = extent_at(self->ftl, lba);
	struct lt_lock_node node;

	lt_lock_acquire(&ext->lock, &node);
	if (*slc_tag_of(self->ftl, from) == lba) {
		if (ext->emptied)
			slc_invalidate(self, &from, 1);
		else
			follow(self, ext, (uint32_t)(lba - ext->start), from, to);
	}
	lt_lock_release(&ext->lock, &node);
}

/* --- mount --- */

enum { MOUNT_LISTS = 32 };

void staged_lists_init(const struct ftl *ftl, struct arena *arena, struct staged_lists *lists)
{
	lists->count = min_u32(MOUNT_LISTS, ftl->all_zones - ftl->shape.conventional_zones);
	lists->used = 0;
	lists->place = arena_borrow(arena, (size_t)lists->count * ftl->ring_sectors, sizeof(ppa_t), "staged lists");
}

bool staged_list(struct staged_lists *lists, struct extent *ext)
{
	uint32_t slots = ext->ftl->ring_sectors;

	if (ext->staged_ppa || lists->used == lists->count)
		return ext->staged_ppa;
	ext->staged_ppa = memset(&lists->place[(size_t)lists->used++ * slots], 0xff, slots * sizeof(ppa_t));
	return true;
}

void staged_lists_return(struct ftl *ftl, struct staged_lists *lists)
{
	lists->used = 0;
	for (uint32_t i = 0; i < ftl->all_zones; i++)
		ftl->extent[i]->staged_ppa = NULL;
}

/* --- harts idle --- */

ppa_t extent_where(const struct extent *ext, uint32_t offset)
{
	uint32_t found = L2P_UNMAPPED;

	if (offset < ext->placed)
		return extent_place(ext, offset);
	if (offset >= ext->landed || !staged_has(ext, offset))
		return PPA_NONE;
	found = l2p_staged_peek(ext->ftl, ext, offset);
	return found == L2P_UNMAPPED ? PPA_NONE : found;
}

void staged_init(struct ftl *ftl, struct arena *arena)
{
	uint32_t last = (uint32_t)(ftl->all_zones * ftl->shape.zone_size_sectors) - 1;

	(void)arena;
	slc_own(ftl->slc, SLC_OWNS_STAGED,
		(struct slc_owner){ .first = 0, .last = last, .moved = staged_moved, .lies_at = staged_lies_at });
}
