/* What a read does with data that it finds. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "request/answer.h"

#include "request/protect.h"

uint16_t answer_take(const struct ftl_request *req, uint32_t index, const uint8_t *sector)
{
	uint16_t status = req->protect ? protect_check(req, index, sector) : NVME_SUCCESS;

	if (status || req->op == FTL_VERIFY)
		return status;
	if (req->op == FTL_COMPARE)
		return sgl_equal(&req->sgl, index * HZ_SECTOR_BYTES, sector, HZ_SECTOR_BYTES) ? NVME_SUCCESS : NVME_COMPARE_FAILURE;
	sgl_write(&req->sgl, index * HZ_SECTOR_BYTES, sector, HZ_SECTOR_BYTES);
	if (req->protect & FTL_HOST_TUPLES)
		protect_answer(req, index, sector);
	return NVME_SUCCESS;
}

void answer_sector(struct ftl_request *req, uint32_t index, const uint8_t *data) { answer_status(req, answer_take(req, index, data)); }

void answer_zeros(struct ftl *ftl, struct ftl_request *req, uint32_t index, uint32_t sectors)
{
	if (req->op == FTL_READ)
		sgl_zero(&req->sgl, index * HZ_SECTOR_BYTES, sectors * HZ_SECTOR_BYTES);
	if (req->op == FTL_READ && req->protect & FTL_HOST_TUPLES)
		protect_unwritten(req, index, sectors);
	for (uint32_t i = 0; req->op == FTL_COMPARE && i < sectors; i++)
		if (!sgl_equal(&req->sgl, (index + i) * HZ_SECTOR_BYTES, ftl->zero_sector, HZ_SECTOR_BYTES))
			answer_status(req, NVME_COMPARE_FAILURE);
}

void answer_cross(struct ftl *ftl, struct ftl_request *req, uint64_t at_ns, uint32_t sectors)
{
	struct link *link = req->op == FTL_COMPARE ? &ftl->links->to_device : &ftl->links->to_host;
	uint64_t end = req->op == FTL_VERIFY ? at_ns : answer_crossed(link, req, at_ns, sectors);

	req->ready_ns = end > req->ready_ns ? end : req->ready_ns;
}
