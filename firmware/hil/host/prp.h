/* PRP entries to a scatter list of host pages (base spec 4.1.1). Pure: reads host memory, changes only what is named. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_PRP_H
#define HIL_PRP_H

#include "hil/host/host_memory.h"
#include "sgl.h"

enum { PRP_MAX_PAGES = HZ_MAX_TRANSFER_SECTORS + 1 }; /* an unaligned transfer of MDTS touches one page more */

/* bytes: 1 … HZ_MAX_TRANSFER_SECTORS * 4096. pages: room for PRP_MAX_PAGES. On success sgl names exactly `bytes` bytes of the host
 * heap. Returns an NVMe status: PRP Offset Invalid (a wrong alignment) or Data Transfer Error (an address outside the heap). */
uint16_t prp_parse(const struct host_bus *bus, uint64_t prp1, uint64_t prp2, uint32_t bytes, uint8_t **pages, struct sgl *sgl);

#endif
