/* The second stage of a write: its data land in the zone's buffer, as soon as the zone has all that it needs; and the buffer's way to
 * another zone. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "block/superblock.h"
#include "buffer/buffer.h"
#include "map/l2p.h"
#include "request/host_data.h"
#include "zone/zone.h"

/* Fence, superblock and buffer of a zone being written. */

/* noinline, here and for the fence: a zone with all its resources saves no registers. */
static __attribute__((noinline)) bool ask_for_superblock(struct ftl_worker *self, struct zone *zone)
{
	uint32_t *place = zone_part(zone);
	bool hopeless;

	if (zone->for_superblock.queued)
		return false;
	*place = superblock_take(zone, &hopeless);
	if (hopeless)
		zone_become(zone, ZONE_FAILED);
	superblocks_kick(self);
	return *place != SUPERBLOCK_NONE;
}

/* The superblock, or the patch, of the next program. */
static bool have_superblock(struct ftl_worker *self, struct zone *zone)
{
	return *zone_part(zone) != SUPERBLOCK_NONE || ask_for_superblock(self, zone);
}

struct zone_record zone_fenced_record(const struct zone *zone, enum zone_record_kind kind)
{
	const struct zone_record *present = &zone->ftl->table->record[zone->index];
	struct zone_record record = zone_table_record(zone, zone->generation, kind);

	record.fence_offset = zone->record.fence ? zone->record.wp_at_mount : present->fence_offset;
	record.fence_sequence = zone->record.fence ? zone->ftl->mount_sequence : present->fence_sequence;
	return record;
}

/* False: it stands once the record is durable, and the zone is kicked then. */
static __attribute__((noinline)) bool raise_fence(struct ftl_worker *self, struct zone *zone)
{
	struct zone_record record = zone_fenced_record(zone, ZONE_RECORD_OPEN);

	zone->record.fence = false;
	zone_table_commit(self, zone, &record);
	return false;
}

/* Stale staged copies beyond the write pointer must be dead for ever before new data take their place. */
static bool fence_stands(struct ftl_worker *self, struct zone *zone)
{
	if (!zone_table_settled(zone))
		return false;
	if (zone_table_lost(self->ftl)) {
		zone_become(zone, ZONE_FAILED);
		return false;
	}
	return !zone->record.fence || raise_fence(self, zone);
}

void zone_take_grants(struct ftl_worker *self, struct zone *zone)
{
	uint32_t superblock;

	buffer_granted(zone);
	superblock = zone->for_superblock.queued ? (uint32_t)lt_swap(&zone->for_superblock.granted, 0) : 0;
	if (!superblock)
		return;
	zone->for_superblock.queued = false;
	if (superblock == UINT32_MAX)
		zone_become(zone, ZONE_FAILED);
	else if (zone->move.under_way)
		relocate_zone(self, zone, superblock - 1);
	else
		*zone_part(zone) = superblock - 1;
}

/* A backing zone asks for the buffer first, so that zones of one write frontier get it in the order in which they were filled. */
bool zone_can_land(struct ftl_worker *self, struct zone *zone)
{
	if (zone_is_backing(zone))
		return buffer_take(self, zone) && fence_stands(self, zone) && have_superblock(self, zone);
	return fence_stands(self, zone) && have_superblock(self, zone) && buffer_take(self, zone);
}

/* Landing. */

/* As much of the request as there is room for; 0: none, until a program has ended. */
static uint32_t land_some(struct ftl_worker *self, struct zone *zone, struct ftl_request *req)
{
	uint32_t sectors = buffer_room(self, zone, req, io_of(req)->end - io_of(req)->done);
	uint64_t landed_ns = 0;
	struct hz_oob *oob;

	if (!sectors)
		return 0;
	oob = buffer_copy_in(zone, req, sectors);
	if (zone->kind)
		zone->kind->land(self, zone, req, sectors, oob);
	if (req->op < FTL_WRITE_ZEROES) /* data come */
		landed_ns = answer_crossed(&self->ftl->links->to_device, req, clock_now_ns(), sectors);
	req->ready_ns = landed_ns > req->ready_ns ? landed_ns : req->ready_ns;
	buffer_landed(self, zone, sectors, landed_ns);
	return sectors;
}

/* A write that has begun in this zone is not split, unless it is long. */
static bool may_pause(const struct zone *zone, struct ftl_request *req)
{
	return io_of(req)->done == io_of(req)->first || (io_of(req)->done >= IO_LONG && buffer_used(zone) >= IO_LONG);
}

/* noinline: mostly there is no waiter. */
static __attribute__((noinline)) bool may_give_way(const struct zone *zone)
{
	struct ftl_request *next = zone->writers.head;

	if (zone->kind && zone->state == NVME_ZS_FULL)
		return false; /* the stream has left it: it must not stay partly filled behind the stream's next zone */
	return !next || (buffer_used(zone) && may_pause(zone, next));
}

bool zone_gives_way(const struct zone *zone) { return zone->buffer && !zone->op.code && buffer_wanted(zone) && may_give_way(zone); }

void zone_land(struct ftl_worker *self, struct zone *zone)
{
	struct ftl_request *req;

	while ((req = zone->writers.head) && !zone_failed(zone)) {
		uint32_t sectors;

		if (!zone_can_land(self, zone))
			return;
		if (zone_gives_way(zone) && buffer_refuse(self, zone))
			return;
		if (zone->kind && !l2p_room(self, zone))
			return; /* landing changes the map at once */
		sectors = land_some(self, zone, req);
		if (!sectors)
			return;
		io_of(req)->done += sectors;
		if (zone->kind)
			zone->kind->landed(self, zone, req, sectors);
		if (io_of(req)->done == io_of(req)->end)
			zone_landed(zone, req);
		if (zone->writers.head)
			buffer_program(self, zone);
	}
}

/* All of it is on flash. noinline: the others save no registers. */
static __attribute__((noinline)) bool give_if_due(struct ftl_worker *self, struct zone *zone)
{
	if (!zone_quiet(zone))
		return false;
	if (zone->dumped > zone->placed)
		return false; /* it would take one again at once, to move or to program sectors from SLC */
	if (buffer_has_memory(zone) && !zone_gives_way(zone) && (zone->state != NVME_ZS_FULL || zone->writers.head))
		return false;
	buffer_give(self, zone);
	if (zone->kind && zone->state == NVME_ZS_FULL && zone->landed == zone->wp)
		zone->kind->sealed(self, zone);
	return true;
}

bool zone_hand_over(struct ftl_worker *self, struct zone *zone)
{
	if (!zone->buffer || zone_failed(zone))
		return false;
	if (banks_are_lent(self->ftl) && zone_gives_way(zone) && buffer_lend(self, zone))
		return true;
	return zone_on_flash(zone) == zone->landed && give_if_due(self, zone);
}
