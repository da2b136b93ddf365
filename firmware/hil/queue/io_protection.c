/* Protection information type 1 (NVM Command Set 1.0 section 5.2; appends: ZNS 1.1 section 5.3). */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/queue/io_protection.h"

#include "lt/arch.h"

enum { BAD_PROTECTION = NVME_INVALID_PROTECTION | NVME_DNR };

static bool is_io(const struct ftl_request *req) { return req->op <= FTL_WRITE_ZEROES; }

static bool brings_data(const struct ftl_request *req)
{
	return req->op == FTL_WRITE || req->op == FTL_APPEND || req->op == FTL_UPDATE || req->op == FTL_COMPARE;
}

/* Type 1 ties reference tags to LBAs: who has them checked must expect just these. Nobody knows them before an append, so the controller
 * has to count on from the zone's start. */
static bool is_legal(const struct nvme_sqe *sqe, const struct ftl_request *req)
{
	bool acts = sqe->cdw12 & NVME_RW_PRACT;

	if (req->op == FTL_APPEND && !(sqe->cdw12 & NVME_RW_PIREMAP))
		return false;
	if ((req->op == FTL_COMPARE || req->op == FTL_VERIFY) && acts)
		return false;
	if (req->op == FTL_WRITE_ZEROES && req->protect & HZ_CHECK_ALL)
		return false;
	return !(req->protect & HZ_CHECK_REFERENCE) || sqe->cdw14 == (uint32_t)req->lba;
}

/* One contiguous buffer with all tuples. */
static uint16_t find_tuples(const struct host_bus *bus, const struct nvme_sqe *sqe, struct ftl_request *req)
{
	if (sqe->mptr & 3)
		return NVME_INVALID_FIELD | NVME_DNR;
	if (!host_bus_holds(bus, sqe->mptr, req->sectors * HZ_TUPLE_BYTES))
		return NVME_DATA_TRANSFER_ERROR;
	req->tuples = bus->base + sqe->mptr;
	return NVME_SUCCESS;
}

static uint16_t check_received(const struct ftl_request *req, uint32_t index)
{
	struct hz_tuple expected = req->expected;

	if (req->protect & HZ_CHECK_GUARD)
		expected.guard = sgl_guard(&req->sgl, index * HZ_SECTOR_BYTES);
	expected.reference += index;
	return hz_tuple_check(hz_tuple_load(req->tuples + index * HZ_TUPLE_BYTES), expected, req->protect, req->tag_mask);
}

/* As the data cross the link: the first sector that fails ends it. */
static uint16_t receive(const struct ftl_request *req)
{
	uint16_t status = NVME_SUCCESS;

	clock_freeze();
	for (uint32_t i = 0; i < req->sectors && !status; i++)
		status = check_received(req, i);
	clock_thaw();
	return status;
}

/* Tuples go along with the data, or new ones are made: one of the two for source and destination. Those of an append cannot go along, since
 * nobody knows their tags. */
static uint16_t protect_copy(const struct nvme_sqe *sqe, struct ftl_request *req)
{
	bool acts = sqe->cdw12 & NVME_RW_PRACT;

	if (acts != !!(sqe->cdw12 & NVME_COPY_SOURCE_PRACT))
		return NVME_INVALID_FIELD | NVME_DNR;
	req->source_checks = (uint8_t)(sqe->cdw12 >> NVME_COPY_SOURCE_PRCHK_SHIFT & HZ_CHECK_ALL);
	req->protect |= acts ? 0 : FTL_HOST_TUPLES;
	if (req->op == FTL_COPY_APPEND && !acts)
		return BAD_PROTECTION;
	return req->protect & HZ_CHECK_REFERENCE && sqe->cdw14 != (uint32_t)req->lba ? BAD_PROTECTION : NVME_SUCCESS;
}

static bool is_copy(const struct ftl_request *req) { return req->op == FTL_COPY || req->op == FTL_COPY_APPEND; }

uint16_t io_protect(const struct host_bus *bus, const struct nvme_sqe *sqe, struct ftl_request *req)
{
	bool acts = sqe->cdw12 & NVME_RW_PRACT;
	uint16_t status;

	if (!is_io(req) && !is_copy(req))
		return NVME_SUCCESS;
	req->protect = (uint8_t)(sqe->cdw12 >> NVME_RW_PRCHK_SHIFT & HZ_CHECK_ALL);
	req->expected = (struct hz_tuple){ 0, (uint16_t)sqe->cdw15, sqe->cdw14 };
	req->tag_mask = (uint16_t)(sqe->cdw15 >> 16);
	req->tuples = NULL;
	if (is_copy(req))
		return protect_copy(sqe, req);
	if (!is_legal(sqe, req))
		return BAD_PROTECTION;
	if (acts || req->op == FTL_VERIFY)
		return NVME_SUCCESS;
	req->protect |= FTL_HOST_TUPLES;
	if (req->op == FTL_WRITE_ZEROES)
		return NVME_SUCCESS;
	status = find_tuples(bus, sqe, req);
	return !status && brings_data(req) && req->protect & HZ_CHECK_ALL ? receive(req) : status;
}
