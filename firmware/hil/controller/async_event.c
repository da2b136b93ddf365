/* Asynchronous events: errors of the host (invalid doorbells), critical warnings of the SMART log, zones that the device changed. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/controller/async_event.h"

static uint16_t take_request(struct async_events *events, unsigned index)
{
	uint16_t cid = events->cid[index];

	events->waiting--;
	for (unsigned i = index; i < events->waiting; i++)
		events->cid[i] = events->cid[i + 1];
	return cid;
}

/* The log page of a type's events, and the information of bit 0 in `pending`. */
static const struct {
	uint8_t log_page, first;
} types[NVME_AEN_TYPES] = {
	[NVME_AEN_ERROR] = { NVME_LOG_ERROR, 0 },
	[NVME_AEN_SMART] = { NVME_LOG_SMART, 0 },
	[NVME_AEN_NOTICE] = { NVME_LOG_CHANGED_ZONES, NVME_AEN_NOTICE_ZONES },
};

/* The event is told: of a notice, for one of the namespaces that it is about. */
static uint32_t take_namespace(struct async_events *events, unsigned type)
{
	uint32_t nsid = (uint32_t)__builtin_ctz(events->zones | 1u << 31) + 1;

	if (type != NVME_AEN_NOTICE)
		return 0;
	events->zones &= events->zones - 1;
	events->type[type].pending = events->zones != 0;
	return nsid;
}

static void report_events(struct async_events *events)
{
	for (unsigned type = 0; type < NVME_AEN_TYPES && events->waiting; type++) {
		uint32_t *pending = &events->type[type].pending, nsid;
		unsigned information;

		if (!*pending || events->type[type].masked)
			continue;
		information = types[type].first + (unsigned)__builtin_ctz(*pending);
		*pending &= *pending - 1;
		events->type[type].masked = true;
		nsid = take_namespace(events, type);
		admin_answer(events->answers, take_request(events, 0), NVME_SUCCESS,
			     type | information << 8 | (uint32_t)types[type].log_page << 16 | (uint64_t)nsid << 32);
	}
}

void async_events_init(struct async_events *events, struct admin_answers *answers, const struct life *life)
{
	*events = (struct async_events){ .answers = answers, .life = life };
}

void async_events_reset(struct async_events *events) { async_events_init(events, events->answers, events->life); }

bool async_events_wait(struct async_events *events, uint16_t cid)
{
	if (events->waiting == ASYNC_LIMIT)
		return false;
	events->cid[events->waiting++] = cid;
	report_events(events);
	return true;
}

bool async_events_abort(struct async_events *events, uint16_t cid)
{
	for (unsigned i = 0; i < events->waiting; i++)
		if (events->cid[i] == cid) {
			admin_answer(events->answers, take_request(events, i), NVME_ABORT_REQUESTED, 0);
			return true;
		}
	return false;
}

void async_events_raise(struct async_events *events, enum nvme_async_type type, enum nvme_async_event information)
{
	if (!life_is_ready(events->life))
		return;
	events->type[type].pending |= 1u << (information - types[type].first);
	report_events(events);
}

void async_events_raise_zones(struct async_events *events, uint32_t number)
{
	if (life_is_ready(events->life))
		events->zones |= 1u << number;
	async_events_raise(events, NVME_AEN_NOTICE, NVME_AEN_NOTICE_ZONES);
}

/* Whoever has read the changed zones of a namespace has taken them all: a notice that waits has nothing left to say of it. */
void async_events_clear(struct async_events *events, uint8_t log_page, uint32_t nsid)
{
	for (unsigned type = 0; type < NVME_AEN_TYPES; type++)
		if (types[type].log_page == log_page)
			events->type[type].masked = false;
	if (log_page == NVME_LOG_CHANGED_ZONES) {
		events->zones &= ~(1u << (nsid - 1));
		events->type[NVME_AEN_NOTICE].pending = events->zones != 0;
	}
	report_events(events);
}
