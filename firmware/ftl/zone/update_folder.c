/* Which zone is folded when the budget of sectors written in place is scarce. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "zone/update.h"

#include "lt/arena.h"
#include "zone/zone.h"

void update_fold_wanted(struct ftl_worker *self, struct zone *zone)
{
	if (zone->updates.copies && !zone->refresh.cause)
		refresh_fold(self, zone);
}

/* False: the zone cannot be folded now, or has nothing to fold. Zone lock held. */
static bool folder_folds(struct ftl_worker *self, struct zone *zone)
{
	update_fold_wanted(self, zone);
	return zone->updates.copies && (zone->refresh.cause || zone->updates.recording);
}

/* The zone whose first copy is the oldest one that is newer than `sequence`, which becomes its number. NULL: there is none. No lock held.
 * A zone whose first entry has no copy yet is being written, and asks for a fold itself. */
static struct zone *folder_next(struct ftl *ftl, uint64_t *sequence)
{
	struct updates *updates = ftl->updates;
	struct zone *oldest = NULL;
	uint64_t least = UINT64_MAX;
	struct lt_lock_node node;

	lt_lock_acquire(&updates->lock, &node);
	for (uint32_t z = 0; z < ftl->zone_count; z++) {
		uint32_t first = ftl->zones[z].updates.first;
		uint64_t age = first == UPDATE_NONE ? 0 : updates->update[first].sequence;

		if (age > *sequence && age < least) {
			oldest = &ftl->zones[z];
			least = age;
		}
	}
	lt_lock_release(&updates->lock, &node);
	*sequence = least;
	return oldest;
}

/* One zone at a time: the search ends at one that is being folded. */
static void folder_runs(struct lt_event *event)
{
	struct update_folder *folder = (struct update_folder *)((char *)event - offsetof(struct update_folder, event));
	struct ftl_worker *self = (struct ftl_worker *)(uintptr_t)lt_swap(&folder->worker, 0);
	uint64_t sequence = 0;
	struct zone *zone;
	bool folds = false;

	while (!folds && (zone = folder_next(self->ftl, &sequence))) {
		struct lt_lock_node node;

		lt_lock_acquire(&zone->lock, &node);
		folds = folder_folds(self, zone);
		lt_lock_release(&zone->lock, &node);
	}
}

void update_fold_some(struct ftl_worker *self, struct zone *zone)
{
	struct update_folder *folder = self->ftl->updates->folder;

	if (!folder_folds(self, zone) && lt_cas(&folder->worker, 0, (uintptr_t)self))
		lt_post(&self->thread, &folder->event, folder_runs);
}

void update_folder_make(struct ftl *ftl, struct arena *arena)
{
	ftl->updates->folder = arena_alloc(arena, 1, sizeof(*ftl->updates->folder), "sectors written in place");
}
