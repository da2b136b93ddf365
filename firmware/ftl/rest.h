/* Coming to rest: the end of a flush with FTL_AT_REST. When nothing goes on in the background any more, the state of all zones is recorded
 * (zone_table.h), and the media is told that everything is as recorded (nand.h). Mount then knows what there must be: what cannot be
 * read is lost, and not a program that a power cut tore. */
#ifndef FTL_REST_H
#define FTL_REST_H

#include "request/io.h"

struct ftl;
struct ftl_worker;

/* Of the one request that comes to rest. data_before: all data have sequence numbers below. */
struct rest { struct lt_timer timer; struct ftl_request *req; uint64_t data_before; };

/* All zones are closed and durable, the map is in flash; goes on with FTL_REST. */
void rest_begin(struct ftl_worker *self, struct ftl_request *req);
/* FTL_REST: the next step. */
void rest_run(struct ftl_worker *self, struct ftl_request *req);

#endif
