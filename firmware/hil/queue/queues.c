/* Queue objects: creation, deletion, and what a controller reset leaves. Commands validate before they call. */
#include "hil/controller/hil_state.h"

static uint64_t io_bit(unsigned id) { return 1ull << (id - 1); }

void hil_cq_create(struct hil *hil, unsigned id, uint8_t *ring, uint32_t depth, bool interrupt, unsigned vector)
{
	struct completion_queue *cq = &hil->cq[id];

	*cq = (struct completion_queue){ .clock = &hil->clock[id], .hil = hil, .id = (uint16_t)id, .vector = (uint16_t)vector,
					 .live = true, .interrupt = interrupt };
	cq->parked_last = &cq->parked_first;
	completion_ring_init(&cq->ring, ring, depth);
	clock_freeze();
	host_store64(&cq->clock->completed, 0);
	clock_thaw();
}

void hil_sq_create(struct hil *hil, unsigned id, unsigned cqid, uint8_t *ring, uint32_t depth)
{
	struct submission_queue *sq = &hil->sq[id];

	*sq = (struct submission_queue){ .ring = (const struct nvme_sqe *)ring, .clock = &hil->clock[id], .cq = &hil->cq[cqid],
					 .depth = depth, .id = (uint16_t)id, .live = true };
	sq->cq->submission_queues++;
	if (id == 0)
		return;
	clock_freeze();
	host_store32(&sq->clock->broken, 0);
	clock_thaw();
	sq->worker = (uint16_t)((id - 1) % hil->cfg->worker_count);
	hil->live_mask |= io_bit(id);
}

/* No further command is taken from it; those in flight go on. */
void hil_sq_retire(struct hil *hil, struct submission_queue *sq)
{
	hil->live_mask &= ~io_bit(sq->id);
	hil->ready_mask &= ~io_bit(sq->id);
	hil_horizon_detach(hil, sq);
}

void hil_sq_delete(struct submission_queue *sq)
{
	sq->live = sq->deleting = false;
	sq->cq->submission_queues--;
}

void hil_cq_delete(struct hil *hil, struct completion_queue *cq)
{
	lt_timer_cancel(&cq->retry);
	hil->parked_mask &= cq->id ? ~io_bit(cq->id) : hil->parked_mask;
	cq->live = false;
}

static void drop_parked(struct hil *hil, struct completion_queue *cq)
{
	cq->parked_last = &cq->parked_first;
	while (cq->parked_first) {
		struct command *command = cq->parked_first;

		cq->parked_first = command->next;
		hil->parked--;
		hil_command_free(hil, command);
	}
}

/* Nothing is in flight but parked completions, which nobody will fetch any more. */
void hil_queues_clear(struct hil *hil)
{
	for (unsigned id = 0; id < QUEUES; id++) {
		if (hil->sq[id].live && id)
			hil_sq_retire(hil, &hil->sq[id]);
		hil->sq[id].live = hil->sq[id].deleting = false;
		if (!hil->cq[id].live)
			continue;
		drop_parked(hil, &hil->cq[id]);
		hil_cq_delete(hil, &hil->cq[id]);
	}
	hil->live_mask = hil->ready_mask = 0;
	hil->shadow_doorbells = hil->shadow_events = NULL;
	hil->admin_wanted = false;
	hil->answers.count = 0;
}
