/* A request inside the FTL: its private state (in ftl_request.work), FIFO queues of requests, completion. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_REQUEST_IO_H
#define FTL_REQUEST_IO_H

#include "base/context.h"
#include "logical_locks.h"
#include "request/ftl_request.h"

struct flush_plan;
struct map_fetch;
struct ftl_worker;
struct zone;

struct ftl_io {
	struct ftl_worker *worker; /* whose queue the request came from; its continuations run there */
	struct ftl_request *next;  /* in exactly one io_queue at a time */
	struct zone *zone;         /* zone being worked on; read: the zone that is referenced */
	uint32_t first;            /* write: done when it came to this zone */
	uint32_t done;             /* sectors landed (write) or resolved (read) */
	uint32_t end;              /* write: done when the part in this zone has landed */
	uint32_t target;           /* zone sectors that must be durable before the request goes on */
	uint32_t pending;          /* flash reads under way */
	uint32_t cursor;           /* flush: next buffer; deallocation: next range; all-zones command, abandon: next zone */
	struct flush_plan *plan;   /* flush: what it waits for */
	uint64_t since_ns;         /* conventional: waits for an erased zone since; 0 = does not */
	uint64_t epoch;            /* flush of the data cache: what became dirty up to this one (cache/data_cache.h) */
	struct map_fetch *fetch;   /* read: table page that it waits for or is being served from; L2P lock of its zone */
	uint32_t map_page;         /* read: index + 1 of the table page that map_level was learnt for */
	uint8_t step;              /* flush, deallocation: enum flush_step; abandon: enum abandon_step */
	uint8_t all;               /* one of the zones of an all-zones command */
	uint8_t budget;            /* enum budget_need reserved for this request */
	uint8_t queued;            /* read: parked for a flash read or by a zone; its own reads must not run it */
	uint8_t map_level;         /* read: levels above have been ruled out by what was fetched */
	uint8_t missed;            /* read: what it waited for has not served it yet */
	uint8_t has_turn;          /* was parked; the next ones there wait until it is accepted or refused (zone/zone.h) */
	uint8_t woken;             /* read: it waited for a table page fetch to use, and one is free */
	uint8_t cached;            /* the data cache, where there is one, has not let it go on yet (cache/data_cache.h) */
};
HZ_STATIC_ASSERT(sizeof(struct ftl_io) <= sizeof(((struct ftl_request *)0)->work), "private state fits the request");

/* ftl_request.flags, internal: a flush of the buffers of conventional zones only; one by the L2P log, which has a plan of its own: the
 * others may all be held by flushes that wait for the log. */
enum { FTL_BACKING = 32, FTL_FOR_MAP = 64 };
/* ftl_request.op, internal: how a flush with FTL_AT_REST goes on (rest.h); a write buffer's own, which looks for staged sectors (fold.h). */
enum { FTL_REST = FTL_ABANDON + 1, FTL_FOLD };
enum flush_step { FLUSH_NEW, FLUSH_WAITS, FLUSH_SAVED /* trims, too */, FLUSH_FAILED };

static inline struct ftl_io *io_of(struct ftl_request *req) { return (struct ftl_io *)req->work; }

/* So many sectors of a request count as the host's. */
static inline uint32_t host_sectors(const struct ftl_request *req, uint32_t sectors) { return req->flags & FTL_INSIDE ? 0 : sectors; }

/* Where the namespace of the request ends (LBA), which may have fewer sectors than its flash has room for. */
static inline uint64_t namespace_end(const struct ftl *ftl, const struct ftl_request *req)
{
	return req->namespace_sectors ? req->namespace_sectors : ftl->shape.namespace_sectors;
}

/* Sectors: longer than this are only writes of zeros. They let others go first whenever so many more have landed. */
enum { IO_LONG = HZ_MAX_TRANSFER_SECTORS };

struct io_queue {
	struct ftl_request *head, *tail;
};

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

/* Any hart: a request that is new to the FTL goes to this worker. */
void io_submit(struct ftl_worker *worker, struct ftl_request *req);
/* The same of what may find its data in the data cache, or leaves them there. */
void io_submit_cached(struct ftl_worker *worker, struct ftl_request *req);
/* Its own worker: it goes on as another operation, from that one's first step. */
static inline void io_become(struct ftl_worker *self, struct ftl_request *req, uint8_t op)
{
	req->op = op;
	io_of(req)->step = 0;
	io_of(req)->cursor = 0;
	self->ftl->run(self, req);
}
/* Any hart. The request belongs to its owner again. */
void io_complete(struct ftl_request *req, uint16_t status);
/* Under the queue's lock: the request waits there for what the ledger knows by this name, until io_resume. */
void io_wait(struct io_queue *queue, struct ftl_request *req, enum hz_logical_lock what, uint32_t index);
/* Any hart. Dispatch the request once more on its own worker: what it waited for has happened. */
void io_resume(struct ftl_request *req);
void io_resume_all(struct io_queue *queue);

/* Requests of a life of the controller that is over: they end instead of being run (abandon.h). */

/* On a worker's hart, after it has been told: the request ends instead of being run. */
static inline bool io_abandoned(const struct ftl_worker *self, const struct ftl_request *req)
{
	return req->life && req->life <= self->over;
}

/* Under the queue's lock: out of the queue and to their workers, where they end. True if there were any. */
bool abandoned_take(struct ftl_worker *self, struct io_queue *queue);

#endif
