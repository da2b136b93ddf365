/* A round over all harts: each publishes its account and counters, behind everything that was posted to it before. */
#include "hil/controller/hil_state.h"
#include "lt/hart.h"
#include "tsu/tsu_report.h"

static void on_pong(struct lt_event *event)
{
	struct hil *hil = ((struct hart_ping *)event)->hil;

	if (--hil->pings_out)
		return;
	hil->pinged(hil);
	hil_life_step(hil);
}

static void on_ping(struct lt_event *event)
{
	struct hil *hil = ((struct hart_ping *)event)->hil;

	lt_hart_times_publish();
	hil->device.publish(hil->device.ctx);
	lt_post(&hil->thread, event, on_pong);
}
HZ_STATIC_ASSERT(offsetof(struct hart_ping, event) == 0, "an event is its ping");

uint16_t hil_ping_harts(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result, hil_pinged_fn *pinged)
{
	if (hil->pings_out)
		return NVME_COMMAND_SEQUENCE;
	hil->ping_sqe = *sqe;
	hil->pinged = pinged;
	hil->pings_out = lt_harts();
	result->later = true;
	for (unsigned i = 0; i < lt_harts(); i++)
		lt_post(&hil->ping[i].thread, &hil->ping[i].event, on_ping);
	return NVME_SUCCESS;
}
