/* Interfaces among the top modules of the FTL: workers, copy, cancellation, clean mark, routing and zone report. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_FTL_INTERNAL_H
#define FTL_FTL_INTERNAL_H

#include "base/context.h"
#include "request/io.h"

/* Workers: dispatch of requests. */

struct arena;

/* At construction, once write buffers and map are there. */
void workers_init(struct ftl *ftl, struct arena *arena);

/* Copy inside the device: the source ranges are read into memory of the worker, several at a time, and then written by one internal
 * write or append. So a copy lands like a write of that length: in one piece, at the write pointer of a zone, equally durable; and
 * sources may overlap the destination. Only the list of ranges crosses the link. */

struct copy_job;

/* Of a worker. */
struct copy_pool {
	struct copy_job *free;
	struct io_queue waiting;
};

void copies_init(struct ftl_worker *worker, struct arena *arena);
/* FTL_COPY, FTL_COPY_APPEND, also after waiting for memory. */
void copy_run(struct ftl_worker *self, struct ftl_request *req);

/* Cancellation by a controller reset of the requests of the old controller life. */

enum cancel_step { CANCEL_NEW, CANCEL_ZONES };

/* FTL_CANCEL, also its continuation. */
void cancel_run(struct ftl_worker *self, struct ftl_request *req);
/* End the request and release its resources; a read as soon as its last flash read has ended. Own worker. */
void cancelled_end(struct ftl_worker *self, struct ftl_request *req);

/* Zone report. */

/* FTL_ZONE_REPORT. */
void zone_report_run(struct ftl_worker *self, struct ftl_request *req);

/* Setting the clean mark: the end of a flush with FTL_CLEAN. Once no background work is left, the state of all zones is recorded (tables.h),
 * and the media is marked clean (nand.h). Mount then knows the full content: an unreadable sector is lost, not a program torn by a power
 * cut. */

/* State of the request that sets the clean mark. data_before: sequence numbers of all data are lower. */
struct clean_mark {
	struct lt_timer timer;
	struct ftl_request *req; /* … or that erases: no two of them at a time */
	uint64_t data_before;
	struct tsu_txn erase; /* of a block of a retired superblock */
};

void clean_mark_init(struct ftl *ftl, struct arena *arena);
/* FTL_MARK_CLEAN, from the time on when all zones are closed and durable and the map is in flash: the next step. */
void clean_mark_run(struct ftl_worker *self, struct ftl_request *req);

/* Without host commands background work only ends: none is under way. */
bool ftl_is_quiet(struct ftl *ftl);

/* Erasing of user data: after a reset of all zones flash still has stale copies: in the SLC log, in backing zones, in superblocks of zones
 * that went OFFLINE, and in the good blocks of retired superblocks. A power cut loses nothing of it: FTL_ERASE may begin again. */

/* FTL_ERASE, also its continuation. */
void erase_run(struct ftl_worker *self, struct ftl_request *req);

/* Routing: the worker of a command, by its queue, or by the owner of its first LBA's zone (harts.routing: owner): messages instead of
 * locks. */

/* Once the map is there: zones of one of its shards have one owner, if there are as many shards as workers. */
void routing_init(struct ftl *ftl, struct arena *arena);
/* Worker of a request from a queue of `worker`, where zones have owners. Any hart. */
unsigned routing_owner(const struct ftl *ftl, unsigned worker, const struct ftl_request *req);

#endif
