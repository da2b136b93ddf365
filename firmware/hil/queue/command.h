/* A command in the device, from its fetch to its CQE, and the pool that all of them come from. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_COMMAND_H
#define HIL_COMMAND_H

#include "ftl/request/ftl_request.h"
#include "hil/host/prp.h"
#include "lt/hart.h"

struct arena;
struct completion;
struct fetch;
struct submission_queue;

struct command {
	struct ftl_request req;
	struct lt_timer timer;         /* waits for req.ready_ns, unless completions are dated */
	struct completion *completion; /* that ends it */
	struct command *next;          /* in the pool, or parked before a full completion queue */
	struct submission_queue *sq;
	uint16_t cid;
	uint16_t reserved;
	uint32_t nsid;
	/* A Flush of all namespaces: who sends it, to which next, and what ends it. */
	const struct fetch *flushes;
	uint32_t number;
	void (*done)(struct ftl_request *req);
	uint8_t *page[PRP_MAX_PAGES];
};

struct command_pool {
	struct command *free;
	uint32_t outstanding; /* out of the pool */
	uint32_t count;
	struct command *all; /* [count] */
};

void command_pool_init(struct command_pool *pool, struct arena *arena, uint32_t count);

/* Requires a free one. */
static inline struct command *command_take(struct command_pool *pool)
{
	struct command *command = pool->free;

	pool->free = command->next;
	pool->outstanding++;
	return command;
}

static inline void command_free(struct command_pool *pool, struct command *command)
{
	command->next = pool->free;
	pool->free = command;
	pool->outstanding--;
}

static inline struct command *command_of(struct ftl_request *req)
{
	return (struct command *)((char *)req - offsetof(struct command, req));
}

#endif
