/* Copy inside the device: the source ranges are read into memory of the worker, several at a time, and when all are there they are one
 * write, or append, of the device's own. So a copy lands as a write of that length does: in one piece, at the write pointer of a zone, as
 * durable as that write; and sources may overlap the destination. Nothing crosses the link but the list of ranges. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_COPY_H
#define FTL_COPY_H

#include "request/io.h"

struct arena;
struct copy_job;

/* Of a worker. */
struct copy_pool {
	struct copy_job *free;
	struct io_queue waiting;
};

void copies_init(struct ftl_worker *worker, struct arena *arena);
/* FTL_COPY, FTL_COPY_APPEND, also after waiting for memory. */
void copy_run(struct ftl_worker *self, struct ftl_request *req);

#endif
