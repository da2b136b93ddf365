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
	struct {
		uint32_t pending;   /* bit = information, from the type's first one on, of an event that has not been reported */
		bool masked;        /* one was reported, and the type's log page has not been read since */
	} type[NVME_AEN_TYPES];
};

struct hil;
/* Raises an event: reported at once if a request waits and the type is not masked, else kept. Equal events are one. A controller that
 * is not enabled has nobody to tell. */
void async_event_raise(struct hil *hil, enum nvme_async_type type, enum nvme_async_event information);
/* The host has enabled events of these critical warnings: of one that stands it is told. */
void async_event_warn(struct hil *hil, uint32_t warnings);
/* The host is told of zones that the device has changed, if it asks for that and has not read of them. */
void async_event_zones(struct hil *hil);
/* This log page was read without "retain": events of its type may be reported again. */
void async_event_clear(struct hil *hil, uint8_t log_page);
/* True if the request was waiting; it completes with Abort Requested. */
bool async_event_abort(struct hil *hil, uint16_t cid);

#endif
