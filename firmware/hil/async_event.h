/* Asynchronous events: what the host asked to be told of, and what waits to be told (base spec 5.2). */
#ifndef HIL_ASYNC_EVENT_H
#define HIL_ASYNC_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "nvme.h"

enum { ASYNC_LIMIT = 4 };  /* AERL + 1 */

struct async_events {
	uint16_t cid[ASYNC_LIMIT];  /* requests that wait for an event, oldest first */
	uint32_t waiting;
	uint32_t pending;           /* bit = information of an error event that has not been reported */
	bool error_masked;          /* an error event was reported and its log page has not been read since */
};

struct hil;
/* Raises an error event: reported at once if a request waits and the type is not masked, else kept. Equal events are one. */
void async_event_raise(struct hil *hil, enum nvme_async_event information);
/* The log page of error events was read without "retain": the type may be reported again. */
void async_event_clear(struct hil *hil);
/* True if the request was waiting; it completes with Abort Requested. */
bool async_event_abort(struct hil *hil, uint16_t cid);

#endif
