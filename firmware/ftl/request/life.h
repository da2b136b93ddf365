/* Requests of a life of the controller that is over: they end instead of being run (abandon.h). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_LIFE_H
#define FTL_LIFE_H

#include "request/io.h"

/* On a worker's hart, after it has been told: the request ends instead of being run. */
static inline bool io_abandoned(const struct ftl_worker *self, const struct ftl_request *req)
{
	return req->life && req->life <= self->over;
}

/* Under the queue's lock: out of the queue and to their workers, where they end. True if there were any. */
bool abandoned_take(struct ftl_worker *self, struct io_queue *queue);

#endif
