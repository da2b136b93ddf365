/* A map of zones: lists of staged sectors, taken and given back. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "l2p/l2p_zone_staged.h"

#include "l2p/l2p.h"
#include "l2p/l2p_bits.h"
#include "lt/arena.h"
#include "slc/slc.h"

static ppa_t *slot_in(const struct ftl *ftl, const struct zone_staged *staged, const struct extent *ext, uint32_t offset)
{
	return &staged->place[(size_t)staged->of_zone[ext->index] * ftl->ring_sectors + extent_slot(ext, offset)];
}

/* False: none is free. */
static bool has_list(struct ftl *ftl, struct zone_staged *staged, const struct extent *ext)
{
	uint32_t *list = &staged->of_zone[ext->index];

	if (*list != ZONE_STAGED_NONE)
		return true;
	*list = l2p_take_bit(staged->taken, staged->words);
	if (*list == ZONE_STAGED_NONE)
		return false;
	memset(&staged->place[(size_t)*list * ftl->ring_sectors], 0xff, ftl->ring_sectors * sizeof(ppa_t));
	return true;
}

void zone_staged_put(struct ftl *ftl, const struct extent *ext, uint32_t offset, ppa_t ppa)
{
	struct zone_staged *staged = &ftl->l2p->zone_staged;

	if (has_list(ftl, staged, ext))
		*slot_in(ftl, staged, ext, offset) = ppa;
}

uint32_t zone_staged_at(struct ftl *ftl, const struct extent *ext, uint32_t offset)
{
	const struct zone_staged *staged = &ftl->l2p->zone_staged;
	ppa_t known = staged->of_zone[ext->index] == ZONE_STAGED_NONE ? PPA_NONE : *slot_in(ftl, staged, ext, offset);

	return known != PPA_NONE ? known : slc_find(ftl, (uint32_t)ext->start + offset) & L2P_ADDRESS_MASK;
}

void zone_staged_give(struct ftl *ftl, const struct extent *ext)
{
	struct zone_staged *staged = &ftl->l2p->zone_staged;
	uint32_t *list = &staged->of_zone[ext->index];

	if (*list == ZONE_STAGED_NONE)
		return;
	l2p_give_bit(staged->taken, *list);
	*list = ZONE_STAGED_NONE;
}

void zone_staged_init(struct ftl *ftl, struct arena *arena)
{
	struct zone_staged *staged = &ftl->l2p->zone_staged;

	staged->lists = ftl->cfg->max_active ? min_u32(2 * ftl->cfg->max_active, ftl->zone_count) : ftl->zone_count;
	staged->words = (staged->lists + L2P_WORD_BITS - 1) / L2P_WORD_BITS;
	staged->place = arena_alloc(arena, (size_t)staged->lists * ftl->ring_sectors, sizeof(ppa_t), "staged sectors of zones");
	staged->taken = arena_alloc(arena, staged->words, sizeof(*staged->taken), "staged sectors of zones");
	staged->of_zone = arena_alloc(arena, ftl->zone_count, sizeof(*staged->of_zone), "staged sectors of zones");
	memset(staged->of_zone, 0xff, ftl->zone_count * sizeof(*staged->of_zone));
	for (uint32_t i = staged->lists; i < staged->words * L2P_WORD_BITS; i++)
		lt_preset(&staged->taken[i / L2P_WORD_BITS], lt_load(&staged->taken[i / L2P_WORD_BITS]) | 1ull << i % L2P_WORD_BITS);
}

static bool is_taken(const struct zone_staged *staged, uint32_t list)
{
	return lt_load(&staged->taken[list / L2P_WORD_BITS]) >> list % L2P_WORD_BITS & 1;
}

static const char *check_all(const struct zone_staged *staged, uint32_t zones)
{
	uint32_t used = 0, held = 0;

	for (uint32_t i = 0; i < staged->lists; i++)
		used += is_taken(staged, i);
	for (uint32_t z = 0; z < zones; z++)
		held += staged->of_zone[z] != ZONE_STAGED_NONE;
	return used == held ? NULL : "a list of staged sectors was lost";
}

const char *zone_staged_check(const struct ftl *ftl, const struct extent *ext)
{
	const struct zone_staged *staged = &ftl->l2p->zone_staged;

	if (!ext)
		return check_all(staged, ftl->zone_count);
	if (staged->of_zone[ext->index] == ZONE_STAGED_NONE)
		return NULL;
	if (ext->staged <= ext->placed)
		return "a zone without staged sectors has a list of them";
	return is_taken(staged, staged->of_zone[ext->index]) ? NULL : "a list of staged sectors is in use and free";
}
