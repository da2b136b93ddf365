/* Health: what the device finds about itself (damage at mount, few spare superblocks, changed zones), as critical warnings and events. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_HEALTH_H
#define HIL_HEALTH_H

#include "hil/controller/async_event.h"
#include "hil/controller/error_log.h"
#include "hil/seam/controller_ops.h"

enum { HEALTH_SPARE_THRESHOLD = 10 }; /* percent */

struct health {
	struct ftl_watch watch;
	const struct controller_ops *device;
	uint32_t namespaces; /* how many FTLs there are */
	struct error_log *errors;
	struct async_events *events;
	uint32_t warning; /* enum nvme_critical_warning */
};

/* Before the harts run: takes over what mount found, and has `thread` told of what comes. */
void health_init(struct health *health, const struct controller_ops *device, uint32_t namespaces, struct error_log *errors,
		 struct async_events *events, const struct lt_thread *thread);
/* The host has enabled events: of those enabled that stand it is told. */
void health_tell(struct health *health);

#endif
