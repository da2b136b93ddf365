/* Where each request's time goes (option locks=on): flash, channel, link, queueing, compute, spinning, logical waits.
 *
 * At any time a request is in one of these: a hart works at it, which is compute but for what the hart spins; it waits for a logical lock
 * or at its zone; its data cross the link; else it is queued for a hart, but for the time that the last flash read it waited for
 * spent before its die, in the cells, and with the channel. The parts sum to its time, which begins when it is fetched and ends when its
 * completion is posted. What of them is whose lock's, critical.h keeps. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_REQUEST_H
#define VC_REQUEST_H

#include <stdio.h>

#include "state.h"

/* HZ_VC_FETCHED … HZ_VC_ENDS_WRITE. */
void vc_request_event(const struct vc_hart *h);
/* It begins to wait for a logical lock (HZ_VC_LOCK), or ends to (0); no effect on what is no request. */
void vc_request_waits(const struct vc_hart *h, uint64_t address, uint64_t lock);
/* The clock until which all requests under way are accounted for. */
uint64_t vc_request_oldest(void);
/* Those under way go on. */
void vc_request_begin_anew(void);
/* A member of a JSON object, "requests". */
void vc_request_write_json(FILE *out);

#endif
