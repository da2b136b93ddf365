/* The host's queues under the real clock: doorbells in registers, or in the shadow buffer (Doorbell Buffer Config, base spec 5.8). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_DOORBELLS_H
#define HIL_DOORBELLS_H

#include "hil/host/control_link.h"
#include "hil/queue/completion.h"

struct doorbells {
	struct host_view view;
	struct queues *queues;
	struct completion *completion;
	struct control_link *link;
	uint64_t quiet_turns; /* turns without work */
};

/* What is named must outlive it. */
void doorbells_init(struct doorbells *doorbells, struct queues *queues, struct completion *completion, struct control_link *link);

#endif
