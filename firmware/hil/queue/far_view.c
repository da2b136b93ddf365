/* A HIL hart that is not the first: takes up grants and orders, tells of completions. All of it with the clock frozen. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/queue/far_view.h"

#include "lt/hart.h"

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

/* An order that lets nothing in is obeyed when nothing is in flight. */
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
	uint64_t order = lt_load(&relay->order), state;

	if (order == far->order)
		return;
	state = lt_load(&relay->life_state);
	far->order = order;
	far->life.number = (uint32_t)lt_load(&relay->life_number);
	far->life.state = (enum life_state)(state & 0xff);
	far->life.shutdown = (enum life_shutdown)(state >> 8);
	fetch_set_write_cache(far->fetch, lt_load(&relay->write_cache));
	for (uint32_t n = 0, active = (uint32_t)lt_load(&relay->active); n < far->fetch->namespaces; n++)
		fetch_set_namespace(far->fetch, n, lt_load(&relay->sectors[n]), active >> n & 1);
	far->fetch->burst = (uint32_t)lt_load(&relay->burst);
	if (!life_serves(&far->life))
		far->queues->ready_mask = 0;
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

/* Grants are taken before orders and looked at behind them: so none of a life that is over survives, and none comes too early. */
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

static void far_rest(struct host_view *view, bool busy, uint64_t deadline_ns)
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

/* What the home must know before the host can see the completion. Nothing from the last word to the completion is an order point, so no
 * other hart runs in between under the virtual clock. */
static void far_announce(struct host_view *view, struct submission_queue *sq)
{
	struct relay *relay = far_of(view)->relay;

	lt_store(&relay->queue[sq->id].posted, lt_peek(&relay->queue[sq->id].posted) + 1);
	lt_or(&relay->posted_mask, queue_bit(sq->id));
	tell_news(relay);
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

static void miss_failure(struct relay *relay, uint16_t status)
{
	lt_store(&relay->errors_missed, lt_peek(&relay->errors_missed) + 1);
	if (failure_is_of_media(status))
		lt_store(&relay->media_errors_missed, lt_peek(&relay->media_errors_missed) + 1);
}

static void far_failed(void *ctx, const struct failure *failure)
{
	struct relay *relay = ((struct far_view *)ctx)->relay;
	uint64_t told = lt_peek(&relay->errors);

	if (told - lt_load(&relay->errors_taken) == RELAY_ERRORS) {
		miss_failure(relay, failure->status);
		return;
	}
	relay->error[told % RELAY_ERRORS] = (struct relay_error){ failure->sq, failure->cid, failure->status, failure->nsid, failure->lba };
	lt_store(&relay->errors, told + 1);
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
			  .forget = far_forget },
		.relay = relay,
		.queues = queues,
		.completion = completion,
		.fetch = fetch,
		.client = { .ctx = far, .failed = far_failed, .left = far_left },
	};
	relay->queues = queues;
}
