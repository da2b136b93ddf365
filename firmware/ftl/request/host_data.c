/* Sectors between a request and the host: checks, protection tuples, and the time on the link. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "request/host_data.h"

#include <string.h>

#include "boundary/boundary.h"

/* Data of a read, found in the device. */

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

/* Tuples of a request's sectors. */

static uint8_t *host_tuple(const struct ftl_request *req, uint32_t index) { return req->tuples + index * HZ_TUPLE_BYTES; }

/* An append's sectors were written from result on, but its tags count from the zone's start. */
static uint32_t reference_shift(const struct ftl_request *req) { return req->op == FTL_APPEND ? (uint32_t)(req->result - req->lba) : 0; }

static struct hz_tuple host_tuple_landed(const struct ftl_request *req, uint32_t index)
{
	struct hz_tuple tuple = hz_tuple_load(host_tuple(req, index));

	tuple.reference += reference_shift(req);
	return tuple;
}

static struct hz_tuple tuple_made(const struct ftl_request *req, uint32_t index, const uint8_t *sector)
{
	boundary_work(WORK_GUARD, 1, 0);
	return (struct hz_tuple){
		.guard = hz_crc16(0, sector, HZ_SECTOR_BYTES),
		.application = req->expected.application,
		.reference = req->expected.reference + index + reference_shift(req),
	};
}

void protect_land(const struct ftl_request *req, uint32_t index, uint8_t *sector)
{
	uint8_t *behind = sector + HZ_SECTOR_BYTES;

	if (req->protect & FTL_MOVED)
		memcpy(behind, req->sgl.memory[index] + HZ_SECTOR_BYTES, HZ_TUPLE_BYTES);
	else if (!(req->protect & FTL_HOST_TUPLES))
		hz_tuple_store(behind, tuple_made(req, index, sector));
	else if (req->tuples)
		hz_tuple_store(behind, host_tuple_landed(req, index));
	else
		memset(behind, 0, HZ_TUPLE_BYTES);
}

uint16_t protect_check(const struct ftl_request *req, uint32_t index, const uint8_t *sector)
{
	struct hz_tuple expected = { 0, req->expected.application, req->expected.reference + index };
	uint16_t status;

	clock_freeze();
	if (req->protect & HZ_CHECK_GUARD) {
		boundary_work(WORK_GUARD, 1, 0);
		expected.guard = hz_crc16(0, sector, HZ_SECTOR_BYTES);
	}
	status = hz_tuple_check(hz_tuple_load(sector + HZ_SECTOR_BYTES), expected, req->protect, req->tag_mask);
	clock_thaw();
	return status;
}

void protect_answer(const struct ftl_request *req, uint32_t index, const uint8_t *sector)
{
	clock_freeze();
	memcpy(host_tuple(req, index), sector + HZ_SECTOR_BYTES, HZ_TUPLE_BYTES);
	clock_thaw();
}

void protect_unwritten(const struct ftl_request *req, uint32_t index, uint32_t sectors)
{
	clock_freeze();
	memset(host_tuple(req, index), 0xff, sectors * HZ_TUPLE_BYTES);
	clock_thaw();
}
