/* Staged sectors in lists: taken and given back. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "l2p/l2p_zone_staged.h"

#include "l2p/l2p.h"
#include "l2p/l2p_bits.h"
#include "lt/arena.h"
#include "places/places.h"
#include "slc/slc.h"

static uint32_t *list_of(const struct zone_staged *staged, const struct extent *ext)
{
	return &staged->of_zone[ext->index - staged->first];
}

static ppa_t *slot_in(const struct ftl *ftl, const struct zone_staged *staged, const struct extent *ext, uint32_t offset)
{
	return &staged->place[(size_t)*list_of(staged, ext) * ftl->ring_sectors + extent_slot(ext, offset)];
}

static bool has_list(const struct zone_staged *staged, const struct extent *ext) { return *list_of(staged, ext) != ZONE_STAGED_NONE; }

/* If one is free. */
static void take_list(struct ftl *ftl, struct zone_staged *staged, const struct extent *ext)
{
	uint32_t *list = list_of(staged, ext);

	*list = l2p_take_bit(staged->taken, staged->words);
	if (*list != ZONE_STAGED_NONE)
		memset(&staged->place[(size_t)*list * ftl->ring_sectors], 0xff, ftl->ring_sectors * sizeof(ppa_t));
}

/* What the collector moves of a zone without a list gets it none: that can be a zone that can be written no more. */
void zone_staged_put(struct ftl *ftl, const struct extent *ext, uint32_t offset, uint32_t count, ppa_t ppa)
{
	struct zone_staged *staged = &ftl->l2p->zone_staged;

	if (!has_list(staged, ext) && ext->buffer)
		take_list(ftl, staged, ext);
	for (uint32_t i = 0; has_list(staged, ext) && i < count; i++)
		*slot_in(ftl, staged, ext, offset + i) = ppa + i;
}

uint32_t zone_staged_at(struct ftl *ftl, const struct extent *ext, uint32_t offset)
{
	const struct zone_staged *staged = &ftl->l2p->zone_staged;
	ppa_t known = has_list(staged, ext) ? *slot_in(ftl, staged, ext, offset) : PPA_NONE;

	return known != PPA_NONE ? known : slc_find(ftl, (uint32_t)ext->start + offset) & L2P_ADDRESS_MASK;
}

void zone_staged_read(struct ftl *ftl, const struct extent *ext, uint32_t offset, uint32_t count, uint32_t *ppa)
{
	for (uint32_t i = 0; i < count; i++)
		ppa[i] = zone_staged_at(ftl, ext, offset + i);
}

void zone_staged_give(struct ftl *ftl, const struct extent *ext)
{
	struct zone_staged *staged = &ftl->l2p->zone_staged;
	uint32_t *list = list_of(staged, ext);

	if (!has_list(staged, ext))
		return;
	l2p_give_bit(staged->taken, *list);
	*list = ZONE_STAGED_NONE;
}

void zone_staged_placed(struct ftl *ftl, const struct extent *ext, uint32_t placed)
{
	if (ext->staged <= placed)
		zone_staged_give(ftl, ext);
}

void zone_staged_mounted(struct ftl *ftl, const struct extent *ext)
{
	if (ext->placed < ext->landed)
		take_list(ftl, &ftl->l2p->zone_staged, ext);
	for (uint32_t o = ext->placed; o < ext->landed; o++)
		zone_staged_put(ftl, ext, o, 1, extent_staged(ext, o) & L2P_ADDRESS_MASK);
}

/* Of backing zones those have something staged where a write frontier is, or that are full and still have a buffer. */
static uint32_t most_active(const struct ftl *ftl)
{
	if (ftl->cfg->l2p_kind != HZ_L2P_KIND_ZONE)
		return ftl->cfg->conventional_buffers + frontier_first(ftl->cfg, STREAM_COLLECT) + 1;
	return ftl->cfg->max_active ? ftl->cfg->max_active : ftl->zone_count;
}

void zone_staged_init(struct ftl *ftl, struct arena *arena)
{
	struct zone_staged *staged = &ftl->l2p->zone_staged;
	bool all = ftl->cfg->l2p_kind == HZ_L2P_KIND_ZONE;

	staged->first = all ? 0 : ftl->zone_count;
	staged->zones = all ? ftl->zone_count : ftl->shape.backing_zones;
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

const char *zone_staged_check(const struct ftl *ftl, const struct extent *ext)
{
	const struct zone_staged *staged = &ftl->l2p->zone_staged;

	if (!ext)
		return check_all(staged);
	if (!has_list(staged, ext))
		return NULL;
	if (ext->staged <= ext->placed)
		return "a zone without staged sectors has a list of them";
	if (ext->failed)
		return "a zone that can be written no more has a list of staged sectors";
	return is_taken(staged, *list_of(staged, ext)) ? NULL : "a list of staged sectors is in use and free";
}
