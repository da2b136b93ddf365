/* Changed zones: one bit each in shared words, since workers set them and the HIL takes them; then the HIL is told. */
#include "zone/zone_changes.h"

#include "base/context.h"

static void watch_run(struct lt_event *event)
{
	struct ftl_watch *watch = (struct ftl_watch *)((char *)event - offsetof(struct ftl_watch, event));

	lt_swap(&watch->posted, 0);
	watch->changed(watch);
}

/* Post once until it runs: what changes meanwhile is seen then. */
void watch_tell(struct ftl *ftl)
{
	struct ftl_watch *watch = ftl->changes.watch;

	if (watch && lt_cas(&watch->posted, 0, 1))
		lt_post(watch->thread, &watch->event, watch_run);
}

void zone_changed(struct zone *zone)
{
	struct zone_changes *changes = &zone->ftl->changes;

	if (zone->backing)
		return;
	lt_or(&changes->map[zone->index >> 6], 1ull << (zone->index & 63));
	watch_tell(zone->ftl);
}

void ftl_set_watch(struct ftl *ftl, struct ftl_watch *watch)
{
	ftl->changes.watch = watch;
}

static uint32_t words(const struct ftl *ftl) { return (ftl->zone_count + 63) >> 6; }

uint32_t ftl_changed_zones(struct ftl *ftl, uint64_t *start, uint32_t most, bool take)
{
	uint32_t found = 0;

	for (uint32_t w = 0; w < words(ftl); w++) {
		lt_word *word = &ftl->changes.map[w];

		for (uint64_t bits = take ? lt_swap(word, 0) : lt_load(word); bits; bits &= bits - 1, found++)
			if (found < most)
				start[found] = ftl->zones[w << 6 | (uint32_t)__builtin_ctzll(bits)].start;
	}
	return found;
}

void zone_changes_init(struct ftl *ftl, struct arena *arena)
{
	ftl->changes.map = arena_alloc(arena, words(ftl), sizeof(*ftl->changes.map), "changed zones");
}
