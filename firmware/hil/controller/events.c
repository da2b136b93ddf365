/* Asynchronous events, and the commands that request or abort them. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/controller/admin.h"
#include "hil/controller/controller.h"

/* Asynchronous events: errors of the host (invalid doorbells), critical warnings of the SMART log, the end of a sanitize operation,
 * created or deleted namespaces, zones changed by the device. */

static uint16_t take_request(struct async_events *events, unsigned index)
{
	uint16_t cid = events->cid[index];

	events->waiting--;
	for (unsigned i = index; i < events->waiting; i++)
		events->cid[i] = events->cid[i + 1];
	return cid;
}

static const struct {
	uint8_t type, information, log_page;
} kinds[] = {
	{ NVME_AEN_ERROR, NVME_AEN_ERROR_INVALID_DOORBELL_REGISTER, NVME_LOG_ERROR },
	{ NVME_AEN_ERROR, NVME_AEN_ERROR_INVALID_DOORBELL_VALUE, NVME_LOG_ERROR },
	{ NVME_AEN_SMART, NVME_AEN_SMART_RELIABILITY, NVME_LOG_SMART },
	{ NVME_AEN_SMART, NVME_AEN_SMART_SPARE, NVME_LOG_SMART },
	{ NVME_AEN_IO, NVME_AEN_IO_SANITIZED, NVME_LOG_SANITIZE },
	{ NVME_AEN_NOTICE, NVME_AEN_NOTICE_NAMESPACES, NVME_LOG_CHANGED_NAMESPACES },
	{ NVME_AEN_NOTICE, NVME_AEN_NOTICE_ZONES, NVME_LOG_CHANGED_ZONES },
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), NAMESPACES = KINDS - 2, ZONES = KINDS - 1 };

static void set_pending(struct async_events *events, unsigned kind, bool pending)
{
	events->pending = (events->pending & ~(1u << kind)) | (uint32_t)pending << kind;
}

/* Clear a reported event: of a change of zones, for one namespace. */
static uint32_t take_namespace(struct async_events *events, unsigned kind)
{
	uint32_t nsid = (uint32_t)__builtin_ctz(events->zones | 1u << 31) + 1;

	if (kind != ZONES)
		return 0;
	events->zones &= events->zones - 1;
	set_pending(events, ZONES, events->zones != 0);
	return nsid;
}

static void report_events(struct async_events *events)
{
	for (unsigned kind = 0; kind < KINDS && events->waiting; kind++) {
		uint8_t type = kinds[kind].type, log_page = kinds[kind].log_page;
		uint32_t nsid;

		if (!(events->pending >> kind & 1) || events->masked_by[type])
			continue;
		set_pending(events, kind, false);
		events->masked_by[type] = log_page;
		nsid = take_namespace(events, kind);
		admin_answer(events->answers, take_request(events, 0), NVME_SUCCESS,
			     type | (uint32_t)kinds[kind].information << 8 | (uint32_t)log_page << 16 | (uint64_t)nsid << 32);
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
	for (unsigned kind = 0; kind < KINDS; kind++)
		if (kinds[kind].type == type && kinds[kind].information == information)
			set_pending(events, kind, true);
	report_events(events);
}

void async_events_raise_zones(struct async_events *events, uint32_t number)
{
	if (life_is_ready(events->life))
		events->zones |= 1u << number;
	async_events_raise(events, NVME_AEN_NOTICE, NVME_AEN_NOTICE_ZONES);
}

/* A read of the list of changes takes all of it: a pending notice becomes void. */
void async_events_clear(struct async_events *events, uint8_t log_page, uint32_t nsid)
{
	for (unsigned type = 0; type < NVME_AEN_TYPES; type++)
		if (events->masked_by[type] == log_page)
			events->masked_by[type] = 0;
	if (log_page == NVME_LOG_CHANGED_NAMESPACES)
		set_pending(events, NAMESPACES, false);
	if (log_page == NVME_LOG_CHANGED_ZONES) {
		events->zones &= ~(1u << (nsid - 1));
		set_pending(events, ZONES, events->zones != 0);
	}
	report_events(events);
}

/* Asynchronous Event Request and Abort. */

uint16_t admin_async_event(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	if (!async_events_wait(&hil->events, sqe->cid))
		return NVME_ASYNC_LIMIT | NVME_DNR;
	result->later = true;
	return NVME_SUCCESS;
}

static void on_abort_over(struct lt_event *event)
{
	struct hil *hil = (struct hil *)((char *)event - offsetof(struct hil, abort.at_queue.event));

	hil->abort.busy = false;
	if (life_is_ready(&hil->life))
		admin_answer(&hil->answers, hil->abort.cid, NVME_SUCCESS, !hil->abort.at_queue.done);
	life_step(hil);
}

/* The hart that fetches from the queue looks for the command. */
static uint16_t abort_at_queue(struct hil *hil, const struct nvme_sqe *sqe, struct submission_queue *sq, struct admin_result *result)
{
	struct relay *relay = sq->far ? relay_of(&hil->relays, sq->cq) : NULL;
	struct fetch_abort *at_queue = &hil->abort.at_queue;

	if (hil->abort.busy)
		return NVME_ABORT_LIMIT;
	hil->abort.busy = result->later = true;
	hil->abort.cid = sqe->cid;
	*at_queue = (struct fetch_abort){ .fetch = relay ? relay->fetch : &hil->group.fetch,
					  .home = &hil->group.thread,
					  .over = on_abort_over,
					  .sq = sq->id,
					  .cid = (uint16_t)(sqe->cdw10 >> 16) };
	lt_post(relay ? &relay->bell.thread : &hil->group.thread, &at_queue->event, fetch_abort_begin);
	return NVME_SUCCESS;
}

/* DW0 bit 0: 1 = not aborted. What the device has fetched cannot be called back. */
uint16_t admin_abort(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	uint16_t id = (uint16_t)sqe->cdw10, cid = (uint16_t)(sqe->cdw10 >> 16);
	struct submission_queue *sq = &hil->group.queues.sq[id < QUEUES ? id : 0];

	if (sq->id && sq->live && !sq->deleting && !sq->broken)
		return abort_at_queue(hil, sqe, sq, result);
	result->dw0 = !(id == 0 && async_events_abort(&hil->events, cid));
	return NVME_SUCCESS;
}
