/* Changed zones: one bit each in shared words, since workers set them and the HIL takes them; then the HIL is told. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "zone/zone_changes.h"

#include "base/watch.h"
#include "lt/arena.h"
#include "zone/zone.h"

void zone_changed(struct zone *zone)
{
	struct zone_changes *changes = zone->ext.ftl->changes;

	if (extent_is_backing(&zone->ext))
		return;
	lt_or(&changes->map[zone->ext.index >> 6], 1ull << (zone->ext.index & 63));
	watch_tell(zone->ext.ftl);
}

static uint32_t words(const struct ftl *ftl) { return (ftl->zone_count + 63) >> 6; }

uint32_t zone_changes_take(struct ftl *ftl, uint64_t *start, uint32_t most, bool take)
{
	uint32_t found = 0;

	for (uint32_t w = 0; w < words(ftl); w++) {
		lt_word *word = &ftl->changes->map[w];

		for (uint64_t bits = take ? lt_swap(word, 0) : lt_load(word); bits; bits &= bits - 1, found++)
			if (found < most)
				start[found] = ftl->zones[w << 6 | (uint32_t)__builtin_ctzll(bits)].ext.start;
	}
	return found;
}

void zone_changes_init(struct ftl *ftl, struct arena *arena)
{
	ftl->changes = arena_alloc(arena, 1, sizeof(*ftl->changes), "changed zones");
	ftl->changes->map = arena_alloc(arena, words(ftl), sizeof(*ftl->changes->map), "changed zones");
}
