/* Asynchronous events: what the host asked to be told of, and what waits to be told (base spec 5.2). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_ASYNC_EVENT_H
#define HIL_ASYNC_EVENT_H

#include "hil/controller/admin_answer.h"
#include "hil/queue/life.h"

enum { ASYNC_LIMIT = 4 }; /* AERL + 1 */

struct async_events {
	struct admin_answers *answers;
	const struct life *life;
	uint32_t enabled; /* feature 0Bh: critical warnings and notices that the host wants to be told of */
	uint32_t waiting;
	uint16_t cid[ASYNC_LIMIT]; /* requests that wait for an event, oldest first */
	uint32_t zones;            /* namespaces whose zones the pending notice is about: bit = NSID - 1 */
	uint32_t pending;          /* events that have not been reported: bit = kind */
	/* By type: one was reported, and this log page, which tells more of it, has not been read since. 0: none was. */
	uint8_t masked_by[NVME_AEN_TYPES];
};

void async_events_init(struct async_events *events, struct admin_answers *answers, const struct life *life);
/* The controller was enabled: nothing waits, nothing is enabled. */
void async_events_reset(struct async_events *events);
/* Command cid waits for an event. False: too many do. */
bool async_events_wait(struct async_events *events, uint16_t cid);
/* True if the request was waiting; it completes with Abort Requested. */
bool async_events_abort(struct async_events *events, uint16_t cid);
/* Raises an event: reported at once if a request waits and the type is not masked, else kept. Equal events are one. A controller that
 * is not ready has nobody to tell. */
void async_events_raise(struct async_events *events, enum nvme_async_type type, enum nvme_async_event information);
/* The notice that zones of this namespace have changed. */
void async_events_raise_zones(struct async_events *events, uint32_t number);
/* This log page, of this namespace, was read without "retain": if it is that of the event reported last, events of that type may be
 * reported again. */
void async_events_clear(struct async_events *events, uint8_t log_page, uint32_t nsid);

#endif
