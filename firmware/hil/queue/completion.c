/* Completions: from the FTL's answer to the entry in the host's completion queue, at the time when the data has crossed the link. */
#include "hil/controller/hil_state.h"

enum { RETRY_NS = 100000 }; /* a full queue that is not open: nobody says when it will be read */

static struct command *command_of(struct ftl_request *req)
{
	return (struct command *)((char *)req - offsetof(struct command, req));
}

void hil_command_free(struct hil *hil, struct command *command)
{
	command->next = hil->pool;
	hil->pool = command;
	hil->outstanding--;
}

/* The host sleeps or polls on `completed`; whether it does is no part of device time. */
static void tell_host(struct hil *hil, struct completion_queue *cq)
{
	clock_freeze();
	host_store64(&cq->clock->completed, cq->ring.posted);
	host_fence();
	if (host_load32(&cq->clock->waiters)) {
		host_store32(&cq->clock->waiters, 0);
		hil->port.host_wake(hil->port.ctx, cq->id);
	}
	if (cq->interrupt)
		hil->irq_pending[cq->vector >> 6] |= 1ull << (cq->vector & 63);
	clock_thaw();
}

void hil_post(struct hil *hil, struct submission_queue *sq, uint16_t cid, uint16_t status, uint64_t result)
{
	struct completion_queue *cq = sq->cq;
	struct nvme_cqe cqe = { .dw0 = (uint32_t)result, .dw1 = (uint32_t)(result >> 32), .sq_head = (uint16_t)sq->head,
				.sq_id = sq->id, .cid = cid, .status = status };

	host_store64(&cq->clock->completed_ns[cq->ring.tail],
		     clock_now_ns() + hil->cfg->completion_ns + hil->cfg->interrupt_ns);
	completion_ring_post(&cq->ring, &cqe);
	tell_host(hil, cq);
}

/* Real clock: the host's head doorbell. Virtual clock: an entry is free when its host thread can have read it at the earliest, in
 * device time, and really has; so a full queue delays a completion by the same time on every host. */
static bool make_room(struct hil *hil, struct completion_queue *cq)
{
	struct completion_ring *ring = &cq->ring;
	uint64_t free_ns;
	bool seen;

	if (!hil->virtual_clock)
		return hil_cq_progress(hil, cq) && !completion_ring_full(ring);
	free_ns = host_load64(&cq->clock->completed_ns[ring->head]) + host_load32(&cq->clock->turnaround_ns);
	if (free_ns > clock_now_ns() && free_ns <= HZ_ARRIVAL_MOST_NS) { /* it lies in the host's memory: no longer a time, perhaps */
		lt_timer_arm(&cq->retry, free_ns, hil_cq_retry);
		return false;
	}
	clock_freeze();
	seen = hil_horizon_await_seen(hil, cq, ring->freed);
	clock_thaw();
	if (!seen && hil->life == LIFE_READY)
		lt_timer_arm(&cq->retry, clock_now_ns() + RETRY_NS, hil_cq_retry);
	return seen && completion_ring_free_count(ring, ring->freed + 1);
}

static void park(struct hil *hil, struct command *command)
{
	struct completion_queue *cq = command->sq->cq;

	command->next = NULL;
	*cq->parked_last = command;
	cq->parked_last = &command->next;
	hil->parked_mask |= 1ull << (cq->id - 1);
	hil->parked++;
}

static void count(struct hil *hil, const struct ftl_request *req)
{
	if (req->status)
		return;
	if (req->op == FTL_READ) {
		hil->counters.reads++;
		hil->counters.read_sectors += req->sectors;
	} else if (req->op == FTL_WRITE || req->op == FTL_APPEND) {
		hil->counters.writes++;
		hil->counters.written_sectors += req->sectors;
	}
}

/* Room is there: the command ends. */
static void finish(struct hil *hil, struct command *command)
{
	struct submission_queue *sq = command->sq;
	uint16_t status = command->req.status;

	if (status)
		hil_log_error(hil, sq->id, command->cid, status, command->req.lba, 1);
	count(hil, &command->req);
	hil_post(hil, sq, command->cid, status, command->req.op == FTL_APPEND && !status ? command->req.result : 0);
	sq->outstanding--;
	hil_command_free(hil, command);
	if (hil->virtual_clock && (hil->open_mask & ~hil->ready_mask & 1ull << (sq->id - 1))) {
		clock_freeze();
		hil_horizon_update(hil, sq);
		clock_thaw();
	}
	if (sq->deleting)
		hil_sq_drained(hil, sq);
	if (hil->shutdown != SHUTDOWN_NONE)
		hil_life_step(hil);
}

/* The controller was reset or is shutting down: nobody reads the answer. */
static void discard(struct hil *hil, struct command *command)
{
	hil_command_free(hil, command);
	hil_life_step(hil);
}

void hil_complete(struct command *command)
{
	struct hil *hil = command->hil;
	struct completion_queue *cq = command->sq->cq;
	bool room = hil->life == LIFE_READY && !cq->parked_first && (!completion_ring_full(&cq->ring) || make_room(hil, cq));

	if (hil->life != LIFE_READY) {
		discard(hil, command);
	} else if (room) {
		finish(hil, command);
	} else {
		park(hil, command);
		if (hil->shutdown != SHUTDOWN_NONE)
			hil_life_step(hil);
	}
}

void hil_unpark(struct hil *hil, struct completion_queue *cq)
{
	while (cq->parked_first && (!completion_ring_full(&cq->ring) || make_room(hil, cq))) {
		struct command *command = cq->parked_first;

		cq->parked_first = command->next;
		if (!cq->parked_first) {
			cq->parked_last = &cq->parked_first;
			hil->parked_mask &= ~(1ull << (cq->id - 1));
		}
		hil->parked--;
		finish(hil, command);
	}
}

void hil_cq_retry(struct lt_timer *timer)
{
	struct completion_queue *cq = (struct completion_queue *)((char *)timer - offsetof(struct completion_queue, retry));

	hil_unpark(cq->hil, cq);
}

static void on_ready(struct lt_timer *timer)
{
	hil_complete((struct command *)((char *)timer - offsetof(struct command, timer)));
}

void hil_ftl_done(struct ftl_request *req)
{
	struct command *command = command_of(req);

	if (req->ready_ns > clock_now_ns() && command->hil->life == LIFE_READY)
		lt_timer_arm(&command->timer, req->ready_ns, on_ready);
	else
		hil_complete(command);
}

void hil_drop_ready(struct hil *hil)
{
	for (uint32_t i = 0; i < hil->cfg->inflight_requests; i++) {
		struct command *command = &hil->command[i];

		if (!command->timer.slot)
			continue;
		lt_timer_cancel(&command->timer);
		hil_command_free(hil, command);
	}
}
