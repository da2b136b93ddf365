/* Lines of the data cache, and the requests that use them. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_CACHE_CACHE_INTERNAL_H
#define FTL_CACHE_CACHE_INTERNAL_H

#include "cache/data_cache.h"
#include "request/io.h"

/* Lines of a shard of the data cache: finding them, who leaves, and the lists that they are in. The shard's lock is held throughout. */

/* NULL: no line has this number. */
struct cache_line *line_find(const struct data_cache *cache, const struct cache_shard *shard, uint32_t number);
/* It was used. A failed one is among the others again; that flash has refused it is not forgotten. */
void line_touch(struct ftl *ftl, struct cache_shard *shard, struct cache_line *line);
/* Who leaves next, as data_cache.eviction says; NULL: all lines are busy or failed, or too many of the oldest are busy. */
struct cache_line *line_victim(const struct ftl *ftl, struct cache_shard *shard);
/* An idle, clean line gets this number, and nothing in it is valid. */
void line_rename(const struct data_cache *cache, struct cache_shard *shard, struct cache_line *line, uint32_t number);
/* These sectors of a line that is not busy hold newer data than flash. */
void line_soil(struct data_cache *cache, struct cache_shard *shard, struct cache_line *line, uint64_t sectors);
/* These sectors of a line that is not busy are forgotten. */
void line_drop(struct data_cache *cache, struct cache_shard *shard, struct cache_line *line, uint64_t sectors);
/* Idle → busy. leaves: what is evicted or filled is not in shard.idle meanwhile. */
void line_begin(struct cache_shard *shard, struct cache_line *line, enum line_state state, bool leaves);
/* Busy → idle, or, of a write-back, failed. Who waited at it is in *woken. */
void line_end(struct data_cache *cache, struct cache_shard *shard, struct cache_line *line, bool failed, struct io_queue *woken);
/* The next line that became dirty, or failed, up to this epoch, and is not being written; it may be being filled. NULL: there is none. */
struct cache_line *line_to_flush(struct cache_shard *shard, uint64_t until);
/* One that became dirty up to this epoch and is being written. As many steps as the workers have transfers. */
struct cache_line *line_being_flushed(const struct cache_shard *shard, uint64_t until);
/* Before the lock is released: who waits for a line and should look again, or NULL. last: the request whose turn this was, which if it waits
 * for a line itself does so for what is under way; NULL: it was nobody's. */
struct ftl_request *lines_wake(struct cache_shard *shard, const struct ftl_request *last);

/* How a request gets a line of the data cache: the one that it looks for, or, where there is none, one that another number had. */

enum line_verdict {
	LINE_FOUND,
	LINE_MADE,      /* holds nothing yet */
	LINE_WAITS,     /* the request is parked at the shard or for a transfer */
	LINE_CANNOT_BE, /* every line holds what flash has refused */
};

/* Shard lock held. *evicts: a write-back that the caller submits (transfer_write_back) after the lock is released, or NULL. */
enum line_verdict line_for(struct ftl_worker *self, struct cache_shard *shard, struct ftl_request *req, uint32_t number,
			   struct cache_line **line, struct cache_transfer **evicts);
/* Shard lock held: the request is parked at the busy line. */
void line_wait(struct data_cache *cache, struct cache_shard *shard, struct cache_line *line, struct ftl_request *req);

/* Reads through the data cache: what lines have is answered at once; what they lack is read into them, once however many ask for it. */

/* FTL_READ, FTL_VERIFY, FTL_COMPARE that begin at a conventional sector, also their continuation. */
void cached_read_run(struct ftl_worker *self, struct ftl_request *req);

/* Writes into the data cache: sectors go into lines, and the request ends; or, through the lines, when they have been written back, durably
 * if they must be. */

/* FTL_WRITE, FTL_UPDATE, FTL_APPEND (which is refused), FTL_WRITE_ZEROES of conventional sectors, also their continuation. */
void cached_write_run(struct ftl_worker *self, struct ftl_request *req);

/* Flush of the data cache: the lines that were dirty when the Flush arrived are written back. What has landed then is made durable as
 * ever. */

/* FTL_FLUSH of the host, also its continuation. True: every line has been written back, and the request goes on as an ordinary Flush;
 * else it waits, or has ended, since flash refused some. */
bool cached_flush_run(struct ftl_worker *self, struct ftl_request *req);

/* Deallocation through the data cache: sectors are forgotten, written back or not, and then leave the map as ever. */

/* FTL_DEALLOCATE, and FTL_WRITE_ZEROES with FTL_FREES, also their continuation. False: it has nothing to forget, since it will be refused. */
bool cached_discard_run(struct ftl_worker *self, struct ftl_request *req);
/* It was abandoned on its way. */
void cached_discard_abandon(struct ftl_worker *self, const struct ftl_request *req);

#endif
