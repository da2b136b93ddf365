/* Create and delete I/O queues, Doorbell Buffer Config (base spec 5.4 to 5.8). */
#include "hil/controller/hil_state.h"

enum { BAD_FIELD = NVME_INVALID_FIELD | NVME_DNR, IOSQES = 6, IOCQES = 4 };

struct queue_fields { unsigned id; uint32_t depth; uint64_t base; uint32_t cdw11; };

static struct queue_fields fields_of(const struct nvme_sqe *sqe)
{
	return (struct queue_fields){ .id = sqe->cdw10 & 0xffff, .depth = (sqe->cdw10 >> 16) + 1, .base = sqe->prp1, .cdw11 = sqe->cdw11 };
}

/* What both kinds of queue share. CC names the entry size too, else no queue can be made. */
static uint16_t check_place(const struct hil *hil, const struct queue_fields *f, unsigned entry_log2, uint32_t cc_field)
{
	if (f->depth < 2 || f->depth > HZ_MAX_QUEUE_DEPTH || cc_field != entry_log2)
		return NVME_QUEUE_SIZE | NVME_DNR;
	if (!(f->cdw11 & NVME_QUEUE_CONTIGUOUS)) /* CAP.CQR = 1 */
		return BAD_FIELD;
	if (f->base & (HZ_SECTOR_BYTES - 1))
		return NVME_PRP_OFFSET_INVALID | NVME_DNR;
	return host_bus_holds(&hil->limits.bus, f->base, (uint64_t)f->depth << entry_log2) ? NVME_SUCCESS : BAD_FIELD;
}

static bool id_possible(const struct hil *hil, unsigned id) { return id > 0 && id <= hil->queues_allowed; }

uint16_t hil_admin_create_cq(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	struct queue_fields f = fields_of(sqe);
	uint32_t vector = f.cdw11 >> 16;
	uint16_t status;

	(void)result;
	if (!id_possible(hil, f.id) || hil->cq[f.id].live)
		return NVME_QID_INVALID | NVME_DNR;
	status = check_place(hil, &f, IOCQES, hil->reg.cc >> NVME_CC_IOCQES_SHIFT & 15);
	if (status)
		return status;
	if (vector >= VECTORS)
		return NVME_INTERRUPT_VECTOR | NVME_DNR;
	hil_cq_create(hil, f.id, hil->limits.bus.base + f.base, f.depth, f.cdw11 & NVME_QUEUE_INTERRUPT, vector);
	return NVME_SUCCESS;
}

uint16_t hil_admin_create_sq(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	struct queue_fields f = fields_of(sqe);
	unsigned cqid = f.cdw11 >> 16;
	uint16_t status;

	(void)result;
	if (!id_possible(hil, f.id) || hil->sq[f.id].live || !id_possible(hil, cqid))
		return NVME_QID_INVALID | NVME_DNR;
	if (!hil->cq[cqid].live)
		return NVME_CQ_INVALID | NVME_DNR;
	status = check_place(hil, &f, IOSQES, hil->reg.cc >> NVME_CC_IOSQES_SHIFT & 15);
	if (status)
		return status;
	hil_sq_create(hil, f.id, cqid, hil->limits.bus.base + f.base, f.depth);
	return NVME_SUCCESS;
}

void hil_sq_drained(struct hil *hil, struct submission_queue *sq)
{
	if (sq->outstanding)
		return;
	hil_sq_delete(sq);
	hil_admin_answer(hil, sq->delete_cid, NVME_SUCCESS, 0);
}

/* Commands that were not fetched are dropped, those in flight complete first (base spec 5.6). */
uint16_t hil_admin_delete_sq(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	unsigned id = sqe->cdw10 & 0xffff;
	struct submission_queue *sq = &hil->sq[id < QUEUES ? id : 0];

	if (!id_possible(hil, id) || !sq->live || sq->deleting)
		return NVME_QID_INVALID | NVME_DNR;
	hil_sq_retire(hil, sq);
	sq->deleting = true;
	sq->delete_cid = sqe->cid;
	result->later = true;
	hil_sq_drained(hil, sq);
	return NVME_SUCCESS;
}

uint16_t hil_admin_delete_cq(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	unsigned id = sqe->cdw10 & 0xffff;

	(void)result;
	if (!id_possible(hil, id) || !hil->cq[id].live)
		return NVME_QID_INVALID | NVME_DNR;
	if (hil->cq[id].submission_queues)
		return NVME_QUEUE_DELETION | NVME_DNR;
	hil_cq_delete(hil, &hil->cq[id]);
	return NVME_SUCCESS;
}

/* PRP1: shadow doorbells, PRP2: EventIdx, a page each. The admin queue stays with its registers. */
uint16_t hil_admin_dbbuf(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	uint8_t *base = hil->limits.bus.base;

	(void)result;
	if ((sqe->prp1 | sqe->prp2) & (HZ_SECTOR_BYTES - 1))
		return BAD_FIELD;
	if (!host_bus_holds(&hil->limits.bus, sqe->prp1, HZ_SECTOR_BYTES) ||
	    !host_bus_holds(&hil->limits.bus, sqe->prp2, HZ_SECTOR_BYTES))
		return BAD_FIELD;
	hil->shadow_doorbells = (uint32_t *)(base + sqe->prp1);
	hil->shadow_events = (uint32_t *)(base + sqe->prp2);
	return NVME_SUCCESS;
}
