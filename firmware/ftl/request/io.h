/* A request inside the FTL: its private state (in ftl_request.work), FIFO queues of requests, completion. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_REQUEST_IO_H
#define FTL_REQUEST_IO_H

#include "base/context.h"
#include "base/waiter.h"
#include "logical_locks.h"
#include "port/ftl_port.h"

struct flush_plan;
struct map_fetch;
struct ftl_worker;
struct zone;

struct ftl_io {
	struct ftl_worker *worker; /* worker of the request's queue; its continuations run there */
	struct ftl_request *next;  /* in exactly one io_queue at a time */
	struct zone *zone;         /* zone being worked on; read: the zone with its reference */
	uint32_t first;            /* write: done when it came to this zone */
	uint32_t done;             /* sectors landed (write) or resolved (read) */
	uint32_t end;              /* write: done when the part in this zone has landed */
	uint32_t target;           /* zone sectors to be durable before the request continues */
	uint32_t pending;          /* flash reads under way */
	uint32_t cursor;           /* flush: next buffer; deallocation: next range; all-zones command, cancel: next zone */
	struct flush_plan *plan;   /* flush: its goals */
	uint64_t since_ns;         /* conventional: waits for an erased zone since; 0 = does not */
	uint64_t epoch;            /* flush of the data cache: lines dirty up to this epoch (cache/data_cache.h) */
	struct map_fetch *fetch;   /* read: table page waited for or serving it; L2P lock of its zone */
	uint32_t map_page;         /* read: index + 1 of the table page of map_level */
	uint8_t step;              /* flush, deallocation: enum flush_step; cancel: enum cancel_step */
	uint8_t all;               /* one of the zones of an all-zones command */
	uint8_t queued;            /* read: parked for a flash read or by a zone; its own reads must not run it */
	uint8_t map_level;         /* read: higher levels are ruled out by a fetched page */
	uint8_t missed;            /* read: its fetch has not served it yet */
	uint8_t has_turn;          /* was parked; the next ones there wait until it is accepted or refused (zone/zone.h) */
	uint8_t woken;             /* read: it waited for a table page fetch to use, and one is free */
	uint8_t cached;            /* the data cache, if any, still handles it (cache/data_cache.h) */
};
HZ_STATIC_ASSERT(sizeof(struct ftl_io) <= sizeof(((struct ftl_request *)0)->work), "private state fits the request");

/* ftl_request.flags, internal: a flush of the buffers of conventional zones only; … by the L2P log, with a plan of its own: flushes
 * waiting for the log may hold all others; … of what has replaced the sectors of the backing zone that begins at lba. */
enum { FTL_BACKING = 32, FTL_FOR_MAP = 64, FTL_REPLACED = 128 };
/* ftl_request.op, internal: continuation of a flush with FTL_CLEAN (clean_mark.c); look-up of staged sectors by a write buffer
 * (buffer/staged.c). */
enum { FTL_MARK_CLEAN = FTL_ERASE + 1, FTL_FOLD };
enum flush_step { FLUSH_NEW, FLUSH_WAITS, FLUSH_SAVED /* trims, too */, FLUSH_FAILED };

static inline struct ftl_io *io_of(struct ftl_request *req) { return (struct ftl_io *)req->work; }

/* Sectors counted as the host's. */
static inline uint32_t host_sectors(const struct ftl_request *req, uint32_t sectors) { return req->flags & FTL_INSIDE ? 0 : sectors; }

/* End of the request's namespace (LBA); the namespace may have fewer sectors than its flash has room for. */
static inline uint64_t namespace_end(const struct ftl *ftl, const struct ftl_request *req)
{
	return req->namespace_sectors ? req->namespace_sectors : ftl->shape.namespace_sectors;
}

/* Sectors: only writes of zeros are longer. They let others go first after each further piece of this length. */
enum { IO_LONG = HZ_MAX_TRANSFER_SECTORS };

static inline void io_push(struct io_queue *queue, struct ftl_request *req)
{
	io_of(req)->next = NULL;
	if (queue->tail)
		io_of(queue->tail)->next = req;
	else
		queue->head = req;
	queue->tail = req;
}

static inline void io_push_front(struct io_queue *queue, struct ftl_request *req)
{
	io_of(req)->next = queue->head;
	if (!queue->head)
		queue->tail = req;
	queue->head = req;
}

static inline struct ftl_request *io_pop(struct io_queue *queue)
{
	struct ftl_request *req = queue->head;

	if (req) {
		queue->head = io_of(req)->next;
		if (!queue->head)
			queue->tail = NULL;
	}
	return req;
}

/* Submit a request new to the FTL to this worker. Any hart. */
void io_submit(struct ftl_worker *worker, struct ftl_request *req);
/* The same for a request that may be served by the data cache. */
void io_submit_cached(struct ftl_worker *worker, struct ftl_request *req);
/* Continue as another operation, from its first step. Own worker. */
static inline void io_become(struct ftl_worker *self, struct ftl_request *req, uint8_t op)
{
	req->op = op;
	io_of(req)->step = 0;
	io_of(req)->cursor = 0;
	self->ftl->run(self, req);
}
/* Any hart. The request belongs to its owner again. */
void io_complete(struct ftl_request *req, uint16_t status);
/* Queue the request, and begin its wait for a logical lock of the lock profile, until io_resume. Under the queue's lock. */
void io_wait(struct io_queue *queue, struct ftl_request *req, enum hz_logical_lock what, uint32_t index);
/* Dispatch a parked request again on its own worker. Any hart. */
void io_resume(struct ftl_request *req);
void io_resume_all(struct io_queue *queue);

/* Requests of an ended controller life: they end instead of being run (cancel.c). */

/* True if the worker has been notified: the request ends instead of being run. On a worker's hart. */
static inline bool io_cancelled(const struct ftl_worker *self, const struct ftl_request *req)
{
	return req->life && req->life <= self->over;
}

/* Move cancelled requests from the queue to their workers, where they end. True if there were any. Under the queue's lock. */
bool cancelled_take(struct ftl_worker *self, struct io_queue *queue);

#endif
