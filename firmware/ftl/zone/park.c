/* Parked requests on their way back. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "zone/park.h"

static bool is_write(const struct ftl_request *req) { return req->op == FTL_WRITE || req->op == FTL_WRITE_ZEROES || req->op == FTL_APPEND; }

void zone_unpark(struct zone *zone)
{
	struct io_queue parked = zone->parked;

	zone->parked = (struct io_queue){ NULL, NULL };
	for (struct ftl_request *req = parked.head; req; req = io_of(req)->next)
		if (is_write(req)) {
			io_of(req)->returning = 1;
			zone->returning++;
		}
	io_resume_all(&parked);
}

bool zone_has_returned(struct zone *zone, struct ftl_request *req)
{
	if (!io_of(req)->returning)
		return false;
	io_of(req)->returning = 0;
	return --zone->returning == 0;
}

void zone_late_writes(struct zone *zone)
{
	if (zone->parked.head && !zone->op.code && !zone->budget.waits && zone->move.old == SUPERBLOCK_NONE)
		zone_unpark(zone);
}
