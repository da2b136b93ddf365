/* Queue group: the queue pairs that one HIL hart serves, with all that serves them. One group has all queues today; several would share
 * the controller above and deal the pairs out. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_QUEUE_GROUP_H
#define HIL_QUEUE_GROUP_H

#include "hil/queue/doorbells.h"
#include "hil/queue/fetch.h"
#include "hil/queue/horizon.h"

struct queue_group {
	struct lt_thread thread; /* of its hart */
	struct host_view *view;  /* one of the two at the end */
	struct fetch fetch;
	struct command_pool pool;
	struct completion completion;
	struct queue_client client;
	struct queues queues;
	struct doorbells doorbells;
	struct horizon horizon;
};

/* What a group stands on; everything must outlive it, limits and client are copied. */
struct queue_group_base {
	const struct hz_device_config *cfg;
	const struct controller_ops *device;
	struct host *host;
	struct control_link *link;
	struct interrupts *irq;
	const struct life *life;
	const struct io_limits *limits;
	const struct queue_client *client;
	void *region; /* ivshmem #0 */
	unsigned hart;
};

/* Before the harts run. Takes its commands from the arena. */
void queue_group_init(struct queue_group *group, struct arena *arena, const struct queue_group_base *base);

#endif
