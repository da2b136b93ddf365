/* Flush: everything that landed before is durable. First every buffer is told, then they are waited for one after another.
 * With FTL_AT_REST the request goes on as a command that closes all zones. */
#include "context.h"
#include "write.h"
#include "zone_ops.h"

/* Data outside the buffers are durable already: a buffer changes hands only then. */
static void start_all(struct ftl_worker *self)
{
	struct ftl *ftl = self->ftl;

	for (uint32_t i = 0; i < ftl->buffers.count; i++) {
		struct zone *zone = write_pool_owner(ftl, i);
		struct lt_lock_node node;

		if (!zone)
			continue;
		lt_lock_acquire(&zone->lock, &node);
		zone->flush_to = zone->landed;
		zone_pump(self, zone);
		lt_lock_release(&zone->lock, &node);
	}
}

/* True: the request waits for this buffer. */
static bool wait_for(struct ftl_worker *self, struct ftl_request *req, uint32_t index)
{
	struct zone *zone = write_pool_owner(self->ftl, index);
	struct lt_lock_node node;
	bool waits;

	if (!zone)
		return false;
	lt_lock_acquire(&zone->lock, &node);
	waits = zone_durable(zone) < zone->landed && !zone->failed;
	if (waits) {
		io_of(req)->target = zone->landed;
		zone->flush_to = zone->landed;
		io_push(&zone->durable, req);
		zone_pump(self, zone);
	}
	lt_lock_release(&zone->lock, &node);
	return waits;
}

void flush_run(struct ftl_worker *self, struct ftl_request *req)
{
	struct ftl_io *io = io_of(req);

	if (io->step == 0)
		start_all(self);
	io->step = 1;
	while (io->cursor < self->ftl->buffers.count)
		if (wait_for(self, req, io->cursor++))
			return;
	if (!(req->flags & FTL_AT_REST)) {
		io_complete(req, NVME_SUCCESS);
		return;
	}
	io->cursor = 0;
	req->op = FTL_ZONE_CLOSE;
	req->flags |= FTL_ALL_ZONES;
	zone_op_run(self, req);
}
