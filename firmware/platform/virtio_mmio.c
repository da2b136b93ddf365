/* virtio over MMIO: registers. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/virtio_mmio.h"

#include "platform/fail.h"
#include "platform/mmio.h"

/* Virtio 1.2, 4.2.2. */
enum {
	REG_MAGIC = 0x00,
	REG_VERSION = 0x04,
	REG_DEVICE = 0x08,
	REG_DEVICE_FEATURES = 0x10,
	REG_DEVICE_FEATURES_SEL = 0x14,
	REG_DRIVER_FEATURES = 0x20,
	REG_DRIVER_FEATURES_SEL = 0x24,
	REG_QUEUE_SEL = 0x30,
	REG_QUEUE_MAX = 0x34,
	REG_QUEUE_NUM = 0x38,
	REG_QUEUE_READY = 0x44,
	REG_QUEUE_NOTIFY = 0x50,
	REG_STATUS = 0x70,
	REG_QUEUE_DESC = 0x80,
	REG_QUEUE_DRIVER = 0x90,
	REG_QUEUE_DEVICE = 0xa0,
	REG_CONFIG = 0x100,
	MAGIC = 0x74726976,
	VERSION_MODERN = 2,
	STATUS_ACKNOWLEDGE = 1,
	STATUS_DRIVER = 2,
	STATUS_DRIVER_OK = 4,
	STATUS_FEATURES_OK = 8,
	STATUS_NEEDS_RESET = 64,
	FEATURES_HIGH = 1,
	FEATURE_VERSION_1 = 1, /* bit 32 */
	AVAILABLE_NO_INTERRUPT = 1,
};

uintptr_t virtio_find(const struct machine *machine, uint32_t device_type)
{
	for (uint32_t i = 0; i < machine->virtio_count; i++) {
		uintptr_t device = machine->virtio[i];

		if (mmio_read32(device + REG_MAGIC) == MAGIC && mmio_read32(device + REG_VERSION) == VERSION_MODERN &&
		    mmio_read32(device + REG_DEVICE) == device_type)
			return device;
	}
	return 0;
}

static void add_status(uintptr_t device, uint32_t bits) { mmio_write32(device + REG_STATUS, mmio_read32(device + REG_STATUS) | bits); }

const char *virtio_begin(uintptr_t device)
{
	mmio_write32(device + REG_STATUS, 0);
	while (mmio_read32(device + REG_STATUS))
		;
	add_status(device, STATUS_ACKNOWLEDGE);
	add_status(device, STATUS_DRIVER);
	mmio_write32(device + REG_DEVICE_FEATURES_SEL, FEATURES_HIGH);
	if (!(mmio_read32(device + REG_DEVICE_FEATURES) & FEATURE_VERSION_1))
		return "virtio: the device does not offer version 1";
	mmio_write32(device + REG_DRIVER_FEATURES_SEL, 0);
	mmio_write32(device + REG_DRIVER_FEATURES, 0);
	mmio_write32(device + REG_DRIVER_FEATURES_SEL, FEATURES_HIGH);
	mmio_write32(device + REG_DRIVER_FEATURES, FEATURE_VERSION_1);
	add_status(device, STATUS_FEATURES_OK);
	if (!(mmio_read32(device + REG_STATUS) & STATUS_FEATURES_OK))
		return "virtio: the device refuses plain version 1";
	return NULL;
}

static void write_address(uintptr_t reg, const volatile void *address)
{
	mmio_write32(reg, (uint32_t)(uintptr_t)address);
	mmio_write32(reg + 4, (uint32_t)((uintptr_t)address >> 32));
}

const char *virtio_queue_init(struct virtio_queue *queue, uintptr_t device, uint16_t number, uint32_t size, uint32_t buffer_bytes,
			      bool device_writes, struct arena *arena)
{
	*queue = (struct virtio_queue){
		.size = size, .buffer_bytes = buffer_bytes, .number = number, .device_writes = device_writes, .device = device
	};
	mmio_write32(device + REG_QUEUE_SEL, number);
	if (mmio_read32(device + REG_QUEUE_MAX) < size)
		return "virtio: a queue of the device is too short";
	queue->descriptors = arena_alloc_model(arena, size, sizeof(*queue->descriptors), "virtio descriptors");
	queue->available = arena_alloc_model(arena, 1, sizeof(*queue->available) + size * 2 + 2, "virtio available ring");
	queue->used = arena_alloc_model(arena, 1, sizeof(*queue->used) + size * sizeof(queue->used->ring[0]) + 2, "virtio used ring");
	queue->buffers = arena_alloc_model(arena, size, buffer_bytes, "virtio buffers");
	queue->available->flags = AVAILABLE_NO_INTERRUPT;
	mmio_write32(device + REG_QUEUE_NUM, size);
	write_address(device + REG_QUEUE_DESC, queue->descriptors);
	write_address(device + REG_QUEUE_DRIVER, queue->available);
	write_address(device + REG_QUEUE_DEVICE, queue->used);
	mmio_fence();
	mmio_write32(device + REG_QUEUE_READY, 1);
	return NULL;
}

const char *virtio_ready(uintptr_t device)
{
	add_status(device, STATUS_DRIVER_OK);
	if (mmio_read32(device + REG_STATUS) & STATUS_NEEDS_RESET)
		return "virtio: the device failed when it was started";
	return NULL;
}

void virtio_notify(const struct virtio_queue *queue)
{
	mmio_fence();
	mmio_write32(queue->device + REG_QUEUE_NOTIFY, queue->number);
}

uint32_t virtio_config32(uintptr_t device, uint32_t offset) { return mmio_read32(device + REG_CONFIG + offset); }
