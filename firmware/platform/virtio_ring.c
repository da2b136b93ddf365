/* Polled split virtqueues (virtio 1.2, 2.7): the rings in memory. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/fail.h"
#include "platform/mmio.h"
#include "platform/virtio_mmio.h"

enum { DESCRIPTOR_WRITE = 2 };

HZ_FROZEN uint8_t *virtio_buffer(const struct virtio_queue *queue, uint32_t id)
{
	return queue->buffers + (size_t)id * queue->buffer_bytes;
}

void virtio_give(struct virtio_queue *queue, uint32_t id, uint32_t bytes)
{
	volatile struct virtio_available *available = queue->available;

	queue->descriptors[id] = (struct virtio_descriptor){ (uintptr_t)virtio_buffer(queue, id), bytes,
							     queue->device_writes ? DESCRIPTOR_WRITE : 0, 0 };
	available->ring[available->index & (queue->size - 1)] = (uint16_t)id;
	mmio_fence();
	available->index = (uint16_t)(available->index + 1);
}

HZ_FROZEN bool virtio_take(struct virtio_queue *queue, uint32_t *id, uint32_t *bytes)
{
	if (queue->used->index == queue->taken)
		return false;
	mmio_fence();
	volatile struct virtio_used_entry *entry = &queue->used->ring[queue->taken & (queue->size - 1)];

	*id = entry->id;
	*bytes = entry->bytes;
	if (*id >= queue->size || *bytes > queue->buffer_bytes)
		lt_fail("virtio: the device returned a buffer that it was never given");
	queue->taken++;
	return true;
}
