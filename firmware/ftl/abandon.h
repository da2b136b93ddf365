/* What a controller reset ends: requests of a life of the controller that is over. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_ABANDON_H
#define FTL_ABANDON_H

#include "request/io.h"

enum abandon_step { ABANDON_NEW, ABANDON_TOLD };

/* FTL_ABANDON, also its continuation. */
void abandon_run(struct ftl_worker *self, struct ftl_request *req);
/* Its own worker: gives back what it holds and ends; a read as soon as its last flash read has. */
void abandoned_end(struct ftl_worker *self, struct ftl_request *req);

#endif
