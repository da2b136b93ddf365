/* The two ivshmem-plain devices (QEMU docs/specs/ivshmem-spec: vendor 1af4, device 1110, memory in BAR 2). */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/ivshmem.h"

#include "shm.h"

enum { IVSHMEM_VENDOR = 0x1af4, IVSHMEM_DEVICE = 0x1110, IVSHMEM_MEMORY_BAR = 2, LEAST_BYTES = 4096 };

static const char *add_region(struct ivshmem *found, const struct pci_bar *bar)
{
	struct ivshmem_region region = { (uint8_t *)(uintptr_t)bar->base, bar->bytes };
	uint64_t magic;

	if (bar->bytes < LEAST_BYTES)
		return "ivshmem: a device has no memory BAR";
	magic = *(volatile uint64_t *)region.base;
	if (magic == HZ_SHM_MAGIC && !found->shared.base)
		found->shared = region;
	else if (!found->nand.base)
		found->nand = region;
	else
		return "ivshmem: there are more regions than the shared memory and a NAND image";
	return NULL;
}

const char *ivshmem_find(struct ivshmem *found, const struct pci_bus *bus)
{
	*found = (struct ivshmem){ { 0, 0 }, { 0, 0 } };
	for (uint32_t i = 0; i < bus->count; i++) {
		const struct pci_function *f = &bus->function[i];
		const char *error = NULL;

		if (f->vendor == IVSHMEM_VENDOR && f->device == IVSHMEM_DEVICE)
			error = add_region(found, &f->bar[IVSHMEM_MEMORY_BAR]);
		if (error)
			return error;
	}
	return found->shared.base ? NULL : "ivshmem: no region begins with the shared-memory magic number";
}
