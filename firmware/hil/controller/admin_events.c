/* Asynchronous Event Request and Abort. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/controller/admin_events.h"

#include "hil/controller/hil_state.h"

uint16_t admin_async_event(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	if (!async_events_wait(&hil->events, sqe->cid))
		return NVME_ASYNC_LIMIT | NVME_DNR;
	result->later = true;
	return NVME_SUCCESS;
}

/* Commands in the FTL cannot be called back, so only a waiting event request is ever aborted (DW0 bit 0: 1 = not aborted). */
uint16_t admin_abort(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	uint16_t sqid = (uint16_t)sqe->cdw10, cid = (uint16_t)(sqe->cdw10 >> 16);

	result->dw0 = !(sqid == 0 && async_events_abort(&hil->events, cid));
	return NVME_SUCCESS;
}
