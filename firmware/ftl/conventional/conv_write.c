/* Writes to conventional zones: a request goes to the write frontier of its stream and worker, part by part if the backing zone there
 * fills up, and lands through the zone write path. Its sectors get their places, and the map changes, when data land; who waits for that
 * has no place yet.
 *
 * * Hot or cold: the backing zone of an LBA's present place tells when it was written, in sectors of host writes. With uniform writes an
 * LBA is overwritten after as many sectors as the space has, on average; one that lasted less than half of that is hot. A copy counts as
 * young as if the host had written it: it errs for a while, and knows the hot sectors among the copies. The first sector decides for the
 * whole request. What the map does not know at once is cold.
 * * Zeros of any number come in pieces, each at the end of the queue, so that no other write waits for all of them. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "conventional/conv_write.h"

#include "conventional/conv_deallocate.h"
#include "conventional/conv_space.h"
#include "l2p/l2p.h"

struct frontier {
	enum place_stream stream;
	uint32_t number;
};

uint16_t conv_write_status(const struct ftl *ftl, const struct ftl_request *req)
{
	const struct hz_shape *shape = &ftl->shape;
	uint64_t offset;

	if (req->op == FTL_APPEND)
		return NVME_INVALID_FIELD;
	if (req->lba + req->sectors > ftl->conventional_end)
		return NVME_ZONE_BOUNDARY;
	if (shape->zone_size_sectors == shape->zone_capacity_sectors)
		return NVME_SUCCESS;
	offset = req->lba - extent_at(ftl, req->lba)->start;
	return offset + req->sectors > shape->zone_capacity_sectors ? NVME_ZONE_BOUNDARY : NVME_SUCCESS;
}

static bool from_collector(const struct ftl *ftl, const struct ftl_request *req) { return req == &ftl->conventional->gc.request; }

static enum place_stream choose_stream(struct ftl *ftl, const struct ftl_request *req)
{
	struct conventional *conv = ftl->conventional;
	uint32_t place;
	uint64_t age;

	if (from_collector(ftl, req))
		return STREAM_COLLECT;
	if (ftl->cfg->conventional_streams < 2)
		return STREAM_COLD;
	place = l2p_conv_hint(ftl, req->lba + io_of((struct ftl_request *)req)->done);
	if (place == L2P_UNMAPPED)
		return STREAM_COLD;
	age = lt_load(&conv->clock) - lt_load(&backing_of(place_extent(ftl, place))->born);
	return age < conv->hot_age ? STREAM_HOT : STREAM_COLD;
}

static struct frontier choose_frontier(const struct ftl_worker *self, const struct ftl_request *req)
{
	enum place_stream stream = choose_stream(self->ftl, req);

	return (struct frontier){ stream, frontier_first(self->ftl->cfg, stream) + (stream == STREAM_COLLECT ? 0 : self->frontier) };
}

/* --- space --- */

/* The last erased zone is the collector's. */
static bool may_open(const struct conventional *conv, enum place_stream stream)
{
	return lt_load(&conv->free) > (stream == STREAM_COLLECT ? 0 : 1);
}

static void frontier_open_zone(struct ftl *ftl, uint32_t frontier)
{
	struct conventional *conv = ftl->conventional;
	uint32_t number = conv_take_erased(ftl);
	struct backing *info = &conv->backing[number];

	lt_store(&info->born, lt_load(&conv->clock));
	lt_store(&info->state, BACKING_OPEN);
	lt_store(&info->frontier, frontier);
	lt_store(&conv->current[frontier], number + 1);
}

/* The zone `seen` is full: the frontier moves to another. False: there is none; the request waits, the collector's fails. */
static bool frontier_advance(struct ftl_worker *self, struct frontier frontier, uint64_t seen, struct ftl_request *req)
{
	struct conventional *conv = self->ftl->conventional;
	struct lt_lock_node node;
	bool had = true;

	lt_lock_acquire(&conv->lock, &node);
	if (lt_load(&conv->current[frontier.number]) == seen) {
		had = may_open(conv, frontier.stream);
		if (had) {
			frontier_open_zone(self->ftl, frontier.number);
		} else if (frontier.stream != STREAM_COLLECT) {
			io_of(req)->since_ns = clock_now_ns();
			io_wait(&conv->waiting, req, HZ_LOGICAL_BACKING, 0);
		}
	}
	lt_lock_release(&conv->lock, &node);
	conv_gc_kick(self);
	if (!had && frontier.stream == STREAM_COLLECT)
		io_complete(req, NVME_WRITE_FAULT);
	return had;
}

/* --- appending --- */

/* Zone lock held. */
static void zone_accept(struct ftl_worker *self, struct zone *zone, struct frontier frontier, struct ftl_request *req)
{
	io_of(req)->first = io_of(req)->done;
	io_of(req)->end = min_u32(req->sectors, io_of(req)->done + IO_LONG);
	zone->ext.stream = (uint8_t)frontier.stream;
	zone->ext.frontier = (uint8_t)frontier.number;
	if (!zone_is_open(zone->state))
		zone_set_state(zone, NVME_ZS_IMPLICIT_OPEN, BUDGET_NONE);
	io_push(&zone->writers, req);
	extent_pump(self, &zone->ext);
}

/* False: the zone takes nothing more. */
static bool frontier_append(struct ftl_worker *self, struct frontier frontier, uint64_t current, struct ftl_request *req)
{
	struct lt_lock_node node;
	struct zone *zone;
	bool fits;

	if (!current)
		return false;
	zone = backing_zone(self->ftl, (uint32_t)current - 1);
	lt_lock_acquire(&zone->ext.lock, &node);
	fits = lt_load(&backing_of(&zone->ext)->frontier) == frontier.number && zone->ext.wp < zone->ext.capacity && !zone->ext.failed;
	if (fits)
		zone_accept(self, zone, frontier, req);
	lt_lock_release(&zone->ext.lock, &node);
	return fits;
}

static void note_stall(struct ftl_worker *self, struct ftl_io *io)
{
	if (!io->since_ns)
		return;
	self->counters.conventional_stalls++;
	self->counters.conventional_stall_ns += clock_now_ns() - io->since_ns;
	io->since_ns = 0;
}

void conv_write_run(struct ftl_worker *self, struct ftl_request *req)
{
	struct conventional *conv = self->ftl->conventional;
	uint16_t status = from_collector(self->ftl, req) ? NVME_SUCCESS : conv_write_status(self->ftl, req);
	struct frontier frontier;
	uint64_t current;

	if (status) {
		io_complete(req, status);
		return;
	}
	if (req->flags & FTL_FREES) {
		io_become(self, req, FTL_DEALLOCATE);
		return;
	}
	note_stall(self, io_of(req));
	frontier = choose_frontier(self, req);
	do
		current = lt_load(&conv->current[frontier.number]);
	while (!frontier_append(self, frontier, current, req) && frontier_advance(self, frontier, current, req));
}
