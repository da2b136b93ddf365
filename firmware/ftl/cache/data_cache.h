/* Data cache: lines of a flash page in DRAM before the map of conventional sectors, with the newest data of each sector that is valid.
 *
 * A line is found by its number, LBA >> line_shift; a hash of it names the shard, which has a lock, lines and lists of its own. Per sector
 * a line knows whether its data are there (valid) and whether flash has older ones (dirty): dirty sectors are valid. What comes to flash
 * goes through lines only, so that flash is never newer than a line.
 *
 * A line that is being filled or written back is busy: it is neither evicted nor written, and its valid sectors may be read. Whoever needs
 * more of it waits at the line, whoever needs a line while none can be had waits at the shard. A line whose write-back failed stays as it
 * is, apart from the others: it is read, tried again by the next Flush, and lost by nothing but a loss of power.
 *
 * shard.lock (class CACHE, index = shard): everything in the shard and its lines, but for the data of a busy line; nothing is taken under
 * it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_CACHE_DATA_CACHE_H
#define FTL_CACHE_DATA_CACHE_H

#include "lt/lock.h"
#include "request/io.h"

enum line_state {
	LINE_IDLE,
	LINE_FILLING, /* sectors that are not valid are being read */
	LINE_WRITING, /* dirty sectors are being written back */
	LINE_FAILED,  /* flash has refused them; in shard.failed instead of shard.idle */
};
#define LINE_NONE UINT32_MAX

/* A line is in up to three lists, which have links of their own. */
enum line_order {
	BY_USE,  /* idle or failed */
	BY_AGE,  /* dirty */
	BY_WORK, /* busy */
	LINE_ORDERS
};
struct line_link {
	struct cache_line *older, *newer;
};
struct line_list {
	struct cache_line *oldest, *newest;
};

struct cache_line {
	struct cache_line *next; /* in its bucket */
	struct line_link link[LINE_ORDERS];
	uint8_t *data;         /* [line_sectors] */
	uint64_t valid, dirty; /* a bit for each sector */
	uint64_t since;        /* dirty: data_cache.epoch when it became so; 0: before any Flush */
	uint64_t arrived_ns;   /* device time at which the newest of its data are there */
	struct io_queue waiting;
	uint32_t number; /* LINE_NONE: holds nothing */
	uint8_t state;   /* enum line_state */
	bool used;       /* CLOCK: since it was looked at last */
	bool listed;     /* in shard.idle; not while it is filled, evicted or failed */
	bool refused;    /* flash has refused it, and has not taken it since */
};

struct cache_shard {
	struct lt_lock lock;
	struct cache_line **bucket;
	struct line_list idle;   /* BY_USE; those of a Flush and of FUA are busy and keep their places */
	struct line_list failed; /* BY_USE */
	struct line_list dirty;  /* BY_AGE: those that are neither being written nor failed */
	struct line_list busy;   /* BY_WORK */
	struct io_queue waiting; /* for a line */
	uint32_t dirty_lines;    /* in the list */
	struct cache_line *line; /* [data_cache.shard_lines] */
};

struct data_cache {
	struct cache_shard *shard;
	uint32_t shards, shard_bits; /* a power of two, and which */
	uint32_t shard_lines, bucket_bits;
	uint32_t line_shift, line_sectors;
	uint32_t dirty_most; /* lines of a shard that may be dirty before some are written back in the background */
	lt_word epoch;       /* Flushes that have begun */
	lt_word refused;     /* lines that are: what a Flush cannot promise */
	/* What a line gets from flash, or brings there, while sectors are deallocated may be what they held before, or gone: not kept. */
	lt_word unmapping; /* deallocations under way */
	lt_word unmaps;    /* … that have begun */
};

struct arena;

/* Part of a request that lies in one line. */
struct cache_piece {
	uint32_t number, first, sectors; /* line, sectors of it */
};

/* At construction; nothing without data_cache_bytes. */
void data_cache_init(struct ftl *ftl, struct arena *arena);
/* The request's next sectors, which do not reach `end` (LBA). */
struct cache_piece cache_piece_at(const struct data_cache *cache, const struct ftl_request *req, uint64_t end);

/* Any hart, no lock. */
static inline struct cache_shard *cache_shard_of(const struct data_cache *cache, uint32_t number)
{
	uint32_t hash = number * 0x9e3779b1u;

	return &cache->shard[cache->shard_bits ? hash >> (32 - cache->shard_bits) : 0];
}
static inline uint64_t piece_mask(const struct cache_piece *piece)
{
	return (piece->sectors == 64 ? ~0ull : (1ull << piece->sectors) - 1) << piece->first;
}
static inline bool line_is_busy(const struct cache_line *line) { return line->state == LINE_FILLING || line->state == LINE_WRITING; }
static inline uint8_t *line_sector(const struct cache_line *line, uint32_t sector) { return line->data + (size_t)sector * HZ_SECTOR_BYTES; }

/* Transfers of the data cache: reads that fill a line, writes that bring its dirty sectors to flash, and what passes by the lines. Each is a
 * request of the device's own, which goes the ordinary way of conventional sectors, one run of sectors after another.
 *
 * They come from a pool per worker; if it is empty the request is parked and goes on when one returns. */

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

/* Requests that come to the data cache before all else: the host's, and the parts of copies. What the device does of its own, and what the
 * cache itself moves, goes past it. */

/* True: the request is the cache's. False: it goes the ordinary way, from here on. */
bool cached_run(struct ftl_worker *self, struct ftl_request *req);
/* The controller was reset, and every worker knows: what is parked here goes to its worker, where it ends. */
void cached_abandon(struct ftl_worker *self);
/* Own worker, which has learnt of it: who waits for a transfer goes there too. */
void cached_abandon_waiting(struct ftl_worker *self);

/* Whole-state check of the data cache. */

struct ftl;

/* Harts idle: NULL, or one sentence that names the broken invariant. */
const char *cache_check(struct ftl *ftl);

#endif
