/* Folding of what was written in place. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "zone/update_fold.h"

#include "zone/zone.h"

void update_fold_wanted(struct ftl_worker *self, struct zone *zone)
{
	if (zone->updates.copies && !zone->refresh.cause)
		refresh_fold(self, zone);
}

void update_fold_begin(struct zone *zone)
{
	if (!zone->updates.copies)
		return;
	zone->updates.folds++;
	zone->updates.folding = lt_load(&zone->ext.ftl->sequence);
}

void update_fold_cancel(struct zone *zone) { zone->updates.folding = 0; }

void update_fold_moved(struct ftl_worker *self, struct zone *zone)
{
	if (!zone->updates.folding)
		return;
	zone->updates.folded = zone->updates.folding;
	zone->updates.folding = 0;
	zone->updates.recording = true;
	updates_drop_begin(zone);
	zone_table_fold(self, zone);
}

/* A table that is lost tells nobody: the copies stay. */
void update_fold_go_on(struct ftl_worker *self, struct zone *zone)
{
	uint32_t before = zone->updates.copies;

	if (!zone_table_settled(zone))
		return;
	zone->updates.recording = !zone_table_lost(self->ftl) && !updates_drop(self, zone, zone->updates.folded);
	self->counters.folded_updates += before - zone->updates.copies;
	self->counters.update_folds += !zone->updates.recording && !zone_table_lost(self->ftl);
	if (zone->updates.recording)
		extent_kick(self, &zone->ext);
}

void update_forget_begin(struct zone *zone)
{
	zone->updates.recording = false;
	updates_drop_begin(zone);
}

bool update_forget(struct ftl_worker *self, struct zone *zone)
{
	if (updates_drop(self, zone, UINT64_MAX))
		return true;
	extent_kick(self, &zone->ext);
	return false;
}
