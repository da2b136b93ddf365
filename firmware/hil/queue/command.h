/* Commands: their pool, the decoder of I/O commands, and protection information. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_QUEUE_COMMAND_H
#define HIL_QUEUE_COMMAND_H

#include "device_choices.h"
#include "port/ftl_port.h"
#include "hil/host/host.h"
#include "lt/hart.h"

/* A command in the device, from its fetch to its CQE, and the common pool. */

struct arena;
struct completion;
struct fetch;
struct submission_queue;

struct command {
	struct ftl_request req;
	struct lt_timer timer;         /* waits for req.ready_ns, unless completions are dated */
	struct completion *completion; /* completes the command */
	struct command *next;          /* in the pool, or parked before a full completion queue */
	struct submission_queue *sq;
	uint16_t cid;
	uint16_t reserved;
	uint32_t nsid;
	/* A Flush of all namespaces: its sender, the next namespace, and the final callback. */
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

/* I/O commands: from a submission queue entry to an FTL request, or to the status of the specification. Pure. */

/* Of a namespace. */
struct io_limits {
	struct host_bus bus;
	uint64_t namespace_sectors;
	bool zoned;          /* the namespace is of the Zoned Namespace Command Set; else of the NVM Command Set alone */
	bool write_cache;    /* feature 06h; off: every write is a FUA write */
	uint32_t plp_mode;   /* enum hz_plp_mode */
	uint32_t protection; /* enum hz_protection */
	bool copies;         /* the device has memory for Copy */
	bool in_place;       /* sectors of sequential zones may be written again */
	bool zrwa;           /* zones can have random write areas */
	uint32_t handles;    /* reclaim unit handles; 0: no flexible data placement */
	bool inactive;       /* the namespace is not attached, does not exist, or … */
	bool formatting;     /* … its data are going away */
	uint32_t number;     /* of the namespace: NSID - 1 */
};

/* sqe must be a private copy (the host may change its ring). pages: room for PRP_MAX_PAGES. Fills the "in" part of req. */
uint16_t io_decode(const struct io_limits *limits, const struct nvme_sqe *sqe, uint8_t **pages, struct ftl_request *req);

/* Protection information of I/O commands: decoding, and the check of the host's tuples. */

/* After io_decode has succeeded, on a namespace of type 1. Fills tuples, expected, tag_mask and protect; checks the sectors of a write,
 * append or compare against the host's tuples, according to its flags. */
uint16_t io_protect(const struct host_bus *bus, const struct nvme_sqe *sqe, struct ftl_request *req);

#endif
