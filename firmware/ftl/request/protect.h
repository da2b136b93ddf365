/* Tuples of a request's sectors: made or taken when they land, checked before they are handed out. What a DMA engine does while data cross,
 * so it costs a hart nothing.
 *
 * Wherever the device keeps a sector of data in memory (write buffers, what collectors and movers copy, the TSU's page), its tuple lies
 * behind it, and goes with it to flash and back (nand.h). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_PROTECT_H
#define FTL_PROTECT_H

#include "request/ftl_request.h"

/* Clock frozen. Sector `index` of a write lies in memory: its tuple comes behind it. */
void protect_land(const struct ftl_request *req, uint32_t index, uint8_t *sector);
/* The sector of device memory that answers a read's `index`: NVME_SUCCESS, or the status of a check that failed. */
uint16_t protect_check(const struct ftl_request *req, uint32_t index, const uint8_t *sector);
/* The host gets the sector's tuple, if it wants it. */
void protect_answer(const struct ftl_request *req, uint32_t index, const uint8_t *sector);
/* Sectors from `index` on were never written: their tuples say so. */
void protect_unwritten(const struct ftl_request *req, uint32_t index, uint32_t sectors);

#endif
