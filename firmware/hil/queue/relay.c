/* HIL harts: grants from the first to the others, and their reports. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/queue/relay.h"

#include "hil/ports/ports.h"
#include "hil/queue/completion.h"
#include "lt/arena.h"
#include "lt/hart.h"
#include "lt/native.h"

/* Relay, the home's side: commands are granted, completions are heard of, orders are given. */

static void on_bell(struct lt_event *event) { lt_store(&((struct bell *)event)->rung, 0); }
HZ_STATIC_ASSERT(offsetof(struct bell, event) == 0, "an event is its bell");

void bell_init(struct bell *bell, unsigned hart) { bell->thread = (struct lt_thread){ "bell", hart }; }

void bell_ring(struct bell *bell)
{
	if (!lt_swap(&bell->rung, 1))
		lt_post(&bell->thread, &bell->event, LT_CODE(on_bell));
}

HZ_FROZEN bool bell_heard(struct bell *bell)
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
	uint64_t reported = lt_load(&relay->errors), taken = lt_peek(&relay->errors_taken);

	for (; taken < reported; taken++) {
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

/* All rings before the first look at the host, since the host may have consumed entries of each. */
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
		lt_store(&relay->arbitration, settings.arbitration);
		lt_store(&relay->weighted, settings.weighted);
		lt_store(&relay->served, settings.served);
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

/* A HIL hart other than the first: takes up grants and orders, reports completions. All of it with the clock frozen. */

static struct far_view *far_of(struct host_view *view) { return (struct far_view *)view; }
HZ_STATIC_ASSERT(offsetof(struct far_view, view) == 0, "a view is its far view");

/* The home looks at the relay, but need not wake up yet. */
static void tell_news(struct relay *relay) { lt_or(&relay->relays->news, 1ull << relay->number); }

static void wake_home(struct relay *relay)
{
	tell_news(relay);
	bell_ring(&relay->relays->bell);
}

static void far_listen(struct host_view *view, bool idle) { (void)view, (void)idle; }
static void far_forget(struct host_view *view, struct submission_queue *sq) { (void)view, (void)sq; }

/* An order that admits nothing is obeyed once nothing is in flight. */
static void tell_if_quiet(struct far_view *far)
{
	if (life_serves(&far->life) || completion_in_flight(far->completion))
		return;
	if (lt_peek(&far->relay->obeyed) == far->order)
		return;
	clock_freeze();
	lt_store(&far->relay->obeyed, far->order);
	wake_home(far->relay);
	clock_thaw();
}

static void take_order(struct far_view *far)
{
	struct relay *relay = far->relay;
	uint64_t order = lt_load(&relay->order), state, served;

	if (order == far->order)
		return;
	state = lt_load(&relay->life_state);
	far->order = order;
	far->life.number = (uint32_t)lt_load(&relay->life_number);
	far->life.state = (enum life_state)(state & 0xff);
	far->life.shutdown = (enum life_shutdown)(state >> 8);
	fetch_set_write_cache(far->fetch, lt_load(&relay->write_cache));
	served = lt_load(&relay->served);
	far->fetch->sanitize = (uint8_t)(served >> FETCH_SANITIZE_SHIFT);
	for (uint32_t n = 0; n < far->fetch->namespaces; n++)
		fetch_set_namespace(far->fetch, n, lt_load(&relay->sectors[n]), served >> n & 1,
				    served >> (n + FETCH_FORMATTING_SHIFT) & 1);
	far->fetch->arbitration = (uint32_t)lt_load(&relay->arbitration);
	far->fetch->weighted = lt_load(&relay->weighted);
	if (!life_serves(&far->life)) {
		far->queues->ready_mask = 0;
		fetch_abort_drop(far->fetch);
	}
	if (!life_is_ready(&far->life)) {
		completion_drop_ready(far->completion);
		completion_drop_parked(far->completion);
	}
	tell_if_quiet(far);
}

static void take_grants(struct far_view *far, uint64_t mask)
{
	for (uint64_t rest = mask; rest; rest &= rest - 1) {
		struct submission_queue *sq = &far->queues->sq[__builtin_ctzll(rest) + 1];

		if (lt_load(&far->relay->queue[sq->id].granted) > sq->fetched)
			far->queues->ready_mask |= queue_bit(sq->id);
	}
}

static void take_room(struct far_view *far)
{
	uint64_t rest = lt_load(&far->relay->roomy_mask) ? lt_swap(&far->relay->roomy_mask, 0) : 0;

	for (; rest; rest &= rest - 1) {
		struct completion_queue *cq = &far->queues->cq[__builtin_ctzll(rest) + 1];

		completion_ring_free_count(&cq->ring, lt_load(&far->relay->queue[cq->id].freed));
		completion_unpark(far->completion, cq);
	}
}

/* Take grants before orders, apply them after: so no grant of an ended life survives, and none is applied too early. */
static bool far_settle(struct host_view *view)
{
	struct far_view *far = far_of(view);
	uint64_t granted = lt_load(&far->relay->granted_mask) ? lt_swap(&far->relay->granted_mask, 0) : 0;

	take_order(far);
	if (life_serves(&far->life))
		take_grants(far, granted);
	if (life_is_ready(&far->life))
		take_room(far);
	return true;
}

static HZ_FROZEN void far_rest(struct host_view *view, bool busy, uint64_t deadline_ns)
{
	struct far_view *far = far_of(view);

	(void)busy;
	do {
		far_settle(view);
		if ((far->queues->ready_mask && fetch_possible(far->fetch)) || lt_hart_knows_mail())
			return;
		lt_hart_wait(deadline_ns);
	} while (bell_heard(&far->relay->bell));
}

static void far_fetched(struct host_view *view, struct submission_queue *sq)
{
	struct far_view *far = far_of(view);

	if (lt_load(&far->relay->queue[sq->id].granted) > sq->fetched)
		far->queues->ready_mask |= queue_bit(sq->id);
}

/* The home must know this before the host can see the completion. No sync point between its last word and the completion, so no other
 * hart runs in between under the virtual clock. */
static void far_announce(struct host_view *view, struct submission_queue *sq)
{
	struct relay *relay = far_of(view)->relay;

	lt_store(&relay->queue[sq->id].posted, lt_peek(&relay->queue[sq->id].posted) + 1);
	lt_or(&relay->posted_mask, queue_bit(sq->id));
	tell_news(relay);
	clock_stay();
}

static void tell_count(lt_word *word, uint64_t count)
{
	if (lt_peek(word) != count)
		lt_store(word, count);
}

static void tell_counts(struct far_view *far)
{
	const struct io_counts *counts = &far->completion->counts;

	tell_count(&far->relay->counts[0], counts->reads);
	tell_count(&far->relay->counts[1], counts->writes);
	tell_count(&far->relay->counts[2], counts->read_sectors);
	tell_count(&far->relay->counts[3], counts->written_sectors);
}

static void tell_interrupts(struct far_view *far)
{
	for (unsigned i = 0; i < 2; i++)
		if (far->irq.pending[i])
			lt_or(&far->relay->vectors[i], far->irq.pending[i]);
	interrupts_drop(&far->irq);
}

static void far_completed(struct host_view *view, struct submission_queue *sq)
{
	struct far_view *far = far_of(view);

	tell_counts(far);
	tell_interrupts(far);
	lt_store(&far->relay->queue[sq->id].left, lt_peek(&far->relay->queue[sq->id].left) + 1);
	lt_or(&far->relay->left_mask, queue_bit(sq->id));
	wake_home(far->relay);
}

static bool far_make_room(struct host_view *view, struct completion_queue *cq)
{
	struct relay *relay = far_of(view)->relay;

	clock_freeze();
	lt_or(&relay->full_mask, queue_bit(cq->id));
	wake_home(relay);
	clock_thaw();
	return false;
}

static uint64_t far_arrived(struct host_view *view, const struct submission_queue *sq)
{
	return lt_load(&far_of(view)->relay->queue[sq->id].granted) - sq->fetched;
}

static void miss_failure(struct relay *relay, uint16_t status)
{
	lt_store(&relay->errors_missed, lt_peek(&relay->errors_missed) + 1);
	if (failure_is_of_media(status))
		lt_store(&relay->media_errors_missed, lt_peek(&relay->media_errors_missed) + 1);
}

static void far_failed(void *ctx, const struct failure *failure)
{
	struct relay *relay = ((struct far_view *)ctx)->relay;
	uint64_t reported = lt_peek(&relay->errors);

	if (reported - lt_load(&relay->errors_taken) == RELAY_ERRORS) {
		miss_failure(relay, failure->status);
		return;
	}
	relay->error[reported % RELAY_ERRORS] = (struct relay_error){ failure->sq, failure->cid, failure->status, failure->nsid,
								      failure->lba };
	lt_store(&relay->errors, reported + 1);
}

static void far_left(void *ctx) { tell_if_quiet(ctx); }

void far_view_init(struct far_view *far, struct relay *relay, struct queues *queues, struct completion *completion, struct fetch *fetch,
		   bool dated)
{
	*far = (struct far_view){
		.view = { .dated = dated,
			  .listen = far_listen,
			  .settle = far_settle,
			  .rest = far_rest,
			  .fetched = far_fetched,
			  .completed = far_completed,
			  .announce = far_announce,
			  .make_room = far_make_room,
			  .arrived = far_arrived,
			  .forget = far_forget },
		.relay = relay,
		.queues = queues,
		.completion = completion,
		.fetch = fetch,
		.client = { .ctx = far, .failed = far_failed, .left = far_left },
	};
	relay->queues = queues;
	relay->fetch = fetch;
}
