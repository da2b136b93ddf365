/* The host's queues under the virtual clock: how far device time may go, given what the host has promised (protocol/shm.h). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_HORIZON_H
#define HIL_HORIZON_H

#include "hil/host/control_link.h"
#include "hil/queue/completion.h"
#include "hil/queue/tournament.h"

struct horizon {
	struct host_view view;
	struct queues *queues;
	struct completion *completion;
	struct control_link *link;
	const struct life *life;
	struct tournament next;    /* first device time at which queue i + 1 matters */
	uint64_t open_mask;        /* queues that hold time */
	uint64_t stand_ns;         /* with no queue open, time stands still from here */
	uint64_t seen_since_heard; /* queues that were looked at since the message that waits on the link was heard */
	uint64_t reach_ns;         /* from the host to here: doorbell and fetch */
};

/* What is named must outlive it. */
void horizon_init(struct horizon *horizon, struct queues *queues, struct completion *completion, struct control_link *link,
		  const struct life *life, uint64_t reach_ns);

#endif
