/* PCI bus 0: finds functions, sizes and places their memory BARs. No bridges: QEMU virt puts -device functions on the root bus.
 *
 * Configuration space is reached through two functions, so that tests can replace the bus. Boot time, one hart. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PLATFORM_PCI_H
#define PLATFORM_PCI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/machine.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PCI_BARS = 6, PCI_MAX_FUNCTIONS = 32 };

struct pci_access {
	/* offset = byte in the ECAM: bus << 20 | device << 15 | function << 12 | register, 4-byte aligned */
	uint32_t (*read)(void *ctx, uint32_t offset);
	void (*write)(void *ctx, uint32_t offset, uint32_t value);
	void *ctx;
};

struct pci_bar {
	uint64_t base, bytes;
	bool wide;
}; /* CPU address; bytes = 0: no memory BAR here */
struct pci_function {
	uint32_t config; /* ECAM offset */
	uint16_t vendor, device;
	struct pci_bar bar[PCI_BARS];
};
struct pci_bus {
	struct pci_access access;
	uint32_t count;
	struct pci_function function[PCI_MAX_FUNCTIONS];
};

/* Scans bus 0, assigns every memory BAR (largest first, so nothing is lost to alignment) and enables decoding. 64-bit BARs go to the
 * 64-bit window while it has room, all others to the 32-bit window. NULL, or one sentence. */
const char *pci_scan(struct pci_bus *bus, const struct pci_access *access, const struct machine *machine);

#ifdef __cplusplus
}
#endif

#endif
