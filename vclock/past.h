/* Which spin locks each hart waited for, and which it held, over the time that requests still ask about (option locks=on).
 *
 * Of locks held inside each other the innermost counts, and while the hart waits for one none is held. So the times are apart. What a hart
 * holds under one lock for all (class global) is a part of that one. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_PAST_H
#define VC_PAST_H

#include "state.h"

enum vc_past { VC_PAST_SPUN, VC_PAST_HELD };

/* A lock's event (enum hz_vc_lock_event) of a hart, at its clock; lock: HZ_VC_LOCK. */
void vc_past_event(const struct vc_hart *h, enum hz_vc_lock_event event, uint64_t lock);
/* It holds a lock, or waits for one inside another. */
bool vc_past_holds(unsigned hart);
/* Of the hart's time between the two clocks: cycles for each lock that it waited for (or held), in pieces. Returns their sum. */
typedef void vc_past_fn(void *ctx, uint64_t lock, uint64_t cycles);
uint64_t vc_past_times(unsigned hart, enum vc_past what, uint64_t from, uint64_t to, vc_past_fn *each, void *ctx);

#endif
