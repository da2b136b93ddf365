/* How a request gets a line of the data cache: the one that it looks for, or, where there is none, one that another number had. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_CACHE_LINE_FOR_H
#define FTL_CACHE_LINE_FOR_H

#include "cache/cache_transfer.h"

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

#endif
