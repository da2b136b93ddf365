/* Vendor command C0h: every statistics account starts again. Complete when each hart has begun a new account. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/controller/reset_stats.h"

#include "hil/controller/hil_state.h"
#include "lt/hart.h"
#include "lt/lock.h"

static void on_restarted(void *ctx)
{
	struct hil *hil = ctx;

	lt_lock_stats_reset();
	clock_freeze();
	statistics_restart(&hil->statistics);
	clock_thaw();
	if (life_is_ready(&hil->life))
		admin_answer(&hil->answers, hart_pings_command(&hil->pings)->cid, NVME_SUCCESS, 0);
}

uint16_t admin_reset_stats(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	const struct hart_round round = { .sqe = *sqe, .begin = lt_hart_times_reset, .pinged = on_restarted };

	result->later = true;
	hart_pings_start(&hil->pings, &round);
	return NVME_SUCCESS;
}
