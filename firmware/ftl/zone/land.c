/* Landing of accepted writes, and their end. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "zone/land.h"

#include "buffer/buffer.h"
#include "l2p/l2p.h"
#include "request/answer.h"
#include "zone/flush.h"
#include "zone/resources.h"

/* As much of the request as there is room for; 0: none, until a program has ended. */
static uint32_t land_some(struct ftl_worker *self, struct zone *zone, struct ftl_request *req)
{
	uint32_t sectors = buffer_room(self, &zone->ext, req, io_of(req)->end - io_of(req)->done);
	uint64_t landed_ns = 0;
	struct hz_oob *oob;

	if (!sectors)
		return 0;
	oob = buffer_copy_in(&zone->ext, req, sectors);
	if (zone->kind)
		zone->kind->land(self, zone, req, sectors, oob);
	if (req->op != FTL_WRITE_ZEROES)
		landed_ns = answer_crossed(&self->ftl->links->to_device, req, clock_now_ns(), sectors);
	req->ready_ns = landed_ns > req->ready_ns ? landed_ns : req->ready_ns;
	buffer_landed(self, &zone->ext, sectors, landed_ns);
	return sectors;
}

/* Landed, and durable if it had to be. The rest of a request to conventional zones goes to another backing zone. */
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
	io_of(req)->target = zone->ext.landed;
	if (extent_durable(&zone->ext) < io_of(req)->target)
		zone->ext.flush_to = io_of(req)->target;
	io_push(&zone->durable, req);
}

/* A write that has begun in this zone is not taken apart, but when it is long. */
static bool may_pause(const struct extent *ext, struct ftl_request *req)
{
	return io_of(req)->done == io_of(req)->first || (io_of(req)->done >= IO_LONG && buffer_used(ext) >= IO_LONG);
}

/* A call of its own: mostly nobody waits. */
static __attribute__((noinline)) bool may_give_way(const struct zone *zone)
{
	const struct extent *ext = &zone->ext;
	struct ftl_request *next = zone->writers.head;

	if (zone->kind && zone->state == NVME_ZS_FULL)
		return false; /* the stream has left it: it must not stay partly filled behind the stream's next zone */
	return !next || (buffer_used(ext) && may_pause(ext, next));
}

bool zone_gives_way(const struct zone *zone)
{
	return zone->ext.buffer && !zone->op.code && buffer_wanted(&zone->ext) && may_give_way(zone);
}

void zone_land(struct ftl_worker *self, struct zone *zone)
{
	struct ftl_request *req;

	while ((req = zone->writers.head) && !zone->ext.failed) {
		uint32_t sectors;

		if (!zone_can_land(self, zone))
			return;
		if (zone_gives_way(zone) && buffer_refuse(self, &zone->ext))
			return;
		if (zone->kind && !l2p_room(self, &zone->ext))
			return; /* what lands changes the map at once */
		sectors = land_some(self, zone, req);
		if (!sectors)
			return;
		io_of(req)->done += sectors;
		if (zone->kind)
			zone->kind->landed(self, zone, req, sectors);
		if (io_of(req)->done == io_of(req)->end)
			landed_all(zone, req);
		if (zone->writers.head)
			buffer_program(self, &zone->ext);
	}
}

/* All of it is on flash. A call, so that the others need not save registers. */
static __attribute__((noinline)) bool give_if_due(struct ftl_worker *self, struct zone *zone)
{
	struct extent *ext = &zone->ext;

	if (!zone_quiet(zone))
		return false;
	if (ext->home > ext->placed)
		return false; /* it would take one again at once, in which to move or to program what is in SLC */
	if (buffer_has_memory(ext) && !zone_gives_way(zone) && (zone->state != NVME_ZS_FULL || zone->writers.head))
		return false;
	buffer_give(self, ext);
	if (zone->kind && zone->state == NVME_ZS_FULL && ext->landed == ext->wp)
		zone->kind->sealed(self, zone);
	return true;
}

bool zone_hand_over(struct ftl_worker *self, struct zone *zone)
{
	struct extent *ext = &zone->ext;

	if (!ext->buffer || ext->failed)
		return false;
	if (banks_are_lent(self->ftl) && zone_gives_way(zone) && buffer_lend(self, ext))
		return true;
	return extent_on_flash(ext) == ext->landed && give_if_due(self, zone);
}

void zone_settle(struct zone *zone)
{
	struct io_queue waiting = zone->durable;
	struct ftl_request *req;

	zone->durable = (struct io_queue){ NULL, NULL };
	while ((req = io_pop(&waiting))) {
		if (!zone->ext.failed && io_of(req)->target > flush_reached(req, &zone->ext)) {
			io_push(&zone->durable, req);
		} else if (req->op == FTL_FLUSH) {
			io_of(req)->step = zone->ext.failed ? FLUSH_FAILED : FLUSH_WAITS;
			io_resume(req);
		} else if (zone->ext.failed) {
			io_complete(req, NVME_WRITE_FAULT);
		} else {
			part_done(req);
		}
	}
}
