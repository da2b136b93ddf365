/* Create and delete I/O queues, Doorbell Buffer Config. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/controller/admin_queues.h"

#include "hil/controller/hil_state.h"

enum { BAD_FIELD = NVME_INVALID_FIELD | NVME_DNR, IOSQES = 6, IOCQES = 4 };

struct queue_fields {
	unsigned id;
	uint32_t depth;
	uint64_t base;
	uint32_t cdw11;
};

static struct queue_fields fields_of(const struct nvme_sqe *sqe)
{
	return (struct queue_fields){ .id = sqe->cdw10 & 0xffff, .depth = (sqe->cdw10 >> 16) + 1, .base = sqe->prp1, .cdw11 = sqe->cdw11 };
}

/* What both kinds of queue share. CC names the entry size too, else no queue can be made. */
static uint16_t check_queue_place(const struct hil *hil, const struct queue_fields *f, unsigned entry_log2, uint32_t cc_field)
{
	if (f->depth < 2 || f->depth > HZ_MAX_QUEUE_DEPTH || cc_field != entry_log2)
		return NVME_QUEUE_SIZE | NVME_DNR;
	if (!(f->cdw11 & NVME_QUEUE_CONTIGUOUS)) /* CAP.CQR = 1 */
		return BAD_FIELD;
	if (f->base & (HZ_SECTOR_BYTES - 1))
		return NVME_PRP_OFFSET_INVALID | NVME_DNR;
	return host_bus_holds(&hil->bus, f->base, (uint64_t)f->depth << entry_log2) ? NVME_SUCCESS : BAD_FIELD;
}

static bool id_possible(const struct hil *hil, unsigned id) { return id > 0 && id <= hil->queues_allowed; }

uint16_t admin_create_cq(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	struct queue_fields f = fields_of(sqe);
	uint32_t vector = f.cdw11 >> 16;
	uint16_t status;

	(void)result;
	if (!id_possible(hil, f.id) || hil->group.queues.cq[f.id].live)
		return NVME_QID_INVALID | NVME_DNR;
	status = check_queue_place(hil, &f, IOCQES, hil->reg.cc >> NVME_CC_IOCQES_SHIFT & 15);
	if (status)
		return status;
	if (vector >= VECTORS)
		return NVME_INTERRUPT_VECTOR | NVME_DNR;
	queues_add_cq(&hil->group.queues, f.id, hil->bus.base + f.base, f.depth, f.cdw11 & NVME_QUEUE_INTERRUPT, vector);
	return NVME_SUCCESS;
}

uint16_t admin_create_sq(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	struct queue_fields f = fields_of(sqe);
	unsigned cqid = f.cdw11 >> 16;
	uint16_t status;

	(void)result;
	if (!id_possible(hil, f.id) || hil->group.queues.sq[f.id].live || !id_possible(hil, cqid))
		return NVME_QID_INVALID | NVME_DNR;
	if (!hil->group.queues.cq[cqid].live)
		return NVME_CQ_INVALID | NVME_DNR;
	status = check_queue_place(hil, &f, IOSQES, hil->reg.cc >> NVME_CC_IOSQES_SHIFT & 15);
	if (status)
		return status;
	queues_add_sq(&hil->group.queues, f.id, cqid, hil->bus.base + f.base, f.depth);
	return NVME_SUCCESS;
}

void admin_sq_drained(struct hil *hil, struct submission_queue *sq)
{
	queues_remove_sq(sq);
	admin_answer(&hil->answers, sq->delete_cid, NVME_SUCCESS, 0);
}

/* Commands that were not fetched are dropped, those in flight complete first (base spec 5.6). */
uint16_t admin_delete_sq(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	unsigned id = sqe->cdw10 & 0xffff;
	struct submission_queue *sq = &hil->group.queues.sq[id < QUEUES ? id : 0];

	if (!id_possible(hil, id) || !sq->live || sq->deleting)
		return NVME_QID_INVALID | NVME_DNR;
	queues_retire(&hil->group.queues, sq);
	sq->deleting = true;
	sq->delete_cid = sqe->cid;
	result->later = true;
	if (!sq->outstanding)
		admin_sq_drained(hil, sq);
	return NVME_SUCCESS;
}

uint16_t admin_delete_cq(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	unsigned id = sqe->cdw10 & 0xffff;

	(void)result;
	if (!id_possible(hil, id) || !hil->group.queues.cq[id].live)
		return NVME_QID_INVALID | NVME_DNR;
	if (hil->group.queues.cq[id].submission_queues)
		return NVME_QUEUE_DELETION | NVME_DNR;
	queues_remove_cq(&hil->group.queues, &hil->group.queues.cq[id]);
	return NVME_SUCCESS;
}

/* PRP1: shadow doorbells, PRP2: EventIdx, a page each. The admin queue stays with its registers. */
uint16_t admin_dbbuf(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	uint8_t *base = hil->bus.base;

	(void)result;
	if ((sqe->prp1 | sqe->prp2) & (HZ_SECTOR_BYTES - 1))
		return BAD_FIELD;
	if (!host_bus_holds(&hil->bus, sqe->prp1, HZ_SECTOR_BYTES) || !host_bus_holds(&hil->bus, sqe->prp2, HZ_SECTOR_BYTES))
		return BAD_FIELD;
	hil->group.queues.shadow_doorbells = (uint32_t *)(base + sqe->prp1);
	hil->group.queues.shadow_events = (uint32_t *)(base + sqe->prp2);
	return NVME_SUCCESS;
}
