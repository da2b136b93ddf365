/* Validity of places. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "places/places.h"

#include "lt/arena.h"

static lt_word *place_bits(const struct ftl *ftl, uint32_t place, uint64_t *bit)
{
	uint32_t offset = place_offset(ftl, place);

	*bit = 1ull << (offset & (PLACE_BITS - 1));
	return &ftl->places->zone[place_number(ftl, place)].bits[offset / PLACE_BITS];
}

bool place_valid(const struct ftl *ftl, uint32_t place)
{
	uint64_t bit;
	lt_word *word = place_bits(ftl, place, &bit);

	return lt_load(word) & bit;
}

/* The number of resets in the same word as the bit: a reset between the look at its time and the change makes the change fail. */
void place_invalidate(struct ftl *ftl, uint32_t place, uint64_t known)
{
	struct place_zone *zone = &ftl->places->zone[place_number(ftl, place)];
	uint64_t bit, seen;
	lt_word *word = place_bits(ftl, place, &bit);

	do {
		seen = lt_load(word);
		if (!(seen & bit) || lt_load(&zone->reset_sequence) > known)
			return;
	} while (!lt_cas(word, seen, seen & ~bit));
	lt_add(&zone->valid, (uint64_t)-1);
}

/* Number of places from `offset` on, at most `count`, within one word, and their bits in it. */
static uint32_t in_word(uint32_t offset, uint32_t count, uint64_t *bits)
{
	uint32_t at = offset & (PLACE_BITS - 1), part = min_u32(PLACE_BITS - at, count);

	*bits = ((1ull << part) - 1) << at;
	return part;
}

bool places_any_valid(const struct zone *zone, uint32_t offset, uint32_t count)
{
	uint64_t bits;

	for (uint32_t part; count; offset += part, count -= part) {
		part = in_word(offset, count, &bits);
		if (lt_load(&zone->places->bits[offset / PLACE_BITS]) & bits)
			return true;
	}
	return false;
}

void places_mark_valid(struct zone *zone, uint32_t offset, uint32_t count)
{
	struct place_zone *places = zone->places;
	uint64_t bits;

	lt_add(&places->valid, count);
	for (uint32_t part; count; offset += part, count -= part) {
		part = in_word(offset, count, &bits);
		lt_or(&places->bits[offset / PLACE_BITS], bits);
	}
}

void places_reset(struct ftl *ftl, struct place_zone *zone)
{
	for (uint32_t i = 0; i < place_words(ftl->backing_capacity); i++)
		lt_add(&zone->bits[i], 1ull << PLACE_BITS);
	lt_store(&zone->durable, 0);
	for (uint32_t i = 0; zone->replaced_by && i < frontiers_all(ftl->cfg); i++)
		zone->replaced_by[i] = PLACE_NONE;
}

void places_forget(struct ftl *ftl, struct place_zone *zone)
{
	for (uint32_t i = 0; i < place_words(ftl->backing_capacity); i++)
		lt_store(&zone->bits[i], 0);
	lt_store(&zone->valid, 0);
}

static void place_zone_init(struct ftl *ftl, struct arena *arena, uint32_t number)
{
	struct place_zone *zone = &ftl->places->zone[number];

	ftl->zones[ftl->zone_count + number].places = zone;
	zone->base = ppa_make(ftl->map, number, 0);
	zone->bits = arena_alloc_table(arena, place_words(ftl->backing_capacity), sizeof(*zone->bits), "validity of places");
	if (!ftl->cfg->l2p_cache_bytes && ftl->cfg->buffer_release != HZ_RELEASE_TRANSFERRED) {
		zone->replaced_by = arena_alloc(arena, frontiers_all(ftl->cfg), sizeof(*zone->replaced_by), "replaced places");
		memset(zone->replaced_by, 0xff, frontiers_all(ftl->cfg) * sizeof(*zone->replaced_by));
	}
	zone->lba = arena_alloc_raw_table(arena, ftl->backing_capacity, sizeof(*zone->lba), "reverse map");
}

void places_init(struct ftl *ftl, struct arena *arena)
{
	struct places *places = arena_alloc(arena, 1, sizeof(*places), "places");

	ftl->places = places;
	places->zone = arena_alloc(arena, ftl->shape.backing_zones, sizeof(*places->zone), "backing zones");
	for (uint32_t i = 0; i < ftl->shape.backing_zones; i++)
		place_zone_init(ftl, arena, i);
}
