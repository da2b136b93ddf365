/* A group of queues: its parts together, and the doorbells of the real clock. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/queue/queue_group.h"

#include "hil/ports/ports.h"
#include "hil/queue/relay.h"
#include "lt/hart.h"

/* Doorbells under the real clock.
 *
 * A queue with an impossible doorbell value is broken: it is reported once and then ignored until it is deleted. */

enum { TURNS_PER_LOOK = 32, BUSY_TURNS = 200, CALM_TURNS = 2000, NAP_NS = 50000, LONG_NAP_NS = 500000 };

static struct doorbells *doorbells_of(struct host_view *view) { return (struct doorbells *)view; }
HZ_STATIC_ASSERT(offsetof(struct doorbells, view) == 0, "a view is its doorbells");

static HZ_FROZEN void doorbells_listen(struct host_view *view, bool idle)
{
	struct doorbells *doorbells = doorbells_of(view);
	struct control_link *link = doorbells->link;

	relays_hear(doorbells->queues->relays, doorbells->queues, doorbells->completion->life);
	if (host_beat(link->host) % TURNS_PER_LOOK == 0 || idle)
		control_link_poll(link);
}

static uint32_t sq_tail(const struct queues *queues, const struct submission_queue *sq)
{
	return queues->shadow_doorbells ? host_load32(&queues->shadow_doorbells[2 * sq->id]) : sq->doorbell;
}

static uint32_t cq_head(const struct queues *queues, const struct completion_queue *cq)
{
	return queues->shadow_doorbells ? host_load32(&queues->shadow_doorbells[2 * cq->id + 1]) : cq->doorbell;
}

static bool doorbells_make_room(struct host_view *view, struct completion_queue *cq)
{
	struct queues *queues = doorbells_of(view)->queues;

	if (cq->broken)
		return false;
	if (completion_ring_free_to(&cq->ring, cq_head(queues, cq)))
		return !completion_ring_full(&cq->ring);
	queues_break_cq(queues, cq);
	return false;
}

static void look_at_tail(struct queues *queues, struct submission_queue *sq)
{
	uint32_t tail = sq_tail(queues, sq);

	if (tail >= sq->depth)
		queues_break_sq(queues, sq);
	else if (sq->far && tail != sq->head)
		relay_grant(queues->relays, sq, tail > sq->head ? tail - sq->head : tail + sq->depth - sq->head);
	else if (tail != sq->head)
		queues->ready_mask |= queue_bit(sq->id);
	else
		queues->ready_mask &= ~queue_bit(sq->id);
}

static void unpark(struct doorbells *doorbells, struct completion_queue *cq)
{
	if (cq->far)
		queues_relay_room(doorbells->queues, cq);
	else
		completion_unpark(doorbells->completion, cq);
}

static bool doorbells_settle(struct host_view *view)
{
	struct doorbells *doorbells = doorbells_of(view);
	struct queues *queues = doorbells->queues;

	for (uint64_t rest = queues->live_mask; rest; rest &= rest - 1)
		look_at_tail(queues, &queues->sq[__builtin_ctzll(rest) + 1]);
	for (uint64_t rest = queues->parked_mask; rest; rest &= rest - 1)
		unpark(doorbells, &queues->cq[__builtin_ctzll(rest) + 1]);
	return true;
}

/* EventIdx: "ring the register when you pass this tail". Then look again, since the host may have passed it meanwhile. */
static void announce_sleep(struct doorbells *doorbells)
{
	struct queues *queues = doorbells->queues;

	if (!queues->shadow_events)
		return;
	for (uint64_t rest = queues->live_mask; rest; rest &= rest - 1) {
		struct submission_queue *sq = &queues->sq[__builtin_ctzll(rest) + 1];

		host_store32(&queues->shadow_events[2 * sq->id], sq->head);
	}
	host_fence();
	doorbells_settle(&doorbells->view);
}

/* Nothing tells us of a doorbell while we sleep, so naps are short: first none, then 50 us, then 500 us. */
static HZ_FROZEN void doorbells_rest(struct host_view *view, bool busy, uint64_t deadline_ns)
{
	struct doorbells *doorbells = doorbells_of(view);
	uint64_t until_ns;

	if (busy) {
		doorbells->quiet_turns = 0;
		return;
	}
	if (++doorbells->quiet_turns < BUSY_TURNS)
		return;
	if (doorbells->quiet_turns == BUSY_TURNS)
		announce_sleep(doorbells);
	if (doorbells->queues->ready_mask)
		return;
	until_ns = clock_now_ns() + (doorbells->quiet_turns < CALM_TURNS ? NAP_NS : LONG_NAP_NS);
	lt_hart_wait(until_ns < deadline_ns ? until_ns : deadline_ns);
}

static uint64_t doorbells_arrived(struct host_view *view, const struct submission_queue *sq)
{
	uint32_t tail = sq_tail(doorbells_of(view)->queues, sq);

	if (tail >= sq->depth)
		return 0;
	return tail >= sq->head ? tail - sq->head : tail + sq->depth - sq->head;
}

/* A doorbell is looked at when it matters: nothing to keep up. */
static void doorbells_unmoved(struct host_view *view, struct submission_queue *sq) { (void)view, (void)sq; }

void doorbells_init(struct doorbells *doorbells, struct queues *queues, struct completion *completion, struct control_link *link)
{
	*doorbells = (struct doorbells){
		.view = { .listen = doorbells_listen,
			  .settle = doorbells_settle,
			  .rest = doorbells_rest,
			  .fetched = doorbells_unmoved,
			  .completed = doorbells_unmoved,
			  .make_room = doorbells_make_room,
			  .arrived = doorbells_arrived,
			  .forget = doorbells_unmoved },
		.queues = queues,
		.completion = completion,
		.link = link,
	};
}

/* Queue group: puts its parts together. */

void queue_group_init(struct queue_group *group, struct arena *arena, const struct queue_group_base *base)
{
	const struct hz_device_config *cfg = base->cfg;
	struct queues *queues = &group->queues;
	struct completion *completion = &group->completion;

	group->thread = (struct lt_thread){ "hil", dealing_hart(cfg, 0) };
	group->client = *base->client;
	group->view = base->host->header->virtual_clock ? &group->horizon.view : &group->doorbells.view;
	queues_init(queues, base->region, cfg->worker_count, base->host, group->view, &group->client);
	queues->relays = base->relays;
	command_pool_init(&group->pool, arena, dealing_commands(cfg, 0));
	completion_init(completion, cfg, queues, &group->pool, base->life, base->irq, &group->thread);
	fetch_init(&group->fetch, queues, &group->pool, base->life, base->device, base->limits, cfg->namespaces);
	doorbells_init(&group->doorbells, queues, completion, base->link);
	horizon_init(&group->horizon, queues, completion, base->link, base->life, (uint64_t)cfg->doorbell_ns + cfg->fetch_ns);
}

void far_group_init(struct far_group *far_group, struct arena *arena, const struct queue_group_base *base, unsigned number)
{
	const struct hz_device_config *cfg = base->cfg;
	struct queue_group *group = &far_group->group;
	struct far_view *far = &far_group->far;
	struct queues *queues = &group->queues;

	group->thread = (struct lt_thread){ "hil", dealing_hart(cfg, number) };
	group->view = &far->view;
	far_view_init(far, base->relays->relay[number - 1], queues, &group->completion, &group->fetch,
		      base->host->header->virtual_clock != 0);
	queues_init(queues, base->region, cfg->worker_count, base->host, group->view, &far->client);
	command_pool_init(&group->pool, arena, dealing_commands(cfg, number));
	completion_init(&group->completion, cfg, queues, &group->pool, &far->life, &far->irq, &group->thread);
	fetch_init(&group->fetch, queues, &group->pool, &far->life, base->device, base->limits, cfg->namespaces);
}
