/* Taking abandoned requests out of a queue. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "request/life.h"

bool abandoned_take(struct ftl_worker *self, struct io_queue *queue)
{
	struct io_queue all = *queue;
	struct ftl_request *req;
	bool any = false;

	*queue = (struct io_queue){ NULL, NULL };
	while ((req = io_pop(&all))) {
		if (io_abandoned(self, req)) {
			any = true;
			io_resume(req);
		} else {
			io_push(queue, req);
		}
	}
	return any;
}
