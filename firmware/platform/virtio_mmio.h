/* virtio over MMIO, modern only (virtio 1.2, 4.2), with split, polled virtqueues: interrupts are never requested. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PLATFORM_VIRTIO_MMIO_H
#define PLATFORM_VIRTIO_MMIO_H

#include <stdbool.h>
#include <stdint.h>

#include "lt/arena.h"
#include "platform/machine.h"

struct virtio_descriptor {
	uint64_t address;
	uint32_t bytes;
	uint16_t flags, next;
};
struct virtio_available {
	uint16_t flags, index, ring[];
};
struct virtio_used_entry {
	uint32_t id, bytes;
};
struct virtio_used {
	uint16_t flags, index;
	struct virtio_used_entry ring[];
};

/* A queue of `size` buffers of equal size, buffer i behind descriptor i: one descriptor per packet is enough for vsock. */
struct virtio_queue {
	struct virtio_descriptor *descriptors;
	volatile struct virtio_available *available;
	volatile struct virtio_used *used;
	uint8_t *buffers;
	uint32_t size, buffer_bytes;
	uint16_t number, taken; /* taken: used entries seen so far */
	bool device_writes;
	uintptr_t device;
};

/* Register base of the first modern transport with this device type, or 0. */
uintptr_t virtio_find(const struct machine *machine, uint32_t device_type);
/* Reset, negotiate VIRTIO_F_VERSION_1 and nothing else. NULL, or one sentence. */
const char *virtio_begin(uintptr_t device);
/* Between virtio_begin and virtio_ready. size is a power of two. NULL, or one sentence. */
const char *virtio_queue_init(struct virtio_queue *queue, uintptr_t device, uint16_t number, uint32_t size, uint32_t buffer_bytes,
			      bool device_writes, struct arena *arena);
const char *virtio_ready(uintptr_t device);

uint8_t *virtio_buffer(const struct virtio_queue *queue, uint32_t id);
/* Hand buffer id to the device; visible at the next virtio_notify at the latest. */
void virtio_give(struct virtio_queue *queue, uint32_t id, uint32_t bytes);
void virtio_notify(const struct virtio_queue *queue);
/* True if the device gave a buffer back: its id and how many bytes were written. Ends the run if the device talks nonsense. */
bool virtio_take(struct virtio_queue *queue, uint32_t *id, uint32_t *bytes);
uint32_t virtio_config32(uintptr_t device, uint32_t offset);

#endif
