/* Flush: what has landed becomes durable. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_FLUSH_H
#define FTL_FLUSH_H

#include "base/extent.h"
#include "request/io.h"

struct arena;

/* Of a worker: plans for as many flushes at a time. */
struct flush_pool {
	struct flush_plan *free;
	struct io_queue waiting; /* flushes that wait for one */
};

/* At construction, after the write buffers. */
void flush_init(struct ftl_worker *self, struct arena *arena);
/* FTL_FLUSH, also its continuation. */
void flush_run(struct ftl_worker *self, struct ftl_request *req);
/* How far the extent is what the request waits for: durable, or, before the device comes to rest, on flash. */
static inline uint32_t flush_reached(const struct ftl_request *req, const struct extent *ext)
{
	return req->flags & FTL_AT_REST ? extent_on_flash(ext) : extent_durable(ext);
}
/* Gives back what the flush holds. */
void flush_abandon(struct ftl_worker *self, struct ftl_request *req);

#endif
