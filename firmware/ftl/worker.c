/* Workers: dispatch of requests. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "ftl_internal.h"

#include "buffer/buffer.h"
#include "cache/data_cache.h"
#include "conventional/conventional.h"
#include "map/l2p.h"
#include "lt/arena.h"
#include "request/io.h"
#include "zone/read_write.h"
#include "zone/update.h"
#include "zone/zone.h"

/* Resume a read that was parked for a fetch slot, then wake the next one. noinline keeps the spills off the common path. */
static __attribute__((noinline)) void run_woken_read(struct ftl_worker *self, struct ftl_request *req)
{
	io_of(req)->woken = 0;
	read_run(self, req);
	l2p_fetches_wake(self);
}

static void run_read(struct ftl_worker *self, struct ftl_request *req)
{
	io_of(req)->queued = 0;
	if (io_of(req)->woken)
		run_woken_read(self, req);
	else
		read_run(self, req);
}

static void run_write(struct ftl_worker *self, struct ftl_request *req)
{
	if (is_conventional(self->ftl, req->lba))
		conv_write_run(self, req);
	else
		write_run(self, req);
}

static void run_op(struct ftl_worker *self, struct ftl_request *req)
{
	switch (req->op) {
	case FTL_READ:
	case FTL_VERIFY:
	case FTL_COMPARE: run_read(self, req); break;
	case FTL_WRITE:
	case FTL_APPEND:
	case FTL_WRITE_ZEROES:
	case FTL_WRITE_UNCORRECTABLE: run_write(self, req); break;
	case FTL_UPDATE: update_run(self, req); break;
	case FTL_DEALLOCATE: conv_deallocate_run(self, req); break;
	case FTL_COPY:
	case FTL_COPY_APPEND: copy_run(self, req); break;
	case FTL_FLUSH: flush_run(self, req); break;
	case FTL_ZONE_REPORT: zone_report_run(self, req); break;
	case FTL_PLACEMENT_STATUS: placement_status_run(self, req); break;
	case FTL_PLACEMENT_UPDATE: placement_update_run(self, req); break;
	case FTL_CANCEL: cancel_run(self, req); break;
	case FTL_ERASE: erase_run(self, req); break;
	case FTL_MARK_CLEAN: clean_mark_run(self, req); break;
	case FTL_FOLD: fold_run(self, req); break;
	default: zone_op_run(self, req); break;
	}
}

static void worker_run(struct ftl_worker *self, struct ftl_request *req)
{
	if (io_cancelled(self, req))
		cancelled_end(self, req);
	else
		run_op(self, req);
}

/* On a device with a data cache. */
static void cached_worker_run(struct ftl_worker *self, struct ftl_request *req)
{
	if (!cached_run(self, req))
		worker_run(self, req);
}

void workers_init(struct ftl *ftl, struct arena *arena)
{
	ftl->run = ftl->data_cache ? cached_worker_run : worker_run;
	ftl->worker_count = ftl->cfg->worker_count;
	ftl->workers = arena_alloc(arena, ftl->worker_count, sizeof(*ftl->workers), "FTL workers");
	arena_part_is_model(arena, ftl->worker_count * 2 * sizeof(struct hz_log_ftl), "FTL workers"); /* counters */
	for (uint32_t i = 0; i < ftl->worker_count; i++) {
		struct ftl_worker *worker = &ftl->workers[i];

		worker->thread = (struct lt_thread){ "ftl", ftl->cfg->worker_hart[i] };
		worker->ftl = ftl;
		worker->frontier = i % ftl->cfg->conventional_frontiers;
		worker->collector = i % ftl->cfg->conventional_collectors;
		read_pool_init(worker, arena);
		rebuilds_init(worker, arena);
		flush_init(worker, arena);
		l2p_fetches_init(worker, arena);
		copies_init(worker, arena);
		update_pool_init(worker, arena);
		transfers_init(worker, arena);
	}
}
