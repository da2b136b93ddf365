/* The clean mark of a shutdown. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "block/superblock.h"
#include "conventional/conventional.h"
#include "ftl_internal.h"
#include "lt/arena.h"
#include "map/l2p.h"
#include "slc/slc.h"
#include "tsu/tsu_image.h"
#include "zone/move.h"
#include "zone/tables.h"

enum clean_step { CLEAN_BEGINS, CLEAN_RECORDS, CLEAN_ENDS };

/* Collectors, moves, erases, the map's log and the zone table. Without host commands they only end: none starts again. */
bool ftl_is_quiet(struct ftl *ftl)
{
	return !lt_load(&ftl->dumped_zones) && conv_gc_quiet(ftl) && placement_quiet(ftl) && !lt_load(&ftl->l2p->log.running) &&
	       relocator_quiet(ftl) && superblocks_quiet(ftl) && slc_quiet(ftl);
}

static void clean_mark_look(struct lt_timer *timer)
{
	struct clean_mark *mark = (struct clean_mark *)timer;

	clean_mark_run(io_of(mark->req)->worker, mark->req);
}

/* The SLC log is worn out: flash is as after a power cut, and the next mount must scan it. */
static void clean_mark_end(struct ftl_worker *self, struct ftl_request *req)
{
	struct ftl *ftl = self->ftl;

	if (zone_table_lost(ftl) || l2p_lost(ftl)) {
		io_complete(req, NVME_WRITE_FAULT);
		return;
	}
	tsu_mark_clean(ftl->tsu, ftl->table->number);
	io_complete(req, NVME_SUCCESS);
}

/* Each step ends with the next one's condition; the log's pass and the record's programs may start the SLC log's collector. */
static void clean_mark_step(struct ftl_worker *self, struct ftl_request *req)
{
	struct ftl *ftl = self->ftl;

	switch (io_of(req)->step++) {
	case CLEAN_BEGINS:
		ftl->clean_mark->data_before = lt_load(&ftl->sequence);
		l2p_checkpoint_now(self);
		clean_mark_run(self, req);
		break;
	case CLEAN_RECORDS: zone_table_record_all(self, req, ftl->clean_mark->data_before); break;
	default: clean_mark_end(self, req);
	}
}

void clean_mark_run(struct ftl_worker *self, struct ftl_request *req)
{
	struct ftl *ftl = self->ftl;

	if (tsu_clean_mark(ftl->tsu).clean) {
		io_complete(req, NVME_SUCCESS); /* nothing has changed since the last time */
	} else if (ftl_is_quiet(ftl)) {
		clean_mark_step(self, req);
	} else {
		ftl->clean_mark->req = req;
		lt_timer_arm(&ftl->clean_mark->timer, clock_now_ns() + ftl_look_ns(ftl), clean_mark_look);
	}
}

void clean_mark_init(struct ftl *ftl, struct arena *arena) { ftl->clean_mark = arena_alloc(arena, 1, sizeof(*ftl->clean_mark), "mark"); }
