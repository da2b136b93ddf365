/* Data cache: lines of a flash page in DRAM before the map of conventional sectors, with the newest data of each valid sector.
 *
 * A line is found by its number, LBA >> line_shift; a hash of it names the shard, which has a lock, lines and lists of its own. Each
 * sector of a line may be valid (data present) and dirty (flash has older data); dirty sectors are valid. Data reach flash through lines
 * only, so flash is never newer than a line.
 *
 * A line being filled or written back is busy: it is neither evicted nor written, and its valid sectors may be read. A request that
 * needs more of it waits at the line; a request that finds no victim waits at the shard. After a failed write-back a line is set apart:
 * it is read, retried by the next Flush, and lost only by a power cut.
 *
 * shard.lock (class CACHE, index = shard): everything in the shard and its lines, but for the data of a busy line; nothing is taken
 * under it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_CACHE_DATA_CACHE_H
#define FTL_CACHE_DATA_CACHE_H

#include "lt/lock.h"
#include "request/io.h"

enum line_state {
	LINE_IDLE,
	LINE_FILLING, /* missing sectors are being read */
	LINE_WRITING, /* dirty sectors are being written back */
	LINE_FAILED,  /* flash has refused them; in shard.failed instead of shard.idle */
};
#define LINE_NONE UINT32_MAX

/* A line is in up to three lists, with links of their own. */
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
	uint64_t arrived_ns;   /* device time at which its newest data have arrived */
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
	struct line_list dirty;  /* BY_AGE: neither being written nor failed */
	struct line_list busy;   /* BY_WORK */
	struct io_queue waiting; /* for a line */
	uint32_t dirty_lines;    /* in the list */
	struct cache_line *line; /* [data_cache.shard_lines] */
};

struct data_cache {
	struct cache_shard *shard;
	uint32_t shards, shard_bits; /* number of shards, a power of two; its log2 */
	uint32_t shard_lines, bucket_bits;
	uint32_t line_shift, line_sectors;
	uint32_t dirty_most; /* dirty lines of a shard beyond which the oldest is written back in the background */
	lt_word epoch;       /* Flushes begun */
	lt_word refused;     /* lines refused by flash: not covered by a Flush */
	/* While sectors are deallocated, data that a line reads or writes back may be older or deallocated: not kept. */
	lt_word unmapping; /* deallocations under way */
	lt_word unmaps;    /* … begun */
};

struct arena;

/* Part of a request within one line. */
struct cache_piece {
	uint32_t number, first, sectors; /* line, sectors of it */
};

/* At construction; nothing without data_cache_bytes. */
void data_cache_init(struct ftl *ftl, struct arena *arena);
/* The request's next sectors, below `end` (LBA). */
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

/* Transfers of the data cache: fills, write-backs, and writes past the lines. Each is an internal request on the ordinary path of
 * conventional sectors, one run of sectors after another.
 *
 * They come from a pool per worker; if it is empty, the request is parked until one returns. */

enum { TRANSFERS_PER_WORKER = 64 };

struct cache_transfer {
	struct ftl_request req; /* first */
	struct cache_transfer *next;
	struct ftl_worker *worker;
	struct ftl_request *host;  /* waiting request, or NULL */
	struct cache_line *line;   /* busy */
	uint64_t sectors, missing; /* of the line: the transfer's; … not yet moved */
	struct cache_piece piece;  /* fill: the part for the host */
	uint32_t index;            /* … from this sector of its request on */
	uint64_t arrived_ns;       /* fill: device time at which the line's newest data have arrived */
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
/* Resume a request parked for a transfer, if one is free. Own worker, at the end of an event. */
void transfers_wake(struct ftl_worker *self);

/* No lock; the line is busy with it. The host's piece from its sector `index` on is answered when the line has it. */
void transfer_fill(struct cache_transfer *t, struct cache_line *line, struct ftl_request *host, const struct cache_piece *piece,
		   uint32_t index);
/* An idle dirty line becomes busy with it. host: waiting request, or NULL. Shard lock held. */
void transfer_line(struct cache_shard *shard, struct cache_transfer *t, struct cache_line *line, struct ftl_request *host, bool leaves);
/* No lock, next: its dirty sectors are written. */
void transfer_write_back(struct cache_transfer *t, uint8_t flags);
/* `sectors` of the host's read from its sector `index` on are read past the lines. */
void transfer_read_past(struct cache_transfer *t, struct ftl_request *host, uint32_t index, uint32_t sectors);
/* The host's deallocation goes on without the lines, and ends. */
void transfer_deallocate(struct cache_transfer *t, struct ftl_request *host);
/* End a host request that has nothing under way and is parked nowhere, if it is done or cancelled. Own worker. */
void cached_end(struct ftl_worker *self, struct ftl_request *req);

/* True for requests served by the data cache: the host's, and parts of copies. Internal requests of the device and the cache's own
 * transfers bypass it. */

/* True: the request is the cache's. False: it goes the ordinary way, from here on. */
bool cached_run(struct ftl_worker *self, struct ftl_request *req);
/* After a controller reset, with every worker notified: requests parked here go to their worker and end there. */
void cached_cancel(struct ftl_worker *self);
/* Own worker, notified: so do requests parked for a transfer. */
void cached_cancel_waiting(struct ftl_worker *self);

/* Whole-state check of the data cache. */

struct ftl;

/* NULL, or one sentence about the broken invariant. Harts idle. */
const char *cache_check(struct ftl *ftl);

#endif
