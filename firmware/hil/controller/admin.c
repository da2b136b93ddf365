/* Admin queue: takes commands, sends them to their handlers, posts their completions. */
#include "hil/controller/hil_state.h"

enum { BATCH = 8 };

static admin_handler *handler_of(uint8_t opcode)
{
	switch (opcode) {
	case NVME_ADMIN_IDENTIFY: return hil_admin_identify;
	case NVME_ADMIN_GET_LOG_PAGE: return hil_admin_get_log;
	case NVME_ADMIN_GET_FEATURES: return hil_admin_get_features;
	case NVME_ADMIN_SET_FEATURES: return hil_admin_set_features;
	case NVME_ADMIN_CREATE_SQ: return hil_admin_create_sq;
	case NVME_ADMIN_CREATE_CQ: return hil_admin_create_cq;
	case NVME_ADMIN_DELETE_SQ: return hil_admin_delete_sq;
	case NVME_ADMIN_DELETE_CQ: return hil_admin_delete_cq;
	case NVME_ADMIN_DBBUF: return hil_admin_dbbuf;
	case NVME_ADMIN_ABORT: return hil_admin_abort;
	case NVME_ADMIN_ASYNC_EVENT: return hil_admin_async_event;
	case NVME_ADMIN_HZ_RESET_STATS: return hil_admin_reset_stats;
	default: return NULL;
	}
}

uint16_t hil_admin_send(struct hil *hil, const struct nvme_sqe *sqe, const void *data, uint32_t bytes)
{
	uint8_t *pages[PRP_MAX_PAGES];
	struct sgl sgl;
	uint16_t status = prp_parse(&hil->limits.bus, sqe->prp1, sqe->prp2, bytes, pages, &sgl);

	if (status == NVME_SUCCESS)
		sgl_write(&sgl, 0, data, bytes);
	return status;
}

/* The ring of late answers is as long as everything that may be late: deletions, events, one round over the harts. */
void hil_admin_answer(struct hil *hil, uint16_t cid, uint16_t status, uint64_t result)
{
	struct admin_answers *answers = &hil->answers;
	uint32_t capacity = sizeof(answers->cqe) / sizeof(answers->cqe[0]);
	uint32_t at = answers->head + answers->count;

	if (answers->count == capacity)
		lt_fail("hil_admin_answer: more late answers than commands that can be late");
	answers->cqe[at < capacity ? at : at - capacity] = (struct nvme_cqe){
		.cid = cid, .status = status, .dw0 = (uint32_t)result, .dw1 = (uint32_t)(result >> 32),
	};
	answers->count++;
	hil->admin_wanted = true;
}

static bool admin_room(const struct hil *hil)
{
	return !completion_ring_full(&hil->cq[0].ring);
}

static bool post_late_answers(struct hil *hil)
{
	struct admin_answers *answers = &hil->answers;
	bool posted = false;

	while (answers->count && admin_room(hil)) {
		const struct nvme_cqe *cqe = &answers->cqe[answers->head];

		hil_post(hil, &hil->sq[0], cqe->cid, cqe->status, cqe->dw0 | (uint64_t)cqe->dw1 << 32);
		answers->head = answers->head + 1 == sizeof(answers->cqe) / sizeof(answers->cqe[0]) ? 0 : answers->head + 1;
		answers->count--;
		posted = true;
	}
	return posted;
}

static uint16_t execute(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	admin_handler *handler = handler_of(sqe->opcode);

	if (!handler)
		return NVME_INVALID_OPCODE | NVME_DNR;
	if (sqe->flags & (NVME_SQE_FUSE_MASK | NVME_SQE_PSDT_MASK))
		return NVME_INVALID_FIELD | NVME_DNR;
	return handler(hil, sqe, result);
}

static void run_one(struct hil *hil)
{
	struct submission_queue *sq = &hil->sq[0];
	struct nvme_sqe sqe = sq->ring[sq->head];
	struct admin_result result = { 0 };
	uint16_t status;

	sq->head = sq->head + 1 == sq->depth ? 0 : sq->head + 1;
	status = execute(hil, &sqe, &result);
	if (status)
		hil_log_error(hil, 0, sqe.cid, status, 0, sqe.nsid);
	if (status || !result.later)
		hil_post(hil, sq, sqe.cid, status, result.dw0);
}

/* A full completion queue stops the admin queue; its head doorbell sets admin_wanted again. */
bool hil_admin_run(struct hil *hil)
{
	const struct submission_queue *sq = &hil->sq[0];
	unsigned taken = 0;
	bool worked;

	if (hil->life != LIFE_READY) {
		hil->admin_wanted = false;
		return false;
	}
	worked = post_late_answers(hil);
	while (taken < BATCH && sq->head != sq->doorbell && admin_room(hil)) {
		run_one(hil);
		taken++;
	}
	hil->admin_wanted = admin_room(hil) && (sq->head != sq->doorbell || hil->answers.count);
	return worked || taken;
}
