/* What each lock has of a request's way from its fetch to its completion, and of the way of many (option locks=on).
 *
 * A spin lock: the hart that works at the request waits for it, or holds it; or the request is queued for a hart that waits for it. A
 * logical lock: the request waits for it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_CRITICAL_H
#define VC_CRITICAL_H

#include <stdio.h>

#include "histogram.h"

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
