/* Queues of requests, and of zones that wait for a scarce resource: a superblock, a buffer, room in the map's log. Each queue belongs
 * to a lock. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_WAITER_H
#define FTL_WAITER_H

#include <stdbool.h>
#include <stddef.h>

#include "logical_locks.h"
#include "lt/logical.h"

struct ftl_request;
struct zone;

/* In the order of arrival (request/io.h). */
struct io_queue {
	struct ftl_request *head, *tail;
};

struct waiter {
	struct waiter *next;
	struct zone *zone; /* kicked when its turn has come */
	lt_word granted;   /* granted resource, index + 1; set by the giver, taken under the zone's lock */
	/* Superblock, buffer: under the zone's lock, until the grant is taken. Map log, budget: under the queue's, until the kick. */
	bool queued;
};
struct waiter_queue {
	struct waiter *head, *tail;
};

static inline void waiter_push(struct waiter_queue *queue, struct waiter *waiter)
{
	waiter->next = NULL;
	if (queue->tail)
		queue->tail->next = waiter;
	else
		queue->head = waiter;
	queue->tail = waiter;
}

/* The same for a logical lock of the lock profile, until the zone is popped. */
static inline void waiter_ask(struct waiter_queue *queue, struct waiter *waiter, enum hz_logical_lock what, uint32_t index)
{
	lt_logical_wait(what, index, waiter);
	waiter_push(queue, waiter);
}

/* NULL: empty queue. Ends the wait in the lock profile. */
static inline struct waiter *waiter_pop(struct waiter_queue *queue)
{
	struct waiter *waiter = queue->head;

	if (waiter) {
		queue->head = waiter->next;
		if (!queue->head)
			queue->tail = NULL;
		lt_logical_wait_ended(waiter);
	}
	return waiter;
}

#endif
