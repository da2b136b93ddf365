/* Writes into the data cache: sectors go into lines, and the request ends; or, through the lines, when they have been written back, durably
 * if they must be. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_CACHE_WRITE_H
#define FTL_CACHE_WRITE_H

#include "request/io.h"

/* FTL_WRITE, FTL_UPDATE, FTL_APPEND (which is refused), FTL_WRITE_ZEROES of conventional sectors, also their continuation. */
void cached_write_run(struct ftl_worker *self, struct ftl_request *req);

#endif
