/* What the HIL asks of the device behind it: requests, news, health and counters. The firmware fills it from the FTL and the TSU, tests
 * from scripted ones; the HIL knows neither. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_CONTROLLER_OPS_H
#define HIL_CONTROLLER_OPS_H

#include "ftl/base/damage.h"
#include "ftl/base/health.h"
#include "ftl/base/watch.h"
#include "ftl/request/ftl_request.h"
#include "logs.h"

/* Of the media, since they were made. */
struct power_history {
	uint64_t power_cycles, unsafe_shutdowns, powered_ns;
};

/* What is kept of a namespace, through loss of power too. */
struct namespace_record {
	uint64_t sectors; /* its size; 0: as large as it can be */
	uint32_t state;   /* enum hz_namespace_state */
	uint32_t created; /* namespaces that the host has created in this place */
};

/* Every function takes ctx first and never waits; `number` is that of a namespace, NSID - 1. */
struct controller_ops {
	void *ctx;
	/* Any HIL hart: hands a request to worker `worker` (0 …). It comes back by req->done. */
	void (*submit)(void *ctx, unsigned worker, struct ftl_request *req, uint32_t number);
	/* Before the harts run: who is told of changed zones and retired superblocks. */
	void (*set_watch)(void *ctx, struct ftl_watch *watch);
	/* Zones that the device has changed and that were not taken: ftl_changed_zones. */
	uint32_t (*changed_zones)(void *ctx, uint32_t number, uint64_t *start, uint32_t most, bool take);
	void (*damage_found)(void *ctx, uint32_t number, struct ftl_damage *out);
	void (*health)(void *ctx, struct ftl_health *out);
	/* Stored at once, whole or not at all. */
	struct namespace_record (*namespace_record)(void *ctx, uint32_t number);
	void (*keep_namespace)(void *ctx, uint32_t number, struct namespace_record record);
	void (*power_history)(void *ctx, struct power_history *out);
	/* The media are told that a shutdown is complete (true), or that the device is in use again. */
	void (*shut_down)(void *ctx, bool done);
	/* Any hart: makes what it has counted known to other harts. */
	void (*publish)(void *ctx);
	/* Sums of what the harts have published; of the FTL's counters those of one namespace. */
	void (*flash_published)(void *ctx, struct hz_log_flash *out);
	void (*ftl_published)(void *ctx, uint32_t number, struct hz_log_ftl *out);
	/* Any hart: sectors that are written in place now. */
	uint64_t (*in_place)(void *ctx);
};

#endif
