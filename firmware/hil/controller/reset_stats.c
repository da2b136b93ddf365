/* Vendor command C0h: every statistics account starts again. Complete when each hart has begun a new account. */
#include "hil/controller/hil_state.h"
#include "lt/hart.h"
#include "lt/lock.h"
#include "tsu/tsu_report.h"

static void restarted(struct hil *hil)
{
	lt_lock_stats_reset();
	clock_freeze();
	hil->device.flash_published(hil->device.ctx, &hil->base->flash);
	hil->device.ftl_published(hil->device.ctx, &hil->base->ftl);
	clock_thaw();
	if (hil->life == LIFE_READY)
		hil_admin_answer(hil, hil->ping_sqe.cid, NVME_SUCCESS, 0);
}

uint16_t hil_admin_reset_stats(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	if (hil->pings_out)
		return NVME_COMMAND_SEQUENCE;
	lt_hart_times_reset();
	return hil_ping_harts(hil, sqe, result, restarted);
}
