/* Queues: creation, deletion, rings, doorbell registers, and the controller's life. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/queue/queues.h"

#include "hil/queue/relay.h"
#include "lt/arch.h"

/* The controller's life: legal successors of each state. */

void life_set(struct life *life, enum life_state to)
{
	static const uint8_t may_follow[] = {
		[LIFE_DISABLED] = 1 << LIFE_READY | 1 << LIFE_FAILED,
		[LIFE_READY] = 1 << LIFE_RESETTING,
		[LIFE_RESETTING] = 1 << LIFE_DISABLED,
		[LIFE_FAILED] = 1 << LIFE_DISABLED,
	};

	if (!(may_follow[life->state] >> to & 1))
		lt_fail("life_set: impossible change of the controller's life");
	life->state = to;
}

/* Completion queue ring. */

void completion_ring_init(struct completion_ring *ring, void *slots, uint32_t depth)
{
	*ring = (struct completion_ring){ .slot = slots, .depth = depth, .phase = 1 };
}

HZ_FROZEN void completion_ring_post(struct completion_ring *ring, const struct nvme_cqe *cqe)
{
	uint32_t *to = (uint32_t *)&ring->slot[ring->tail];

	to[0] = cqe->dw0;
	to[1] = cqe->dw1;
	to[2] = cqe->sq_head | (uint32_t)cqe->sq_id << 16;
	host_store32(&to[3], cqe->cid | (uint32_t)(cqe->status << 1 | ring->phase) << 16);
	ring->posted++;
	if (++ring->tail == ring->depth) {
		ring->tail = 0;
		ring->phase ^= 1;
	}
}

void completion_ring_pass(struct completion_ring *ring, uint32_t entries)
{
	ring->posted += entries;
	ring->tail += entries;
	if (ring->tail >= ring->depth) {
		ring->tail -= ring->depth;
		ring->phase ^= 1;
	}
}

static void ring_advance(struct completion_ring *ring, uint32_t entries)
{
	ring->freed += entries;
	ring->head += entries;
	if (ring->head >= ring->depth)
		ring->head -= ring->depth;
}

bool completion_ring_free_to(struct completion_ring *ring, uint32_t head)
{
	uint32_t entries = head >= ring->head ? head - ring->head : head + ring->depth - ring->head;

	if (head >= ring->depth || entries > ring->posted - ring->freed)
		return false;
	ring_advance(ring, entries);
	return true;
}

bool completion_ring_free_count(struct completion_ring *ring, uint64_t freed)
{
	if (freed < ring->freed || freed > ring->posted)
		return false;
	ring_advance(ring, (uint32_t)(freed - ring->freed));
	return true;
}

/* Doorbell registers. */

static void report_doorbell(struct queues *queues, enum nvme_async_event information)
{
	queues->client->bad_doorbell(queues->client->ctx, information);
}

/* Admin queue's tail, or a tail to be checked at the next look. */
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

/* Queue objects: creation, deletion, and remains after a controller reset. */

void queues_init(struct queues *queues, void *region, uint32_t workers, struct host *host, struct host_view *view,
		 const struct queue_client *client)
{
	queues->clock = (struct hz_queue_clock *)((uint8_t *)region + HZ_SHM_QUEUES_OFFSET);
	queues->workers = workers;
	queues->host = host;
	queues->view = view;
	queues->client = client;
}

/* The queue's hart gets copies. It reads them when the first command is granted. */
static __attribute__((noinline)) void lend_cq(struct queues *queues, struct completion_queue *cq)
{
	struct relay *relay = relay_of(queues->relays, cq);
	struct completion_queue *copy;

	if (!relay)
		return;
	cq->far = true;
	copy = &relay->queues->cq[cq->id];
	*copy = *cq;
	copy->queues = relay->queues;
	copy->parked_last = &copy->parked_first;
	lt_store(&relay->queue[cq->id].freed, 0);
}

static __attribute__((noinline)) void lend_sq(struct queues *queues, struct submission_queue *sq)
{
	struct relay *relay = relay_of(queues->relays, sq->cq);
	struct submission_queue *copy;

	if (!relay)
		return;
	sq->far = true;
	copy = &relay->queues->sq[sq->id];
	*copy = *sq;
	copy->cq = &relay->queues->cq[sq->cq->id];
	copy->worker = (uint16_t)((sq->id - 1) % queues->workers);
	relay_clear(relay, sq->id);
}

/* Its hart may be fetching from other queues. */
void queues_set_priority(struct queues *queues, unsigned id, unsigned cqid, unsigned priority)
{
	struct relay *relay = relay_of(queues->relays, &queues->cq[cqid]);
	struct queues *home = relay ? relay->queues : queues;

	for (unsigned other = 0; other < NVME_QPRIOS; other++)
		if (other == priority)
			lt_or(&home->of_priority[other], queue_bit(id));
		else
			lt_and(&home->of_priority[other], ~queue_bit(id));
}

void queues_relay_room(struct queues *queues, struct completion_queue *cq)
{
	if (completion_ring_full(&cq->ring) && !queues->view->make_room(queues->view, cq)) {
		queues->parked_mask |= queue_bit(cq->id);
		return;
	}
	queues->parked_mask &= ~queue_bit(cq->id);
	relay_room(queues->relays, cq);
}

void queues_add_cq(struct queues *queues, unsigned id, uint8_t *ring, uint32_t depth, bool interrupt, unsigned vector)
{
	struct completion_queue *cq = &queues->cq[id];

	*cq = (struct completion_queue){ .clock = &queues->clock[id],
					 .queues = queues,
					 .id = (uint16_t)id,
					 .vector = (uint16_t)vector,
					 .live = true,
					 .interrupt = interrupt };
	cq->parked_last = &cq->parked_first;
	completion_ring_init(&cq->ring, ring, depth);
	clock_freeze();
	host_store64(&cq->clock->completed, 0);
	lend_cq(queues, cq);
	clock_thaw();
}

void queues_add_sq(struct queues *queues, unsigned id, unsigned cqid, uint8_t *ring, uint32_t depth)
{
	struct submission_queue *sq = &queues->sq[id];

	*sq = (struct submission_queue){ .ring = (const struct nvme_sqe *)ring,
					 .clock = &queues->clock[id],
					 .cq = &queues->cq[cqid],
					 .depth = depth,
					 .id = (uint16_t)id,
					 .live = true };
	sq->cq->submission_queues++;
	if (id == 0)
		return;
	clock_freeze();
	host_store32(&sq->clock->broken, 0);
	lend_sq(queues, sq);
	clock_thaw();
	sq->worker = (uint16_t)((id - 1) % queues->workers);
	queues->live_mask |= queue_bit(id);
}

void queues_retire(struct queues *queues, struct submission_queue *sq)
{
	queues->live_mask &= ~queue_bit(sq->id);
	queues->ready_mask &= ~queue_bit(sq->id);
	queues->view->forget(queues->view, sq);
}

void queues_retire_all(struct queues *queues)
{
	for (unsigned id = 1; id < QUEUES; id++)
		if (queues->sq[id].live)
			queues_retire(queues, &queues->sq[id]);
}

void queues_remove_sq(struct submission_queue *sq)
{
	sq->live = sq->deleting = false;
	sq->cq->submission_queues--;
}

void queues_remove_cq(struct queues *queues, struct completion_queue *cq)
{
	lt_timer_cancel(&cq->retry);
	queues->parked_mask &= cq->id ? ~queue_bit(cq->id) : queues->parked_mask;
	cq->live = false;
}

void queues_clear(struct queues *queues)
{
	queues_retire_all(queues);
	for (unsigned id = 0; id < QUEUES; id++) {
		queues->sq[id].live = queues->sq[id].deleting = false;
		if (queues->cq[id].live)
			queues_remove_cq(queues, &queues->cq[id]);
	}
	queues->live_mask = queues->ready_mask = 0;
	queues->shadow_doorbells = queues->shadow_events = NULL;
	queues->admin_wanted = false;
}

/* Its host thread may be waiting for a completion that will never come. */
void queues_break_sq(struct queues *queues, struct submission_queue *sq)
{
	sq->broken = true;
	queues_retire(queues, sq);
	host_store32(&sq->clock->broken, 1);
	host_fence();
	host_wake(queues->host, sq->id);
	queues->client->bad_doorbell(queues->client->ctx, NVME_AEN_ERROR_INVALID_DOORBELL_VALUE);
}

void queues_break_cq(struct queues *queues, struct completion_queue *cq)
{
	if (!cq->broken)
		queues->client->bad_doorbell(queues->client->ctx, NVME_AEN_ERROR_INVALID_DOORBELL_VALUE);
	cq->broken = true;
}
