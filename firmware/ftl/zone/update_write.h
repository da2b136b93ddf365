/* Writes in place: sectors before a sequential zone's write pointer are written again. They go to the SLC log, program by program, and are
 * durable when the request ends; what they replace must be durable before (updates.h). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_UPDATE_WRITE_H
#define FTL_UPDATE_WRITE_H

#include "request/io.h"
#include "slc/slc_write.h"

struct arena;

enum { UPDATE_PIECES = 16 /* programs of a worker under way */ };

/* One program. */
struct update_piece {
	struct slc_write write;
	struct update_piece *next; /* free */
	struct ftl_request *req;
	struct zone *zone;
	uint32_t lba, count;
	uint32_t folds; /* zone.updates.folds when it got its numbers */
};
struct update_pool {
	struct update_piece *free;
	struct io_queue waiting;
}; /* of a worker; its hart only */

void update_pool_init(struct ftl_worker *worker, struct arena *arena);
/* FTL_UPDATE, also its continuation. At a zone's write pointer, and where sectors are written anywhere, it is a plain write. */
void update_run(struct ftl_worker *self, struct ftl_request *req);
/* One that is over ends, as soon as no program of it is under way. */
void update_abandon(struct ftl_worker *self, struct ftl_request *req);

#endif
