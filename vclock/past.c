/* Times of locks, one after another, for each hart and use. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "past.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "device_config.h"
#include "request.h"

enum { MOST_HELD = 16, FIRST_ROOM = 1024, MOST_ROOM = 1 << 20 };

struct piece {
	uint64_t lock, from, to;
};
struct pieces {
	struct piece *at;
	unsigned count, room;
};
static struct past {
	struct pieces of[2];
	uint64_t lock; /* that it waits for or holds now; 0: none */
	enum vc_past what;
	uint64_t since;
	uint64_t held[MOST_HELD];
	unsigned holds;
} pasts[VC_MAX_HARTS];

/* Nothing under way is older than what stays. What is so old that it fills all the room goes nevertheless. */
static void forget(struct pieces *p)
{
	uint64_t oldest = vc_request_oldest();
	unsigned gone = 0;

	while (gone < p->count && p->at[gone].to <= oldest)
		gone++;
	if (gone < p->count / 2 && p->room == MOST_ROOM)
		gone = p->count / 2;
	memmove(p->at, p->at + gone, (p->count - gone) * sizeof(*p->at));
	p->count -= gone;
}

static void make_room(struct pieces *p)
{
	if (p->room)
		forget(p);
	if (p->count * 2 <= p->room && p->room)
		return;
	if (p->room == MOST_ROOM)
		return;
	p->room = p->room ? p->room * 2 : FIRST_ROOM;
	p->at = realloc(p->at, p->room * sizeof(*p->at));
	if (!p->at)
		abort();
}

static void add(struct pieces *p, uint64_t lock, uint64_t from, uint64_t to)
{
	if (p->count == p->room)
		make_room(p);
	p->at[p->count++] = (struct piece){ lock, from, to };
}

/* From now on it waits for or holds this lock. */
static void turn_to(struct past *past, uint64_t lock, enum vc_past what, uint64_t now)
{
	if (past->lock && now > past->since)
		add(&past->of[past->what], past->lock, past->since, now);
	past->lock = lock;
	past->what = what;
	past->since = now;
}

static uint64_t innermost(const struct past *past)
{
	for (unsigned i = 0; i < past->holds; i++)
		if (HZ_VC_LOCK_CLASS(past->held[i]) == HZ_LC_GLOBAL)
			return past->held[i];
	return past->holds ? past->held[past->holds - 1] : 0;
}

static void take_out(struct past *past, uint64_t lock)
{
	unsigned i = past->holds;

	while (i && past->held[i - 1] != lock)
		i--;
	if (!i)
		return;
	memmove(&past->held[i - 1], &past->held[i], (past->holds - i) * sizeof(past->held[0]));
	past->holds--;
}

void vc_past_event(const struct vc_hart *h, enum hz_vc_lock_event event, uint64_t lock)
{
	struct past *past = &pasts[h->index];
	uint64_t now = vc_clock(h);

	switch (event) {
	case HZ_VC_LOCK_ASKED: return turn_to(past, lock, VC_PAST_SPUN, now);
	case HZ_VC_LOCK_WAITED: break;
	case HZ_VC_LOCK_GOT:
	case HZ_VC_LOCK_GOT_SHARED:
		if (past->holds < MOST_HELD)
			past->held[past->holds++] = lock;
		break;
	case HZ_VC_LOCK_GIVEN: take_out(past, lock); break;
	default: return;
	}
	turn_to(past, innermost(past), VC_PAST_HELD, now);
}

bool vc_past_holds(unsigned hart) { return pasts[hart].holds != 0; }

/* Returns what of the piece lies between. */
static uint64_t between(const struct piece *piece, uint64_t from, uint64_t to, vc_past_fn *each, void *ctx)
{
	uint64_t begin = piece->from > from ? piece->from : from, end = piece->to < to ? piece->to : to;

	if (end <= begin)
		return 0;
	each(ctx, piece->lock, end - begin);
	return end - begin;
}

uint64_t vc_past_times(unsigned hart, enum vc_past what, uint64_t from, uint64_t to, vc_past_fn *each, void *ctx)
{
	const struct past *past = &pasts[hart];
	const struct pieces *p = &past->of[what];
	struct piece now = { past->lock, past->since, UINT64_MAX };
	uint64_t sum = past->lock && past->what == what ? between(&now, from, to, each, ctx) : 0;

	for (unsigned i = p->count; i && p->at[i - 1].to > from; i--)
		sum += between(&p->at[i - 1], from, to, each, ctx);
	return sum;
}
