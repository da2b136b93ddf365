/* Virtual clock: the limit of device time by the host's promises (protocol/shm.h), and the next queue. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/queue/horizon.h"

#include "hil/queue/relay.h"
#include "lt/hart.h"
#include "lt/native.h"

/* Tournament tree. */

enum { FEWEST_LEAVES = 2 };

static uint8_t smaller_of(const struct tournament *t, unsigned left, unsigned right)
{
	return (uint8_t)(t->key[right] < t->key[left] ? right : left);
}

/* Of the lowest nodes: their contestants are leaves. */
static unsigned play_first(struct tournament *t, unsigned leaf)
{
	unsigned node = (leaf + t->leaves) / 2;

	t->winner[node] = smaller_of(t, leaf & ~1u, leaf | 1);
	return node;
}

static void play(struct tournament *t, unsigned node) { t->winner[node] = smaller_of(t, t->winner[2 * node], t->winner[2 * node + 1]); }

static void play_all(struct tournament *t)
{
	for (unsigned leaf = 0; leaf < t->leaves; leaf += 2)
		play_first(t, leaf);
	for (unsigned node = t->leaves / 2 - 1; node > 0; node--)
		play(t, node);
}

void tournament_init(struct tournament *t)
{
	for (unsigned i = 0; i < TOURNAMENT_LEAVES; i++)
		t->key[i] = TOURNAMENT_NEVER;
	t->leaves = FEWEST_LEAVES;
	play_all(t);
}

static __attribute__((noinline)) void grow(struct tournament *t, unsigned leaf)
{
	while (t->leaves <= leaf)
		t->leaves *= 2;
	play_all(t);
}

void tournament_set(struct tournament *t, unsigned leaf, uint64_t key)
{
	t->key[leaf] = key;
	if (leaf >= t->leaves) {
		grow(t, leaf);
		return;
	}
	for (unsigned node = play_first(t, leaf); node > 1;)
		play(t, node /= 2);
}

/* Virtual clock: the limit of device time by the host's promises (protocol/shm.h), and the next queue.
 *
 * A queue's key is the device time of its next event: the arrival of its next command, if one is there, else the limit of its promise. A
 * command that follows a completion arrives when that is posted, and has no key before. Both are reach_ns after the host's own time,
 * since a command needs that long to get here. A key in the future needs no look at the host; a due key is either a command to fetch or
 * a limit at which time must stand until the host has moved.
 *
 * Everything here runs with the clock frozen, so neither the number of looks nor the number of wake-ups at limits that have moved
 * meanwhile costs an instruction: device time depends on the host's promises, never on when they were made.
 *
 * A message on the register link carries no time. It is acted upon where device time stands by all earlier words of the host: each look
 * first hears the link, then looks at the queues, and acts only if no queue lets time advance. */

enum { SPINS_BEFORE_SLEEP = 64, TURNS_PER_LOOK = 32 };
enum { RETRY_NS = 100000 }; /* a full queue that is not open: its next read is unknown */

static struct horizon *horizon_of(struct host_view *view) { return (struct horizon *)view; }
HZ_STATIC_ASSERT(offsetof(struct horizon, view) == 0, "a view is its horizon");

static uint64_t later_by(uint64_t ns, uint64_t by_ns) { return ns > UINT64_MAX - by_ns ? UINT64_MAX : ns + by_ns; }

static void horizon_forget(struct host_view *view, struct submission_queue *sq)
{
	struct horizon *h = horizon_of(view);

	h->open_mask &= ~queue_bit(sq->id);
	sq->pending = false;
	tournament_set(&h->next, sq->id - 1, TOURNAMENT_NEVER);
}

static __attribute__((noinline)) void close_queue(struct horizon *h, struct submission_queue *sq)
{
	uint64_t horizon_ns = host_load64(&sq->clock->horizon_ns), stand_ns = horizon_ns + h->reach_ns;

	if (h->open_mask & queue_bit(sq->id) && horizon_ns <= HZ_ARRIVAL_MOST_NS && stand_ns > h->stand_ns)
		h->stand_ns = stand_ns;
	horizon_forget(&h->view, sq);
}

/* The promise: nothing arrives before this time. Behind the end of device time nothing arrives at all, but the host must say so. */
static uint64_t limit_of(const struct submission_queue *sq, uint64_t seen, uint64_t horizon_ns)
{
	const struct completion_ring *ring = &sq->cq->ring;
	uint64_t caused_ns;

	if (seen == ring->posted)
		return horizon_ns;
	caused_ns = later_by(host_load64(&sq->cq->clock->completed_ns[completion_ring_slot(ring, seen)]),
			     host_load32(&sq->clock->turnaround_ns));
	caused_ns = caused_ns < HZ_ARRIVAL_MOST_NS ? caused_ns : HZ_ARRIVAL_MOST_NS;
	return caused_ns < horizon_ns ? caused_ns : horizon_ns;
}

/* UINT64_MAX is not a time but the promise of no more commands. */
static bool promise_possible(uint64_t horizon_ns) { return horizon_ns <= HZ_ARRIVAL_MOST_NS || horizon_ns == UINT64_MAX; }

/* Never a host's value: it breaks the queue. */
static const uint64_t IMPOSSIBLE_NS = HZ_ARRIVAL_MOST_NS + 1;

/* The next command follows a completion (HZ_ARRIVAL_FOLLOWS): until that is posted, nothing arrives on this queue. Then its time
 * replaces the rule, for the next command. */
static uint64_t arrival_by_rule(const struct submission_queue *sq, uint64_t rule)
{
	const struct completion_ring *ring = &sq->cq->ring;
	uint64_t back = hz_arrival_back(rule), number = sq->fetched - back, after_ns, before_ns;

	if (back == 0 || back > sq->fetched || (number < ring->posted && ring->posted - number >= ring->depth))
		return IMPOSSIBLE_NS;
	if (number >= ring->posted)
		return TOURNAMENT_NEVER;
	after_ns = later_by(host_load64(&sq->cq->clock->completed_ns[completion_ring_slot(ring, number)]),
			    host_load32(&sq->clock->turnaround_ns));
	before_ns = host_load64(&sq->clock->arrival_ns[(sq->head ? sq->head : sq->depth) - 1]);
	after_ns = later_by(after_ns > before_ns ? after_ns : before_ns, hz_arrival_think_ns(rule));
	if (after_ns > HZ_ARRIVAL_MOST_NS)
		return IMPOSSIBLE_NS;
	host_store64(&sq->clock->arrival_ns[sq->head], after_ns);
	return after_ns;
}

/* Arrival of the next command: a time, TOURNAMENT_NEVER while unknown, or an impossible value. */
static uint64_t next_arrival_ns(const struct submission_queue *sq)
{
	uint64_t arrival_ns = host_load64(&sq->clock->arrival_ns[sq->head]);

	if (arrival_ns & HZ_ARRIVAL_FOLLOWS)
		return arrival_by_rule(sq, arrival_ns);
	return arrival_ns > HZ_ARRIVAL_MOST_NS ? IMPOSSIBLE_NS : arrival_ns;
}

/* A message that waits for device time to stand (see above) has no place in device time if a host thread advances without regard to it:
 * every word before the message is seen at the first look at a queue, so a change after that look is later. Then the message need not
 * wait, and must not, since such changes may never end. */
static void note_progress(struct horizon *h, struct submission_queue *sq, uint64_t progress)
{
	if (control_link_waits(h->link) && sq->progress != progress && (h->seen_since_heard & queue_bit(sq->id)))
		h->link->overdue = true;
	h->seen_since_heard |= queue_bit(sq->id);
	sq->progress = progress;
}

/* The order of the loads is part of the protocol: open, seen, horizon, submitted. */
static HZ_FROZEN void horizon_update(struct horizon *h, struct submission_queue *sq)
{
	const struct completion_ring *ring = &sq->cq->ring;
	uint64_t seen, horizon_ns, pending, key_ns = IMPOSSIBLE_NS;
	struct hz_native_call call;

	if (LT_NATIVE(call, horizon_update, (uintptr_t)h, (uintptr_t)sq))
		return;
	if (!host_load32(&sq->clock->open)) {
		close_queue(h, sq);
		return;
	}
	seen = host_load64(&sq->cq->clock->seen);
	if (sq->far && seen > ring->posted) /* posted in this very moment by a hart of a lower number */
		relay_hear_posted(relay_of(h->queues->relays, sq->cq), h->queues);
	horizon_ns = host_load64(&sq->clock->horizon_ns);
	pending = host_load64(&sq->clock->submitted) - sq->fetched;
	note_progress(h, sq, seen + pending + sq->fetched);
	sq->pending = pending != 0;
	if (pending < sq->depth && seen <= ring->posted && ring->posted - seen < ring->depth && promise_possible(horizon_ns))
		key_ns = sq->pending ? next_arrival_ns(sq) : limit_of(sq, seen, horizon_ns);
	if (key_ns == IMPOSSIBLE_NS) {
		queues_break_sq(h->queues, sq);
		return;
	}
	tournament_set(&h->next, sq->id - 1, later_by(key_ns, h->reach_ns));
}

/* Give the host the present device time. */
static void note_opening(struct horizon *h, struct submission_queue *sq)
{
	uint64_t now_ns = clock_frozen_ns();

	host_store64(&sq->clock->opened_ns, now_ns > h->reach_ns ? now_ns - h->reach_ns : 0);
}

static HZ_FROZEN __attribute__((noinline)) bool find_opened_among(struct horizon *h)
{
	uint64_t found, before = h->open_mask;

	do {
		found = 0;
		for (uint64_t rest = h->queues->live_mask & ~h->open_mask; rest; rest &= rest - 1) {
			struct submission_queue *sq = &h->queues->sq[__builtin_ctzll(rest) + 1];

			if (!host_load32(&sq->clock->open))
				continue;
			h->open_mask |= queue_bit(sq->id);
			note_opening(h, sq);
			horizon_update(h, sq);
			found |= h->open_mask & queue_bit(sq->id);
		}
	} while (found);
	return h->open_mask != before;
}

/* Until a whole round finds none: a queue opened before another one's horizon moved is seen before time advances. True if there was one.
 * Called after each look that may have seen a queue move. Mostly no queue can open. */
static bool find_opened(struct horizon *h) { return h->queues->live_mask & ~h->open_mask && find_opened_among(h); }

static uint64_t horizon_arrived(struct host_view *view, const struct submission_queue *sq)
{
	const struct horizon *h = horizon_of(view);
	uint64_t pending = host_load64(&sq->clock->submitted) - sq->fetched, arrived = 0, now_ns = clock_now_ns();

	for (uint32_t slot = sq->head; pending < sq->depth && arrived < pending; arrived++) {
		uint64_t arrival_ns = host_load64(&sq->clock->arrival_ns[slot]);

		if (arrival_ns > HZ_ARRIVAL_MOST_NS || later_by(arrival_ns, h->reach_ns) > now_ns)
			break;
		slot = slot + 1 == sq->depth ? 0 : slot + 1;
	}
	return arrived;
}

static void hear_link(struct horizon *h)
{
	if (!control_link_waits(h->link))
		h->seen_since_heard = 0;
	control_link_hear(h->link);
}

/* A turn only hears the link; it acts on an overdue message only, since the time of acting must not depend on the time of arrival. */
static HZ_FROZEN void horizon_listen(struct host_view *view, bool idle)
{
	struct horizon *h = horizon_of(view);
	bool due = host_beat(h->link->host) % TURNS_PER_LOOK == 0;

	(void)idle;
	if (due || h->link->overdue)
		hear_link(h);
	if (h->link->overdue)
		control_link_act(h->link);
}

/* Begin a look: messages heard now were sent after the promises read next. Returns the bell for stand(). */
static uint32_t begin_look(struct horizon *h)
{
	uint32_t bell = host_bell(h->link->host);

	host_beat(h->link->host);
	hear_link(h);
	return bell;
}

/* End a look that saw nothing move. False: the host will not move (see hil_port). */
static bool stand(struct horizon *h, unsigned look, uint32_t bell)
{
	return control_link_act(h->link) || h->queues->admin_wanted || look < SPINS_BEFORE_SLEEP || host_wait(h->link->host, bell);
}

/* The host may want its answer before it moves. */
static void run_admin(struct horizon *h)
{
	if (h->queues->admin_wanted)
		h->queues->client->run_admin(h->queues->client->ctx);
}

/* Only these two can be work; mostly neither is there. */
static bool has_work(const struct horizon *h)
{
	return (h->queues->admin_wanted || h->queues->ready_mask) && h->queues->client->has_work(h->queues->client->ctx);
}

static bool is_quiet(const struct horizon *h) { return h->queues->client->is_quiet(h->queues->client->ctx); }

/* Device time is about to stand for a host thread that may sleep until it has further completions (wake_at). The thread set that before
 * the last one was posted, or it will see that one; so one look is enough. `waiters` is the thread's own word. */
static void rouse(struct horizon *h, const struct completion_queue *cq)
{
	if (host_load32(&cq->clock->waiters) && cq->ring.posted < host_load64(&cq->clock->wake_at))
		host_wake(h->queues->host, cq->id);
}

/* The queue's limit is reached: device time stands until its host thread has submitted, promised more, or closed. */
static bool await_move(struct horizon *h, struct submission_queue *sq)
{
	uint64_t key_ns = h->next.key[sq->id - 1];

	rouse(h, sq->cq);
	for (unsigned look = 0;; look++) {
		uint32_t bell = begin_look(h);

		if (h->queues->live_mask & queue_bit(sq->id))
			horizon_update(h, sq);
		if (sq->pending || h->next.key[sq->id - 1] != key_ns) {
			find_opened(h);
			return true;
		}
		if (!stand(h, look, bell))
			return false;
		run_admin(h);
	}
}

/* A command of sq is due: to be fetched here, or on the queue's hart. */
static void take_due(struct horizon *h, struct submission_queue *sq)
{
	if (!sq->far) {
		h->queues->ready_mask |= queue_bit(sq->id);
		tournament_set(&h->next, sq->id - 1, TOURNAMENT_NEVER);
		return;
	}
	relay_grant(h->queues->relays, sq, 1);
	horizon_update(h, sq);
}

static HZ_FROZEN __attribute__((noinline)) bool settle_due(struct horizon *h, uint64_t now_ns)
{
	for (;;) {
		unsigned leaf = tournament_first(&h->next);
		struct submission_queue *sq = &h->queues->sq[leaf + 1];

		if (h->next.key[leaf] > now_ns || h->next.key[leaf] == TOURNAMENT_NEVER)
			return true;
		if (!sq->pending) {
			if (!await_move(h, sq))
				return false;
		} else if (!find_opened(h)) {
			take_due(h, sq);
		}
	}
}

/* Mostly nothing is due: then it costs little to find out. */
static HZ_FROZEN bool horizon_settle(struct host_view *view)
{
	struct horizon *h = horizon_of(view);
	uint64_t now_ns = clock_frozen_ns();

	relays_hear(h->queues->relays, h->queues, h->life);
	return tournament_first_key(&h->next) > now_ns || settle_due(h, now_ns);
}

/* The first key may be an old promise: look until it does not move. The key of a present command does not change. */
static uint64_t next_key(struct horizon *h)
{
	for (;;) {
		unsigned leaf = tournament_first(&h->next);
		uint64_t key_ns = h->next.key[leaf];

		if (key_ns == TOURNAMENT_NEVER)
			return key_ns;
		if (!h->queues->sq[leaf + 1].pending)
			horizon_update(h, &h->queues->sq[leaf + 1]);
		find_opened(h);
		if (tournament_first(&h->next) == leaf && h->next.key[leaf] == key_ns)
			return key_ns;
	}
}

/* Nothing in the device, nothing promised: device time stands, the register link is all there is. Each message is acted upon by itself:
 * two messages close together cost as much as two apart. */
static bool stand_by(struct horizon *h)
{
	for (unsigned look = 0;; look++) {
		uint32_t bell = begin_look(h);

		if (has_work(h) || !is_quiet(h) || lt_hart_has_mail())
			return true;
		find_opened(h);
		if (tournament_first_key(&h->next) != TOURNAMENT_NEVER)
			return true;
		for (uint64_t rest = h->open_mask; rest; rest &= rest - 1)
			horizon_update(h, &h->queues->sq[__builtin_ctzll(rest) + 1]);
		if (tournament_first_key(&h->next) != TOURNAMENT_NEVER || (h->open_mask == 0 && clock_frozen_ns() < h->stand_ns))
			return true;
		if (!stand(h, look, bell))
			return false;
	}
}

/* Nothing is due before until_ns: sleeps. False: the turn is over. */
static bool sleep_until(struct horizon *h, uint64_t until_ns, uint64_t deadline_ns)
{
	bool mail;

	until_ns = until_ns < deadline_ns ? until_ns : deadline_ns;
	mail = lt_hart_wait(until_ns);
	if (mail && bell_heard(&h->queues->relays->bell))
		return true;
	return !mail && clock_frozen_ns() >= until_ns && until_ns != deadline_ns;
}

/* Wait, without leaving the freeze between two waits, until there is work other than to look at the host. A busy turn waits too: that
 * ends at once if there is more to do, and a turn in vain would cost as much as an event. */
static HZ_FROZEN void horizon_rest(struct host_view *view, bool busy, uint64_t deadline_ns)
{
	struct horizon *h = horizon_of(view);
	bool go_on = true;
	struct hz_native_call call;

	if (LT_NATIVE(call, horizon_rest, (uintptr_t)view, busy, deadline_ns))
		return;
	(void)busy;
	while (go_on) {
		uint64_t until_ns;

		if (!horizon_settle(view) || has_work(h) || lt_hart_knows_mail())
			return;
		until_ns = next_key(h);
		if (until_ns <= clock_frozen_ns())
			continue;
		if (until_ns != TOURNAMENT_NEVER || !is_quiet(h))
			go_on = sleep_until(h, until_ns, deadline_ns);
		else if (h->open_mask || clock_frozen_ns() >= h->stand_ns)
			go_on = stand_by(h);
		else
			go_on = sleep_until(h, h->stand_ns, deadline_ns);
	}
}

/* Blocks, with device time standing, until the host has consumed completion `number`; false if the controller was reset meanwhile. */
static HZ_FROZEN bool await_seen(struct horizon *h, struct completion_queue *cq, uint64_t number)
{
	rouse(h, cq);
	for (unsigned look = 0;; look++) {
		uint32_t bell = begin_look(h);
		bool open = host_load32(&cq->clock->open); /* first: a closed queue's `seen` does not change */
		uint64_t seen = host_load64(&cq->clock->seen);

		if (seen > number && seen <= cq->ring.posted)
			return true;
		if (!open) { /* device time advances from look to look: act on a message here */
			control_link_act(h->link);
			return false;
		}
		if (!life_is_ready(h->life) || !stand(h, look, bell))
			return false;
		run_admin(h);
	}
}

/* When the host thread can have read an entry at the earliest. */
static uint64_t free_ns(const struct completion_queue *cq, uint64_t number)
{
	return host_load64(&cq->clock->completed_ns[completion_ring_slot(&cq->ring, number)]) + host_load32(&cq->clock->turnaround_ns);
}

/* The oldest entry is free, and with it every further one free by now: the next completions need not ask. A queue that was closed may
 * have unread entries. noinline: a freeze begins and ends in one place (tests/vclock/test_freeze.py). */
static HZ_FROZEN __attribute__((noinline)) bool free_entries(struct horizon *h, struct completion_queue *cq)
{
	struct completion_ring *ring = &cq->ring;
	uint64_t now_ns = clock_frozen_ns(), last = ring->freed;
	struct hz_native_call call;

	if (LT_NATIVE(call, free_entries, (uintptr_t)h, (uintptr_t)cq))
		return call.result & 1;
	while (last + 1 < ring->posted && free_ns(cq, last + 1) <= now_ns)
		last++;
	if (!await_seen(h, cq, last)) {
		last = ring->freed;
		if (!life_is_ready(h->life) || !await_seen(h, cq, last))
			return false;
	}
	return completion_ring_free_count(ring, last + 1);
}

static __attribute__((noinline)) void relay_room_late(struct completion_queue *cq)
{
	clock_freeze();
	queues_relay_room(cq->queues, cq);
	clock_thaw();
}

static void on_retry(struct lt_timer *timer)
{
	struct completion_queue *cq = (struct completion_queue *)((char *)timer - offsetof(struct completion_queue, retry));

	if (cq->far)
		relay_room_late(cq);
	else
		completion_unpark(horizon_of(cq->queues->view)->completion, cq);
}

/* An entry is free when its host thread can have read it at the earliest, in device time, and really has; so a full queue delays a
 * completion by the same time on every host. */
static bool horizon_make_room(struct host_view *view, struct completion_queue *cq)
{
	struct horizon *h = horizon_of(view);
	uint64_t oldest_ns = free_ns(cq, cq->ring.freed);
	bool freed;

	if (oldest_ns > clock_now_ns() && oldest_ns <= HZ_ARRIVAL_MOST_NS) { /* it lies in the host's memory: no longer a time, perhaps */
		lt_timer_arm(&cq->retry, oldest_ns, on_retry);
		return false;
	}
	clock_freeze();
	freed = free_entries(h, cq);
	clock_thaw();
	if (!freed && life_is_ready(h->life))
		lt_timer_arm(&cq->retry, clock_now_ns() + RETRY_NS, on_retry);
	return freed;
}

static HZ_FROZEN void horizon_fetched(struct host_view *view, struct submission_queue *sq) { horizon_update(horizon_of(view), sq); }

/* At a ready queue the fetch will look. */
static HZ_FROZEN void horizon_completed(struct host_view *view, struct submission_queue *sq)
{
	struct horizon *h = horizon_of(view);

	if (h->open_mask & ~h->queues->ready_mask & queue_bit(sq->id))
		horizon_update(h, sq);
}

void horizon_init(struct horizon *h, struct queues *queues, struct completion *completion, struct control_link *link,
		  const struct life *life, uint64_t reach_ns)
{
	*h = (struct horizon){
		.view = { .dated = true,
			  .listen = horizon_listen,
			  .settle = horizon_settle,
			  .rest = horizon_rest,
			  .fetched = horizon_fetched,
			  .completed = horizon_completed,
			  .make_room = horizon_make_room,
			  .arrived = horizon_arrived,
			  .forget = horizon_forget },
		.queues = queues,
		.completion = completion,
		.link = link,
		.life = life,
		.reach_ns = reach_ns,
	};
	tournament_init(&h->next);
}
