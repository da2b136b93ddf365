/* An extent in a queue for something that is scarce: a superblock, a buffer, room in the map's log. Each queue belongs to a lock. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_WAITER_H
#define FTL_WAITER_H

#include <stdbool.h>
#include <stddef.h>

#include "logical_locks.h"
#include "lt/logical.h"

struct extent;

struct waiter {
	struct waiter *next;
	struct extent *ext; /* kicked when its turn has come */
	lt_word granted;    /* what it has got, index + 1; set by who hands it over, taken under the extent's lock */
	/* Superblock, buffer: under the extent's lock, until what was granted is taken up. Map log, budget: under the queue's, until the kick. */
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

/* The same for what the ledger knows by this name, until the extent is popped. */
static inline void waiter_ask(struct waiter_queue *queue, struct waiter *waiter, enum hz_logical_lock what, uint32_t index)
{
	lt_logical_wait(what, index, waiter);
	waiter_push(queue, waiter);
}

/* NULL: nobody waits. The ledger is told that the wait is over. */
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
