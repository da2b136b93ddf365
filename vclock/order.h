/* The order of the run: a hash over every order point, and its trace on request. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_ORDER_H
#define VC_ORDER_H

#include "clock.h"

/* False with a sentence on stderr if the trace file cannot be made. */
bool vc_order_start(void);
void vc_order_trace(const struct vc_hart *h, enum vc_kind kind);

/* FNV-1a over (clock, hart, kind). Not inside a freeze: how often a hart looks at the host is the host's affair. For the same reason
 * a switch is a change of hart in this order, and no hand-over of the token: a frozen hart takes and gives it as often as it looks. */
static inline void vc_order_record(struct vc_hart *h, enum vc_kind kind)
{
	if (h->frozen || vc.ended)
		return;
	vc.order_hash = (vc.order_hash ^ vc_key(h)) * 0x100000001b3ull;
	vc.order_hash = (vc.order_hash ^ kind) * 0x100000001b3ull;
	vc.orders++;
	if (vc.last != (int)h->index) {
		vc.switches[kind] += vc.last >= 0;
		vc.last = (int)h->index;
	}
	if (__builtin_expect(vc.options.trace != NULL, 0))
		vc_order_trace(h, kind);
}

#endif
