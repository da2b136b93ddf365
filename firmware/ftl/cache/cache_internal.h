/* Lines of the data cache, and requests through it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_CACHE_CACHE_INTERNAL_H
#define FTL_CACHE_CACHE_INTERNAL_H

#include "cache/data_cache.h"
#include "request/io.h"

/* Lines of a shard of the data cache: look-up, eviction, and lists. The shard's lock is held throughout. */

/* NULL: no line has this number. */
struct cache_line *line_find(const struct data_cache *cache, const struct cache_shard *shard, uint32_t number);
/* The line was used. A failed line becomes an ordinary one again; that flash has refused it stays recorded. */
void line_touch(struct ftl *ftl, struct cache_shard *shard, struct cache_line *line);
/* The victim, as data_cache.eviction says; NULL: all lines are busy or failed, or too many of the oldest are busy. */
struct cache_line *line_victim(const struct ftl *ftl, struct cache_shard *shard);
/* An idle, clean line gets this number, and nothing in it is valid. */
void line_rename(const struct data_cache *cache, struct cache_shard *shard, struct cache_line *line, uint32_t number);
/* Mark sectors of a line that is not busy dirty. */
void line_soil(struct data_cache *cache, struct cache_shard *shard, struct cache_line *line, uint64_t sectors);
/* Drop sectors of a line that is not busy. */
void line_drop(struct data_cache *cache, struct cache_shard *shard, struct cache_line *line, uint64_t sectors);
/* Idle → busy. leaves: the line is evicted or filled, and is not in shard.idle meanwhile. */
void line_begin(struct cache_shard *shard, struct cache_line *line, enum line_state state, bool leaves);
/* Busy → idle, or, after a failed write-back, failed. Requests that waited at it are in *woken. */
void line_end(struct data_cache *cache, struct cache_shard *shard, struct cache_line *line, bool failed, struct io_queue *woken);
/* Next line that became dirty, or failed, up to this epoch and is not being written; it may be being filled. NULL: none. */
struct cache_line *line_to_flush(struct cache_shard *shard, uint64_t until);
/* A line that became dirty up to this epoch and is being written. Number of steps: at most the workers' transfers. */
struct cache_line *line_being_flushed(const struct cache_shard *shard, uint64_t until);
/* Before the lock is released: a request that waits for a line and should look again, or NULL. last: the request just served, which may
 * itself wait for a line under way; NULL: none. */
struct ftl_request *lines_wake(struct cache_shard *shard, const struct ftl_request *last);

/* Getting a line of the data cache for a request: a hit, or the line of a victim. */

enum line_verdict {
	LINE_FOUND,
	LINE_MADE,      /* holds nothing yet */
	LINE_WAITS,     /* the request is parked at the shard or for a transfer */
	LINE_CANNOT_BE, /* flash has refused the data of every line */
};

/* *evicts: a write-back for the caller to submit (transfer_write_back) after the lock is released, or NULL. Shard lock held. */
enum line_verdict line_for(struct ftl_worker *self, struct cache_shard *shard, struct ftl_request *req, uint32_t number,
			   struct cache_line **line, struct cache_transfer **evicts);
/* Shard lock held: the request is parked at the busy line. */
void line_wait(struct data_cache *cache, struct cache_shard *shard, struct cache_line *line, struct ftl_request *req);

/* Reads through the data cache: valid sectors are answered at once; missing ones are filled, once for any number of readers. */

/* FTL_READ, FTL_VERIFY, FTL_COMPARE that begin at a conventional sector, also their continuation. */
void cached_read_run(struct ftl_worker *self, struct ftl_request *req);

/* Writes into the data cache: sectors go into lines, and the request ends; or, through the lines, when they have been written back, durably
 * if they must be. */

/* FTL_WRITE, FTL_UPDATE, FTL_APPEND (refused), FTL_WRITE_ZEROES of conventional sectors, also their continuation. */
void cached_write_run(struct ftl_worker *self, struct ftl_request *req);

/* Flush of the data cache: lines that were dirty when the Flush arrived are written back. Then landed data are made durable as usual. */

/* FTL_FLUSH of the host, also its continuation. True: every line has been written back, and the request goes on as an ordinary Flush;
 * else it waits, or has ended, since flash refused some. */
bool cached_flush_run(struct ftl_worker *self, struct ftl_request *req);

/* Deallocation through the data cache: sectors are forgotten, written back or not, and then leave the map as ever. */

/* FTL_DEALLOCATE, FTL_WRITE_UNCORRECTABLE, and FTL_WRITE_ZEROES with FTL_FREES, also their continuation. False: it has nothing to forget, since it will be refused. */
bool cached_discard_run(struct ftl_worker *self, struct ftl_request *req);
/* It was cancelled on its way. */
void cached_discard_cancel(struct ftl_worker *self, const struct ftl_request *req);

#endif
