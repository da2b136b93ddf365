/* Queue group: puts its parts together. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/queue/queue_group.h"

void queue_group_init(struct queue_group *group, struct arena *arena, const struct queue_group_base *base)
{
	const struct hz_device_config *cfg = base->cfg;
	struct queues *queues = &group->queues;
	struct completion *completion = &group->completion;

	group->thread = (struct lt_thread){ "hil", base->hart };
	group->client = *base->client;
	group->view = base->host->header->virtual_clock ? &group->horizon.view : &group->doorbells.view;
	queues_init(queues, base->region, cfg->worker_count, base->host, group->view, &group->client);
	command_pool_init(&group->pool, arena, cfg->inflight_requests);
	completion_init(completion, cfg, queues, &group->pool, base->life, base->irq, &group->thread);
	fetch_init(&group->fetch, queues, &group->pool, base->life, base->device, base->limits);
	doorbells_init(&group->doorbells, queues, completion, base->link);
	horizon_init(&group->horizon, queues, completion, base->link, base->life, (uint64_t)cfg->doorbell_ns + cfg->fetch_ns);
}
