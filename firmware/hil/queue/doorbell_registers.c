/* Doorbell registers. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/queue/doorbell_registers.h"

static void report_doorbell(struct queues *queues, enum nvme_async_event information)
{
	queues->client->bad_doorbell(queues->client->ctx, information);
}

/* Admin queue's tail, or a tail that is checked when it is looked at. */
static void ring_sq(struct queues *queues, struct submission_queue *sq, uint32_t value)
{
	if (sq->broken)
		return;
	if (value >= sq->depth) {
		if (sq->id)
			queues_break_sq(queues, sq);
		else
			report_doorbell(queues, NVME_AEN_ERROR_INVALID_DOORBELL_VALUE);
		return;
	}
	sq->doorbell = value;
	queues->admin_wanted |= sq->id == 0;
}

static void ring_cq(struct queues *queues, struct completion_queue *cq, uint32_t value)
{
	uint32_t before = cq->doorbell;

	cq->doorbell = value;
	if (cq->id)
		return; /* looked at when room is wanted */
	if (!completion_ring_free_to(&cq->ring, value)) {
		cq->doorbell = before;
		report_doorbell(queues, NVME_AEN_ERROR_INVALID_DOORBELL_VALUE);
	}
	queues->admin_wanted = true; /* answers may have waited for room */
}

void doorbell_write(struct queues *queues, unsigned id, bool is_cq, uint32_t value)
{
	if (is_cq ? !queues->cq[id].live : !queues->sq[id].live)
		report_doorbell(queues, NVME_AEN_ERROR_INVALID_DOORBELL_REGISTER);
	else if (is_cq)
		ring_cq(queues, &queues->cq[id], value);
	else
		ring_sq(queues, &queues->sq[id], value);
}
