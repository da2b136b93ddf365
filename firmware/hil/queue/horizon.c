/* Virtual clock: how far device time may go, given what the host has promised (protocol/shm.h), and which queue is next.
 *
 * A queue's key is the device time at which it matters: that of its next command, if one is there, else the limit of its promise.
 * Both lie reach_ns behind the host's own time, since a command needs that long to get here. A key in the future needs no look at
 * the host; a key that is due is either a command to fetch or a limit at which time must stand until the host has moved.
 *
 * Everything here runs with the clock frozen, so neither the number of looks nor the number of wake-ups at limits that have
 * moved meanwhile costs an instruction: device time depends on what the host promised, never on when.
 *
 * A message on the register link carries no time. It is acted upon where device time stands by all that the host had said before it
 * sent the message: each look first hears the link, then looks at the queues, and acts only if none of them lets time go on. */
#include "hil/controller/hil_state.h"
#include "lt/hart.h"

enum { SPINS_BEFORE_SLEEP = 64 };

static uint64_t bit_of(const struct submission_queue *sq) { return 1ull << (sq->id - 1); }
static uint64_t later(uint64_t ns, uint64_t by_ns) { return ns > UINT64_MAX - by_ns ? UINT64_MAX : ns + by_ns; }

void hil_horizon_detach(struct hil *hil, struct submission_queue *sq)
{
	hil->open_mask &= ~bit_of(sq);
	sq->pending = false;
	tournament_set(&hil->next, sq->id - 1, TOURNAMENT_NEVER);
}

static void close_queue(struct hil *hil, struct submission_queue *sq)
{
	uint64_t horizon_ns = host_load64(&sq->clock->horizon_ns), stand_ns = horizon_ns + hil->reach_ns;

	if (hil->open_mask & bit_of(sq) && horizon_ns <= HZ_ARRIVAL_MOST_NS && stand_ns > hil->stand_ns)
		hil->stand_ns = stand_ns;
	hil_horizon_detach(hil, sq);
}

/* The promise: nothing arrives before this time. Behind the end of device time nothing arrives at all, but the host must say so. */
static uint64_t limit_of(const struct submission_queue *sq, uint64_t seen, uint64_t horizon_ns)
{
	const struct completion_ring *ring = &sq->cq->ring;
	uint64_t caused_ns;

	if (seen == ring->posted)
		return horizon_ns;
	caused_ns = later(host_load64(&sq->cq->clock->completed_ns[completion_ring_slot(ring, seen)]),
			  host_load32(&sq->clock->turnaround_ns));
	caused_ns = caused_ns < HZ_ARRIVAL_MOST_NS ? caused_ns : HZ_ARRIVAL_MOST_NS;
	return caused_ns < horizon_ns ? caused_ns : horizon_ns;
}

/* UINT64_MAX is no time but the promise that nothing comes. */
static bool possible(const struct submission_queue *sq, uint64_t horizon_ns)
{
	if (horizon_ns > HZ_ARRIVAL_MOST_NS && horizon_ns != UINT64_MAX)
		return false;
	return !sq->pending || host_load64(&sq->clock->arrival_ns[sq->head]) <= HZ_ARRIVAL_MOST_NS;
}

/* A message that waits for device time to stand (see above) has no place in device time if a host thread goes on without regard to it:
 * what was said before the message is seen at the first look at a queue, so what changes after that look was said later. Then the
 * message need not wait, and must not, since this may go on for ever. */
static void note_progress(struct hil *hil, struct submission_queue *sq, uint64_t progress)
{
	if (control_link_waits(&hil->link) && sq->progress != progress && (hil->seen_since_heard & bit_of(sq)))
		hil->link.overdue = true;
	hil->seen_since_heard |= bit_of(sq);
	sq->progress = progress;
}

/* The order of the loads is part of the protocol: open, seen, horizon, submitted. */
void hil_horizon_update(struct hil *hil, struct submission_queue *sq)
{
	const struct completion_ring *ring = &sq->cq->ring;
	uint64_t seen, horizon_ns, pending, key_ns;

	if (!host_load32(&sq->clock->open)) {
		close_queue(hil, sq);
		return;
	}
	seen = host_load64(&sq->cq->clock->seen);
	horizon_ns = host_load64(&sq->clock->horizon_ns);
	pending = host_load64(&sq->clock->submitted) - sq->fetched;
	note_progress(hil, sq, seen + pending + sq->fetched);
	sq->pending = pending != 0;
	if (pending >= sq->depth || seen > ring->posted || ring->posted - seen >= ring->depth || !possible(sq, horizon_ns)) {
		hil_sq_break(hil, sq);
		return;
	}
	key_ns = sq->pending ? host_load64(&sq->clock->arrival_ns[sq->head]) : limit_of(sq, seen, horizon_ns);
	tournament_set(&hil->next, sq->id - 1, later(key_ns, hil->reach_ns));
}

/* The host learns what "now" was, in its own time. */
static void note_opening(struct hil *hil, struct submission_queue *sq)
{
	uint64_t now_ns = clock_now_ns();

	host_store64(&sq->clock->opened_ns, now_ns > hil->reach_ns ? now_ns - hil->reach_ns : 0);
}

/* Until a whole round finds none: a queue opened before the horizon of another moved is seen before time goes on. True if there was
 * one. Called after each look that may have seen a queue move. */
static bool find_opened(struct hil *hil)
{
	uint64_t found, before = hil->open_mask;

	do {
		found = 0;
		for (uint64_t rest = hil->live_mask & ~hil->open_mask; rest; rest &= rest - 1) {
			struct submission_queue *sq = &hil->sq[__builtin_ctzll(rest) + 1];

			if (!host_load32(&sq->clock->open))
				continue;
			hil->open_mask |= bit_of(sq);
			note_opening(hil, sq);
			hil_horizon_update(hil, sq);
			found |= hil->open_mask & bit_of(sq);
		}
	} while (found);
	return hil->open_mask != before;
}

/* Begins a look: what is heard now was sent after the promises that are read next. Returns the bell for stand(). */
static uint32_t listen(struct hil *hil)
{
	uint32_t bell = host_load32(&hil->header->host_bell);

	host_store32(&hil->header->heartbeat, ++hil->heartbeat);
	control_link_hear(hil);
	return bell;
}

/* Ends a look that saw nothing move. False: the host will not move (see hil_port). */
static bool stand(struct hil *hil, unsigned look, uint32_t bell)
{
	return control_link_act(hil) || hil->admin_wanted || look < SPINS_BEFORE_SLEEP || hil->port.host_wait(hil->port.ctx, bell);
}

/* The queue's limit is reached: device time stands until its host thread has submitted, promised more, or closed. */
static bool await_move(struct hil *hil, struct submission_queue *sq)
{
	uint64_t key_ns = hil->next.key[sq->id - 1];

	for (unsigned look = 0;; look++) {
		uint32_t bell = listen(hil);

		if (hil->live_mask & bit_of(sq))
			hil_horizon_update(hil, sq);
		if (sq->pending || hil->next.key[sq->id - 1] != key_ns) {
			find_opened(hil);
			return true;
		}
		if (!stand(hil, look, bell))
			return false;
		if (hil->admin_wanted) /* the host may want its answer before it moves */
			hil_admin_run(hil);
	}
}

bool hil_horizon_settle(struct hil *hil)
{
	uint64_t now_ns = clock_now_ns();

	for (;;) {
		unsigned leaf = tournament_first(&hil->next);
		struct submission_queue *sq = &hil->sq[leaf + 1];

		if (hil->next.key[leaf] > now_ns || hil->next.key[leaf] == TOURNAMENT_NEVER)
			return true;
		if (!sq->pending) {
			if (!await_move(hil, sq))
				return false;
		} else if (!find_opened(hil)) {
			hil->ready_mask |= bit_of(sq);
			tournament_set(&hil->next, leaf, TOURNAMENT_NEVER);
		}
	}
}

/* The first key may be an old promise: look until it does not move. */
static uint64_t next_key(struct hil *hil)
{
	for (;;) {
		unsigned leaf = tournament_first(&hil->next);
		uint64_t key_ns = hil->next.key[leaf];

		if (key_ns == TOURNAMENT_NEVER)
			return key_ns;
		hil_horizon_update(hil, &hil->sq[leaf + 1]);
		find_opened(hil);
		if (tournament_first(&hil->next) == leaf && hil->next.key[leaf] == key_ns)
			return key_ns;
	}
}

/* Nothing in the device, nothing promised: device time stands, the register link is all there is. Each message is acted upon by
 * itself: two that come close together cost what two messages cost. */
static bool stand_by(struct hil *hil)
{
	for (unsigned look = 0;; look++) {
		uint32_t bell = listen(hil);

		if (hil_has_work(hil) || !hil_is_quiet(hil) || lt_hart_has_mail())
			return true;
		find_opened(hil);
		if (tournament_first_key(&hil->next) != TOURNAMENT_NEVER)
			return true;
		for (uint64_t rest = hil->open_mask; rest; rest &= rest - 1)
			hil_horizon_update(hil, &hil->sq[__builtin_ctzll(rest) + 1]);
		if (tournament_first_key(&hil->next) != TOURNAMENT_NEVER || (hil->open_mask == 0 && clock_now_ns() < hil->stand_ns))
			return true;
		if (!stand(hil, look, bell))
			return false;
	}
}

/* Waits, without leaving the freeze between two waits, until there is something to do other than to look at the host. */
void hil_horizon_idle(struct hil *hil, uint64_t deadline_ns)
{
	for (;;) {
		uint64_t until_ns;

		if (!hil_horizon_settle(hil) || hil_has_work(hil) || lt_hart_knows_mail())
			return;
		until_ns = next_key(hil);
		if (until_ns <= clock_now_ns())
			continue;
		if (hil_is_quiet(hil) && until_ns == TOURNAMENT_NEVER) {
			if (hil->open_mask || clock_now_ns() >= hil->stand_ns) {
				if (!stand_by(hil))
					return;
				continue;
			}
			until_ns = hil->stand_ns;
		}
		until_ns = until_ns < deadline_ns ? until_ns : deadline_ns;
		lt_hart_wait(until_ns);
		if (lt_hart_knows_mail() || clock_now_ns() < until_ns || until_ns == deadline_ns)
			return;
	}
}

bool hil_horizon_await_seen(struct hil *hil, struct completion_queue *cq, uint64_t number)
{
	for (unsigned look = 0;; look++) {
		uint32_t bell = listen(hil);
		uint64_t seen = host_load64(&cq->clock->seen);

		if (seen > number && seen <= cq->ring.posted)
			return true;
		if (!host_load32(&cq->clock->open)) { /* device time goes on from look to look: this is where a message is acted upon */
			control_link_act(hil);
			return false;
		}
		if (hil->life != LIFE_READY || !stand(hil, look, bell))
			return false;
		if (hil->admin_wanted) /* as in await_move */
			hil_admin_run(hil);
	}
}
