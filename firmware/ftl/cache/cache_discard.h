/* Deallocation through the data cache: sectors are forgotten, written back or not, and then leave the map as ever. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_CACHE_DISCARD_H
#define FTL_CACHE_DISCARD_H

#include "request/io.h"

/* FTL_DEALLOCATE, and FTL_WRITE_ZEROES with FTL_FREES, also their continuation. False: it has nothing to forget, since it will be refused. */
bool cached_discard_run(struct ftl_worker *self, struct ftl_request *req);
/* It was abandoned on its way. */
void cached_discard_abandon(struct ftl_worker *self, const struct ftl_request *req);

#endif
