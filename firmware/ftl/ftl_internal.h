/* What the modules at the top of the FTL share: workers, copy, cancellation, clean mark, routing and zone report. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_FTL_INTERNAL_H
#define FTL_FTL_INTERNAL_H

#include "base/context.h"
#include "request/io.h"

/* Workers: where a request goes. */

struct arena;

/* At construction, once write buffers and map are there. */
void workers_init(struct ftl *ftl, struct arena *arena);

/* Copy inside the device: the source ranges are read into memory of the worker, several at a time, and when all are there they are one
 * write, or append, of the device's own. So a copy lands as a write of that length does: in one piece, at the write pointer of a zone, as
 * durable as that write; and sources may overlap the destination. Nothing crosses the link but the list of ranges. */

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

/* What a controller reset ends: requests of a life of the controller that is over. */

enum abandon_step { ABANDON_NEW, ABANDON_TOLD };

/* FTL_ABANDON, also its continuation. */
void abandon_run(struct ftl_worker *self, struct ftl_request *req);
/* Its own worker: gives back what it holds and ends; a read as soon as its last flash read has. */
void abandoned_end(struct ftl_worker *self, struct ftl_request *req);

/* Zone report. */

/* FTL_ZONE_REPORT. */
void zone_report_run(struct ftl_worker *self, struct ftl_request *req);

/* Coming to rest: the end of a flush with FTL_AT_REST. When nothing goes on in the background any more, the state of all zones is recorded
 * (tables.h), and the media is told that everything is as recorded (nand.h). Mount then knows what there must be: what cannot be
 * read is lost, and not a program that a power cut tore. */

struct arena;

/* Of the one request that comes to rest. data_before: all data have sequence numbers below. */
struct rest {
	struct lt_timer timer;
	struct ftl_request *req;
	uint64_t data_before;
};

void rest_init(struct ftl *ftl, struct arena *arena);
/* FTL_REST, from the time on when all zones are closed and durable and the map is in flash: the next step. */
void rest_run(struct ftl_worker *self, struct ftl_request *req);

/* Routing: which worker runs a command. By its queue, or by the zone of its first LBA, which has an owner then (harts.routing: owner): messages
 * as the rival of locks. */

struct arena;

/* Once the map is there: zones of one of its shards have one owner, if there are as many shards as workers. */
void routing_init(struct ftl *ftl, struct arena *arena);
/* Any hart, where zones have owners: the worker of a request that came by a queue of `worker`. */
unsigned routing_owner(const struct ftl *ftl, unsigned worker, const struct ftl_request *req);

#endif
