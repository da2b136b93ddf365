/* Sectors between a request and the host: checks, protection tuples, and the time on the link. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_REQUEST_HOST_DATA_H
#define FTL_REQUEST_HOST_DATA_H

#include "port/ftl_port.h"
#include "request/io.h"

/* Data of a read: sent to the host, compared with the host's, or only verified.
 *
 * A compare's data cross the link to the device as the flash's data arrive: the device buffers none of them. */

static inline bool reads_data(const struct ftl_request *req)
{
	return req->op == FTL_READ || req->op == FTL_VERIFY || req->op == FTL_COMPARE;
}

/* An unreadable sector takes precedence over one that differs, or fails its tuple's check. */
static inline void answer_lost(struct ftl_request *req) { req->status = NVME_UNRECOVERED_READ; }

/* The host has marked the sector: a retry cannot help. */
static inline void answer_marked(struct ftl_request *req)
{
	if (req->status != NVME_UNRECOVERED_READ)
		req->status = NVME_HZ_MARKED;
}

static inline void answer_status(struct ftl_request *req, uint16_t status)
{
	if (!req->status)
		req->status = status;
}

/* True if a flash read of the request must process each sector (answer_take). Else the flash's data go straight to the host's memory,
 * without room for tuples. */
static inline bool answer_looks(const struct ftl *ftl, const struct ftl_request *req)
{
	return ftl->cfg->protection != HZ_PROTECTION_NONE || req->op == FTL_COMPARE;
}

/* Destination of a flash read's data for the request. */
static inline struct sgl answer_sgl(const struct ftl_request *req) { return req->op == FTL_VERIFY ? (struct sgl){ 0 } : req->sgl; }

/* Time at which data of that many sectors, ready at `at_ns`, have crossed the link. */
static inline uint64_t answer_crossed(struct link *link, const struct ftl_request *req, uint64_t at_ns, uint32_t sectors)
{
	if (req->flags & FTL_INSIDE)
		return at_ns > req->data_ns ? at_ns : req->data_ns;
	return link_transfer(link, at_ns, sectors * (HZ_SECTOR_BYTES + (req->protect & FTL_HOST_TUPLES)));
}

/* Any hart. Sector `index` of the request is this one, in device memory: checked, then sent or compared. Why not, or NVME_SUCCESS. */
uint16_t answer_take(const struct ftl_request *req, uint32_t index, const uint8_t *sector);
/* The same, on the request's worker. */
void answer_sector(struct ftl_request *req, uint32_t index, const uint8_t *data);
/* Sectors from `index` on are zeros. */
void answer_zeros(struct ftl *ftl, struct ftl_request *req, uint32_t index, uint32_t sectors);
/* Data of that many sectors are ready at that time: the request ends after they have crossed the link. */
void answer_cross(struct ftl *ftl, struct ftl_request *req, uint64_t at_ns, uint32_t sectors);

/* Tuples of a request's sectors: made or taken when they land, checked before they are handed out. A DMA engine does this while data
 * cross, so it costs a hart nothing.
 *
 * Wherever the device has a sector of data in memory (write buffers, copies of collectors and movers, the TSU's page), its tuple lies
 * behind it, and goes with it to flash and back (nand.h). */

/* Clock frozen. Sector `index` of a write lies in memory: its tuple comes behind it. */
void protect_land(const struct ftl_request *req, uint32_t index, uint8_t *sector);
/* Check the sector of device memory for the read's sector `index`: NVME_SUCCESS, or the status of a failed check. */
uint16_t protect_check(const struct ftl_request *req, uint32_t index, const uint8_t *sector);
/* The host gets the sector's tuple, if it wants it. */
void protect_answer(const struct ftl_request *req, uint32_t index, const uint8_t *sector);
/* Sectors from `index` on were never written: their tuples say so. */
void protect_unwritten(const struct ftl_request *req, uint32_t index, uint32_t sectors);

#endif
