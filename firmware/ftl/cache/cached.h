/* Requests that come to the data cache before all else: the host's, and the parts of copies. What the device does of its own, and what the
 * cache itself moves, goes past it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_CACHED_H
#define FTL_CACHED_H

#include "request/io.h"

/* True: the request is the cache's. False: it goes the ordinary way, from here on. */
bool cached_run(struct ftl_worker *self, struct ftl_request *req);
/* The controller was reset, and every worker knows: what is parked here goes to its worker, where it ends. */
void cached_abandon(struct ftl_worker *self);
/* Own worker, which has learnt of it: who waits for a transfer goes there too. */
void cached_abandon_waiting(struct ftl_worker *self);

#endif
