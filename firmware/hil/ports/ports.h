/* Ports of the HIL: the platform below it, the device behind it, and the dealing of queues to harts. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_PORTS_PORTS_H
#define HIL_PORTS_PORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device_config.h"
#include "logs.h"
#include "nand_image.h"
#include "port/ftl_port.h"

/* The platform: the control byte stream and the two ways to wait for the host and to wake it. */

/* All functions are called with the clock frozen, never wait (except host_wait) and take ctx first. */
struct hil_port {
	void *ctx;
	/* Bytes read of the stream (0 = none now), or -1 once when the peer has gone and everything it sent was read. */
	int (*recv)(void *ctx, void *data, size_t bytes);
	/* Bytes accepted, maybe fewer than given (0 = full); -1 = not connected. */
	int (*send)(void *ctx, const void *data, size_t bytes);
	/* The host broke the protocol: drop this connection and listen again. */
	void (*close)(void *ctx);
	/* Sleep until hz_shm_header.host_bell != bell, at most about 1 ms of host time (firmware: HZ_VC_HOST_WAIT), and return true.
	 * False: no more input, leave the hook (a test with its host in the same thread). */
	bool (*host_wait)(void *ctx, uint32_t bell);
	/* Wake host threads sleeping on the queue's `completed`. Firmware: HZ_VC_HOST_WAKE. Any HIL hart, all others only the first. */
	void (*host_wake)(void *ctx, unsigned queue);
};

/* The device behind the HIL: requests, notices, health and counters. The firmware fills it from the FTL and the TSU, tests from scripted
 * ones; the HIL knows neither. */

/* Of the media, since they were made. */
struct power_history {
	uint64_t power_cycles, unsafe_shutdowns, powered_ns;
};

/* Record of a namespace, persistent through a power cut. */
struct namespace_record {
	uint64_t sectors; /* its size; 0: as large as it can be */
	uint32_t state;   /* enum hz_namespace_state */
	uint32_t created; /* namespaces created by the host in this place */
};

/* Every function takes ctx first and never waits; `number` is that of a namespace, NSID - 1. */
struct controller_ops {
	void *ctx;
	/* Any HIL hart: hands a request to worker `worker` (0 …). It comes back by req->done. */
	void (*submit)(void *ctx, unsigned worker, struct ftl_request *req, uint32_t number);
	/* Set the watch for changed zones and retired superblocks. Before the harts run. */
	void (*set_watch)(void *ctx, struct ftl_watch *watch);
	/* Zones changed by the device and not yet taken: ftl_changed_zones. */
	uint32_t (*changed_zones)(void *ctx, uint32_t number, uint64_t *start, uint32_t most, bool take);
	void (*damage_found)(void *ctx, uint32_t number, struct ftl_damage *out);
	void (*health)(void *ctx, struct ftl_health *out);
	/* Stored at once, whole or not at all. */
	struct namespace_record (*namespace_record)(void *ctx, uint32_t number);
	void (*keep_namespace)(void *ctx, uint32_t number, struct namespace_record record);
	/* The controller's persistent state; stored at once, whole or not at all. */
	void (*controller_record)(void *ctx, struct hz_nand_controller *out);
	void (*keep_controller)(void *ctx, const struct hz_nand_controller *record);
	void (*power_history)(void *ctx, struct power_history *out);
	/* Mark in the media that a shutdown is complete (true), or that the device is in use again. */
	void (*shut_down)(void *ctx, bool done);
	/* Publish the hart's counters for other harts. Any hart. */
	void (*publish)(void *ctx);
	/* Sums of the published counters; energy may be NULL; of the FTL's, those of one namespace. */
	void (*flash_published)(void *ctx, struct hz_log_flash *out, struct hz_log_energy *energy);
	void (*ftl_published)(void *ctx, uint32_t number, struct hz_log_ftl *out);
	/* Sectors being written in place now. Any hart. */
	uint64_t (*in_place)(void *ctx);
	/* Events of flexible data placement: ftl_note_placement_events and the next three. */
	void (*note_placement_events)(void *ctx, uint32_t number, uint32_t handle, uint32_t types);
	uint32_t (*placement_events_noted)(void *ctx, uint32_t number, uint32_t handle);
	uint32_t (*placement_events)(void *ctx, uint32_t number, bool of_host, struct ftl_placement_event *out);
	void (*forget_placement_events)(void *ctx, uint32_t number);
};

/* Dealing: the hart of each queue pair. The first HIL hart, number 0, has the admin pair. */

/* Number of harts with queue pairs, and the first. */
static inline unsigned dealing_harts(const struct hz_device_config *cfg)
{
	return cfg->architecture == HZ_ARCH_COMPLETION ? 1 + cfg->worker_count : cfg->hil_count;
}

static inline unsigned dealing_hart(const struct hz_device_config *cfg, unsigned number)
{
	return number && cfg->architecture == HZ_ARCH_COMPLETION ? cfg->worker_hart[number - 1] : cfg->hil_hart[number];
}

/* Of the queue pair id, from 1 on. A worker that runs to completion serves the pairs of its commands (queues_add_sq). */
static inline unsigned dealing_number(const struct hz_device_config *cfg, unsigned id)
{
	return cfg->architecture == HZ_ARCH_COMPLETION ? 1 + (id - 1) % cfg->worker_count : (id - 1) % cfg->hil_count;
}

/* The number's share of the commands inside the device; the first one without queues has none. */
static inline uint32_t dealing_commands(const struct hz_device_config *cfg, unsigned number)
{
	unsigned first = cfg->architecture == HZ_ARCH_COMPLETION, serving = dealing_harts(cfg) - first;

	return number < first ? 0 : (cfg->inflight_requests + serving - 1 - (number - first)) / serving;
}

#endif
