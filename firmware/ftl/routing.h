/* Routing: which worker runs a command. By its queue, or by the zone of its first LBA, which has an owner then (harts.routing: owner): messages
 * as the rival of locks. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_ROUTING_H
#define FTL_ROUTING_H

#include "base/context.h"

struct arena;

/* Once the map is there: zones of one of its shards have one owner, if there are as many shards as workers. */
void routing_init(struct ftl *ftl, struct arena *arena);
/* Any hart, where zones have owners: the worker of a request that came by a queue of `worker`. */
unsigned routing_owner(const struct ftl *ftl, unsigned worker, const struct ftl_request *req);

#endif
