/* Requests to a zone: reads, writes and flushes. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_ZONE_READ_WRITE_H
#define FTL_ZONE_READ_WRITE_H

#include "base/zone.h"
#include "nand/flash_addr.h"
#include "request/io.h"

/* Read path: a request is split per flash page; each piece comes from a write buffer, SLC, normal flash, or is unmapped (zeros).
 *
 * Flash reads come from a pool per worker. If it is empty the request is parked, and so are later ones. The first one resumes when there
 * are enough for all of it, or for READ_BATCH sectors: reads submitted together run on several planes at once. */

struct arena;
struct zone;

enum { READS_PER_WORKER = 256, READ_BATCH = 32 };
/* zone: backing zone with this read in its reader count, or NULL. */
struct flash_read {
	struct tsu_txn txn;
	struct ftl_request *req;
	struct zone *zone;
	uint32_t pins;
};
struct read_pool {
	struct flash_read *read;
	struct tsu_txn *free;
	uint32_t available; /* of them */
	struct io_queue waiting;
	const struct ftl_request *turn; /* it was the first waiter */
};

void read_pool_init(struct ftl_worker *worker, struct arena *arena);
/* A flash read is over: the time that it took counts for its request, on which the worker goes on. */
void flash_read_resume(struct flash_read *read);
/* … and its request is answered: txn.status and verdict are final, and the data in their place. */
void flash_read_end(struct ftl_worker *self, struct flash_read *read);

/* Reads of sectors that ECC cannot correct, on a device with rain (rebuild.c; buffer/buffer.h has the parity).
 *
 * The page is read once more, and with it the same page of each other die of its stripe. If the page stays unreadable and all others can
 * be read, they and the parity give its sectors. In a row that is still being written the parity is in the zone's write buffer. A
 * rebuild has memory for a page of each die; a worker has few, and further reads wait for one. */

/* At construction; nothing without rain. */
void rebuilds_init(struct ftl_worker *worker, struct arena *arena);
/* A host's flash read came back unreadable: true if flash_read_resume and flash_read_end will be called for it, with the times of the
 * rebuild's last page. The request still refers to the zone. No lock. */
bool rebuild_begin(struct ftl_worker *self, struct flash_read *read);
/* FTL_READ, FTL_VERIFY, FTL_COMPARE, also their continuation after waiting. */
void read_run(struct ftl_worker *self, struct ftl_request *req);
/* End a cancelled read, as soon as it has no flash read in flight. */
void read_cancel(struct ftl_worker *self, struct ftl_request *req);
/* Progress of a read: end of its part, empty pool of flash reads, or wait for a table page. */
enum read_progress { READ_THROUGH, READ_POOL_DRY, READ_MAP_FETCH };
/* Read `sectors` from zone offset `at` on into the request's next sectors; flash reads are added to *list, to be submitted by the caller
 * after the lock is released. READ_POOL_DRY: the request must wait (read_wait). Zone lock held. */
enum read_progress read_here(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint32_t at, uint32_t sectors,
			     struct tsu_txn **list);
/* Sectors from the front of ppa[] that one flash read can fetch. */
uint32_t read_together(struct ftl *ftl, const ppa_t *ppa, uint32_t count);
/* Park the request until a flash read returns to the pool; no lock held. */
void read_wait(struct ftl_worker *self, struct ftl_request *req);
/* The request's next sectors are zeros. */
void read_unmapped(struct ftl_worker *self, struct ftl_request *req, uint32_t sectors);

/* Admission of writes: permission and order. */

/* FTL_WRITE, FTL_APPEND, FTL_WRITE_ZEROES of a sequential zone, also after parking. */
void write_run(struct ftl_worker *self, struct ftl_request *req);

enum write_verdict {
	WRITE_ACCEPTED,
	WRITE_LANDS, /* … and the zone continues it */
	WRITE_REFUSED,
	WRITE_PARKED,
	WRITE_NEEDS_ROOM, /* budget_make_room, then again */
	WRITE_IN_WINDOW,  /* it is for the other way: the zone has a window (zone/zrwa.h), or has none any more */
};
/* The zone, not open, is opened for an admitted write. WRITE_REFUSED: *status says why. Zone lock held. */
enum write_verdict write_opens(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint16_t *status, struct zone **victim);
/* Accept the zone's own write at its write pointer, past all that wait. Zone lock held. */
void write_commit(struct ftl_worker *self, struct zone *zone, struct ftl_request *req);

/* Flush: landed data become durable. */

/* Of a worker: plans for as many flushes at a time. */
struct flush_pool {
	struct flush_plan *free;
	struct io_queue waiting; /* flushes waiting for one */
};

/* At construction, after the write buffers. */
void flush_init(struct ftl_worker *self, struct arena *arena);
/* FTL_FLUSH, also its continuation. */
void flush_run(struct ftl_worker *self, struct ftl_request *req);
/* Offset up to which the request's wait is over: durable, or, before a shutdown ends, on flash. */
static inline uint32_t flush_reached(const struct ftl_request *req, const struct zone *zone)
{
	return req->flags & FTL_CLEAN ? zone_on_flash(zone) : zone_durable(zone);
}
/* Release the flush's plan. */
void flush_cancel(struct ftl_worker *self, struct ftl_request *req);

#endif
