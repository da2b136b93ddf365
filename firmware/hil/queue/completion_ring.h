/* A completion queue's ring: slots, phase, and how many entries the host has not consumed. Pure counting over host memory. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_COMPLETION_RING_H
#define HIL_COMPLETION_RING_H

#include <stdbool.h>

#include "hil/host/host_memory.h"
#include "nvme.h"

struct completion_ring {
	struct nvme_cqe *slot;
	uint64_t posted, freed; /* entries ever posted, and consumed by the host as far as we know */
	uint32_t depth, tail;   /* tail = posted mod depth */
	uint32_t head;          /* freed mod depth */
	uint16_t phase;         /* of the next entry: 1 in the first round */
};

void completion_ring_init(struct completion_ring *ring, void *slots, uint32_t depth);
/* One slot always stays empty, so that full and empty differ. */
static inline bool completion_ring_full(const struct completion_ring *ring) { return ring->posted - ring->freed == ring->depth - 1; }
/* Requires room. status without phase. The last dword is stored last: a host that sees the phase sees the whole entry. */
void completion_ring_post(struct completion_ring *ring, const struct nvme_cqe *cqe);
/* Another copy of this ring has posted `entries`, for which there was room. */
void completion_ring_pass(struct completion_ring *ring, uint32_t entries);
/* The host's head doorbell. False: beyond what was posted, nothing changed. */
bool completion_ring_free_to(struct completion_ring *ring, uint32_t head);
/* The host's count of consumed entries. False: impossible, nothing changed. */
bool completion_ring_free_count(struct completion_ring *ring, uint64_t freed);
/* Slot of entry number `number`, posted - depth < number < posted. */
static inline uint32_t completion_ring_slot(const struct completion_ring *ring, uint64_t number)
{
	uint32_t back = (uint32_t)(ring->posted - number);

	return ring->tail >= back ? ring->tail - back : ring->tail + ring->depth - back;
}

#endif
