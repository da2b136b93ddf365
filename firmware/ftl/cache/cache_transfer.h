/* Transfers of the data cache: reads that fill a line, writes that bring its dirty sectors to flash, and what passes by the lines. Each is a
 * request of the device's own, which goes the ordinary way of conventional sectors, one run of sectors after another.
 *
 * They come from a pool per worker; if it is empty the request is parked and goes on when one returns. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_CACHE_TRANSFER_H
#define FTL_CACHE_TRANSFER_H

#include "cache/data_cache.h"

enum { TRANSFERS_PER_WORKER = 64 };

struct cache_transfer {
	struct ftl_request req; /* first */
	struct cache_transfer *next;
	struct ftl_worker *worker;
	struct ftl_request *host;  /* that waits for it, or NULL */
	struct cache_line *line;   /* busy */
	uint64_t sectors, missing; /* of the line: those of the transfer, those of them that have not been moved */
	struct cache_piece piece;  /* fill: what the host wants */
	uint32_t index;            /* … from this sector of its request on */
	uint64_t arrived_ns;       /* fill: device time at which the newest data of the line are there */
	uint64_t unmaps;           /* data_cache.unmaps when it began */
	bool alone;                /* no deallocation was under way then */
	uint8_t **memory;          /* [line_sectors] */
};

struct transfer_pool {
	struct cache_transfer *free;
	struct io_queue waiting;
};

/* At construction, of a worker. */
void transfers_init(struct ftl_worker *worker, struct arena *arena);
/* Own worker. Must not be empty. */
struct cache_transfer *transfer_take(struct ftl_worker *self);
/* Own worker: the request is parked until one returns. */
void transfer_wait(struct ftl_worker *self, struct ftl_request *req);
/* Own worker, at the end of an event: who waits for one goes on if there is one. */
void transfers_wake(struct ftl_worker *self);

/* No lock; the line is busy with it. The host's piece from its sector `index` on is answered when the line has it. */
void transfer_fill(struct cache_transfer *t, struct cache_line *line, struct ftl_request *host, const struct cache_piece *piece,
		   uint32_t index);
/* Shard lock held: an idle dirty line becomes busy with it. host: who waits for it, or NULL. */
void transfer_line(struct cache_shard *shard, struct cache_transfer *t, struct cache_line *line, struct ftl_request *host, bool leaves);
/* No lock, next: its dirty sectors are written. */
void transfer_write_back(struct cache_transfer *t, uint8_t flags);
/* `sectors` of the host's read from its sector `index` on are read past the lines. */
void transfer_read_past(struct cache_transfer *t, struct ftl_request *host, uint32_t index, uint32_t sectors);
/* The host's deallocation goes on without the lines, and ends. */
void transfer_deallocate(struct cache_transfer *t, struct ftl_request *host);
/* Own worker: a request of the host's for which nothing is under way, and that is parked nowhere, ends if it is done, or abandoned. */
void cached_end(struct ftl_worker *self, struct ftl_request *req);

#endif
