/* Zones: their state machines, construction, the record of changed zones, the pump, and the end of their writing. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "zone/zone.h"

#include "base/health.h"
#include "buffer/staged.h"
#include "lt/arena.h"
#include "zone/move.h"
#include "zone/update.h"

/* State machines, and construction. */

bool zone_is_open(uint8_t state) { return state == NVME_ZS_IMPLICIT_OPEN || state == NVME_ZS_EXPLICIT_OPEN; }

bool zone_is_active(uint8_t state) { return zone_is_open(state) || state == NVME_ZS_CLOSED; }

#define TO(state) (1u << NVME_ZS_##state)
/* ZNS 1.1, section 2.1.1.1 and its state figure: for every state, the states that may follow. */
static const uint16_t edges[16] = {
	[NVME_ZS_EMPTY] = TO(IMPLICIT_OPEN) | TO(EXPLICIT_OPEN) | TO(FULL) | TO(READ_ONLY) | TO(OFFLINE),
	[NVME_ZS_IMPLICIT_OPEN] = TO(EMPTY) | TO(EXPLICIT_OPEN) | TO(CLOSED) | TO(FULL) | TO(READ_ONLY) | TO(OFFLINE),
	[NVME_ZS_EXPLICIT_OPEN] = TO(EMPTY) | TO(CLOSED) | TO(FULL) | TO(READ_ONLY) | TO(OFFLINE),
	[NVME_ZS_CLOSED] = TO(EMPTY) | TO(IMPLICIT_OPEN) | TO(EXPLICIT_OPEN) | TO(FULL) | TO(READ_ONLY) | TO(OFFLINE),
	[NVME_ZS_FULL] = TO(EMPTY) | TO(READ_ONLY) | TO(OFFLINE),
	[NVME_ZS_READ_ONLY] = TO(OFFLINE),
};

bool zone_edge_legal(uint8_t from, uint8_t to) { return edges[from & 15] >> to & 1; }

void zone_set_state(struct zone *zone, uint8_t state)
{
	if (!zone_edge_legal(zone->state, state))
		lt_fail("ftl: illegal zone state transition");
	if (zone_is_backing(zone))
		zone->state = state;
	else
		budget_change(zone, state);
}

/* For every condition, the conditions that may follow. */
static const uint8_t follows[ZONE_CONDITIONS] = {
	[ZONE_SOUND] = 1u << ZONE_BROKEN | 1u << ZONE_FAILED | 1u << ZONE_EMPTIED,
	[ZONE_BROKEN] = 1u << ZONE_SOUND | 1u << ZONE_FAILED | 1u << ZONE_EMPTIED,
	[ZONE_EMPTIED] = 1u << ZONE_SOUND,
};

bool zone_can_become(enum zone_condition from, enum zone_condition to) { return follows[from] >> to & 1; }

void zone_become(struct zone *zone, enum zone_condition condition)
{
	if (zone->condition == condition)
		return;
	if (!zone_can_become(zone->condition, condition))
		lt_fail("ftl: illegal change of a zone's condition");
	zone->condition = condition;
}

/* Sectors of a zone that lie in its normal superblock; the rest is the SLC patch. */
static uint32_t body_of(const struct ftl *ftl, uint32_t index)
{
	if (index >= ftl->zone_count)
		return ftl->cfg->conventional_region == HZ_REGION_SLC ? 0 : BODY_ALL;
	return ftl->shape.patch_sectors ? ftl->shape.superblock_sectors : BODY_ALL;
}

static void zone_init(struct ftl *ftl, struct zone *zone, uint32_t index)
{
	lt_lock_init(&zone->lock, HZ_LC_ZONE, index);
	zone->ftl = ftl;
	zone->index = index;
	zone->start = index * ftl->shape.zone_size_sectors;
	zone->capacity = index < ftl->zone_count ? ftl->capacity : ftl->backing_capacity;
	zone->body = body_of(ftl, index);
	zone->superblock = zone->patch = zone->move.old = SUPERBLOCK_NONE;
	zone->for_superblock.zone = zone->for_buffer.zone = zone->for_space.zone = zone->for_log.zone = zone;
	zone->state = NVME_ZS_EMPTY;
}

void zones_init(struct ftl *ftl, struct arena *arena)
{
	ftl->zones = arena_alloc(arena, ftl->all_zones, sizeof(*ftl->zones), "zones");
	for (uint32_t i = 0; i < ftl->all_zones; i++)
		zone_init(ftl, &ftl->zones[i], i);
}

/* Changed zones: one bit each in shared words, since workers set them and the HIL takes them; then the HIL is notified. */

void zone_changed(struct zone *zone)
{
	struct zone_changes *changes = zone->ftl->changes;

	if (zone_is_backing(zone))
		return;
	lt_or(&changes->map[zone->index >> 6], 1ull << (zone->index & 63));
	watch_tell(zone->ftl);
}

static uint32_t words(const struct ftl *ftl) { return (ftl->zone_count + 63) >> 6; }

uint32_t zone_changes_take(struct ftl *ftl, uint64_t *start, uint32_t most, bool take)
{
	uint32_t found = 0;

	for (uint32_t w = 0; w < words(ftl); w++) {
		lt_word *word = &ftl->changes->map[w];

		for (uint64_t bits = take ? lt_swap(word, 0) : lt_load(word); bits; bits &= bits - 1, found++)
			if (found < most)
				start[found] = ftl->zones[w << 6 | (uint32_t)__builtin_ctzll(bits)].start;
	}
	return found;
}

void zone_changes_init(struct ftl *ftl, struct arena *arena)
{
	ftl->changes = arena_alloc(arena, 1, sizeof(*ftl->changes), "changed zones");
	ftl->changes->map = arena_alloc(arena, words(ftl), sizeof(*ftl->changes->map), "changed zones");
}

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
	zone_set_state(zone, NVME_ZS_READ_ONLY);
	zone_changed(zone);
	zone_table_commit(self, zone, &record);
}

void zone_end_writing(struct ftl_worker *self, struct zone *zone)
{
	struct ftl_request *req;

	zone_dump_is_placed(zone);
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

/* Retry the requests parked for resources, in their order. */
static void retry_parked(struct zone *zone)
{
	zone->budget.waits = false;
	if (!zone->op.code)
		zone_unpark(zone);
}

/* Move sectors that the power-loss dump left in SLC to their final place. */
static void zone_place_dump(struct ftl_worker *self, struct zone *zone)
{
	if (zone->dumped <= zone->placed || zone->staged <= zone->placed || zone->buffer || zone_failed(zone) || zone->op.code)
		return;
	if (zone_can_land(self, zone) && zone->landed == zone->capacity && buffer_partial(zone))
		buffer_pad(self, zone);
}

/* What others have given to the zone since, and what it waited for. */
static void pump_takes(struct ftl_worker *self, struct zone *zone)
{
	if (zone->budget.waits)
		retry_parked(zone);
	if (zone->move.old != SUPERBLOCK_NONE)
		relocate_settle(self, zone);
	zone_take_grants(self, zone);
	if (zone->budget.drains && lt_load(&self->ftl->budget->wanted))
		zone->program_to = zone->wp;
}

/* Its writes: they land, and are programmed. A zone that gave its buffer away may get another at once. */
static void pump_writes(struct ftl_worker *self, struct zone *zone)
{
	do {
		zone_place_dump(self, zone);
		zone_land(self, zone);
		if (zone->buffer && !zone_throws_away(zone)) {
			buffer_program(self, zone);
			buffer_stage(self, zone, zone_gives_way(zone));
		}
	} while (zone_hand_over(self, zone));
}

/* Operations on all of the zone. */
static void pump_operates(struct ftl_worker *self, struct zone *zone)
{
	if (zone->condition == ZONE_BROKEN)
		relocate_broken(self, zone);
	if (zone->updates.recording)
		update_fold_go_on(self, zone);
	if (zone->refresh.cause)
		refresh_go_on(self, zone);
	if (zone_failed(zone))
		zone_end_writing(self, zone);
}

static void pump_settles(struct ftl_worker *self, struct zone *zone)
{
	if (zone->durable.head)
		zone_settle(zone);
	if (zone->budget.drains && zone_drained(zone))
		budget_drained(self, zone);
}

void zone_pump(struct ftl_worker *self, struct zone *zone)
{
	pump_takes(self, zone);
	pump_writes(self, zone);
	pump_operates(self, zone);
	pump_settles(self, zone);
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
	bool taken = cancelled_take(self, &zone->writers);

	if (taken && !zone_failed(zone)) {
		zone->wp = zone->landed;
		if (zone->state == NVME_ZS_FULL && zone->wp < zone->capacity)
			budget_undrain(zone);
	}
	return taken;
}

struct dump_placer {
	struct lt_event event;
	struct ftl_worker *worker;
};

static void dump_placer_begin(struct lt_event *event)
{
	struct dump_placer *placer = (struct dump_placer *)event;

	for (uint32_t z = 0; z < placer->worker->ftl->zone_count; z++)
		zone_kick(placer->worker, &placer->worker->ftl->zones[z]);
}

void zones_place_dump(struct ftl *ftl, struct arena *arena)
{
	struct dump_placer *placer;

	if (!ftl->dump)
		return;
	placer = arena_alloc(arena, 1, sizeof(*placer), "way back");
	placer->worker = &ftl->workers[0];
	lt_post(&placer->worker->thread, &placer->event, dump_placer_begin);
}
