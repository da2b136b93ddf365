/* A crew: the workers of an FTL, the way of requests to them and back, and their reads of flash, for an FTL that wants no other way
 * (firmware/ftl has its own).
 *
 * A request goes to a worker, whose hart runs it; it may wait in a queue and run again, and completes on any hart. FTL_CANCEL never
 * reaches run: it completes when every request that came before it has. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PORT_CREW_H
#define PORT_CREW_H

#include "logical_locks.h"
#include "port/ftl_port.h"
#include "tsu/tsu.h"

#ifdef __cplusplus
extern "C" {
#endif

struct crew;
struct crew_read;

/* Requests that wait, oldest first. Zeroed memory is an empty queue. */
struct crew_queue {
	struct ftl_request *head, *tail;
};

/* Its hart's only. */
struct crew_worker {
	struct lt_thread thread; /* first: the owner of a transaction is its worker */
	struct crew *crew;
	uint32_t number;             /* from 0 on */
	struct crew_read *reads;     /* free ones */
	struct crew_queue waiting;   /* requests that wait for one */
	struct hz_log_ftl counters;  /* what it counts */
	struct hz_log_ftl published; /* … at the last crew_publish */
};

/* Part of the FTL's own state. */
struct crew {
	void *ftl;
	struct link_pair *links;
	/* On the worker's hart, with no lock held. */
	void (*run)(struct crew_worker *self, struct ftl_request *req);
	uint32_t count;
	struct crew_worker *worker;
	lt_word active; /* requests */
	lt_word cancel; /* the request that waits until there are none, or 0 */
};

/* The beginning of ftl_request.work; the FTL's part follows, and is zero when a request comes. */
struct crew_part {
	struct crew_worker *worker;
	struct ftl_request *next; /* in a queue */
	uint32_t pending;         /* flash reads, and one more until the last of them has begun */
};
enum { CREW_WORK_BYTES = sizeof(((struct ftl_request *)0)->work) - sizeof(struct crew_part) };
static inline struct crew_part *crew_part(struct ftl_request *req) { return (struct crew_part *)req->work; }
static inline void *crew_work(struct ftl_request *req) { return crew_part(req) + 1; }
static inline struct crew_worker *crew_worker_of(const struct tsu_txn *txn) { return (struct crew_worker *)txn->owner; }

/* Hart 0, in ftl_init. */
void crew_init(struct crew *crew, struct arena *arena, const struct hz_device_config *cfg, struct link_pair *links, void *ftl,
	       void (*run)(struct crew_worker *self, struct ftl_request *req));
/* As the functions of port/ftl_port.h. */
void crew_submit(struct crew *crew, unsigned worker, struct ftl_request *req);
void crew_publish(struct crew *crew);
void crew_published(struct crew *crew, struct hz_log_ftl *out);
/* Any hart, any lock: the request is its owner's again. */
void crew_complete(struct ftl_request *req, uint16_t status);
/* Any hart, any lock: the request, which is in no queue, runs once more on its worker. */
void crew_again(struct ftl_request *req);
/* Data have crossed the link at that time at the earliest. */
static inline void crew_ready(struct ftl_request *req, uint64_t at_ns) { req->ready_ns = at_ns > req->ready_ns ? at_ns : req->ready_ns; }

/* Reads of flash for a request, on its worker's hart. Their data go to its sgl, and cross the link. */

/* A read is free. */
static inline bool crew_may_read(const struct crew_worker *self) { return self->reads; }
/* One of `sectors` within a page, from place on, which are the request's from its sector `at` on. It heads the list `next` for
 * tsu_submit_list. */
struct tsu_txn *crew_read(struct crew_worker *self, struct ftl_request *req, ppa_t place, uint32_t sectors, uint32_t at,
			  struct tsu_txn *next);
/* No read is free: the request runs once more when one is. */
void crew_read_waits(struct crew_worker *self, struct ftl_request *req);
/* All that it needs have begun, or it needs none: it completes with the last one, or now. */
void crew_reads_begun(struct ftl_request *req);

/* Queues: under a lock of the FTL, or on one hart. */

static inline void crew_push(struct crew_queue *queue, struct ftl_request *req)
{
	crew_part(req)->next = NULL;
	*(queue->head ? &crew_part(queue->tail)->next : &queue->head) = req;
	queue->tail = req;
}

/* It is not empty. */
static inline struct ftl_request *crew_pop(struct crew_queue *queue)
{
	struct ftl_request *req = queue->head;

	queue->head = crew_part(req)->next;
	return req;
}

#ifdef __cplusplus
}
#endif
#endif
