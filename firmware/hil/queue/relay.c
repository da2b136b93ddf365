/* Relay, the home's side: commands are granted, completions are heard of, orders are given. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/queue/relay.h"

#include "hil/queue/completion.h"
#include "hil/seam/dealing.h"
#include "lt/arena.h"

static void on_bell(struct lt_event *event) { lt_store(&((struct bell *)event)->rung, 0); }
HZ_STATIC_ASSERT(offsetof(struct bell, event) == 0, "an event is its bell");

void bell_init(struct bell *bell, unsigned hart) { bell->thread = (struct lt_thread){ "bell", hart }; }

void bell_ring(struct bell *bell)
{
	if (!lt_swap(&bell->rung, 1))
		lt_post(&bell->thread, &bell->event, on_bell);
}

bool bell_heard(struct bell *bell)
{
	if (!lt_hart_forget_mail(&bell->event))
		return false;
	on_bell(&bell->event);
	return true;
}

void relays_init(struct relays *relays, struct arena *arena, const struct hz_device_config *cfg, struct interrupts *irq)
{
	relays->irq = irq;
	relays->count = dealing_harts(cfg) - 1;
	bell_init(&relays->bell, cfg->hil_hart[0]);
	for (unsigned i = 0; i < relays->count; i++) {
		struct relay *relay = arena_alloc(arena, 1, sizeof(*relay), "HIL relay");

		relay->number = i;
		relay->relays = relays;
		bell_init(&relay->bell, dealing_hart(cfg, 1 + i));
		relays->relay[i] = relay;
	}
	for (unsigned id = 1; id < QUEUES; id++)
		relays->of[id] = dealing_number(cfg, id) ? relays->relay[dealing_number(cfg, id) - 1] : NULL;
}

struct relay *relay_of(const struct relays *relays, const struct completion_queue *cq) { return relays->of[cq->id]; }

void relay_clear(struct relay *relay, unsigned id)
{
	relay->queue[id].posted_heard = relay->queue[id].left_heard = 0;
	lt_store(&relay->queue[id].granted, 0);
	lt_store(&relay->queue[id].posted, 0);
	lt_store(&relay->queue[id].left, 0);
}

void relay_grant(struct relays *relays, struct submission_queue *sq, uint32_t count)
{
	struct relay *relay = relay_of(relays, sq->cq);

	sq->fetched += count;
	sq->head = sq->head + count < sq->depth ? sq->head + count : sq->head + count - sq->depth;
	sq->outstanding += count;
	relays->in_device += count;
	lt_store(&relay->queue[sq->id].granted, sq->fetched);
	lt_or(&relay->granted_mask, queue_bit(sq->id));
	bell_ring(&relay->bell);
}

void relay_room(struct relays *relays, struct completion_queue *cq)
{
	struct relay *relay = relay_of(relays, cq);

	lt_store(&relay->queue[cq->id].freed, cq->ring.freed);
	lt_or(&relay->roomy_mask, queue_bit(cq->id));
	bell_ring(&relay->bell);
}

static void hear_errors(struct relay *relay, const struct queue_client *client)
{
	uint64_t told = lt_load(&relay->errors), taken = lt_peek(&relay->errors_taken);

	for (; taken < told; taken++) {
		const struct relay_error *e = &relay->error[taken % RELAY_ERRORS];

		struct failure failure = { .sq = e->sq, .cid = e->cid, .status = e->status, .nsid = e->nsid, .lba = e->lba };
		client->failed(client->ctx, &failure);
	}
	lt_store(&relay->errors_taken, taken);
}

static void pass_posted(struct relay *relay, struct submission_queue *sq)
{
	uint64_t posted = lt_load(&relay->queue[sq->id].posted);

	if (!sq->live)
		return;
	completion_ring_pass(&sq->cq->ring, (uint32_t)(posted - relay->queue[sq->id].posted_heard));
	relay->queue[sq->id].posted_heard = posted;
}

/* All rings before the first look at the host, which may have consumed from each. */
void relay_hear_posted(struct relay *relay, struct queues *queues)
{
	uint64_t mask = lt_swap(&relay->posted_mask, 0);

	for (uint64_t rest = mask; rest; rest &= rest - 1)
		pass_posted(relay, &queues->sq[__builtin_ctzll(rest) + 1]);
	for (uint64_t rest = mask & queues->live_mask; rest; rest &= rest - 1)
		queues->view->completed(queues->view, &queues->sq[__builtin_ctzll(rest) + 1]);
}

static void hear_full(struct relay *relay, struct queues *queues)
{
	for (uint64_t rest = lt_swap(&relay->full_mask, 0); rest; rest &= rest - 1) {
		struct completion_queue *cq = &queues->cq[__builtin_ctzll(rest) + 1];

		if (cq->live)
			queues_relay_room(queues, cq);
	}
}

static void hear_left(struct relay *relay, struct queues *queues)
{
	const struct queue_client *client = queues->client;

	for (uint64_t rest = lt_swap(&relay->left_mask, 0); rest; rest &= rest - 1) {
		struct submission_queue *sq = &queues->sq[__builtin_ctzll(rest) + 1];
		uint64_t left = lt_load(&relay->queue[sq->id].left);
		uint32_t news;

		if (!sq->live)
			continue;
		news = (uint32_t)(left - relay->queue[sq->id].left_heard);
		relay->queue[sq->id].left_heard = left;
		relay->relays->in_device -= news;
		sq->outstanding -= news;
		if (sq->deleting && !sq->outstanding)
			client->drained(client->ctx, sq);
	}
}

static void hear_relay(struct relay *relay, struct queues *queues)
{
	struct interrupts *irq = relay->relays->irq;

	hear_errors(relay, queues->client);
	relay_hear_posted(relay, queues);
	hear_full(relay, queues);
	hear_left(relay, queues);
	irq->pending[0] |= lt_swap(&relay->vectors[0], 0);
	irq->pending[1] |= lt_swap(&relay->vectors[1], 0);
}

void relays_take_news(struct relays *relays, struct queues *queues, const struct life *life)
{
	for (uint64_t rest = lt_swap(&relays->news, 0); rest; rest &= rest - 1)
		hear_relay(relays->relay[__builtin_ctzll(rest)], queues);
	if (!life_serves(life))
		queues->client->left(queues->client->ctx);
}

void relays_order(struct relays *relays, const struct life *life, struct relay_settings settings)
{
	for (unsigned i = 0; i < relays->count; i++) {
		struct relay *relay = relays->relay[i];

		lt_store(&relay->life_number, life->number);
		lt_store(&relay->life_state, (uint64_t)life->shutdown << 8 | life->state);
		lt_store(&relay->write_cache, settings.write_cache);
		lt_store(&relay->burst, settings.burst);
		lt_store(&relay->active, settings.active);
		for (unsigned n = 0; n < HZ_MAX_NAMESPACES; n++)
			lt_store(&relay->sectors[n], settings.sectors[n]);
		lt_add(&relay->order, 1);
		bell_ring(&relay->bell);
	}
}

bool relays_obeyed(const struct relays *relays)
{
	for (unsigned i = 0; i < relays->count; i++)
		if (lt_load(&relays->relay[i]->obeyed) != lt_load(&relays->relay[i]->order))
			return false;
	return true;
}

void relays_add_counts(const struct relays *relays, struct io_counts *sum)
{
	for (unsigned i = 0; i < relays->count; i++) {
		const lt_word *counts = relays->relay[i]->counts;

		sum->reads += lt_load(&counts[0]);
		sum->writes += lt_load(&counts[1]);
		sum->read_sectors += lt_load(&counts[2]);
		sum->written_sectors += lt_load(&counts[3]);
	}
}

void relays_add_missed(const struct relays *relays, uint64_t *errors, uint64_t *media_errors)
{
	for (unsigned i = 0; i < relays->count; i++) {
		*errors += lt_load(&relays->relay[i]->errors_missed);
		*media_errors += lt_load(&relays->relay[i]->media_errors_missed);
	}
}
