/* Admin queue: takes commands, sends them to their handlers, posts their completions. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/controller/admin.h"

#include "hil/controller/admin_events.h"
#include "hil/controller/admin_features.h"
#include "hil/controller/admin_queues.h"
#include "hil/controller/get_log.h"
#include "hil/controller/hil_state.h"
#include "hil/controller/identify.h"
#include "hil/controller/namespace_change.h"
#include "hil/controller/reset_stats.h"

enum { ADMIN_BATCH = 8 };

static admin_handler *handler_of(uint8_t opcode)
{
	switch (opcode) {
	case NVME_ADMIN_IDENTIFY: return admin_identify;
	case NVME_ADMIN_GET_LOG_PAGE: return admin_get_log;
	case NVME_ADMIN_GET_FEATURES: return admin_get_features;
	case NVME_ADMIN_SET_FEATURES: return admin_set_features;
	case NVME_ADMIN_CREATE_SQ: return admin_create_sq;
	case NVME_ADMIN_CREATE_CQ: return admin_create_cq;
	case NVME_ADMIN_DELETE_SQ: return admin_delete_sq;
	case NVME_ADMIN_DELETE_CQ: return admin_delete_cq;
	case NVME_ADMIN_DBBUF: return admin_dbbuf;
	case NVME_ADMIN_ABORT: return admin_abort;
	case NVME_ADMIN_ASYNC_EVENT: return admin_async_event;
	case NVME_ADMIN_NAMESPACE_MANAGEMENT: return admin_namespace_management;
	case NVME_ADMIN_NAMESPACE_ATTACHMENT: return admin_namespace_attachment;
	case NVME_ADMIN_HZ_RESET_STATS: return admin_reset_stats;
	default: return NULL;
	}
}

static uint16_t execute_admin(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	admin_handler *handler = handler_of(sqe->opcode);

	if (!handler)
		return NVME_INVALID_OPCODE | NVME_DNR;
	if (sqe->flags & (NVME_SQE_FUSE_MASK | NVME_SQE_PSDT_MASK))
		return NVME_INVALID_FIELD | NVME_DNR;
	return handler(hil, sqe, result);
}

static void run_admin_command(struct hil *hil)
{
	struct submission_queue *sq = &hil->group.queues.sq[0];
	struct nvme_sqe sqe = sq->ring[sq->head];
	struct admin_result result = { 0 };
	uint16_t status;

	sq->head = sq->head + 1 == sq->depth ? 0 : sq->head + 1;
	status = execute_admin(hil, &sqe, &result);
	if (status)
		error_log_add(&hil->errors, 0, sqe.cid, status, 0, sqe.nsid);
	if (status || !result.later)
		completion_post(&hil->group.completion, sq, sqe.cid, status, result.dw0, 0);
}

/* A full completion queue stops the admin queue; its head doorbell sets admin_wanted again. So do many rounds over the harts that wait, and
 * a change of the namespaces; the end of one sets it again. */
static bool admin_may_take(struct hil *hil)
{
	return admin_has_room(&hil->group.queues) && !hart_pings_full(&hil->pings) && !hil->change.busy;
}

bool admin_run(struct hil *hil)
{
	struct queues *queues = &hil->group.queues;
	const struct submission_queue *sq = &queues->sq[0];
	unsigned taken = 0;
	bool worked;

	if (!life_is_ready(&hil->life)) {
		queues->admin_wanted = false;
		return false;
	}
	worked = admin_answers_post(&hil->answers, &hil->group.completion);
	while (taken < ADMIN_BATCH && sq->head != sq->doorbell && admin_may_take(hil)) {
		run_admin_command(hil);
		taken++;
	}
	queues->admin_wanted = (admin_may_take(hil) && sq->head != sq->doorbell) || (admin_has_room(queues) && hil->answers.count);
	return worked || taken;
}
