/* The end of a zone's writing: old data that were durable stay readable; what was not is lost, and reads of it say so. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "zone/fail.h"

#include "buffer/buffer.h"
#include "buffer/staged.h"
#include "zone/resources.h"
#include "zone/zone_changes.h"

/* A write to conventional zones that has nothing in this one yet finds another. */
static void lost_queued(const struct zone *zone, struct ftl_request *req)
{
	if (zone->kind && io_of(req)->done == io_of(req)->first)
		io_resume(req);
	else
		io_complete(req, NVME_WRITE_FAULT);
}

static void become_read_only(struct ftl_worker *self, struct zone *zone)
{
	struct zone_record record = zone_fenced_record(zone, ZONE_RECORD_READ_ONLY);

	if (zone->ext.landed > extent_on_flash(&zone->ext))
		lt_add(&self->ftl->losses, 1);
	if (zone->kind)
		zone->kind->lost(self, zone);
	if (zone->budget.drains)
		budget_drained(self, zone);
	zone_set_state(zone, NVME_ZS_READ_ONLY, BUDGET_NONE);
	zone_changed(zone);
	zone_table_commit(self, zone, &record);
}

void zone_end_writing(struct ftl_worker *self, struct zone *zone)
{
	struct extent *ext = &zone->ext;
	struct ftl_request *req;

	extent_came_home(ext);
	if (zone_edge_legal(zone->state, NVME_ZS_READ_ONLY))
		become_read_only(self, zone);
	while ((req = io_pop(&zone->writers)))
		lost_queued(zone, req);
	if (ext->buffer && zone_quiet(zone)) {
		staged_keep_prefix(self, ext);
		if (zone->kind)
			zone->kind->dropped(self, zone);
		buffer_give(self, ext);
	}
}
