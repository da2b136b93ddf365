/* Doorbells under the real clock: registers over the link, or the shadow buffer (Doorbell Buffer Config, base spec 5.8).
 *
 * A queue whose doorbell or clock record says something impossible is broken: it is reported once and then ignored until it is
 * deleted. */
#include "hil/controller/hil_state.h"
#include "lt/hart.h"

enum { BUSY_TURNS = 200, CALM_TURNS = 2000, NAP_NS = 50000, LONG_NAP_NS = 500000 };

/* Its host thread may be waiting for a completion that will not come. */
void hil_sq_break(struct hil *hil, struct submission_queue *sq)
{
	sq->broken = true;
	hil_sq_retire(hil, sq);
	host_store32(&sq->clock->broken, 1);
	host_fence();
	hil->port.host_wake(hil->port.ctx, sq->id);
	async_event_raise(hil, NVME_AEN_ERROR, NVME_AEN_ERROR_INVALID_DOORBELL_VALUE);
}

static void cq_break(struct hil *hil, struct completion_queue *cq)
{
	if (!cq->broken)
		async_event_raise(hil, NVME_AEN_ERROR, NVME_AEN_ERROR_INVALID_DOORBELL_VALUE);
	cq->broken = true;
}

/* Admin queue's tail, or a tail that is checked when it is looked at. */
static void ring_sq(struct hil *hil, struct submission_queue *sq, uint32_t value)
{
	if (sq->broken)
		return;
	if (value >= sq->depth) {
		if (sq->id)
			hil_sq_break(hil, sq);
		else
			async_event_raise(hil, NVME_AEN_ERROR, NVME_AEN_ERROR_INVALID_DOORBELL_VALUE);
		return;
	}
	sq->doorbell = value;
	hil->admin_wanted |= sq->id == 0;
}

static void ring_cq(struct hil *hil, struct completion_queue *cq, uint32_t value)
{
	uint32_t before = cq->doorbell;

	cq->doorbell = value;
	if (cq->id)
		return; /* looked at when room is wanted */
	if (!completion_ring_free_to(&cq->ring, value)) {
		cq->doorbell = before;
		async_event_raise(hil, NVME_AEN_ERROR, NVME_AEN_ERROR_INVALID_DOORBELL_VALUE);
	}
	hil->admin_wanted = true; /* answers may have waited for room */
}

void hil_doorbell_register(struct hil *hil, unsigned id, bool is_cq, uint32_t value)
{
	if (hil->life != LIFE_READY)
		return;
	if (is_cq ? !hil->cq[id].live : !hil->sq[id].live)
		async_event_raise(hil, NVME_AEN_ERROR, NVME_AEN_ERROR_INVALID_DOORBELL_REGISTER);
	else if (is_cq)
		ring_cq(hil, &hil->cq[id], value);
	else
		ring_sq(hil, &hil->sq[id], value);
}

uint32_t hil_sq_tail(struct hil *hil, const struct submission_queue *sq)
{
	return hil->shadow_doorbells ? host_load32(&hil->shadow_doorbells[2 * sq->id]) : sq->doorbell;
}

static bool progress_by_doorbell(struct hil *hil, struct completion_queue *cq)
{
	uint32_t head = hil->shadow_doorbells ? host_load32(&hil->shadow_doorbells[2 * cq->id + 1]) : cq->doorbell;

	return completion_ring_free_to(&cq->ring, head);
}

bool hil_cq_progress(struct hil *hil, struct completion_queue *cq)
{
	if (cq->broken)
		return false;
	if (progress_by_doorbell(hil, cq))
		return true;
	cq_break(hil, cq);
	return false;
}

static void look_at(struct hil *hil, struct submission_queue *sq)
{
	uint32_t tail = hil_sq_tail(hil, sq);

	if (tail >= sq->depth)
		hil_sq_break(hil, sq);
	else if (tail != sq->head)
		hil->ready_mask |= 1ull << (sq->id - 1);
	else
		hil->ready_mask &= ~(1ull << (sq->id - 1));
}

bool hil_doorbells_poll(struct hil *hil)
{
	for (uint64_t rest = hil->live_mask; rest; rest &= rest - 1)
		look_at(hil, &hil->sq[__builtin_ctzll(rest) + 1]);
	for (uint64_t rest = hil->parked_mask; rest; rest &= rest - 1)
		hil_unpark(hil, &hil->cq[__builtin_ctzll(rest) + 1]);
	return true;
}

/* EventIdx: "ring the register when you pass this tail". Then look again, since the host may have passed it meanwhile. */
static void announce_sleep(struct hil *hil)
{
	if (!hil->shadow_events)
		return;
	for (uint64_t rest = hil->live_mask; rest; rest &= rest - 1) {
		struct submission_queue *sq = &hil->sq[__builtin_ctzll(rest) + 1];

		host_store32(&hil->shadow_events[2 * sq->id], sq->head);
	}
	host_fence();
	hil_doorbells_poll(hil);
}

/* Nothing tells us of a doorbell while we sleep, so naps are short: first none, then 50 us, then 500 us. */
void hil_doorbells_idle(struct hil *hil, uint64_t deadline_ns)
{
	uint64_t until_ns;

	if (++hil->quiet_turns < BUSY_TURNS)
		return;
	if (hil->quiet_turns == BUSY_TURNS)
		announce_sleep(hil);
	if (hil->ready_mask)
		return;
	until_ns = clock_now_ns() + (hil->quiet_turns < CALM_TURNS ? NAP_NS : LONG_NAP_NS);
	lt_hart_wait(until_ns < deadline_ns ? until_ns : deadline_ns);
}
