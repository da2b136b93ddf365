/* Asynchronous events: errors of the host (invalid doorbells), critical warnings of the SMART log, zones that the device changed. */
#include "hil/controller/async_event.h"

#include "hil/controller/hil_state.h"

static uint16_t take_request(struct async_events *events, unsigned index)
{
	uint16_t cid = events->cid[index];

	events->waiting--;
	for (unsigned i = index; i < events->waiting; i++)
		events->cid[i] = events->cid[i + 1];
	return cid;
}

/* The log page of a type's events, the information of bit 0 in `pending`, and the namespace that they are about. */
static const struct { uint8_t log_page, first; uint32_t nsid; } types[NVME_AEN_TYPES] = {
	[NVME_AEN_ERROR] = { NVME_LOG_ERROR, 0, 0 },
	[NVME_AEN_SMART] = { NVME_LOG_SMART, 0, 0 },
	[NVME_AEN_NOTICE] = { NVME_LOG_CHANGED_ZONES, NVME_AEN_NOTICE_ZONES, 1 },
};

static void report(struct hil *hil)
{
	struct async_events *events = &hil->events;

	for (unsigned type = 0; type < NVME_AEN_TYPES && events->waiting; type++) {
		uint32_t *pending = &events->type[type].pending;
		unsigned information;

		if (!*pending || events->type[type].masked)
			continue;
		information = types[type].first + (unsigned)__builtin_ctz(*pending);
		*pending &= *pending - 1;
		events->type[type].masked = true;
		hil_admin_answer(hil, take_request(events, 0), NVME_SUCCESS,
				 type | information << 8 | (uint32_t)types[type].log_page << 16 | (uint64_t)types[type].nsid << 32);
	}
}

void async_event_raise(struct hil *hil, enum nvme_async_type type, enum nvme_async_event information)
{
	if (hil->life != LIFE_READY)
		return;
	hil->events.type[type].pending |= 1u << (information - types[type].first);
	report(hil);
}

void async_event_warn(struct hil *hil, uint32_t warnings)
{
	if (hil->warning & warnings & NVME_WARNING_SPARE)
		async_event_raise(hil, NVME_AEN_SMART, NVME_AEN_SMART_SPARE);
	if (hil->warning & warnings & NVME_WARNING_RELIABILITY)
		async_event_raise(hil, NVME_AEN_SMART, NVME_AEN_SMART_RELIABILITY);
}

void async_event_zones(struct hil *hil)
{
	if (hil->feature[NVME_FEAT_ASYNC_EVENT] & NVME_NOTICE_ZONES && hil->device.changed_zones(hil->device.ctx, NULL, 0, false))
		async_event_raise(hil, NVME_AEN_NOTICE, NVME_AEN_NOTICE_ZONES);
}

/* Whoever has read the changed zones has taken them all: a notice that waits has nothing left to say. */
void async_event_clear(struct hil *hil, uint8_t log_page)
{
	for (unsigned type = 0; type < NVME_AEN_TYPES; type++)
		if (types[type].log_page == log_page)
			hil->events.type[type].masked = false;
	if (log_page == NVME_LOG_CHANGED_ZONES)
		hil->events.type[NVME_AEN_NOTICE].pending = 0;
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
