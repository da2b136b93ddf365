/* Zone management: open, close, finish, reset, offline, and the all-zones forms. */
#ifndef FTL_ZONE_OPS_H
#define FTL_ZONE_OPS_H

#include "request/io.h"

struct ftl_worker;
struct zone;

void zone_op_run(struct ftl_worker *self, struct ftl_request *req);
/* Zone lock held, called by zone_pump: next step of the zone's running finish or reset. */
void zone_op_advance(struct ftl_worker *self, struct zone *zone);
/* Zone lock held, at a controller reset: who asked for the running command is released. If it has changed nothing yet, it is not carried
 * out, else it goes on. True if there was one. */
bool zone_op_detach(struct ftl_worker *self, struct zone *zone);
/* report.c: FTL_ZONE_REPORT. */
void zone_report_run(struct ftl_worker *self, struct ftl_request *req);
/* flush.c: at construction, after the write buffers. */
void flush_init(struct ftl_worker *self, struct arena *arena);
/* flush.c: FTL_FLUSH, also its continuation. */
void flush_run(struct ftl_worker *self, struct ftl_request *req);
/* flush.c: gives back what the flush holds. */
void flush_abandon(struct ftl_worker *self, struct ftl_request *req);

#endif
