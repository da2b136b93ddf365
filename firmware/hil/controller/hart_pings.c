/* A round over all harts. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/controller/hart_pings.h"

#include "lt/arena.h"
#include "lt/hart.h"

static void on_pong(struct lt_event *event)
{
	struct hart_pings *pings = ((struct hart_ping *)event)->pings;

	if (--pings->out)
		return;
	pings->pinged(pings->ctx);
	pings->over(pings->ctx);
}

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
	pings->ping = arena_alloc(arena, lt_harts(), sizeof(*pings->ping), "HIL pings");
	for (unsigned i = 0; i < lt_harts(); i++)
		pings->ping[i] = (struct hart_ping){ .thread = { "ping", i }, .pings = pings };
}

uint16_t hart_pings_start(struct hart_pings *pings, const struct nvme_sqe *sqe, hart_pings_fn *pinged)
{
	if (pings->out)
		return NVME_COMMAND_SEQUENCE;
	pings->sqe = *sqe;
	pings->pinged = pinged;
	pings->out = lt_harts();
	for (unsigned i = 0; i < lt_harts(); i++)
		lt_post(&pings->ping[i].thread, &pings->ping[i].event, on_ping);
	return NVME_SUCCESS;
}
