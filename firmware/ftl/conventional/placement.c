/* Flexible data placement: streams by placement identifier, status and update of reclaim unit handles, events. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "conventional/conventional.h"
#include "lt/arena.h"
#include "zone/zone.h"

/* Events: kept in RAM, the newest of each kind. Only types that the host has asked for are noted. */

static void note(struct ftl *ftl, uint32_t handle, const struct ftl_placement_event *event)
{
	struct conventional *conv = ftl->conventional;
	struct placement_log *log = &conv->placement->log[event->type < NVME_FDP_MEDIA_REALLOCATED];
	struct lt_lock_node node;
	uint32_t at;

	if (!(lt_load(&conv->placement->noted[handle]) & ftl_placement_type(event->type)))
		return;
	lt_lock_acquire(&conv->lock, &node);
	at = log->head + log->count;
	log->event[at < NVME_FDP_EVENTS_MOST ? at : at - NVME_FDP_EVENTS_MOST] = *event;
	if (log->count < NVME_FDP_EVENTS_MOST)
		log->count++;
	else
		log->head = log->head + 1 == NVME_FDP_EVENTS_MOST ? 0 : log->head + 1;
	lt_lock_release(&conv->lock, &node);
}

void ftl_note_placement_events(struct ftl *ftl, uint32_t handle, uint32_t types)
{
	if (handle < ftl->cfg->fdp_handles)
		lt_store(&ftl->conventional->placement->noted[handle], types);
}

uint32_t ftl_placement_events_noted(const struct ftl *ftl, uint32_t handle)
{
	return handle < ftl->cfg->fdp_handles ? (uint32_t)lt_load(&ftl->conventional->placement->noted[handle]) : 0;
}

uint32_t ftl_placement_events(struct ftl *ftl, bool of_host, struct ftl_placement_event *out)
{
	struct conventional *conv = ftl->conventional;
	const struct placement_log *log;
	struct lt_lock_node node;
	uint32_t count;

	if (!conv->placement)
		return 0;
	log = &conv->placement->log[of_host];
	lt_lock_acquire(&conv->lock, &node);
	count = log->count;
	for (uint32_t i = 0, at = log->head; i < count; i++, at = at + 1 == NVME_FDP_EVENTS_MOST ? 0 : at + 1)
		out[i] = log->event[at];
	lt_lock_release(&conv->lock, &node);
	return count;
}

void ftl_forget_placement_events(struct ftl *ftl)
{
	struct conventional *conv = ftl->conventional;
	struct lt_lock_node node;

	if (!conv->placement)
		return;
	for (uint32_t handle = 0; handle < ftl->cfg->fdp_handles; handle++)
		lt_store(&conv->placement->noted[handle], 0);
	lt_lock_acquire(&conv->lock, &node);
	conv->placement->log[0].count = conv->placement->log[1].count = 0;
	lt_lock_release(&conv->lock, &node);
}

void placement_moved(struct ftl *ftl, enum place_stream stream, uint64_t lba, uint32_t moved)
{
	struct ftl_placement_event event = { .type = NVME_FDP_MEDIA_REALLOCATED, .lba = lba, .moved = moved, .at_ns = clock_now_ns() };

	if (stream == STREAM_COLLECT || stream == STREAM_HOT || stream_handle(stream) >= ftl->cfg->fdp_handles)
		return;
	event.placement = (uint16_t)stream_handle(stream);
	note(ftl, event.placement, &event);
}

/* The stream of a write. */

static enum place_stream handle_stream(uint32_t handle) { return handle ? STREAM_HANDLES + (handle - 1) : STREAM_COLD; }

enum place_stream placement_stream(struct ftl *ftl, struct ftl_request *req)
{
	struct ftl_placement_event event = { .type = NVME_FDP_INVALID_PLACEMENT, .placement = req->placement, .lba = req->lba };

	if (req->placement < ftl->cfg->fdp_handles)
		return handle_stream(req->placement);
	req->placement = 0;
	event.at_ns = clock_now_ns();
	if (ftl->conventional->placement)
		note(ftl, 0, &event);
	return STREAM_COLD;
}

/* Status. */

/* Sectors that its reclaim unit still takes; the next one's, if the present one is full. */
static uint32_t room_of(struct ftl *ftl, uint32_t frontier)
{
	uint64_t current = lt_load(&ftl->conventional->current[frontier]);
	uint32_t room = ftl->backing_capacity;
	struct lt_lock_node node;
	struct zone *zone;

	if (!current)
		return room;
	zone = backing_zone(ftl, (uint32_t)current - 1);
	lt_lock_acquire(&zone->lock, &node);
	if (lt_load(&backing_of(zone)->frontier) == frontier)
		room -= zone->wp;
	lt_lock_release(&zone->lock, &node);
	return room;
}

void placement_status_run(struct ftl_worker *self, struct ftl_request *req)
{
	struct ftl *ftl = self->ftl;
	struct nvme_handles_status head = { .count = (uint16_t)ftl->cfg->fdp_handles };
	uint32_t at = min_u32(sizeof(head), req->sgl.bytes);

	sgl_write(&req->sgl, 0, &head, at);
	for (uint32_t handle = 0; handle < ftl->cfg->fdp_handles; handle++) {
		struct nvme_handle_status status = { .placement = (uint16_t)handle, .handle = (uint16_t)handle };
		uint32_t part = min_u32(sizeof(status), req->sgl.bytes - at);

		status.blocks_left = room_of(ftl, frontier_first(ftl->cfg, handle_stream(handle)));
		sgl_write(&req->sgl, at, &status, part);
		at += part;
	}
	req->ready_ns = link_transfer(&ftl->links->to_host, clock_now_ns(), at);
	io_complete(req, NVME_SUCCESS);
}

/* Update. */

void placement_cancel(struct ftl_worker *self)
{
	struct conventional *conv = self->ftl->conventional;
	struct placement *placement = conv->placement;
	struct lt_lock_node node;

	if (!placement)
		return;
	lt_lock_acquire(&conv->lock, &node);
	cancelled_take(self, &placement->waiting);
	cancelled_take(self, &placement->updater);
	lt_lock_release(&conv->lock, &node);
}

bool placement_quiet(struct ftl *ftl)
{
	struct conventional *conv = ftl->conventional;
	struct lt_lock_node node;
	bool quiet;

	if (!conv->placement)
		return true;
	lt_lock_acquire(&conv->lock, &node);
	quiet = !conv->placement->updating;
	lt_lock_release(&conv->lock, &node);
	return quiet;
}

/* The updater, if it still waits for the finish, goes on with its status. */
static void update_ended(struct ftl *ftl, uint16_t status)
{
	struct placement *placement = ftl->conventional->placement;
	struct io_queue waiting, updater;
	struct lt_lock_node node;

	lt_lock_acquire(&ftl->conventional->lock, &node);
	waiting = placement->waiting;
	updater = placement->updater;
	placement->waiting = placement->updater = (struct io_queue){ NULL, NULL };
	placement->updating = 0;
	lt_lock_release(&ftl->conventional->lock, &node);
	if (updater.head)
		updater.head->status = status;
	io_resume_all(&updater);
	io_resume_all(&waiting);
}

/* A finish that has failed without its zone gives it back: current[] still names it, since writes of the frontier have waited. A lost zone
 * is left as well. *partly: it is left before it was full. */
static uint16_t unit_left(struct zone *zone, uint32_t frontier, uint16_t status, bool *partly)
{
	struct lt_lock_node node;

	lt_lock_acquire(&zone->lock, &node);
	if (zone_failed(zone))
		status = NVME_SUCCESS;
	if (status)
		lt_store(&backing_of(zone)->frontier, frontier);
	*partly = !status && zone->wp < zone->capacity;
	lt_lock_release(&zone->lock, &node);
	return status;
}

static void was_finished(struct ftl_request *req)
{
	struct ftl *ftl = io_of(req)->worker->ftl;
	uint16_t handle = req->placement;
	struct ftl_placement_event event = { .type = NVME_FDP_UNIT_NOT_FULL, .placement = handle, .at_ns = clock_now_ns() };
	bool partly;
	uint16_t status = unit_left(zone_at(ftl, req->lba), frontier_first(ftl->cfg, handle_stream(handle)), req->status, &partly);

	if (partly)
		note(ftl, handle, &event);
	update_ended(ftl, status);
}

/* True: the frontier has left its zone, which has data and is not full. */
static bool leave_unit(uint32_t frontier, struct zone *zone)
{
	struct lt_lock_node node;
	bool left;

	lt_lock_acquire(&zone->lock, &node);
	left = lt_load(&backing_of(zone)->frontier) == frontier && zone->wp && !zone_failed(zone);
	if (left)
		lt_store(&backing_of(zone)->frontier, FRONTIER_NONE);
	lt_lock_release(&zone->lock, &node);
	return left;
}

/* False: another update is under way, and the request waits for its end. */
static bool update_begins(struct ftl *ftl, uint32_t frontier, struct ftl_request *req)
{
	struct conventional *conv = ftl->conventional;
	struct lt_lock_node node;
	bool mine;

	lt_lock_acquire(&conv->lock, &node);
	mine = !conv->placement->updating;
	if (mine)
		conv->placement->updating = frontier + 1;
	else
		io_wait(&conv->placement->waiting, req, HZ_LOGICAL_BACKING, 0);
	lt_lock_release(&conv->lock, &node);
	return mine;
}

/* The request waits for the end of the finish that now begins. */
static void finish_unit(struct ftl_worker *self, struct zone *zone, uint16_t handle, struct ftl_request *req)
{
	struct conventional *conv = self->ftl->conventional;
	struct ftl_request *finish = &conv->placement->request;
	struct lt_lock_node node;

	lt_lock_acquire(&conv->lock, &node);
	io_wait(&conv->placement->updater, req, HZ_LOGICAL_BACKING, 0);
	lt_lock_release(&conv->lock, &node);
	*finish = (struct ftl_request){
		.op = FTL_ZONE_FINISH, .lba = zone->start, .placement = handle, .reply_to = &self->thread, .done = was_finished
	};
	io_submit(self, finish);
}

/* False: the request waits. */
static bool update_one(struct ftl_worker *self, struct ftl_request *req, uint16_t handle)
{
	struct ftl *ftl = self->ftl;
	uint32_t frontier = frontier_first(ftl->cfg, handle_stream(handle));
	uint64_t current;
	struct zone *zone;

	if (!update_begins(ftl, frontier, req))
		return false;
	io_of(req)->cursor++;
	current = lt_load(&ftl->conventional->current[frontier]);
	zone = current ? backing_zone(ftl, (uint32_t)current - 1) : NULL;
	if (!zone || !leave_unit(frontier, zone)) {
		update_ended(ftl, NVME_SUCCESS);
		return true;
	}
	finish_unit(self, zone, handle, req);
	return false;
}

/* As in the host's list now: the host may change it at any time. */
static uint16_t identifier_at(const struct ftl_request *req, uint32_t index)
{
	uint16_t identifier;

	sgl_read(&req->sgl, index * (uint32_t)sizeof(identifier), &identifier, sizeof(identifier));
	return identifier;
}

static bool identifiers_exist(const struct ftl *ftl, const struct ftl_request *req)
{
	for (uint32_t i = 0; i < req->sectors; i++)
		if (identifier_at(req, i) >= ftl->cfg->fdp_handles)
			return false;
	return true;
}

void placement_update_run(struct ftl_worker *self, struct ftl_request *req)
{
	struct ftl_io *io = io_of(req);
	bool there = io->cursor || identifiers_exist(self->ftl, req);

	if (!req->ready_ns)
		req->ready_ns = link_transfer(&self->ftl->links->to_device, clock_now_ns(), req->sgl.bytes);
	while (there && !req->status && io->cursor < req->sectors) {
		uint16_t identifier = identifier_at(req, io->cursor);

		there = identifier < self->ftl->cfg->fdp_handles;
		if (there && !update_one(self, req, identifier))
			return;
	}
	io_complete(req, there ? req->status : NVME_INVALID_FIELD | NVME_DNR);
}

void placement_init(struct ftl *ftl, struct arena *arena)
{
	if (ftl->cfg->fdp_handles)
		ftl->conventional->placement = arena_alloc(arena, 1, sizeof(*ftl->conventional->placement), "placement");
}
