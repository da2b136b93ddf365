/* The two ivshmem-plain devices: shared memory with the host (#0) and the NAND image (#1). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PLATFORM_IVSHMEM_H
#define PLATFORM_IVSHMEM_H

#include "platform/pci.h"

struct ivshmem_region {
	uint8_t *base;
	uint64_t bytes;
}; /* base NULL: absent */

struct ivshmem {
	struct ivshmem_region shared; /* begins with HZ_SHM_MAGIC (protocol/shm.h) */
	struct ivshmem_region nand;   /* the other one, with any content: the media checks it (protocol/nand_image.h) */
};

/* Distinguished by the shared memory's first eight bytes, not by their order on the bus. A missing shared region is an error, a missing
 * NAND image is left to the caller. NULL, or one sentence. */
const char *ivshmem_find(struct ivshmem *found, const struct pci_bus *bus);

#endif
