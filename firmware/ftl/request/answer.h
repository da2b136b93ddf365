/* What a read does with data that it finds: sends them to the host, compares them with the host's, or only looks whether they are there.
 *
 * A compare's data cross the link to the device as the flash's come: it holds none of them. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_ANSWER_H
#define FTL_ANSWER_H

#include "request/io.h"

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

#endif
