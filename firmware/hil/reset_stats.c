/* Vendor command C0h: every statistics account starts again. Complete when each hart has begun a new account. */
#include "hil_state.h"
#include "lt/hart.h"
#include "lt/lock.h"

static void on_pong(struct lt_event *event)
{
	struct hil *hil = ((struct hart_ping *)event)->hil;

	if (--hil->pings_out)
		return;
	clock_freeze();
	lt_lock_stats_reset();
	tsu_report(hil->tsu, &hil->base->flash);
	ftl_report(hil->ftl, &hil->base->ftl);
	clock_thaw();
	if (hil->life == LIFE_READY)
		hil_admin_answer(hil, hil->ping_cid, NVME_SUCCESS, 0);
	hil_life_step(hil);
}

/* On the pinged hart, behind the event that restarts its account. */
static void on_ping(struct lt_event *event)
{
	lt_post(&((struct hart_ping *)event)->hil->thread, event, on_pong);
}

uint16_t hil_admin_reset_stats(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	if (hil->pings_out)
		return NVME_COMMAND_SEQUENCE;
	hil->ping_cid = sqe->cid;
	result->later = true;
	hil->pings_out = lt_harts();
	lt_hart_times_reset();
	for (unsigned i = 0; i < lt_harts(); i++)
		lt_post(&hil->ping[i].thread, &hil->ping[i].event, on_ping);
	return NVME_SUCCESS;
}
HZ_STATIC_ASSERT(offsetof(struct hart_ping, event) == 0, "an event is its ping");
