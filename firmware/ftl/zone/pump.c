/* The pump of a zone, and the end of its writing. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "block/superblock.h"
#include "buffer/buffer.h"
#include "buffer/staged.h"
#include "lt/arena.h"
#include "request/io.h"
#include "zone/move.h"
#include "zone/update.h"
#include "zone/zone.h"
#include "zone/zone_internal.h"

/* Actions of readers for waiters. */

void readers_look(struct ftl_worker *self, struct zone *zone)
{
	struct lt_lock_node node;

	lt_lock_acquire(&zone->lock, &node);
	lt_and(&zone->readers_ended, ~(uint64_t)READERS_AWAITED); /* if it is still too early, the pump marks it again */
	zone_pump(self, zone);
	lt_lock_release(&zone->lock, &node);
}

/* The end of a zone's writing: durable data stay readable; the rest is lost, and reads of it fail. */

/* Redispatch conventional writes that have no data in this zone yet; fail the others. */
static void lost_queued(const struct zone *zone, struct ftl_request *req)
{
	if (zone->kind && io_of(req)->done == io_of(req)->first)
		io_resume(req);
	else
		io_complete(req, NVME_WRITE_FAULT);
}

static void become_read_only(struct ftl_worker *self, struct zone *zone)
{
	struct zone_record record = zone_fenced_record(zone, ZONE_RECORD_READ_ONLY);

	if (zone->landed > zone_on_flash(zone))
		lt_add(&self->ftl->losses, 1);
	if (zone->kind)
		zone->kind->lost(self, zone);
	if (zone->budget.drains)
		budget_drained(self, zone);
	zone_set_state(zone, NVME_ZS_READ_ONLY, BUDGET_NONE);
	zone_changed(zone);
	zone_table_commit(self, zone, &record);
}

void zone_end_writing(struct ftl_worker *self, struct zone *zone)
{
	struct ftl_request *req;

	zone_came_home(zone);
	if (zone_edge_legal(zone->state, NVME_ZS_READ_ONLY))
		become_read_only(self, zone);
	while ((req = io_pop(&zone->writers)))
		lost_queued(zone, req);
	if (zone->buffer && zone_quiet(zone)) {
		staged_keep_prefix(self, zone);
		if (zone->kind)
			zone->kind->dropped(self, zone);
		buffer_give(self, zone);
	}
}

/* The pump of a zone. */

/* A reset is pending and no request needs durability: drop the buffer instead of programming it. */
static bool throws_away(const struct zone *zone) { return zone->op.code == FTL_ZONE_RESET && !zone->writers.head && !zone->durable.head; }

/* A move starts when something must be programmed and nothing of the old superblock is still being programmed. */
static void start_move(struct ftl_worker *self, struct zone *zone)
{
	uint32_t target;
	bool hopeless;

	if (zone->condition != ZONE_BROKEN || zone->move.under_way || zone->move.old != SUPERBLOCK_NONE || !buffer_ready(zone))
		return;
	if (throws_away(zone) || !buffer_take(self, zone))
		return;
	target = superblock_take(zone, &hopeless);
	if (hopeless)
		zone_become(zone, ZONE_FAILED);
	zone->move.under_way = !hopeless;
	zone->move.patch = zone_in_patch(zone);
	zone->move.refresh = false;
	superblocks_kick(self);
	if (target != SUPERBLOCK_NONE)
		relocate_zone(self, zone, target);
}

/* Retry the requests parked for resources, in their order. */
static void retry_parked(struct zone *zone)
{
	zone->budget.waits = false;
	if (!zone->op.code)
		zone_unpark(zone);
}

/* Move sectors that the power-fail dump left in SLC to their final place. */
static void go_home(struct ftl_worker *self, struct zone *zone)
{
	if (zone->home <= zone->placed || zone->staged <= zone->placed || zone->buffer || zone_failed(zone) || zone->op.code)
		return;
	if (zone_can_land(self, zone) && zone->landed == zone->capacity && buffer_partial(zone))
		buffer_pad(self, zone);
}

void zone_pump(struct ftl_worker *self, struct zone *zone)
{
	if (zone->budget.waits)
		retry_parked(zone);
	if (zone->move.old != SUPERBLOCK_NONE)
		relocate_settle(self, zone);
	zone_take_grants(self, zone);
	if (zone->budget.drains && lt_load(&self->ftl->budget->wanted))
		zone->program_to = zone->wp;
	do { /* a zone that gave its buffer away may get another at once */
		go_home(self, zone);
		zone_land(self, zone);
		if (zone->buffer && !throws_away(zone)) {
			buffer_program(self, zone);
			buffer_stage(self, zone, zone_gives_way(zone));
		}
	} while (zone_hand_over(self, zone));
	start_move(self, zone);
	if (zone->updates.recording)
		update_fold_go_on(self, zone);
	if (zone->refresh.cause)
		refresh_go_on(self, zone);
	if (zone_failed(zone))
		zone_end_writing(self, zone);
	if (zone->durable.head)
		zone_settle(zone);
	if (zone->budget.drains && zone_drained(zone))
		budget_drained(self, zone);
	if (zone->op.code)
		zone_op_advance(self, zone);
}

void zone_fail(struct ftl_worker *self, struct zone *zone)
{
	zone_become(zone, ZONE_FAILED);
	zone->move.under_way = false;
	zone_end_writing(self, zone);
}

static void zone_kicked(struct lt_event *event)
{
	struct zone *zone = (struct zone *)((char *)event - offsetof(struct zone, kick));
	struct ftl_worker *self = (struct ftl_worker *)(uintptr_t)lt_swap(&zone->kicked, 0);
	struct lt_lock_node node;

	lt_lock_acquire(&zone->lock, &node);
	zone_pump(self, zone);
	lt_lock_release(&zone->lock, &node);
}

void zone_kick(struct ftl_worker *self, struct zone *zone)
{
	if (lt_cas(&zone->kicked, 0, (uintptr_t)self))
		lt_post(&self->thread, &zone->kick, zone_kicked);
}

/* Waiting writes have no place in a backing zone: its write pointer is at the end of the data already. */
bool zone_take_back(struct ftl_worker *self, struct zone *zone)
{
	bool taken = abandoned_take(self, &zone->writers);

	if (taken && !zone_failed(zone)) {
		zone->wp = zone->landed;
		if (zone->state == NVME_ZS_FULL && zone->wp < zone->capacity)
			budget_undrain(zone);
	}
	return taken;
}

struct homecoming {
	struct lt_event event;
	struct ftl_worker *worker;
};

static void home_begin(struct lt_event *event)
{
	struct homecoming *home = (struct homecoming *)event;

	for (uint32_t z = 0; z < home->worker->ftl->zone_count; z++)
		zone_kick(home->worker, &home->worker->ftl->zones[z]);
}

void zones_bring_home(struct ftl *ftl, struct arena *arena)
{
	struct homecoming *home;

	if (!ftl->keeper)
		return;
	home = arena_alloc(arena, 1, sizeof(*home), "way home");
	home->worker = &ftl->workers[0];
	lt_post(&home->worker->thread, &home->event, home_begin);
}
