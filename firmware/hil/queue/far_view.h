/* The host's queues on a HIL hart that is not the first: what the first one grants (relay.h), under either clock. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_FAR_VIEW_H
#define HIL_FAR_VIEW_H

#include "hil/queue/fetch.h"
#include "hil/queue/relay.h"

struct far_view {
	struct host_view view;
	struct relay *relay;
	struct queues *queues;
	struct completion *completion;
	struct fetch *fetch;
	struct interrupts irq;      /* raised here, sent by the home */
	struct life life;           /* as the home has ordered */
	struct queue_client client; /* what the queues here have to say goes to the home */
	uint64_t order;             /* the last one that was looked at */
};

/* Before completion and fetch, which use view, life, irq and client; what is named must outlive it. dated: as the first hart's view. */
void far_view_init(struct far_view *far, struct relay *relay, struct queues *queues, struct completion *completion, struct fetch *fetch,
		   bool dated);

#endif
