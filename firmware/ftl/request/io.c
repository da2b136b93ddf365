/* How a request comes to a worker, is resumed or cancelled there, and returns to its owner. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "request/io.h"

#include "lt/logical.h"

/* How a request comes to a worker, goes on there, and returns to its owner. */

static struct ftl_request *request_of(struct lt_event *event)
{
	return (struct ftl_request *)((char *)event - offsetof(struct ftl_request, event));
}

static void completed(struct lt_event *event)
{
	struct ftl_request *req = request_of(event);

	req->done(req);
}

void io_complete(struct ftl_request *req, uint16_t status)
{
	req->status = status;
	lt_tell_request(HZ_VC_DONE, req);
	lt_post(req->reply_to, &req->event, completed);
}

static void dispatched(struct lt_event *event)
{
	struct ftl_request *req = request_of(event);
	struct ftl_worker *self = io_of(req)->worker;

	lt_tell_request(HZ_VC_RUN, req);
	self->ftl->run(self, req);
	lt_tell_request(HZ_VC_LEFT, req);
}

void io_resume(struct ftl_request *req)
{
	lt_logical_wait_ended(req);
	lt_post(&io_of(req)->worker->thread, &req->event, dispatched);
}

void io_wait(struct io_queue *queue, struct ftl_request *req, enum hz_logical_lock what, uint32_t index)
{
	lt_logical_wait(what, index, req);
	io_push(queue, req);
}

void io_resume_all(struct io_queue *queue)
{
	struct ftl_request *req;

	while ((req = io_pop(queue)))
		io_resume(req);
}

static void submit_new(struct ftl_worker *worker, struct ftl_request *req, uint8_t cached)
{
	*io_of(req) = (struct ftl_io){ .worker = worker, .cached = cached };
	req->status = NVME_SUCCESS;
	req->ready_ns = 0;
	lt_tell_request(HZ_VC_LEFT, req);
	lt_post(&worker->thread, &req->event, dispatched);
}

void io_submit(struct ftl_worker *worker, struct ftl_request *req) { submit_new(worker, req, 0); }

void io_submit_cached(struct ftl_worker *worker, struct ftl_request *req) { submit_new(worker, req, 1); }

/* Taking cancelled requests out of a queue. */

bool cancelled_take(struct ftl_worker *self, struct io_queue *queue)
{
	struct io_queue all = *queue;
	struct ftl_request *req;
	bool any = false;

	*queue = (struct io_queue){ NULL, NULL };
	while ((req = io_pop(&all))) {
		if (io_cancelled(self, req)) {
			any = true;
			io_resume(req);
		} else {
			io_push(queue, req);
		}
	}
	return any;
}
