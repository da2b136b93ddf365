/* A controller reset: requests of the old host end, done or not. Each waits only for its flash reads in flight, since those write to
 * host memory.
 *
 * One request, FTL_CANCEL, visits worker after worker. From then on a worker ends requests of the old controller life when it meets
 * them, and releases what they hold. Once all workers know, no such request can be parked any more, and FTL_CANCEL takes out the parked
 * ones, zone after zone.
 *
 * Data landed in a buffer stay, and the device programs them. A write waiting to land is taken back: its zone's write pointer returns to
 * the end of the data. A zone command that has begun to change its zone goes on as the device's own work, and requests of the next
 * controller life wait for it as for any other. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "cache/data_cache.h"
#include "conventional/conventional.h"
#include "ftl_internal.h"
#include "map/l2p.h"
#include "request/host_data.h"
#include "request/io.h"
#include "zone/read_write.h"
#include "zone/update.h"
#include "zone/zone.h"

enum { PIECE = 64 /* zones looked at in one event */ };

/* It was on its way back to its zone. */
static void end_return(struct ftl_worker *self, struct ftl_request *req)
{
	struct ftl *ftl = self->ftl;

	zone_give_up_turn(req->flags & FTL_ALL_ZONES ? &ftl->zones[io_of(req)->cursor] : zone_at(ftl, req->lba), req);
}

void cancelled_end(struct ftl_worker *self, struct ftl_request *req)
{
	if (reads_data(req)) {
		read_cancel(self, req);
		return;
	}
	if (zone_op_goes_on(self, req))
		return;
	if (req->op == FTL_UPDATE && !io_of(req)->has_turn) {
		update_cancel(self, req);
		return;
	}
	if (req->op == FTL_FLUSH)
		flush_cancel(self, req);
	if (io_of(req)->has_turn)
		end_return(self, req);
	io_complete(req, NVME_ABORT_REQUESTED);
}

static void tell(struct ftl_worker *self, uint32_t life)
{
	self->over = life;
	io_resume_all(&self->flushes->waiting);
	io_resume_all(&self->fetches->waiting);
	io_resume_all(&self->reads->waiting);
	io_resume_all(&self->copies->waiting);
	io_resume_all(&self->updates->waiting);
	cached_cancel_waiting(self);
}

static void cancel_in_zone(struct ftl_worker *self, struct zone *zone)
{
	struct lt_lock_node node;
	bool changed;

	lt_lock_acquire(&zone->lock, &node);
	changed = zone_take_back(self, zone);
	changed |= zone_op_detach(self, zone);
	changed |= cancelled_take(self, &zone->durable);
	changed |= cancelled_take(self, &zone->parked);
	changed |= cancelled_take(self, &zone->parked_reads);
	if (changed)
		zone_pump(self, zone);
	lt_lock_release(&zone->lock, &node);
}

/* True: the next worker has the request. */
static bool cancel_pass_on(struct ftl_worker *self, struct ftl_request *req)
{
	bool last = self + 1 == self->ftl->workers + self->ftl->worker_count;

	tell(self, (uint32_t)req->lba);
	if (last) {
		conv_retry_all(self->ftl);
		placement_cancel(self);
		cached_cancel(self);
		io_of(req)->step = CANCEL_ZONES;
		return false;
	}
	io_of(req)->worker = self + 1;
	io_resume(req);
	return true;
}

void cancel_run(struct ftl_worker *self, struct ftl_request *req)
{
	struct ftl *ftl = self->ftl;
	struct ftl_io *io = io_of(req);

	if (io->step != CANCEL_ZONES && cancel_pass_on(self, req))
		return;
	for (int i = 0; i < PIECE && io->cursor < ftl->all_zones; i++)
		cancel_in_zone(self, &ftl->zones[io->cursor++]);
	if (io->cursor < ftl->all_zones)
		io_resume(req);
	else
		io_complete(req, NVME_SUCCESS);
}
