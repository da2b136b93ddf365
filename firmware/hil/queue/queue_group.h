/* A group of queues: its parts together, and the doorbells of the real clock. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_QUEUE_QUEUE_GROUP_H
#define HIL_QUEUE_QUEUE_GROUP_H

#include "hil/host/control_link.h"
#include "hil/queue/completion.h"
#include "hil/queue/fetch.h"
#include "hil/queue/horizon.h"
#include "hil/queue/relay.h"

/* The host's queues under the real clock: doorbells in registers, or in the shadow buffer (Doorbell Buffer Config, base spec 5.8). */

struct doorbells {
	struct host_view view;
	struct queues *queues;
	struct completion *completion;
	struct control_link *link;
	uint64_t quiet_turns; /* turns without work */
};

/* All objects passed by pointer must outlive it. */
void doorbells_init(struct doorbells *doorbells, struct queues *queues, struct completion *completion, struct control_link *link);

/* Queue group: the queue pairs of one HIL hart, with all objects that serve them. The groups share the controller above, on the first
 * one's hart. */

struct queue_group {
	struct lt_thread thread; /* of its hart */
	struct host_view *view;  /* one of the two at the end, or a far group's */
	struct fetch fetch;
	struct command_pool pool;
	struct completion completion;
	struct queue_client client;
	struct queues queues;
	struct doorbells doorbells;
	struct horizon horizon;
};

/* On every HIL hart but the first. */
struct far_group {
	struct queue_group group;
	struct far_view far;
};

/* Base of a group; everything must outlive it, limits and client are copied. */
struct queue_group_base {
	const struct hz_device_config *cfg;
	const struct controller_ops *device;
	struct host *host;
	struct control_link *link;
	struct interrupts *irq;
	const struct life *life;
	const struct io_limits *limits; /* [cfg->namespaces] */
	const struct queue_client *client;
	void *region; /* ivshmem #0 */
	struct relays *relays;
};

/* Before the harts run. Takes its commands from the arena. Of the first HIL hart. */
void queue_group_init(struct queue_group *group, struct arena *arena, const struct queue_group_base *base);
/* Of HIL hart `number`, 1 … */
void far_group_init(struct far_group *group, struct arena *arena, const struct queue_group_base *base, unsigned number);

#endif
