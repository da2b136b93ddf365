/* Reads through the data cache: what lines have is answered at once; what they lack is read into them, once however many ask for it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_CACHE_READ_H
#define FTL_CACHE_READ_H

#include "request/io.h"

/* FTL_READ, FTL_VERIFY, FTL_COMPARE that begin at a conventional sector, also their continuation. */
void cached_read_run(struct ftl_worker *self, struct ftl_request *req);

#endif
