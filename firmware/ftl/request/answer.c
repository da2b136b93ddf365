/* What a read does with data that it finds. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "request/answer.h"

void answer_sector(struct ftl_request *req, uint32_t index, const uint8_t *data)
{
	if (req->op == FTL_READ)
		sgl_write(&req->sgl, index * HZ_SECTOR_BYTES, data, HZ_SECTOR_BYTES);
	else if (req->op == FTL_COMPARE && !sgl_equal(&req->sgl, index * HZ_SECTOR_BYTES, data, HZ_SECTOR_BYTES))
		answer_differs(req);
}

void answer_zeros(struct ftl *ftl, struct ftl_request *req, uint32_t index, uint32_t sectors)
{
	if (req->op == FTL_READ)
		sgl_zero(&req->sgl, index * HZ_SECTOR_BYTES, sectors * HZ_SECTOR_BYTES);
	for (uint32_t i = 0; req->op == FTL_COMPARE && i < sectors; i++)
		answer_sector(req, index + i, ftl->zero_sector);
}

void answer_cross(struct ftl *ftl, struct ftl_request *req, uint64_t at_ns, uint32_t sectors)
{
	struct link *link = req->op == FTL_COMPARE ? &ftl->links->to_device : &ftl->links->to_host;
	uint64_t end = req->op == FTL_VERIFY ? at_ns : link_transfer(link, at_ns, sectors * HZ_SECTOR_BYTES);

	req->ready_ns = end > req->ready_ns ? end : req->ready_ns;
}
