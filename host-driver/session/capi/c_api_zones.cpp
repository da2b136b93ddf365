// C interface: commands on zones, and zone reports as zones one after the other.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/capi/c_api.hpp"

#include <algorithm>
#include <cstring>

#include "namespaces.h"

using namespace hz::capi;

namespace {

static_assert(sizeof(nvme_zone_report) + HARTZONE_ZONES_PER_REPORT * sizeof(nvme_zone_descriptor) == HARTZONE_BLOCK_BYTES);

hartzone_zone zone_of(const nvme_zone_descriptor &d)
{
	return {d.start, d.capacity, d.write_pointer, static_cast<hartzone_zone_state>(d.state >> 4)};
}

constexpr uint32_t zrwa_allocation = 1 << 9; // ZRWAA in CDW13 of Zone Management Send

// The report's filter for a state; conventional zones have none.
uint32_t filter_of(int state)
{
	switch (state) {
	case HARTZONE_EMPTY: return NVME_ZRASF_EMPTY;
	case HARTZONE_IMPLICIT_OPEN: return NVME_ZRASF_IMPLICIT_OPEN;
	case HARTZONE_EXPLICIT_OPEN: return NVME_ZRASF_EXPLICIT_OPEN;
	case HARTZONE_CLOSED: return NVME_ZRASF_CLOSED;
	case HARTZONE_FULL: return NVME_ZRASF_FULL;
	case HARTZONE_READ_ONLY: return NVME_ZRASF_READ_ONLY;
	case HARTZONE_OFFLINE: return NVME_ZRASF_OFFLINE;
	default: return NVME_ZRASF_ALL;
	}
}

// Start of the report after a zone; UINT64_MAX: it was the last one.
uint64_t behind(const hartzone_queue *queue, const hartzone_zone &zone)
{
	hz_shape shape;
	hz_namespace_shape(&queue->device->machine->config(), queue->pair->nsid() - 1, &shape);
	const uint64_t next = zone.start + shape.zone_size_sectors;
	return next < shape.namespace_sectors ? next : UINT64_MAX;
}

// Reads the next part of the report; an incomplete part is the last one.
void refill(hartzone_zones *zones)
{
	std::byte data[HARTZONE_BLOCK_BYTES];
	nvme_sqe sqe = hz::QueuePair::zone_report(zones->next, sizeof(data));
	sqe.cdw13 |= filter_of(zones->state) << 8;
	zones->have = zones->taken = 0;
	zones->status = run(zones->queue, sqe, {}, data);
	if (zones->status)
		return;
	uint64_t there;
	std::memcpy(&there, data, sizeof(there));
	for (uint64_t i = 0; i < std::min<uint64_t>(there, HARTZONE_ZONES_PER_REPORT); i++) {
		nvme_zone_descriptor d;
		std::memcpy(&d, data + sizeof(nvme_zone_report) + i * sizeof(d), sizeof(d));
		zones->zone[zones->have++] = zone_of(d);
	}
	zones->next = zones->have == HARTZONE_ZONES_PER_REPORT ? behind(zones->queue, zones->zone[zones->have - 1]) : UINT64_MAX;
}

} // namespace

int hartzone_zone_open(hartzone_queue *queue, uint64_t start) { return run(queue, hz::QueuePair::zone_send(start, NVME_ZSA_OPEN)); }
int hartzone_zone_open_zrwa(hartzone_queue *queue, uint64_t start)
{
	nvme_sqe sqe = hz::QueuePair::zone_send(start, NVME_ZSA_OPEN);
	sqe.cdw13 |= zrwa_allocation;
	return run(queue, sqe);
}
int hartzone_zone_flush_zrwa(hartzone_queue *queue, uint64_t block) { return run(queue, hz::QueuePair::zone_send(block, NVME_ZSA_COMMIT)); }
int hartzone_zone_close(hartzone_queue *queue, uint64_t start) { return run(queue, hz::QueuePair::zone_send(start, NVME_ZSA_CLOSE)); }
int hartzone_zone_finish(hartzone_queue *queue, uint64_t start) { return run(queue, hz::QueuePair::zone_send(start, NVME_ZSA_FINISH)); }
int hartzone_zone_reset(hartzone_queue *queue, uint64_t start) { return run(queue, hz::QueuePair::zone_send(start, NVME_ZSA_RESET)); }
int hartzone_reset_all(hartzone_queue *queue) { return run(queue, hz::QueuePair::zone_send(0, NVME_ZSA_RESET, true)); }

int hartzone_zone_offline(hartzone_queue *queue, uint64_t start) { return run(queue, hz::QueuePair::zone_send(start, NVME_ZSA_OFFLINE)); }

int hartzone_report_zone(hartzone_queue *queue, uint64_t zone_start, hartzone_zone *zone)
{
	hartzone_zones zones;
	hartzone_zones_begin(&zones, queue, zone_start, HARTZONE_ANY_STATE);
	hartzone_zones_next(&zones, zone);
	return zones.status;
}

void hartzone_zones_begin(hartzone_zones *zones, hartzone_queue *queue, uint64_t from_block, int state)
{
	zones->status = from_block == UINT64_MAX ? NVME_LBA_OUT_OF_RANGE : 0; // marks the end of a report
	zones->queue = queue;
	zones->next = from_block;
	zones->state = state;
	zones->have = zones->taken = 0;
}

int hartzone_zones_next(hartzone_zones *zones, hartzone_zone *zone)
{
	for (;;) {
		while (zones->taken < zones->have) {
			*zone = zones->zone[zones->taken++];
			if (zones->state == HARTZONE_ANY_STATE || zones->state == int(zone->state))
				return 1;
		}
		const bool end = zones->next == UINT64_MAX || zones->status;
		if (!end)
			refill(zones);
		if (end || !zones->have)
			return 0;
	}
}
