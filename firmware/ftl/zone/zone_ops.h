/* Zone management: open, close, finish, reset, offline, and the all-zones forms. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_ZONE_OPS_H
#define FTL_ZONE_OPS_H

#include "request/io.h"

struct zone;

/* A running FTL_ZONE_FINISH, _RESET or _OFFLINE of a zone. */
struct zone_op {
	uint8_t code, step;          /* 0: none; enum op_step */
	struct ftl_request *request; /* to be answered when it ends; NULL: nobody waits for it any more */
	/* A reset looks up the staged sectors [cursor, end), which then are nowhere any more; without a request it sweeps the SLC log. */
	uint32_t cursor, end;
	ppa_t swept;
	bool asked; /* … and what it needs for that is on its way: the request comes back */
};

void zone_op_run(struct ftl_worker *self, struct ftl_request *req);
/* Zone lock held, called by the pump: next step of the zone's running finish or reset. */
void zone_op_advance(struct ftl_worker *self, struct zone *zone);
/* Zone lock held, at a controller reset: who asked for the running command is released. If it has changed nothing yet, it is not carried
 * out, else it goes on. A reset that reads the map keeps the request until that has ended. True if there was one. */
bool zone_op_detach(struct ftl_worker *self, struct zone *zone);
/* No lock held, the request's worker: true if the request has come back to a reset that goes on with it, also when it is abandoned. */
bool zone_op_goes_on(struct ftl_worker *self, struct ftl_request *req);

#endif
