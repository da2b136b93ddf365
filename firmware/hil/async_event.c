/* Asynchronous events: errors of the host (invalid doorbells), and critical warnings of the SMART log. */
#include "async_event.h"

#include "hil_state.h"

static uint16_t take_request(struct async_events *events, unsigned index)
{
	uint16_t cid = events->cid[index];

	events->waiting--;
	for (unsigned i = index; i < events->waiting; i++)
		events->cid[i] = events->cid[i + 1];
	return cid;
}

static const uint8_t log_page_of[NVME_AEN_TYPES] = { [NVME_AEN_ERROR] = NVME_LOG_ERROR, [NVME_AEN_SMART] = NVME_LOG_SMART };

static void report(struct hil *hil)
{
	struct async_events *events = &hil->events;

	for (unsigned type = 0; type < NVME_AEN_TYPES && events->waiting; type++) {
		uint32_t *pending = &events->type[type].pending;
		unsigned information;

		if (!*pending || events->type[type].masked)
			continue;
		information = (unsigned)__builtin_ctz(*pending);
		*pending &= *pending - 1;
		events->type[type].masked = true;
		hil_admin_answer(hil, take_request(events, 0), NVME_SUCCESS, type | information << 8 | (uint32_t)log_page_of[type] << 16);
	}
}

void async_event_raise(struct hil *hil, enum nvme_async_type type, enum nvme_async_event information)
{
	hil->events.type[type].pending |= 1u << information;
	report(hil);
}

void async_event_warn(struct hil *hil, uint32_t warnings)
{
	if (hil->warning & warnings & NVME_WARNING_RELIABILITY)
		async_event_raise(hil, NVME_AEN_SMART, NVME_AEN_SMART_RELIABILITY);
}

void async_event_clear(struct hil *hil, uint8_t log_page)
{
	for (unsigned type = 0; type < NVME_AEN_TYPES; type++)
		if (log_page_of[type] == log_page)
			hil->events.type[type].masked = false;
	report(hil);
}

bool async_event_abort(struct hil *hil, uint16_t cid)
{
	for (unsigned i = 0; i < hil->events.waiting; i++)
		if (hil->events.cid[i] == cid) {
			hil_admin_answer(hil, take_request(&hil->events, i), NVME_ABORT_REQUESTED, 0);
			return true;
		}
	return false;
}

uint16_t hil_admin_async_event(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	if (hil->events.waiting == ASYNC_LIMIT)
		return NVME_ASYNC_LIMIT | NVME_DNR;
	hil->events.cid[hil->events.waiting++] = sqe->cid;
	result->later = true;
	report(hil);
	return NVME_SUCCESS;
}

/* Commands in the FTL cannot be called back, so only a waiting event request is ever aborted (DW0 bit 0: 1 = not aborted). */
uint16_t hil_admin_abort(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	uint16_t sqid = (uint16_t)sqe->cdw10, cid = (uint16_t)(sqe->cdw10 >> 16);

	result->dw0 = !(sqid == 0 && async_event_abort(hil, cid));
	return NVME_SUCCESS;
}
