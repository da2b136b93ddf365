/* Completions: posted, parked, or dropped. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/queue/completion.h"

#include "boundary/boundary.h"
#include "logical_locks.h"
#include "lt/logical.h"

/* The host sleeps or polls on `completed`; whether it does is no part of device time. */
static void publish_completed(struct completion *c, struct completion_queue *cq)
{
	host_store64(&cq->clock->completed, cq->ring.posted);
	host_fence();
	if (host_load32(&cq->clock->waiters) && cq->ring.posted >= host_load64(&cq->clock->wake_at)) {
		host_store32(&cq->clock->waiters, 0);
		host_wake(c->queues->host, cq->id);
	}
	if (cq->interrupt)
		interrupts_raise(c->irq, cq->vector);
}

/* The completion engine: entry and interrupt cross the link by themselves, behind the command's data and the queue's earlier entries. */
static HZ_FROZEN __attribute__((noinline)) void post_entry(struct completion *c, struct submission_queue *sq, uint16_t cid, uint16_t status,
							   uint64_t result, uint64_t crossed_ns)
{
	struct completion_queue *cq = sq->cq;
	struct nvme_cqe cqe = { .dw0 = (uint32_t)result,
				.dw1 = (uint32_t)(result >> 32),
				.sq_head = (uint16_t)sq->head,
				.sq_id = sq->id,
				.cid = cid,
				.status = status };
	uint64_t now_ns = boundary_work(WORK_COMPLETION, sq->id != 0, clock_frozen_ns());

	crossed_ns = crossed_ns > now_ns ? crossed_ns : now_ns;
	cq->crossed_ns = crossed_ns > cq->crossed_ns ? crossed_ns : cq->crossed_ns;
	host_store64(&cq->clock->completed_ns[cq->ring.tail], cq->crossed_ns + c->delay_ns);
	completion_ring_post(&cq->ring, &cqe);
	publish_completed(c, cq);
}

void completion_post(struct completion *c, struct submission_queue *sq, uint16_t cid, uint16_t status, uint64_t result, uint64_t crossed_ns)
{
	clock_freeze();
	post_entry(c, sq, cid, status, result, crossed_ns);
	clock_thaw();
}

static bool cq_has_room(struct completion *c, struct completion_queue *cq)
{
	return !completion_ring_full(&cq->ring) || c->view->make_room(c->view, cq);
}

static void park(struct completion *c, struct command *command)
{
	struct completion_queue *cq = command->sq->cq;

	lt_logical_wait(HZ_LOGICAL_COMPLETION, cq->id, command);
	command->next = NULL;
	*cq->parked_last = command;
	cq->parked_last = &command->next;
	c->queues->parked_mask |= queue_bit(cq->id);
	c->parked++;
	lt_tell_request(HZ_VC_LEFT, &command->req);
}

static struct command *unpark_first(struct completion *c, struct completion_queue *cq)
{
	struct command *command = cq->parked_first;

	lt_logical_wait_ended(command);
	cq->parked_first = command->next;
	if (!cq->parked_first) {
		cq->parked_last = &cq->parked_first;
		c->queues->parked_mask &= ~queue_bit(cq->id);
	}
	c->parked--;
	lt_tell_request(HZ_VC_RUN, &command->req);
	return command;
}

/* A verify's blocks are data units read; it is no read command of the host's, as a compare is (NVM Command Set, SMART). */
static void count_io(struct io_counts *counts, const struct ftl_request *req)
{
	if (req->status)
		return;
	if (req->op == FTL_READ || req->op == FTL_COMPARE || req->op == FTL_VERIFY) {
		if (req->op == FTL_READ)
			lt_tell_request(HZ_VC_ENDS_READ, req);
		counts->reads += req->op != FTL_VERIFY;
		counts->read_sectors += req->sectors;
	} else if (req->op == FTL_WRITE || req->op == FTL_APPEND || req->op == FTL_UPDATE) {
		lt_tell_request(HZ_VC_ENDS_WRITE, req);
		counts->writes++;
		counts->written_sectors += req->sectors;
	}
}

static void tell_links(const struct ftl_request *req)
{
	clock_freeze();
	lt_tell_links(req, req->ready_ns);
	clock_thaw();
}

static __attribute__((noinline)) void tell_failure(const struct queue_client *client, const struct command *command)
{
	struct failure failure = { command->sq->id, command->cid, command->req.status, command->nsid, command->req.lba };

	client->failed(client->ctx, &failure);
}

/* Under the virtual clock the home must know of a completion before the host can see it. */
static __attribute__((noinline)) void announce(struct completion *c, struct submission_queue *sq)
{
	clock_freeze();
	c->view->announce(c->view, sq);
	clock_thaw();
}

static bool tells_place(const struct ftl_request *req) { return (req->op == FTL_APPEND || req->op == FTL_COPY_APPEND) && !req->status; }

/* There is room: the command ends. No sync point between announce and post: the first HIL hart would otherwise wait, with a frozen
 * clock, for an entry that is not posted yet. */
static void finish_command(struct completion *c, struct command *command)
{
	const struct queue_client *client = c->client;
	struct submission_queue *sq = command->sq;
	uint16_t status = command->req.status;

	if (status)
		tell_failure(client, command);
	tell_links(&command->req);
	count_io(&c->counts, &command->req);
	if (c->view->announce)
		announce(c, sq);
	lt_tell_had(HZ_LOGICAL_COMPLETION);
	completion_post(c, sq, command->cid, status, tells_place(&command->req) ? command->req.result : 0, command->req.ready_ns);
	sq->outstanding--;
	command_free(c->pool, command);
	clock_freeze();
	c->view->completed(c->view, sq);
	clock_thaw();
	if (sq->deleting && !sq->outstanding)
		client->drained(client->ctx, sq);
	if (c->life->shutdown != SHUTDOWN_NONE)
		client->left(client->ctx);
}

/* The controller may be reset while make_room waits for the host. */
void completion_end(struct command *command)
{
	struct completion *c = command->completion;
	struct completion_queue *cq = command->sq->cq;
	bool room = life_is_ready(c->life) && !cq->parked_first && cq_has_room(c, cq);

	if (room && life_is_ready(c->life)) {
		finish_command(c, command);
		return;
	}
	if (life_is_ready(c->life))
		park(c, command);
	else
		command_free(c->pool, command); /* the completion has no reader */
	if (!life_serves(c->life))
		c->client->left(c->client->ctx);
}

void completion_unpark(struct completion *c, struct completion_queue *cq)
{
	while (cq->parked_first && cq_has_room(c, cq))
		finish_command(c, unpark_first(c, cq));
}

static void on_ready(struct lt_timer *timer)
{
	struct command *command = (struct command *)((char *)timer - offsetof(struct command, timer));

	completion_end(command);
}

/* An entry without a date waits here until its data have crossed. */
static void on_done(struct ftl_request *req)
{
	struct command *command = command_of(req);
	const struct completion *c = command->completion;

	lt_tell_request(HZ_VC_RUN, req);
	if (!c->view->dated && req->ready_ns > clock_now_ns() && life_is_ready(c->life))
		lt_timer_arm(&command->timer, req->ready_ns, on_ready);
	else
		completion_end(command);
}

void completion_drop_ready(struct completion *c)
{
	for (uint32_t i = 0; i < c->pool->count; i++) {
		struct command *command = &c->pool->all[i];

		if (!command->timer.slot)
			continue;
		lt_timer_cancel(&command->timer);
		command_free(c->pool, command);
	}
}

void completion_drop_parked(struct completion *c)
{
	for (uint64_t rest = c->queues->parked_mask; rest; rest &= rest - 1) {
		struct completion_queue *cq = &c->queues->cq[__builtin_ctzll(rest) + 1];

		while (cq->parked_first)
			command_free(c->pool, unpark_first(c, cq));
	}
}

void completion_init(struct completion *c, const struct hz_device_config *cfg, struct queues *queues, struct command_pool *pool,
		     const struct life *life, struct interrupts *irq, struct lt_thread *thread)
{
	*c = (struct completion){
		.queues = queues,
		.pool = pool,
		.life = life,
		.irq = irq,
		.view = queues->view,
		.client = queues->client,
		.delay_ns = (uint64_t)cfg->completion_ns + cfg->interrupt_ns,
	};
	for (uint32_t i = 0; i < pool->count; i++) {
		pool->all[i].completion = c;
		pool->all[i].req.reply_to = thread;
		pool->all[i].req.done = on_done;
	}
}
