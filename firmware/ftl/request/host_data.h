/* Sectors between a request and the host: checks, protection tuples, and the time on the link. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_REQUEST_HOST_DATA_H
#define FTL_REQUEST_HOST_DATA_H

#include "request/ftl_request.h"
#include "request/io.h"

/* What a read does with data that it finds: sends them to the host, compares them with the host's, or only looks whether they are there.
 *
 * A compare's data cross the link to the device as the flash's come: it holds none of them. */

static inline bool reads_data(const struct ftl_request *req)
{
	return req->op == FTL_READ || req->op == FTL_VERIFY || req->op == FTL_COMPARE;
}

/* A sector that cannot be read tells more than one that differs, or is not what its tuple says. */
static inline void answer_lost(struct ftl_request *req) { req->status = NVME_UNRECOVERED_READ; }

static inline void answer_status(struct ftl_request *req, uint16_t status)
{
	if (!req->status)
		req->status = status;
}

/* Does a flash read of the request look at each sector (answer_take)? Else the flash's data go where the host wants them, where there is no
 * place for tuples. */
static inline bool answer_looks(const struct ftl *ftl, const struct ftl_request *req)
{
	return ftl->cfg->protection != HZ_PROTECTION_NONE || req->op == FTL_COMPARE;
}

/* What a flash read of the request moves data to. */
static inline struct sgl answer_sgl(const struct ftl_request *req) { return req->op == FTL_VERIFY ? (struct sgl){ 0 } : req->sgl; }

/* Data of so many sectors are ready to cross the link at that time: when they have. */
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
/* Data of so many sectors are at hand at that time: the request is not over before they have crossed the link. */
void answer_cross(struct ftl *ftl, struct ftl_request *req, uint64_t at_ns, uint32_t sectors);

/* Tuples of a request's sectors: made or taken when they land, checked before they are handed out. What a DMA engine does while data cross,
 * so it costs a hart nothing.
 *
 * Wherever the device keeps a sector of data in memory (write buffers, what collectors and movers copy, the TSU's page), its tuple lies
 * behind it, and goes with it to flash and back (nand.h). */

/* Clock frozen. Sector `index` of a write lies in memory: its tuple comes behind it. */
void protect_land(const struct ftl_request *req, uint32_t index, uint8_t *sector);
/* The sector of device memory that answers a read's `index`: NVME_SUCCESS, or the status of a check that failed. */
uint16_t protect_check(const struct ftl_request *req, uint32_t index, const uint8_t *sector);
/* The host gets the sector's tuple, if it wants it. */
void protect_answer(const struct ftl_request *req, uint32_t index, const uint8_t *sector);
/* Sectors from `index` on were never written: their tuples say so. */
void protect_unwritten(const struct ftl_request *req, uint32_t index, uint32_t sectors);

#endif
