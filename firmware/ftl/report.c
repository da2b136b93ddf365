/* Zone report. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include "zone/zone.h"

/* A conventional zone's type and state are those of ZBC (1h CONVENTIONAL, 0h NOT WRITE POINTER), which ZNS 1.1 leaves reserved: only a
 * report of all zones lists it. ZRASF: 0 all, 1 EMPTY … 5 FULL, 6 READ ONLY, 7 OFFLINE, 9 with an attribute, which none has
 * (ZNS 1.1, Zone Management Receive). */
static bool matches(uint8_t filter, uint8_t state)
{
	static const uint8_t wanted[] = { 0,
					  NVME_ZS_EMPTY,
					  NVME_ZS_IMPLICIT_OPEN,
					  NVME_ZS_EXPLICIT_OPEN,
					  NVME_ZS_CLOSED,
					  NVME_ZS_FULL,
					  NVME_ZS_READ_ONLY,
					  NVME_ZS_OFFLINE };

	return filter == 0 || (filter < sizeof(wanted) && wanted[filter] == state);
}

static void describe(struct zone *zone, struct nvme_zone_descriptor *out)
{
	struct lt_lock_node node;
	uint8_t state;

	if (is_conventional(zone->ext.ftl, zone->ext.start)) {
		*out = (struct nvme_zone_descriptor){
			.type = 1, .capacity = zone->ext.ftl->capacity, .start = zone->ext.start, .write_pointer = UINT64_MAX
		};
		return;
	}
	lt_lock_acquire(&zone->ext.lock, &node);
	state = zone->state;
	*out = (struct nvme_zone_descriptor){
		.type = 2,
		.state = (uint8_t)(state << 4),
		.capacity = zone->ext.ftl->capacity,
		.start = zone->ext.start,
		.write_pointer = zone->ext.start + zone->ext.wp,
	};
	if (state == NVME_ZS_FULL || state == NVME_ZS_READ_ONLY || state == NVME_ZS_OFFLINE)
		out->write_pointer = UINT64_MAX;
	lt_lock_release(&zone->ext.lock, &node);
}

void zone_report_run(struct ftl_worker *self, struct ftl_request *req)
{
	struct ftl *ftl = self->ftl;
	struct nvme_zone_report head = { .zones = 0 };
	uint64_t end = namespace_end(ftl, req);
	uint32_t at = sizeof(head);

	for (struct zone *zone = zone_at(ftl, req->lba); zone < ftl->zones + ftl->zone_count && zone->ext.start < end; zone++) {
		struct nvme_zone_descriptor descriptor;
		bool fits = at + sizeof(descriptor) <= req->sgl.bytes;

		if (!fits && (req->flags & FTL_PARTIAL_REPORT))
			break;
		describe(zone, &descriptor);
		if (!matches(req->report_filter, descriptor.state >> 4))
			continue;
		head.zones++;
		if (fits) {
			sgl_write(&req->sgl, at, &descriptor, sizeof(descriptor));
			at += sizeof(descriptor);
		}
	}
	sgl_write(&req->sgl, 0, &head, req->sgl.bytes < sizeof(head) ? req->sgl.bytes : (uint32_t)sizeof(head));
	req->ready_ns = link_transfer(&ftl->links->to_host, clock_now_ns(), at < req->sgl.bytes ? at : req->sgl.bytes);
	io_complete(req, NVME_SUCCESS);
}
