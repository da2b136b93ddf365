/* Dealing: which hart serves which queue pair. The first HIL hart, number 0, has the admin pair. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_DEALING_H
#define HIL_DEALING_H

#include "device_config.h"

/* Harts that serve queue pairs, and the first. */
static inline unsigned dealing_harts(const struct hz_device_config *cfg)
{
	return cfg->architecture == HZ_ARCH_COMPLETION ? 1 + cfg->worker_count : cfg->hil_count;
}

static inline unsigned dealing_hart(const struct hz_device_config *cfg, unsigned number)
{
	return number && cfg->architecture == HZ_ARCH_COMPLETION ? cfg->worker_hart[number - 1] : cfg->hil_hart[number];
}

/* Of the queue pair id, from 1 on. A worker that runs to completion serves the pairs whose commands it runs (queues_add_sq). */
static inline unsigned dealing_number(const struct hz_device_config *cfg, unsigned id)
{
	return cfg->architecture == HZ_ARCH_COMPLETION ? 1 + (id - 1) % cfg->worker_count : (id - 1) % cfg->hil_count;
}

/* The number's share of the commands inside the device; the first that serves none has none. */
static inline uint32_t dealing_commands(const struct hz_device_config *cfg, unsigned number)
{
	unsigned first = cfg->architecture == HZ_ARCH_COMPLETION, serving = dealing_harts(cfg) - first;

	return number < first ? 0 : (cfg->inflight_requests + serving - 1 - (number - first)) / serving;
}

#endif
