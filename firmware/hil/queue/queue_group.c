/* Queue group: puts its parts together. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/queue/queue_group.h"

#include "hil/seam/dealing.h"

void queue_group_init(struct queue_group *group, struct arena *arena, const struct queue_group_base *base)
{
	const struct hz_device_config *cfg = base->cfg;
	struct queues *queues = &group->queues;
	struct completion *completion = &group->completion;

	group->thread = (struct lt_thread){ "hil", dealing_hart(cfg, 0) };
	group->client = *base->client;
	group->view = base->host->header->virtual_clock ? &group->horizon.view : &group->doorbells.view;
	queues_init(queues, base->region, cfg->worker_count, base->host, group->view, &group->client);
	queues->relays = base->relays;
	command_pool_init(&group->pool, arena, dealing_commands(cfg, 0));
	completion_init(completion, cfg, queues, &group->pool, base->life, base->irq, &group->thread);
	fetch_init(&group->fetch, queues, &group->pool, base->life, base->device, base->limits, cfg->namespaces);
	doorbells_init(&group->doorbells, queues, completion, base->link);
	horizon_init(&group->horizon, queues, completion, base->link, base->life, (uint64_t)cfg->doorbell_ns + cfg->fetch_ns);
}

void far_group_init(struct far_group *far_group, struct arena *arena, const struct queue_group_base *base, unsigned number)
{
	const struct hz_device_config *cfg = base->cfg;
	struct queue_group *group = &far_group->group;
	struct far_view *far = &far_group->far;
	struct queues *queues = &group->queues;

	group->thread = (struct lt_thread){ "hil", dealing_hart(cfg, number) };
	group->view = &far->view;
	far_view_init(far, base->relays->relay[number - 1], queues, &group->completion, &group->fetch,
		      base->host->header->virtual_clock != 0);
	queues_init(queues, base->region, cfg->worker_count, base->host, group->view, &far->client);
	command_pool_init(&group->pool, arena, dealing_commands(cfg, number));
	completion_init(&group->completion, cfg, queues, &group->pool, &far->life, &far->irq, &group->thread);
	fetch_init(&group->fetch, queues, &group->pool, &far->life, base->device, base->limits, cfg->namespaces);
}
