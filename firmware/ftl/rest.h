/* Coming to rest: the end of a flush with FTL_AT_REST. When nothing goes on in the background any more, the state of all zones is recorded
 * (zone_table.h), and the media is told that everything is as recorded (nand.h). Mount then knows what there must be: what cannot be
 * read is lost, and not a program that a power cut tore. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_REST_H
#define FTL_REST_H

#include "request/io.h"

struct arena;

/* Of the one request that comes to rest. data_before: all data have sequence numbers below. */
struct rest {
	struct lt_timer timer;
	struct ftl_request *req;
	uint64_t data_before;
};

void rest_init(struct ftl *ftl, struct arena *arena);
/* FTL_REST, from the time on when all zones are closed and durable and the map is in flash: the next step. */
void rest_run(struct ftl_worker *self, struct ftl_request *req);

#endif
