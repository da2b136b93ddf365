/* Completion queue ring. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/queue/completion_ring.h"

void completion_ring_init(struct completion_ring *ring, void *slots, uint32_t depth)
{
	*ring = (struct completion_ring){ .slot = slots, .depth = depth, .phase = 1 };
}

void completion_ring_post(struct completion_ring *ring, const struct nvme_cqe *cqe)
{
	uint32_t *to = (uint32_t *)&ring->slot[ring->tail];

	to[0] = cqe->dw0;
	to[1] = cqe->dw1;
	to[2] = cqe->sq_head | (uint32_t)cqe->sq_id << 16;
	host_store32(&to[3], cqe->cid | (uint32_t)(cqe->status << 1 | ring->phase) << 16);
	ring->posted++;
	if (++ring->tail == ring->depth) {
		ring->tail = 0;
		ring->phase ^= 1;
	}
}

void completion_ring_pass(struct completion_ring *ring, uint32_t entries)
{
	ring->posted += entries;
	ring->tail += entries;
	if (ring->tail >= ring->depth) {
		ring->tail -= ring->depth;
		ring->phase ^= 1;
	}
}

static void ring_advance(struct completion_ring *ring, uint32_t entries)
{
	ring->freed += entries;
	ring->head += entries;
	if (ring->head >= ring->depth)
		ring->head -= ring->depth;
}

bool completion_ring_free_to(struct completion_ring *ring, uint32_t head)
{
	uint32_t entries = head >= ring->head ? head - ring->head : head + ring->depth - ring->head;

	if (head >= ring->depth || entries > ring->posted - ring->freed)
		return false;
	ring_advance(ring, entries);
	return true;
}

bool completion_ring_free_count(struct completion_ring *ring, uint64_t freed)
{
	if (freed < ring->freed || freed > ring->posted)
		return false;
	ring_advance(ring, (uint32_t)(freed - ring->freed));
	return true;
}
