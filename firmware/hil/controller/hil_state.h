/* The controller as a whole: its parts, each declared by its owner. For what works on several of them: registers, admin commands, life. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_HIL_STATE_H
#define HIL_HIL_STATE_H

#include "device_config.h"
#include "hil/controller/features.h"
#include "hil/controller/hart_pings.h"
#include "hil/controller/health.h"
#include "hil/controller/namespace_change.h"
#include "hil/controller/namespace_table.h"
#include "hil/controller/register_file.h"
#include "hil/controller/statistics.h"
#include "hil/queue/queue_group.h"

#define HIL_FIRMWARE_REVISION "1.0"
enum { HIL_SCRATCH_BYTES = 16384 };

struct hil {
	struct queue_group group; /* of the first HIL hart; knows all queues, the admin pair too */
	const struct hz_device_config *cfg;
	struct namespace_table namespaces;
	struct namespace_change change;
	struct host_bus bus;
	bool zoned;
	struct controller_ops device;
	struct host host;
	struct interrupts irq;
	struct control_link link;
	struct life life;
	struct register_file reg;
	uint32_t queues_allowed; /* highest I/O queue id, feature 07h */
	struct features features;
	struct admin_answers answers;
	struct async_events events;
	struct error_log errors;
	struct health health;
	struct hart_pings pings;
	struct statistics statistics;
	struct ftl_request flush, abandon; /* of a shutdown and of a reset, for one namespace after the other */
	uint32_t flushing, abandoning;     /* number of the namespace that has it */
	uint8_t *scratch;                  /* HIL_SCRATCH_BYTES for identify and log pages */
	struct relays relays;              /* to the other HIL harts */
};

/* Else every write is durable when it ends, feature 06h does not exist, and Flush finds nothing to do. */
static inline bool has_volatile_cache(const struct hil *hil) { return hil->cfg->plp_mode != HZ_PLP_FULL; }

#endif
