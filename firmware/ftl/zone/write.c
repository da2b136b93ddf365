/* Write path: admission, landing data in the buffer, and the zone's pump. */
#include "zone/write.h"

#include "abandon.h"
#include "base/context.h"
#include "zone/zone_ops.h"

/* --- admission --- */

static uint16_t state_status(const struct zone *zone)
{
	switch (zone->state) {
	case NVME_ZS_FULL: return NVME_ZONE_FULL;
	case NVME_ZS_READ_ONLY: return NVME_ZONE_READ_ONLY;
	case NVME_ZS_OFFLINE: return NVME_ZONE_OFFLINE;
	default: return NVME_SUCCESS;
	}
}

static uint16_t write_status(const struct zone *zone, const struct ftl_request *req)
{
	uint64_t capacity = zone->ftl->shape.zone_capacity_sectors;
	uint64_t at = req->op == FTL_APPEND ? zone->wp : req->lba - zone->start;
	uint16_t status = state_status(zone);

	if (req->op == FTL_APPEND && req->lba != zone->start)
		return NVME_INVALID_FIELD;
	if (status)
		return status;
	if (at + req->sectors > capacity)
		return NVME_ZONE_BOUNDARY;
	return at == zone->wp ? NVME_SUCCESS : NVME_ZONE_INVALID_WRITE;
}

/* Zone lock held, everything checked: the write owns its range from here on. */
static void write_accept(struct ftl_worker *self, struct zone *zone, struct ftl_request *req)
{
	struct ftl_io *io = io_of(req);

	if (zone_is_open(zone->state))
		budget_give_back(zone->ftl, io->budget);
	else
		zone_set_state(zone, NVME_ZS_IMPLICIT_OPEN, io->budget);
	io->budget = BUDGET_NONE;
	io->zone = zone;
	io->end = req->sectors;
	req->result = zone->start + zone->wp;
	zone->wp += req->sectors;
	if (zone->wp == zone->ftl->shape.zone_capacity_sectors)
		zone_set_state(zone, NVME_ZS_FULL, BUDGET_NONE);
	io_push(&zone->writers, req);
	self->counters.host_write_sectors += req->sectors;
	zone_pump(self, zone);
}

enum verdict { ACCEPTED, REFUSED, PARKED, LACKS_BUDGET };

static enum verdict write_try(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint16_t *status, uint8_t *need)
{
	struct lt_lock_node node;
	enum verdict verdict = ACCEPTED;

	lt_lock_acquire(&zone->lock, &node);
	*status = write_status(zone, req);
	*need = budget_need(zone->state);
	if (zone->op || zone->waits_budget) {
		*status = NVME_SUCCESS;
		io_push(&zone->parked, req);
		verdict = PARKED;
	} else if (*status) {
		verdict = REFUSED;
	} else if (*need & (uint8_t)~io_of(req)->budget) {
		verdict = LACKS_BUDGET;
	} else {
		write_accept(self, zone, req);
	}
	lt_lock_release(&zone->lock, &node);
	return verdict;
}

void write_run(struct ftl_worker *self, struct ftl_request *req)
{
	struct zone *zone = zone_at(self->ftl, req->lba);
	struct ftl_io *io = io_of(req);
	enum verdict verdict;
	uint16_t status;
	uint8_t need;

	while ((verdict = write_try(self, zone, req, &status, &need)) == LACKS_BUDGET) {
		bool retry = false;

		status = budget_for(self->ftl, req, need);
		if (status == NVME_TOO_MANY_ACTIVE && budget_wait(zone, req, &retry))
			return;
		if (status && !retry)
			break;
	}
	if (verdict != REFUSED && !status)
		return;
	budget_give_back(self->ftl, io->budget);
	io->budget = BUDGET_NONE;
	io_complete(req, status);
}

/* --- landing --- */

static void copy_in(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint32_t sectors)
{
	const struct write_buffer *buffer = zone->buffer;
	uint32_t at = io_of(req)->done * HZ_SECTOR_BYTES;

	clock_freeze();
	for (uint32_t i = 0; i < sectors; i++) {
		uint32_t slot = zone->landed_slot + i;

		if (req->op == FTL_WRITE_ZEROES)
			memset(buffer->page[slot], 0, HZ_SECTOR_BYTES);
		else
			sgl_read(&req->sgl, at + i * HZ_SECTOR_BYTES, buffer->page[slot], HZ_SECTOR_BYTES);
		buffer->oob[slot] = (struct hz_oob){ .lpa = (uint32_t)(zone->start + zone->landed + i),
						     .generation = zone->generation, .kind = HZ_OOB_DATA };
	}
	clock_thaw();
	if (zone->backing)
		page_land(self, zone, req, sectors, &buffer->oob[zone->landed_slot]);
}

void zone_pad(struct ftl_worker *self, struct zone *zone)
{
	struct flush_unit *unit = units_partial(zone);
	uint32_t slot = zone->landed_slot, program = zone_in_patch(zone) ? zone->ftl->cfg->slc_program_sectors : zone->ftl->unit_sectors;
	uint64_t sequence;

	unit->state = UNIT_FULL;
	unit->data_end = zone->landed;
	unit->end = unit->start;
	while (unit->end < zone->landed)
		unit->end += program;
	sequence = zone->backing ? sequence_take(zone->ftl, unit->end - zone->landed) : 0;
	clock_freeze();
	for (uint32_t at = zone->landed; at < unit->end; at++, slot++) {
		memset(zone->buffer->page[slot], 0, HZ_SECTOR_BYTES);
		zone->buffer->oob[slot] = (struct hz_oob){ .sequence = sequence++, .lpa = (uint32_t)(zone->start + at),
							   .generation = zone->backing ? UINT32_MAX : zone->generation,
							   .kind = HZ_OOB_PAD };
	}
	clock_thaw();
	self->counters.buffer_flushes_finish++;
}

/* As much of the request as the unit at the fill position takes; 0: its slots are not free yet. */
static uint32_t land_some(struct ftl_worker *self, struct zone *zone, struct ftl_request *req)
{
	struct ftl *ftl = zone->ftl;
	struct flush_unit *unit = units_fill(zone);
	uint32_t sectors = io_of(req)->end - io_of(req)->done;
	uint64_t landed_ns = 0;

	if (!unit)
		return 0;
	if (sectors > unit->end - zone->landed)
		sectors = unit->end - zone->landed;
	if (sectors > ftl->shape.zone_capacity_sectors - zone->landed)
		sectors = (uint32_t)(ftl->shape.zone_capacity_sectors - zone->landed);
	copy_in(self, zone, req, sectors);
	if (req->op != FTL_WRITE_ZEROES)
		landed_ns = link_transfer(&ftl->links->to_device, clock_now_ns(), sectors * HZ_SECTOR_BYTES);
	req->ready_ns = landed_ns > req->ready_ns ? landed_ns : req->ready_ns;
	unit->not_before_ns = landed_ns > unit->not_before_ns ? landed_ns : unit->not_before_ns;
	zone->landed += sectors;
	zone->landed_slot += sectors;
	if (zone->landed == unit->end) {
		unit->state = UNIT_FULL;
		unit->data_end = unit->end;
	} else if (zone->landed == ftl->shape.zone_capacity_sectors) {
		zone_pad(self, zone);
	}
	if (zone->landed_slot == ftl->superpage_sectors)
		zone->landed_slot = 0;
	zone->buffer->wrote = true;
	if (ftl->cfg->buffer_idle_ns)
		idle_touch(self, zone);
	lt_store(&zone->buffer->fill, zone->landed - zone_durable(zone));
	return sectors;
}

/* Landed, and durable if it had to be. The rest of a request to the page space goes to another backing zone. */
static void part_done(struct ftl_request *req)
{
	if (io_of(req)->done < req->sectors)
		io_resume(req);
	else
		io_complete(req, NVME_SUCCESS);
}

static void landed_all(struct zone *zone, struct ftl_request *req)
{
	io_pop(&zone->writers);
	if (!(req->flags & FTL_FUA)) {
		part_done(req);
		return;
	}
	io_of(req)->target = zone->landed;
	if (zone->flush_to < io_of(req)->target)
		zone->flush_to = io_of(req)->target;
	io_push(&zone->durable, req);
}

/* --- resources --- */

/* The superblock, or the patch, that the next program goes to. */
static bool have_superblock(struct ftl_worker *self, struct zone *zone)
{
	uint32_t *place = zone_in_patch(zone) ? &zone->patch : &zone->superblock;
	bool hopeless;

	if (*place != SUPERBLOCK_NONE)
		return true;
	if (zone->wants_superblock)
		return false;
	*place = superblock_take(zone->ftl, zone, &hopeless);
	zone->failed = hopeless;
	zone->wants_superblock = *place == SUPERBLOCK_NONE && !hopeless;
	superblocks_kick(self);
	return *place != SUPERBLOCK_NONE;
}

static bool have_buffer(struct ftl_worker *self, struct zone *zone)
{
	struct write_buffer *buffer;

	if (zone->buffer)
		return true;
	if (zone->wants_buffer)
		return false;
	buffer = write_pool_take(self, zone);
	zone->wants_buffer = !buffer;
	if (buffer)
		units_bind(zone, buffer);
	else
		self->counters.waits_buffer++;
	return buffer;
}

/* With the fence that stale staged copies need: that of this mount, or else the one before. */
static struct zone_record fenced_record(const struct zone *zone, enum zone_record_state state)
{
	const struct zone_record *present = &zone->ftl->table.record[zone->index];
	struct zone_record record = zone_table_record(zone, zone->generation, state);

	record.fence_offset = zone->fence ? zone->wp_at_mount : present->fence_offset;
	record.fence_sequence = zone->fence ? zone->ftl->mount_sequence : present->fence_sequence;
	return record;
}

/* Stale staged copies beyond the write pointer must be dead for ever before new data take their place. */
static bool fence_stands(struct ftl_worker *self, struct zone *zone)
{
	struct zone_record record = fenced_record(zone, ZONE_RECORD_OPEN);

	if (!zone_table_settled(zone->ftl, zone))
		return false;
	if (!zone->fence)
		return true;
	zone->fence = false;
	zone_table_commit(self, zone, &record);
	return false;
}

static void take_grants(struct ftl_worker *self, struct zone *zone)
{
	uint32_t buffer = (uint32_t)lt_swap(&zone->granted_buffer, 0);
	uint32_t superblock = (uint32_t)lt_swap(&zone->granted_superblock, 0);

	if (buffer) {
		zone->wants_buffer = false;
		units_bind(zone, &zone->ftl->buffers.buffer[buffer - 1]);
	}
	if (!superblock)
		return;
	zone->wants_superblock = false;
	if (superblock == UINT32_MAX)
		zone->failed = true;
	else if (zone->relocating)
		relocate_zone(self, zone, superblock - 1);
	else if (zone_in_patch(zone))
		zone->patch = superblock - 1;
	else
		zone->superblock = superblock - 1;
}

/* A backing zone asks for the buffer first, so that zones of one stream get it in the order in which they were filled. */
bool zone_can_land(struct ftl_worker *self, struct zone *zone)
{
	if (zone->backing)
		return have_buffer(self, zone) && fence_stands(self, zone) && have_superblock(self, zone);
	return fence_stands(self, zone) && have_superblock(self, zone) && have_buffer(self, zone);
}

/* --- the pump --- */

bool zone_gives_way(const struct zone *zone)
{
	struct ftl_request *next = zone->writers.head;

	if (!zone->buffer || zone->op || !lt_load(&zone->buffer->waiting))
		return false;
	if (zone->backing && zone->state == NVME_ZS_FULL)
		return false; /* the stream has left it: it must not stay partly filled behind the stream's next zone */
	return !next || (zone->buffer->wrote && io_of(next)->done == 0);
}

static void land(struct ftl_worker *self, struct zone *zone)
{
	struct ftl_request *req;

	while ((req = zone->writers.head) && !zone->failed) {
		uint32_t sectors;

		if (!zone_can_land(self, zone) || zone_gives_way(zone))
			return;
		if (zone->backing && !l2p_room(self, zone))
			return; /* what lands changes the map at once */
		sectors = land_some(self, zone, req);
		if (!sectors)
			return;
		io_of(req)->done += sectors;
		if (zone->backing)
			page_landed(self, zone, req, sectors);
		units_program(self, zone);
		if (io_of(req)->done == io_of(req)->end)
			landed_all(zone, req);
	}
}

bool zone_quiet(const struct zone *zone)
{
	const struct write_buffer *buffer = zone->buffer;

	return !zone->relocating && (!buffer || (!buffer->in_flight && !buffer->stage.pending && !buffer->fold.pending));
}

void zone_discard_buffer(struct ftl_worker *self, struct zone *zone)
{
	struct write_buffer *buffer = zone->buffer;

	if (!buffer)
		return;
	units_drop(zone);
	write_pool_give(self, buffer);
}

static bool hand_over(struct ftl_worker *self, struct zone *zone)
{
	if (!zone->buffer || !zone_quiet(zone) || zone_durable(zone) != zone->landed)
		return false;
	if (!zone_gives_way(zone) && (zone->state != NVME_ZS_FULL || zone->writers.head))
		return false;
	zone_discard_buffer(self, zone);
	if (zone->backing && zone->state == NVME_ZS_FULL && zone->landed == zone->wp)
		page_sealed(self, zone);
	return true;
}

void zone_settle(struct ftl_worker *self, struct zone *zone)
{
	struct io_queue waiting = zone->durable;
	struct ftl_request *req;

	(void)self;
	zone->durable = (struct io_queue){ NULL, NULL };
	while ((req = io_pop(&waiting))) {
		if (!zone->failed && io_of(req)->target > zone_durable(zone)) {
			io_push(&zone->durable, req);
		} else if (req->op == FTL_FLUSH) {
			io_of(req)->step = zone->failed ? FLUSH_FAILED : FLUSH_WAITS;
			io_resume(req);
		} else if (zone->failed) {
			io_complete(req, NVME_WRITE_FAULT);
		} else {
			part_done(req);
		}
	}
}

/* A move starts when something must be programmed and nothing of the old superblock is still being programmed. */
static void start_move(struct ftl_worker *self, struct zone *zone)
{
	const struct write_buffer *buffer = zone->buffer;
	uint32_t target;
	bool hopeless;

	if (!zone->relocate || zone->relocating || zone->failed || !buffer || buffer->in_flight ||
	    zone->old_superblock != SUPERBLOCK_NONE || buffer->unit[buffer->oldest].state != UNIT_FULL)
		return;
	if (zone->op == FTL_ZONE_RESET && !zone->writers.head && !zone->durable.head)
		return; /* what is in the buffer will be thrown away */
	target = superblock_take(zone->ftl, zone, &hopeless);
	zone->failed = hopeless;
	zone->relocating = !hopeless;
	zone->wants_superblock = zone->relocating && target == SUPERBLOCK_NONE;
	superblocks_kick(self);
	if (target != SUPERBLOCK_NONE)
		relocate_zone(self, zone, target);
}

/* A write to the page space that has nothing in this zone yet finds another. */
static void lost_queued(const struct zone *zone, struct ftl_request *req)
{
	if (zone->backing && io_of(req)->done == io_of(req)->first)
		io_resume(req);
	else
		io_complete(req, NVME_WRITE_FAULT);
}

/* Old data that was durable stays readable; what was not is lost, and reads of it say so. */
static void fail_queued(struct ftl_worker *self, struct zone *zone)
{
	struct ftl_request *req;

	if (zone_edge_legal(zone->state, NVME_ZS_READ_ONLY)) {
		struct zone_record record = fenced_record(zone, ZONE_RECORD_READ_ONLY);

		if (zone->landed > zone_durable(zone))
			lt_add(&self->ftl->losses, 1);
		if (zone->backing)
			page_zone_lost(self, zone);
		if (zone->drains)
			budget_drained(self, zone);
		zone_set_state(zone, NVME_ZS_READ_ONLY, BUDGET_NONE);
		zone_changed(zone);
		zone_table_commit(self, zone, &record);
	}
	while ((req = io_pop(&zone->writers)))
		lost_queued(zone, req);
	if (zone_quiet(zone) && zone->buffer) {
		staged_keep_prefix(self, zone);
		zone_discard_buffer(self, zone);
	}
}

void zone_fail(struct ftl_worker *self, struct zone *zone)
{
	zone->failed = true;
	zone->relocating = false;
	fail_queued(self, zone);
}

/* In a backing zone what waits has no place: its write pointer is where the data end already. */
bool zone_take_back(struct ftl_worker *self, struct zone *zone)
{
	bool taken = abandoned_take(self, &zone->writers);

	if (taken && !zone->failed) {
		zone->wp = zone->landed;
		if (zone->state == NVME_ZS_FULL && zone->wp < zone->ftl->shape.zone_capacity_sectors)
			zone_unfill(zone);
	}
	return taken;
}

/* The requests that waited for resources try again, in their order. */
static void retry_parked(struct zone *zone)
{
	struct io_queue parked = zone->parked;

	zone->waits_budget = false;
	if (zone->op)
		return;
	zone->parked = (struct io_queue){ NULL, NULL };
	io_resume_all(&parked);
}

void zone_pump(struct ftl_worker *self, struct zone *zone)
{
	if (zone->waits_budget)
		retry_parked(zone);
	relocate_settle(self, zone);
	take_grants(self, zone);
	do { /* a zone that gave its buffer away may get another at once */
		land(self, zone);
		units_program(self, zone);
		units_stage(self, zone);
	} while (hand_over(self, zone));
	start_move(self, zone);
	if (zone->failed)
		fail_queued(self, zone);
	zone_settle(self, zone);
	if (zone->drains && zone->placed == zone->wp)
		budget_drained(self, zone);
	if (zone->op)
		zone_op_advance(self, zone);
}
