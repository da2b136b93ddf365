/* Rounds over all harts. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/controller/hart_pings.h"

#include "lt/arena.h"
#include "lt/hart.h"

static void on_pong(struct lt_event *event);

static void on_ping(struct lt_event *event)
{
	struct hart_pings *pings = ((struct hart_ping *)event)->pings;

	lt_hart_times_publish();
	pings->device->publish(pings->device->ctx);
	lt_post(pings->home, event, on_pong);
}
HZ_STATIC_ASSERT(offsetof(struct hart_ping, event) == 0, "an event is its ping");

void hart_pings_init(struct hart_pings *pings, struct arena *arena, const struct controller_ops *device, const struct lt_thread *home,
		     void *ctx, hart_pings_fn *over)
{
	*pings = (struct hart_pings){ .device = device, .home = home, .ctx = ctx, .over = over };
	pings->ping = arena_alloc_model(arena, lt_harts(), sizeof(*pings->ping), "HIL pings");
	for (unsigned i = 0; i < lt_harts(); i++)
		pings->ping[i] = (struct hart_ping){ .thread = { "ping", i }, .pings = pings };
}

static void begin_round(struct hart_pings *pings)
{
	const struct hart_round *round = &pings->round[pings->head];

	if (round->begin)
		round->begin();
	pings->out = lt_harts();
	for (unsigned i = 0; i < lt_harts(); i++)
		lt_post(&pings->ping[i].thread, &pings->ping[i].event, on_ping);
}

/* The answer comes before the next round begins: it reads what this one has published. */
static void on_pong(struct lt_event *event)
{
	struct hart_pings *pings = ((struct hart_ping *)event)->pings;

	if (--pings->out)
		return;
	pings->round[pings->head].pinged(pings->ctx);
	pings->head = (pings->head + 1) % HART_ROUNDS;
	if (--pings->rounds)
		begin_round(pings);
	pings->over(pings->ctx);
}

void hart_pings_start(struct hart_pings *pings, const struct hart_round *round)
{
	if (hart_pings_full(pings))
		lt_fail("hart_pings_start: more rounds than may wait");
	pings->round[(pings->head + pings->rounds++) % HART_ROUNDS] = *round;
	if (pings->rounds == 1)
		begin_round(pings);
}
