/* What the queues tell the controller above them. Given at init, so that nothing here calls upward by name. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_QUEUE_CLIENT_H
#define HIL_QUEUE_CLIENT_H

#include <stdbool.h>

#include "nvme.h"

struct submission_queue;

/* A command that ended with an error. */
struct failure {
	uint16_t sq, cid, status;
	uint32_t nsid;
	uint64_t lba;
};

/* Data that differ from the host's are what it asked about: the media are good. */
static inline bool failure_is_of_media(uint16_t status)
{
	return (status & NVME_SCT_MASK) == NVME_SCT_MEDIA && (status & ~NVME_DNR) != NVME_COMPARE_FAILURE;
}

struct queue_client {
	void *ctx;
	/* A completion that is about to be posted tells an error. */
	void (*failed)(void *ctx, const struct failure *failure);
	/* A queue that is being deleted has sent its last completion. */
	void (*drained)(void *ctx, struct submission_queue *sq);
	/* The controller resets or shuts down, and one command less is in the device. */
	void (*left)(void *ctx);
	/* The host wrote something impossible to a doorbell or its record. */
	void (*bad_doorbell)(void *ctx, enum nvme_async_event information);
	/* Device time stands, and the host may want the answer to an admin command before it moves. Clock frozen. */
	void (*run_admin)(void *ctx);
	/* Something can be done now without waiting. */
	bool (*has_work)(void *ctx);
	/* Nothing of the HIL is in the device. */
	bool (*is_quiet)(void *ctx);
};

#endif
