/* Lines of a shard of the data cache: finding them, who leaves, and the lists that they are in. The shard's lock is held throughout. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_CACHE_LINES_H
#define FTL_CACHE_LINES_H

#include "cache/data_cache.h"

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

#endif
