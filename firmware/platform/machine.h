/* Facts about the board for the firmware, read once from the device tree. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PLATFORM_MACHINE_H
#define PLATFORM_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MACHINE_MAX_VIRTIO = 32, MACHINE_BOOTARGS_BYTES = 128 };

struct machine_range {
	uint64_t base, bytes;
}; /* bytes = 0: absent */
struct machine_window {
	uint64_t cpu_base, pci_base, bytes;
}; /* PCI memory window */

struct machine {
	uint32_t harts; /* cpu nodes; hart ids are 0 … harts-1 (checked) */
	uint32_t virtio_count;
	uint64_t timebase_hz;
	struct machine_range ram, clint, uart, finisher, ecam;
	struct machine_window mem32, mem64;
	uint64_t virtio[MACHINE_MAX_VIRTIO];   /* register bases of virtio-mmio transports */
	char bootargs[MACHINE_BOOTARGS_BYTES]; /* NUL-terminated, cut if longer */
};

/* Fill *machine from a device tree of at most `readable` bytes. NULL, or one sentence about a missing or wrong node. The blob is not
 * referenced afterwards. Linear in its size. */
const char *machine_read(struct machine *machine, const void *blob, size_t readable);

#ifdef __cplusplus
}
#endif

#endif
