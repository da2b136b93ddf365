/* The board brought up: one call on hart 0 before anything else. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PLATFORM_PLATFORM_H
#define PLATFORM_PLATFORM_H

#include "lt/arena.h"
#include "platform/ivshmem.h"
#include "platform/machine.h"
#include "platform/pci.h"

struct platform {
	struct machine machine;
	struct pci_bus pci;
	struct ivshmem ivshmem;    /* shared.base NULL for callers without shared memory (micro-benchmarks) */
	const char *ivshmem_error; /* why shared.base is NULL */
	struct arena arena;        /* the rest of RAM, blank up to the device tree */
};

/* Console, power-off, device tree, PCI, ivshmem, memory. heap = first unused byte of RAM (boot_heap). The arena overlaps the device
 * tree, not needed after this call. Errors end the run through fail_with. */
void platform_init(struct platform *platform, const void *device_tree, uint8_t *heap);

#endif
