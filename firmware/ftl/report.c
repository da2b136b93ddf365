/* Zone report, and the FTL's counters. */
#include "base/context.h"
#include "zone/zone_ops.h"

/* A conventional zone's type and state are those of ZBC (1h CONVENTIONAL, 0h NOT WRITE POINTER), which ZNS 1.1 leaves reserved: only a
 * report of all zones lists it. ZRASF: 0 all, 1 EMPTY … 5 FULL, 6 READ ONLY, 7 OFFLINE, 9 with an attribute, which none has
 * (ZNS 1.1, Zone Management Receive). */
static bool matches(uint8_t filter, uint8_t state)
{
	static const uint8_t wanted[] = { 0, NVME_ZS_EMPTY, NVME_ZS_IMPLICIT_OPEN, NVME_ZS_EXPLICIT_OPEN, NVME_ZS_CLOSED,
					  NVME_ZS_FULL, NVME_ZS_READ_ONLY, NVME_ZS_OFFLINE };

	return filter == 0 || (filter < sizeof(wanted) && wanted[filter] == state);
}

static void describe(struct zone *zone, struct nvme_zone_descriptor *out)
{
	struct lt_lock_node node;
	uint8_t state;

	if (page_space_holds(&zone->ftl->page, zone->start)) {
		*out = (struct nvme_zone_descriptor){ .type = 1, .capacity = zone->ftl->shape.zone_capacity_sectors,
						      .start = zone->start, .write_pointer = UINT64_MAX };
		return;
	}
	lt_lock_acquire(&zone->lock, &node);
	state = zone->state;
	*out = (struct nvme_zone_descriptor){
		.type = 2, .state = (uint8_t)(state << 4), .capacity = zone->ftl->shape.zone_capacity_sectors,
		.start = zone->start, .write_pointer = zone->start + zone->wp,
	};
	if (state == NVME_ZS_FULL || state == NVME_ZS_READ_ONLY || state == NVME_ZS_OFFLINE)
		out->write_pointer = UINT64_MAX;
	lt_lock_release(&zone->lock, &node);
}

void zone_report_run(struct ftl_worker *self, struct ftl_request *req)
{
	struct ftl *ftl = self->ftl;
	struct nvme_zone_report head = { .zones = 0 };
	uint32_t at = sizeof(head);

	for (struct zone *zone = zone_at(ftl, req->lba); zone < ftl->zones + ftl->zone_count; zone++) {
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

void ftl_publish(struct ftl *ftl)
{
	for (uint32_t w = 0; w < ftl->worker_count; w++)
		if (ftl->workers[w].thread.hart == lt_hart_id())
			ftl->workers[w].published = ftl->workers[w].counters;
}

void ftl_published(struct ftl *ftl, struct hz_log_ftl *out)
{
	uint64_t *sum = &out->host_read_sectors;

	memset(out, 0, sizeof(*out));
	for (uint32_t w = 0; w < ftl->worker_count; w++) {
		const uint64_t *part = &ftl->workers[w].published.host_read_sectors;

		for (size_t i = 0; i < (sizeof(*out) - offsetof(struct hz_log_ftl, host_read_sectors)) / sizeof(uint64_t); i++)
			sum[i] += part[i];
	}
	out->version = 1;
}

void ftl_report(struct ftl *ftl, struct hz_log_ftl *out)
{
	for (uint32_t w = 0; w < ftl->worker_count; w++)
		ftl->workers[w].published = ftl->workers[w].counters;
	ftl_published(ftl, out);
}
