/* The controller: its state, registers and life cycle. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_CONTROLLER_CONTROLLER_H
#define HIL_CONTROLLER_CONTROLLER_H

#include <stdbool.h>
#include <stdint.h>

#include "device_config.h"
#include "hil/controller/admin.h"
#include "hil/controller/health.h"
#include "hil/controller/namespace_table.h"
#include "hil/queue/queue_group.h"

/* Controller registers with a stored value (base spec 3.1.3). CAP and VS are constants. */

struct register_file {
	uint32_t cc, csts, aqa;
	uint64_t asq, acq;
};

/* The controller as a whole: its parts, each declared by its owner. For users of several parts: registers, admin commands, life. */

#define HIL_FIRMWARE_REVISION "1.0"
enum { HIL_SCRATCH_BYTES = 16384 };

struct hil {
	struct queue_group group; /* of the first HIL hart; knows all queues, the admin pair too */
	const struct hz_device_config *cfg;
	struct namespace_table namespaces;
	struct namespace_change change;
	struct sanitize sanitize;
	struct self_test self_test;
	struct telemetry telemetry;
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
	struct command_abort abort;
	struct error_log errors;
	struct health health;
	struct hart_pings pings;
	struct statistics statistics;
	struct ftl_request flush, cancel; /* of a shutdown and of a reset, for one namespace after the other */
	uint32_t flushing, cancelling;    /* number of the namespace concerned */
	uint8_t *scratch;                 /* HIL_SCRATCH_BYTES for identify and log pages */
	struct relays relays;             /* to the other HIL harts */
};

/* Else every write is durable when it ends, feature 06h does not exist, and Flush finds nothing to do. */
static inline bool has_volatile_cache(const struct hil *hil) { return hil->cfg->plp_mode != HZ_PLP_FULL; }

/* Enable, controller reset, shutdown (base spec 3.5, 3.6, 3.7.2). */

struct hil;

/* CC.EN was set, was cleared; CC.SHN was set; the host has left. Clock frozen. */
void life_enable(struct hil *hil);
void life_disable(struct hil *hil);
void life_shut_down(struct hil *hil);
void life_host_left(struct hil *hil);
/* Send the controller's life, and the features used there, to the other HIL harts. */
void life_order(struct hil *hil);
/* After each change that may end the wait of a reset or shutdown. */
void life_step(struct hil *hil);

/* Register reads and writes. They run inside freeze: how often a host polls CSTS is no part of device time. */

struct hil;
/* False: illegal, nothing happened. A read changes nothing. */
bool registers_read(struct hil *hil, uint32_t offset, unsigned size, uint64_t *value);
bool registers_write(struct hil *hil, uint32_t offset, unsigned size, uint64_t value);

#endif
