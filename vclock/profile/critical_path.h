/* A request's time: where it goes, the locks of its hart meanwhile, and what each lock has of the critical path (option locks=on). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_PROFILE_CRITICAL_PATH_H
#define VCLOCK_PROFILE_CRITICAL_PATH_H

#include <stdio.h>

#include "base/state.h"
#include "histogram.h"

/* Where each request's time goes (option locks=on): flash, channel, link, queueing, compute, spinning, logical waits.
 *
 * At any time a request is in one of these: a hart works at it, which is compute but for what the hart spins; it waits for a logical lock
 * or at its zone; its data cross the link; else it is queued for a hart, but for the time that the last flash read it waited for
 * spent before its die, in the cells, and with the channel. The parts sum to its time, which begins when it is fetched and ends when its
 * completion is posted. What of them is whose lock's, critical.h keeps. */

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

/* Which spin locks each hart waited for, and which it held, over the time that requests still ask about (option locks=on).
 *
 * Of locks held inside each other the innermost counts, and while the hart waits for one none is held. So the times are apart. What a hart
 * holds under one lock for all (class global) is a part of that one. */

enum vc_past { VC_PAST_SPUN, VC_PAST_HELD };

/* A lock's event (enum hz_vc_lock_event) of a hart, at its clock; lock: HZ_VC_LOCK. */
void vc_past_event(const struct vc_hart *h, enum hz_vc_lock_event event, uint64_t lock);
/* It holds a lock, or waits for one inside another, and the innermost that it holds is of this class (VC_ANY_CLASS: of any). */
bool vc_past_holds(unsigned hart, uint64_t lock_class);
/* Of the hart's time between the two clocks: cycles for each lock that it waited for (or held), in pieces. Returns their sum. */
typedef void vc_past_fn(void *ctx, uint64_t lock, uint64_t cycles);
uint64_t vc_past_times(unsigned hart, enum vc_past what, uint64_t from, uint64_t to, vc_past_fn *each, void *ctx);

/* What each lock has of a request's way from its fetch to its completion, and of the way of many (option locks=on).
 *
 * A spin lock: the hart that works at the request waits for it, or holds it; or the request is queued for a hart that waits for it. A
 * logical lock: the request waits for it. */

enum vc_critical { VC_SPUN, VC_HELD, VC_BEHIND, VC_WAITED, VC_CRITICALS };
/* Logical locks beside the others, in the same table; the one of index 0 of no class: its turn at its zone. */
#define VC_LOGICAL_LOCK(lock) ((lock) | 1ull << 40)

struct vc_share {
	uint64_t lock;
	uint64_t cycles[VC_CRITICALS];
};
/* Of one request. */
struct vc_shares {
	struct vc_share *at; /* kept from request to request */
	unsigned count, room;
};

void vc_share_add(struct vc_shares *shares, uint64_t lock, enum vc_critical what, uint64_t cycles);
void vc_critical_begin_anew(void);
/* A request of a kind has ended; bucket: of its time. */
void vc_critical_count(unsigned kind, unsigned bucket, const struct vc_shares *shares);
/* Members of a JSON object: of requests of a kind whose times are in this bucket or beyond, which took so many cycles. */
void vc_critical_write_json(FILE *out, unsigned kind, unsigned bucket, uint64_t cycles);

#endif
