/* The last stage of a write: requests wait until their data are durable. A flush makes everything durable that has landed before: first
 * each buffer gets its goal, then the goals are awaited one by one. With FTL_CLEAN the request continues as a command that closes all
 * zones, and then sets the clean mark (clean_mark.c). */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "zone/read_write.h"

#include "buffer/buffer.h"
#include "map/l2p.h"
#include "places/places.h"
#include "lt/arena.h"
#include "zone/tables.h"
#include "zone/zone.h"

/* Landed, and durable if it had to be. The rest of a request to conventional zones goes to another backing zone. */
static void part_done(struct ftl_request *req)
{
	if (io_of(req)->done < req->sectors)
		io_resume(req);
	else
		io_complete(req, NVME_SUCCESS);
}

void zone_landed(struct zone *zone, struct ftl_request *req)
{
	io_pop(&zone->writers);
	if (!(req->flags & FTL_FUA)) {
		part_done(req);
		return;
	}
	io_of(req)->target = zone->landed;
	if (zone_durable(zone) < io_of(req)->target)
		zone->flush_to = io_of(req)->target;
	io_push(&zone->durable, req);
}

void zone_settle(struct zone *zone)
{
	struct io_queue waiting = zone->durable;
	struct ftl_request *req;

	zone->durable = (struct io_queue){ NULL, NULL };
	while ((req = io_pop(&waiting))) {
		if (!zone_failed(zone) && io_of(req)->target > flush_reached(req, zone)) {
			io_push(&zone->durable, req);
		} else if (req->op == FTL_FLUSH) {
			io_of(req)->step = zone_failed(zone) ? FLUSH_FAILED : FLUSH_WAITS;
			io_resume(req);
		} else if (zone_failed(zone)) {
			io_complete(req, NVME_WRITE_FAULT);
		} else {
			part_done(req);
		}
	}
}

/* Flushes. */

enum { FLUSH_PLANS = 8 };

/* Goals of one flush, taken at its beginning: later writes to the same zones must not delay it. One entry per buffer, or, of what has
 * replaced a backing zone's sectors, per write frontier: in order, what a frontier has written before is durable then, too. */
struct flush_plan {
	struct flush_plan *next;
	uint32_t count;
	struct flush_goal {
		struct zone *zone; /* NULL: nothing to wait for */
		uint32_t landed;
	} goal[];
};

static struct flush_plan *plan_make(const struct ftl *ftl, struct arena *arena)
{
	uint32_t buffers = buffer_count(ftl), frontiers = frontiers_all(ftl->cfg), count = buffers > frontiers ? buffers : frontiers;

	return arena_alloc(arena, 1, sizeof(struct flush_plan) + count * sizeof(struct flush_goal), "flush plans");
}

void flush_init(struct ftl_worker *self, struct arena *arena)
{
	struct l2p_log *log = &self->ftl->l2p->log;

	self->flushes = arena_alloc(arena, 1, sizeof(*self->flushes), "flush plans");
	for (int i = 0; i < FLUSH_PLANS; i++) {
		struct flush_plan *plan = plan_make(self->ftl, arena);

		plan->next = self->flushes->free;
		self->flushes->free = plan;
	}
	if (self->ftl->cfg->l2p_cache_bytes && !log->plan)
		log->plan = plan_make(self->ftl, arena);
	if (self->ftl->shape.trim_pages && !self->ftl->trim_saver->plan)
		self->ftl->trim_saver->plan = plan_make(self->ftl, arena);
}

/* Flushes the first `most` sectors of the zone, or as many as have landed, and notes them as the goal. */
static void goal_start(struct ftl_worker *self, const struct ftl_request *req, struct flush_goal *goal, struct zone *zone, uint32_t most)
{
	struct lt_lock_node node;

	lt_lock_acquire(&zone->lock, &node);
	*goal = (struct flush_goal){ zone, min_u32(most, zone->landed) };
	if (flush_reached(req, zone) < goal->landed && zone->flush_to < goal->landed) {
		zone->flush_to = goal->landed;
		zone_pump(self, zone);
	}
	lt_lock_release(&zone->lock, &node);
}

/* Data outside the buffers are durable already: a buffer changes hands only then. */
static void start_all(struct ftl_worker *self, const struct ftl_request *req, struct flush_plan *plan)
{
	struct ftl *ftl = self->ftl;

	plan->count = buffer_count(ftl);
	for (uint32_t i = buffer_first(ftl, req->flags & FTL_BACKING); i < plan->count; i++) {
		struct zone *zone = buffer_owner(ftl, i);

		plan->goal[i].zone = NULL;
		if (zone && (!(req->flags & FTL_BACKING) || zone_is_backing(zone)))
			goal_start(self, req, &plan->goal[i], zone, UINT32_MAX);
	}
}

/* Most goals are reached already, which is seen without the zone's lock. */
static void start_replaced(struct ftl_worker *self, const struct ftl_request *req, const uint32_t *replaced_by, struct flush_plan *plan)
{
	struct ftl *ftl = self->ftl;

	plan->count = frontiers_all(ftl->cfg);
	for (uint32_t i = 0; i < plan->count; i++) {
		uint32_t offset = place_offset(ftl, replaced_by[i]);

		plan->goal[i].zone = NULL;
		if (replaced_by[i] != PLACE_NONE && lt_load(&zone_of_place(ftl, replaced_by[i])->places->durable) <= offset)
			goal_start(self, req, &plan->goal[i], zone_of_place(ftl, replaced_by[i]), offset + 1);
	}
}

/* True: the request waits for this goal. A zone reset meanwhile may have landed less than the goal. */
static bool flush_wait_for(struct ftl_worker *self, struct ftl_request *req, const struct flush_goal *goal)
{
	struct zone *zone = goal->zone;
	struct lt_lock_node node;
	uint32_t target;
	bool waits;

	if (!zone)
		return false;
	lt_lock_acquire(&zone->lock, &node);
	target = goal->landed < zone->landed ? goal->landed : zone->landed;
	waits = flush_reached(req, zone) < target && !zone_failed(zone);
	if (waits) {
		io_of(req)->target = target;
		if (zone->flush_to < target)
			zone->flush_to = target;
		io_push(&zone->durable, req);
		zone_pump(self, zone);
	}
	lt_lock_release(&zone->lock, &node);
	return waits;
}

static void plan_give_back(struct ftl_worker *self, struct flush_plan *plan)
{
	struct ftl_request *next = io_pop(&self->flushes->waiting);

	plan->next = self->flushes->free;
	self->flushes->free = plan;
	if (next)
		io_resume(next);
}

static void close_all(struct ftl_worker *self, struct ftl_request *req)
{
	req->flags |= FTL_ALL_ZONES;
	io_become(self, req, FTL_ZONE_CLOSE);
}

static bool has_own_plan(const struct ftl *ftl, const struct ftl_request *req)
{
	return req->flags & FTL_FOR_MAP || req == &ftl->trim_saver->request;
}

static struct flush_plan *plan_take(struct ftl_worker *self, const struct ftl_request *req)
{
	struct flush_plan *plan = self->flushes->free;

	if (req->flags & FTL_FOR_MAP)
		return self->ftl->l2p->log.plan;
	if (req == &self->ftl->trim_saver->request)
		return self->ftl->trim_saver->plan;
	if (plan)
		self->flushes->free = plan->next;
	return plan;
}

void flush_cancel(struct ftl_worker *self, struct ftl_request *req)
{
	if (io_of(req)->plan)
		plan_give_back(self, io_of(req)->plan);
}

static bool flush_begin(struct ftl_worker *self, struct ftl_request *req)
{
	const uint32_t *replaced_by = req->flags & FTL_REPLACED ? zone_at(self->ftl, req->lba)->places->replaced_by : NULL;
	struct flush_plan *plan = plan_take(self, req);

	if (!plan) {
		io_push(&self->flushes->waiting, req);
		return false;
	}
	io_of(req)->plan = plan;
	io_of(req)->step = FLUSH_WAITS;
	io_of(req)->cursor = replaced_by ? 0 : buffer_first(self->ftl, req->flags & FTL_BACKING);
	if (replaced_by)
		start_replaced(self, req, replaced_by, plan);
	else
		start_all(self, req, plan);
	return true;
}

/* Acknowledged data lost with a failed zone are in no buffer any more: the host's next Flush fails for them, once. */
static bool tells_loss(struct ftl *ftl, const struct ftl_request *req)
{
	return !(req->flags & (FTL_BACKING | FTL_FOR_MAP | FTL_CLEAN)) && lt_load(&ftl->losses) && lt_swap(&ftl->losses, 0);
}

void flush_run(struct ftl_worker *self, struct ftl_request *req)
{
	struct ftl_io *io = io_of(req);

	if (io->step == FLUSH_NEW && !flush_begin(self, req))
		return;
	while (io->step == FLUSH_WAITS && io->cursor < io->plan->count)
		if (flush_wait_for(self, req, &io->plan->goal[io->cursor++]))
			return;
	if (io->step != FLUSH_FAILED && req->flags & FTL_CLEAN && !l2p_settled(self, req))
		return;
	if (io->plan && !has_own_plan(self->ftl, req))
		plan_give_back(self, io->plan);
	io->plan = NULL;
	if (io->step == FLUSH_WAITS && trims_wait_saved(self, req))
		return;
	if (tells_loss(self->ftl, req) || io->step == FLUSH_FAILED)
		io_complete(req, NVME_WRITE_FAULT);
	else if (req->flags & FTL_CLEAN)
		close_all(self, req);
	else
		io_complete(req, NVME_SUCCESS);
}
