/* Which zones move to another superblock for their data's sake. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "zone/refresh.h"

#include "block/superblock.h"
#include "lt/arena.h"
#include "zone/zone.h"

/* A zone that could not move at once is due again after so many further reads: a power of two. */
enum { AGAIN_READS = 1024 };

/* It is full, at its place, and nothing happens to it. */
static bool may_move(const struct zone *zone, bool patch)
{
	const struct extent *ext = &zone->ext;

	return zone->state == NVME_ZS_FULL && ext->placed && ext->placed == ext->wp && !ext->buffer && !ext->failed && !ext->relocate &&
	       !zone->refresh.never && !zone->op.code && !zone->updates.recording && !zone->move.under_way &&
	       zone->move.old == SUPERBLOCK_NONE && (patch ? ext->patch : ext->superblock) != SUPERBLOCK_NONE;
}

static void list_push(struct zone *zone)
{
	struct refresher *refresher = zone->ext.ftl->refresher;

	zone->refresh.next = NULL;
	if (refresher->head)
		refresher->tail->refresh.next = zone;
	else
		refresher->head = zone;
	refresher->tail = zone;
}

static struct zone *list_pop(struct refresher *refresher)
{
	struct zone *zone = refresher->head;

	if (zone)
		refresher->head = zone->refresh.next;
	return zone;
}

void refresh_due(struct zone *zone, bool patch, enum refresh_cause cause)
{
	if (zone->refresh.cause || !may_move(zone, patch))
		return;
	zone->refresh.cause = (uint8_t)cause;
	zone->refresh.patch = patch;
	list_push(zone);
}

/* Zone lock held. Whoever reads or resets is a host at work: the device does not rest any more. */
static void become_due(struct ftl_worker *self, struct zone *zone, bool patch, enum refresh_cause cause)
{
	struct lt_lock_node node;

	lt_lock_acquire(&self->ftl->relocator->lock, &node);
	self->ftl->refresher->resting = false;
	refresh_due(zone, patch, cause);
	lt_lock_release(&self->ftl->relocator->lock, &node);
	refresh_next(self);
}

void refresh_next(struct ftl_worker *self)
{
	struct refresher *refresher = self->ftl->refresher;
	struct relocator *mover = self->ftl->relocator;
	struct zone *zone = NULL;
	struct lt_lock_node node;

	lt_lock_acquire(&mover->lock, &node);
	if (!refresher->resting && !mover->zone) {
		zone = (struct zone *)(uintptr_t)lt_load(&refresher->candidate);
		if (!zone)
			zone = list_pop(refresher);
		lt_store(&refresher->candidate, (uintptr_t)zone);
	}
	lt_lock_release(&mover->lock, &node);
	if (zone)
		extent_kick(self, &zone->ext);
}

void refresh_end(struct zone *zone, bool moved, struct ftl_worker *self)
{
	self->counters.refreshed_reads += moved && zone->refresh.cause == REFRESH_READS;
	self->counters.refreshed_age += moved && zone->refresh.cause == REFRESH_AGE;
	self->counters.refreshed_wear += moved && zone->refresh.cause == REFRESH_WEAR;
	zone->refresh.cause = REFRESH_NONE;
	lt_store(&self->ftl->refresher->candidate, 0);
}

void refresh_go_on(struct ftl_worker *self, struct zone *zone)
{
	struct ftl *ftl = self->ftl;
	uint32_t target;

	if (lt_load(&ftl->refresher->candidate) != (uintptr_t)zone || zone->move.under_way)
		return;
	if (!may_move(zone, zone->refresh.patch)) {
		refresh_end(zone, false, self);
		refresh_next(self);
		return;
	}
	target = superblock_take_spare(&zone->ext, zone->refresh.patch);
	if (target != SUPERBLOCK_NONE && !relocate_refreshed(self, zone, target))
		superblock_untake(self, target);
}

void refresh_counted(struct ftl_worker *self, struct zone *zone, ppa_t ppa)
{
	struct ftl *ftl = self->ftl;
	uint64_t reads = superblock_count_read(ftl, ppa_superblock(ftl->map, ppa)), most = ftl->cfg->refresh_reads;

	if (reads == most || (reads > most && !(reads & (AGAIN_READS - 1))))
		become_due(self, zone, ppa_superblock(ftl->map, ppa) == zone->ext.patch, REFRESH_READS);
}

void refresh_fold(struct ftl_worker *self, struct zone *zone) { become_due(self, zone, false, REFRESH_FOLD); }

/* --- wear --- */

static void look_at(struct ftl_worker *self, struct zone *zone)
{
	struct ftl *ftl = self->ftl;
	bool patch = zone->ext.body == 0;
	struct lt_lock_node node;
	uint64_t erases, count;

	superblocks_wear(ftl, patch, &erases, &count);
	lt_lock_acquire(&zone->ext.lock, &node);
	if (may_move(zone, patch)) {
		uint32_t own = superblock_erases(ftl, patch ? zone->ext.patch : zone->ext.superblock);

		if (((uint64_t)own + ftl->cfg->refresh_wear) * count < erases)
			become_due(self, zone, patch, REFRESH_WEAR);
	}
	lt_lock_release(&zone->ext.lock, &node);
}

static void look_once(struct lt_event *event)
{
	struct refresher *refresher = (struct refresher *)((char *)event - offsetof(struct refresher, event));
	struct ftl_worker *self = refresher->worker;
	struct zone *zone = &self->ftl->zones[refresher->cursor];

	refresher->cursor = refresher->cursor + 1 == self->ftl->all_zones ? 0 : refresher->cursor + 1;
	lt_store(&refresher->looking, 0);
	look_at(self, zone);
}

void refresh_look(struct ftl_worker *self)
{
	struct refresher *refresher = self->ftl->refresher;

	if (!self->ftl->cfg->refresh_wear || !lt_cas(&refresher->looking, 0, 1))
		return;
	refresher->worker = self;
	lt_post(&self->thread, &refresher->event, refresher->look);
}

/* --- after mount --- */

static void refresh_begin(struct lt_event *event)
{
	struct refresher *refresher = (struct refresher *)((char *)event - offsetof(struct refresher, event));

	lt_store(&refresher->looking, 0);
	refresh_next(refresher->worker);
}

void refresh_start(struct ftl *ftl)
{
	struct refresher *refresher = ftl->refresher;

	if (!refresher->head)
		return;
	lt_preset(&refresher->looking, 1);
	refresher->worker = &ftl->workers[0];
	lt_post(&refresher->worker->thread, &refresher->event, refresher->begin);
}

void refresh_init(struct ftl *ftl, struct arena *arena)
{
	ftl->refresher = arena_alloc(arena, 1, sizeof(*ftl->refresher), "refresher");
	ftl->refresher->look = look_once;
	ftl->refresher->begin = refresh_begin;
}
