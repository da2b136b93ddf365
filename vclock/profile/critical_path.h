/* A request's time, the locks of its hart meanwhile, and each lock's share of the critical path
 * (option locks=on). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_PROFILE_CRITICAL_PATH_H
#define VCLOCK_PROFILE_CRITICAL_PATH_H

#include <stdio.h>

#include "base/state.h"
#include "histogram.h"

/* Each request's time (option locks=on): flash, channel, link, queueing, compute, spinning, logical
 * waits.
 *
 * A request is at any time in one of these states: a hart works at it (compute, minus the hart's
 * spinning); it waits for a logical lock or for its turn at its zone; its data cross the link; or
 * it is queued for a hart. The last flash read that it waited for is split off the queueing: time
 * before its die, in the cells, and on the channel. The parts sum to its time, from its fetch to
 * the post of its completion. The shares of each lock are below. */

/* HZ_VC_FETCHED … HZ_VC_ENDS_WRITE. */
void vc_request_event(const struct vc_hart *h);
/* The request begins to wait for a logical lock (HZ_VC_LOCK), or ends to (0); no effect if the
 * address is no request. */
void vc_request_waits(const struct vc_hart *h, uint64_t address, uint64_t lock);
/* The clock until which all requests under way are booked. */
uint64_t vc_request_oldest(void);
/* Restart the statistics; requests under way continue. */
void vc_request_begin_anew(void);
/* A member of a JSON object, "requests". */
void vc_request_write_json(FILE *out);

/* Spin locks that each hart waited for or held, over the time that unfinished requests may still
 * need (option locks=on).
 *
 * Of nested locks the innermost counts, and a hart that waits for a lock holds none: the intervals
 * do not overlap. With one global lock (class global), locks held under it count as that lock. */

enum vc_past { VC_PAST_SPUN, VC_PAST_HELD };

/* A lock event (enum hz_vc_lock_event) of a hart, at its clock; lock: HZ_VC_LOCK. */
void vc_past_event(const struct vc_hart *h, enum hz_vc_lock_event event, uint64_t lock);
/* It holds a lock, or waits for one inside another, and the innermost that it holds is of this class (VC_ANY_CLASS: of any). */
bool vc_past_holds(unsigned hart, uint64_t lock_class);
/* Of the hart's time between the two clocks: cycles for each lock that it waited for (or held), in pieces. Returns their sum. */
typedef void vc_past_fn(void *ctx, uint64_t lock, uint64_t cycles);
uint64_t vc_past_times(unsigned hart, enum vc_past what, uint64_t from, uint64_t to, vc_past_fn *each, void *ctx);

/* Each lock's share of the path of a request from fetch to completion, and the sums over many
 * requests (option locks=on).
 *
 * Spin lock: the hart that works at the request waits for it or holds it, or the request is queued
 * for a hart that waits for it. Logical lock: the request waits for it. */

enum vc_critical { VC_SPUN, VC_HELD, VC_BEHIND, VC_WAITED, VC_CRITICALS };
/* Logical locks share the table with spin locks; class none, index 0 is the turn at the zone. */
#define VC_LOGICAL_LOCK(lock) ((lock) | 1ull << 40)

struct vc_share {
	uint64_t lock;
	uint64_t cycles[VC_CRITICALS];
};
/* Shares of one request. */
struct vc_shares {
	struct vc_share *at; /* kept for reuse by later requests */
	unsigned count, room;
};

void vc_share_add(struct vc_shares *shares, uint64_t lock, enum vc_critical what, uint64_t cycles);
void vc_critical_begin_anew(void);
/* A request of a kind has ended; bucket: of its latency. */
void vc_critical_count(unsigned kind, unsigned bucket, const struct vc_shares *shares);
/* Members of a JSON object: requests of a kind in this bucket or above, whose times sum to
 * `cycles`. */
void vc_critical_write_json(FILE *out, unsigned kind, unsigned bucket, uint64_t cycles);

#endif
