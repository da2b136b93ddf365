/* Completions: from the device's answer to the entry in the host's completion queue, at the time when the data has crossed the link. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_COMPLETION_H
#define HIL_COMPLETION_H

#include "device_config.h"
#include "hil/host/host.h"
#include "hil/queue/command.h"
#include "hil/queue/queues.h"

struct io_counts {
	uint64_t reads, writes, read_sectors, written_sectors;
}; /* successful commands since boot */

struct completion {
	struct queues *queues;
	struct command_pool *pool;
	const struct life *life;
	struct interrupts *irq;
	struct host_view *view;
	const struct queue_client *client;
	uint64_t delay_ns; /* from the CQE to the host's interrupt handler */
	uint32_t parked;   /* commands out of the pool, parked before a full queue */
	struct io_counts counts;
};

/* Makes completion the end of every command of pool; they come back to `thread`. queues is initialized; all must outlive it. */
void completion_init(struct completion *completion, const struct hz_device_config *cfg, struct queues *queues, struct command_pool *pool,
		     const struct life *life, struct interrupts *irq, struct lt_thread *thread);
/* req.status is set: post the command's CQE, or park it until there is room, or drop it if it has no reader. */
void completion_end(struct command *command);
/* Post a CQE now; it crosses the link behind data that cross until crossed_ns. The caller has checked for room. */
void completion_post(struct completion *completion, struct submission_queue *sq, uint16_t cid, uint16_t status, uint64_t result,
		     uint64_t crossed_ns);
/* There may be room: parked completions go on. */
void completion_unpark(struct completion *completion, struct completion_queue *cq);
/* The controller was reset: commands that only wait for their data to cross the link end now, like those that come back later. */
void completion_drop_ready(struct completion *completion);
/* Nothing is in flight but parked completions, which will never be fetched. */
void completion_drop_parked(struct completion *completion);
/* Number of commands that a reset or a shutdown must wait for. */
static inline uint32_t completion_in_flight(const struct completion *completion)
{
	return completion->pool->outstanding - completion->parked;
}

#endif
