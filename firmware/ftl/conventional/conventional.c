/* Conventional zones: construction, erased backing zones, and landing in one. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "conventional/conventional.h"

#include "block/superblock.h"
#include "buffer/buffer.h"
#include "lt/arena.h"
#include "lt/logical.h"
#include "map/l2p.h"

/* Erased backing zones, and requests waiting for one. */

void conv_list_erased(struct ftl *ftl, uint32_t number)
{
	struct conventional *conv = ftl->conventional;
	uint32_t at = conv->head + (uint32_t)lt_load(&conv->free), zones = ftl->shape.backing_zones;

	conv->erased[at < zones ? at : at - zones] = number;
	lt_add(&conv->free, 1);
}

uint32_t conv_take_erased(struct ftl *ftl)
{
	struct conventional *conv = ftl->conventional;
	uint32_t number = conv->erased[conv->head];

	conv->head = conv->head + 1 == ftl->shape.backing_zones ? 0 : conv->head + 1;
	lt_add(&conv->free, (uint64_t)-1);
	lt_tell_had(HZ_LOGICAL_BACKING);
	return number;
}

void conv_wait(struct conventional *conv, uint32_t frontier, struct ftl_request *req)
{
	uint32_t end = conv->line_head + conv->line_count;

	io_wait(&conv->waiting[frontier], req, HZ_LOGICAL_BACKING, 0);
	if (conv->lined >> frontier & 1)
		return;
	conv->lined |= 1ull << frontier;
	conv->line[end < PLACE_FRONTIERS ? end : end - PLACE_FRONTIERS] = (uint8_t)frontier;
	conv->line_count++;
}

struct io_queue conv_take_waiting(struct conventional *conv, uint32_t frontier)
{
	struct io_queue waiting = conv->waiting[frontier];

	conv->waiting[frontier] = (struct io_queue){ NULL, NULL };
	return waiting;
}

/* Lock held. The writes of the frontier that has waited longest. */
static struct io_queue next_in_line(struct conventional *conv)
{
	struct io_queue waiting = { NULL, NULL };

	while (!waiting.head && conv->line_count) {
		uint32_t frontier = conv->line[conv->line_head];

		conv->line_head = conv->line_head + 1 == PLACE_FRONTIERS ? 0 : conv->line_head + 1;
		conv->line_count--;
		conv->lined &= ~(1ull << frontier);
		waiting = conv_take_waiting(conv, frontier);
	}
	return waiting;
}

/* Empty: none waits. */
static struct io_queue take_next(struct conventional *conv)
{
	struct io_queue waiting;
	struct lt_lock_node node;

	lt_lock_acquire(&conv->lock, &node);
	waiting = next_in_line(conv);
	lt_lock_release(&conv->lock, &node);
	return waiting;
}

static bool resume_next(struct conventional *conv)
{
	struct io_queue waiting = take_next(conv);
	bool any = waiting.head;

	io_resume_all(&waiting);
	return any;
}

void conv_retry_all(struct ftl *ftl)
{
	for (uint32_t i = 0; i < PLACE_FRONTIERS && ftl->shape.backing_zones && resume_next(ftl->conventional); i++) {}
}

void conv_retry(struct ftl *ftl)
{
	struct conventional *conv = ftl->conventional;
	uint64_t zones = conv_free_for_host(conv);

	while (zones && resume_next(conv))
		zones--;
}

void conv_despair(struct ftl *ftl)
{
	struct io_queue waiting[PLACE_FRONTIERS];
	struct ftl_request *req;
	struct lt_lock_node node;

	lt_lock_acquire(&ftl->conventional->lock, &node);
	for (uint32_t i = 0; i < PLACE_FRONTIERS; i++)
		waiting[i] = next_in_line(ftl->conventional);
	lt_lock_release(&ftl->conventional->lock, &node);
	for (uint32_t i = 0; i < PLACE_FRONTIERS; i++)
		while ((req = io_pop(&waiting[i]))) {
			lt_logical_wait_ended(req);
			io_complete(req, NVME_WRITE_FAULT);
		}
}

/* Data in a backing zone: they get places when they land, and a full or lost zone leaves its frontier. */

/* As many sectors as one call of the map takes. */
static uint32_t map_piece(struct ftl_worker *self, struct zone *zone, uint64_t lba, uint32_t sectors, uint32_t offset, struct hz_oob *oob)
{
	struct ftl *ftl = zone->ftl;
	const struct zone *host = zone_at(ftl, lba);
	uint64_t rest = host->start + ftl->capacity - lba;
	uint32_t *reverse = &zone->places->lba[offset];

	if (sectors > L2P_PIECE)
		sectors = L2P_PIECE;
	if (sectors > rest)
		sectors = (uint32_t)rest;
	for (uint32_t i = 0; i < sectors; i++)
		reverse[i] = oob[i].host_lba = (uint32_t)lba + i;
	l2p_conv_map(self, lba, sectors, place_make(zone->places, offset), oob);
	return sectors;
}

/* A copy with an original overwritten meanwhile wastes its slot. */
static void move_one(struct ftl_worker *self, struct zone *zone, uint32_t at, uint32_t offset, struct hz_oob *oob)
{
	struct ftl *ftl = zone->ftl;
	const struct conv_gc *gc = &ftl->conventional->gc[zone->frontier - frontier_first(ftl->cfg, STREAM_COLLECT)];
	uint32_t from = place_make(gc->victim->places, gc->offset[at]), to = place_make(zone->places, offset);
	uint32_t *reverse = &zone->places->lba[offset];

	*reverse = oob->host_lba = gc->lba[at];
	oob->flags = gc->oob[at].flags & HZ_OOB_MARKED;
	buffer_origins(zone)[zone->landed_slot + (offset - zone->landed)] = from;
	if (!l2p_conv_move(self, gc->lba[at], from, to, oob)) {
		*reverse = oob->host_lba = UINT32_MAX;
		oob->sequence = sequence_take(ftl, 1);
		place_invalidate(ftl, to, UINT64_MAX);
	}
	place_invalidate(ftl, from, UINT64_MAX);
}

/* The zone is full. The last request to land keeps its landed part here; it and the other writers continue in the stream's next zone. */
static void filled(struct zone *zone, struct ftl_request *last)
{
	struct io_queue rest = zone->writers;

	zone_set_state(zone, NVME_ZS_FULL);
	lt_store(&backing_of(zone)->frontier, FRONTIER_NONE);
	io_of(last)->end = io_of(last)->done;
	io_pop(&rest);
	zone->writers = (struct io_queue){ last, last };
	io_of(last)->next = NULL;
	io_resume_all(&rest);
}

void conv_landed(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint32_t sectors)
{
	struct conventional *conv = self->ftl->conventional;

	zone->wp = zone->landed;
	if (zone->stream != STREAM_COLLECT) {
		self->counters.host_write_sectors += host_sectors(req, sectors);
		if (self->ftl->cfg->conventional_streams > 1)
			lt_add(&conv->clock, sectors);
	}
	if (zone->wp == zone->capacity)
		filled(zone, req);
}

void conv_land(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint32_t sectors, struct hz_oob *oob)
{
	uint32_t done = io_of(req)->done, at = 0;

	places_mark_valid(zone, zone->landed, sectors);
	for (uint32_t i = 0; i < sectors; i++)
		oob[i] = (struct hz_oob){ .lpa = (uint32_t)(zone->start + zone->landed + i),
					  .kind = HZ_OOB_DATA,
					  .stream = zone->stream,
					  .flags = oob[i].flags };
	while (at < sectors) {
		uint32_t offset = zone->landed + at;

		if (zone->stream == STREAM_COLLECT) {
			move_one(self, zone, done + at, offset, &oob[at]);
			at++;
		} else {
			at += map_piece(self, zone, req->lba + done + at, sectors - at, offset, &oob[at]);
		}
	}
}

void conv_sealed(struct ftl_worker *self, struct zone *zone)
{
	struct backing *info = backing_of(zone);

	lt_store(&info->filled, lt_load(&zone->ftl->sequence));
	lt_store(&info->erases, superblock_erases(zone->ftl, *zone_part(zone)));
	lt_store(&info->state, BACKING_SEALED);
	conv_gc_kick(self);
}

/* Copies lost with the buffer: the map gets the originals back. Their zone still exists: it is reset only when all copies are durable. */
static void originals_return(struct ftl_worker *self, struct zone *zone)
{
	struct ftl *ftl = self->ftl;

	for (uint32_t offset = zone_on_flash(zone); offset < zone->landed; offset++) {
		uint32_t lba = zone->places->lba[offset], to = place_make(zone->places, offset), from;
		struct hz_oob unused;

		if (lba == UINT32_MAX)
			continue;
		from = buffer_origins(zone)[zone_slot(zone, offset)];
		lt_store(&zone_of_place(ftl, from)->places->returned, 1);
		places_mark_valid(zone_of_place(ftl, from), place_offset(ftl, from), 1);
		if (!l2p_conv_move(self, lba, to, from, &unused))
			place_invalidate(ftl, from, UINT64_MAX);
		place_invalidate(ftl, to, UINT64_MAX);
	}
}

void conv_lost(struct ftl_worker *self, struct zone *zone)
{
	lt_add(&self->ftl->conventional->losing, !!zone->buffer);
	if (zone->stream != STREAM_COLLECT && zone->landed > zone_on_flash(zone))
		lt_add(&self->ftl->conventional->losses, 1);
	lt_store(&backing_of(zone)->frontier, FRONTIER_NONE);
	lt_store(&backing_of(zone)->state, BACKING_LOST);
	conv_gc_kick(self);
}

void conv_dropped(struct ftl_worker *self, struct zone *zone)
{
	if (zone->stream == STREAM_COLLECT)
		originals_return(self, zone);
	lt_add(&self->ftl->conventional->losing, (uint64_t)-1);
}

/* The zone_kind of conventional zones. */

static const struct zone_kind host_kind = { .read = conv_read };
static const struct zone_kind backing_kind = {
	.land = conv_land, .landed = conv_landed, .sealed = conv_sealed, .lost = conv_lost, .dropped = conv_dropped
};

void conv_init(struct ftl *ftl, struct arena *arena)
{
	struct conventional *conv = arena_alloc(arena, 1, sizeof(*conv), "conventional zones");

	ftl->conventional = conv;
	conv->hot_age = ftl->shape.conventional_zones * ftl->shape.zone_capacity_sectors / 2;
	lt_preset(&conv->clock, conv->hot_age);
	if (!ftl->shape.backing_zones)
		return;
	lt_lock_init(&conv->lock, HZ_LC_BLOCK, 2);
	conv->backing = arena_alloc(arena, ftl->shape.backing_zones, sizeof(*conv->backing), "backing zones");
	conv->erased = arena_alloc(arena, ftl->shape.backing_zones, sizeof(*conv->erased), "erased backing zones");
	for (uint32_t i = 0; i < ftl->shape.conventional_zones; i++)
		ftl->zones[i].kind = &host_kind;
	for (uint32_t i = 0; i < ftl->shape.backing_zones; i++) {
		lt_preset(&conv->backing[i].frontier, FRONTIER_NONE);
		backing_zone(ftl, i)->kind = &backing_kind;
	}
	conv_gc_init(ftl, arena);
	placement_init(ftl, arena);
}
