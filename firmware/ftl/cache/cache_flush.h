/* Flush of the data cache: the lines that were dirty when the Flush arrived are written back. What has landed then is made durable as
 * ever. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_CACHE_FLUSH_H
#define FTL_CACHE_FLUSH_H

#include "request/io.h"

/* FTL_FLUSH of the host, also its continuation. True: every line has been written back, and the request goes on as an ordinary Flush;
 * else it waits, or has ended, since flash refused some. */
bool cached_flush_run(struct ftl_worker *self, struct ftl_request *req);

#endif
